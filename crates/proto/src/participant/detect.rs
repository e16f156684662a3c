//! What others announce of themselves. RTPS 2.5 §8.5.3.

use alloc::sync::Arc;
use alloc::vec::Vec;

use whimbrel_base::guid::GuidPrefix;
use whimbrel_base::locator::Locator;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::sorted::SortedSet;
use whimbrel_base::time::Instant;
use whimbrel_base::vendor::{ProtocolVersion, VendorId};
use whimbrel_wire::discovery::{Context, ParticipantData, parse_key};
use whimbrel_wire::message::Submessage;
use whimbrel_wire::parameter::ParameterId;

use super::assurance::Assurance;
use super::event::ParticipantEvent;
use super::greetings::{Greeting, Greetings};
use super::host::Answered;
use super::rebirth::is_other_life;
use super::remote::{Heard, Rebirth, RemoteParticipant};
use super::{Departure, Participant};
use crate::change::ChangeKind;
use crate::discovery::locators::{Route, is_own};
use crate::reader::Incoming;
use crate::receive::Inbound;

/// Octets of a DATA submessage besides its payload, at least.
const DATA_HEADER_BYTES: usize = 24;

/// Addresses remembered from which our own GUID was heard.
const IMPOSTORS_MAX: usize = 16;

impl Participant {
    /// Something that bears our own prefix: our own multicast, or somebody else's claim.
    pub(super) fn handle_own(
        &mut self,
        from: Locator,
        inbound: &Inbound<'_>,
    ) -> Result<(), Reject> {
        let local = from.ip().is_some_and(|ip| {
            // What a host sends while it has no address comes from none.
            ip.is_unspecified()
                || is_own(ip, &self.config.interfaces)
                || is_own(ip, &self.former.interfaces)
        });
        let ours = || match &inbound.submessage {
            Submessage::Data(data) => self.is_own_announcement(data.payload),
            _ => true,
        };
        // Our farewell comes back as our announcements do.
        if local && (self.departure != Departure::Present || ours()) {
            self.statistics.own_heard = self.statistics.own_heard.saturating_add(1);
            return Ok(());
        }
        if self.impostors.len() < IMPOSTORS_MAX && self.impostors.insert(from) {
            self.report(ParticipantEvent::OwnGuidClaimed { from });
        }
        Err(Reject::new(RejectKind::OwnGuid, 0))
    }

    /// True for what we announce, or announced before our addresses or USER_DATA changed: it may
    /// still be on its way.
    fn is_own_announcement(&self, payload: &[u8]) -> bool {
        // Padding of the submessage counts as payload.
        let begins_with = |own: &[u8]| payload.get(..own.len()) == Some(own);
        let former = &self.former.announcement;
        if begins_with(&self.announcement) || (!former.is_empty() && begins_with(former)) {
            return true;
        }
        let context = Context {
            vendor: VendorId::WHIMBREL,
            key_hash: None,
            limits: &self.config.limits,
        };
        ParticipantData::parse(payload, &context)
            .is_ok_and(|data| begins_with(&self.config.announcement_with(&data.user_data)))
    }

    /// An announcement of a participant, or of its departure.
    pub(super) fn handle_announcement(
        &mut self,
        now: Instant,
        from: Locator,
        inbound: &Inbound<'_>,
        change: &Incoming,
    ) -> Result<(), Reject> {
        if self.ignored.has_participant(inbound.source) {
            return Ok(());
        }
        let context = Context {
            vendor: inbound.vendor,
            key_hash: change.key_hash.map(|hash| hash.key_hash()),
            limits: &self.config.limits,
        };
        if change.kind != ChangeKind::Alive || change.is_key {
            let guid = parse_key(&change.payload, ParameterId::PARTICIPANT_GUID, &context)?;
            // Nobody speaks for another.
            if guid.prefix != inbound.source {
                return Err(Reject::new(RejectKind::Stranger, 0));
            }
            return self.handle_farewell(now, from, guid.prefix);
        }
        let bytes = change.payload.len().saturating_add(DATA_HEADER_BYTES);
        if self.is_repetition(from, inbound, &change.payload) {
            self.count_announcement();
            self.note_at_home(now, inbound.source, from);
            self.handle_presence(now, from, inbound, bytes);
            return Ok(());
        }
        let mut data = ParticipantData::parse(&change.payload, &context)?;
        if !self.config.heeds_receive_buffers {
            data.receive_buffer_bytes = 0;
        }
        if data.guid.prefix != inbound.source || data.guid.prefix == GuidPrefix::UNKNOWN {
            return Err(Reject::new(RejectKind::Stranger, 0));
        }
        if data.version.major != ProtocolVersion::V2_5.major {
            return Err(Reject::new(RejectKind::ProtocolVersion, 0));
        }
        let other_domain = data
            .domain_id
            .is_some_and(|domain| domain != self.config.domain_id);
        if other_domain || data.domain_tag != self.config.domain_tag {
            self.statistics.other_domain = self.statistics.other_domain.saturating_add(1);
            return Ok(());
        }
        self.count_announcement();
        let prefix = data.guid.prefix;
        self.handle_greeting(now, from, data, inbound, bytes)?;
        let remote = self.remotes.get_mut(&prefix);
        // What is contested does not hold.
        if let Some(remote) = remote.filter(|it| it.contest.is_none()) {
            remote.announcement = change.payload.to_vec();
        }
        Ok(())
    }

    fn count_announcement(&mut self) {
        let count = &mut self.statistics.announcements_received;
        *count = count.saturating_add(1);
    }

    /// True when a known participant says from where it is what it said before: hundreds do so
    /// every few seconds.
    fn is_repetition(&self, from: Locator, inbound: &Inbound<'_>, payload: &[u8]) -> bool {
        self.remotes.get(&inbound.source).is_some_and(|remote| {
            remote.announcement == payload
                && remote.vendor() == inbound.vendor
                && remote.contest.is_none()
                && remote.rebirth.shown_from.is_none()
                && self.host_of(remote.address) == self.host_of(from)
                && self.is_credible(remote, from)
        })
    }

    fn handle_farewell(
        &mut self,
        now: Instant,
        from: Locator,
        prefix: GuidPrefix,
    ) -> Result<(), Reject> {
        let remote = self.remotes.get(&prefix);
        if remote.is_some_and(|remote| !self.is_at_home(remote, from)) {
            return Err(Reject::new(RejectKind::Source, 0));
        }
        if remote.is_some() && self.farewells.has_just_left(now, prefix) {
            return Err(Reject::new(RejectKind::Duplicate, 0));
        }
        self.forget_participant(now, prefix, true);
        Ok(())
    }

    /// A participant of our domain says in `bytes` octets that it is there.
    fn handle_greeting(
        &mut self,
        now: Instant,
        from: Locator,
        data: ParticipantData,
        inbound: &Inbound<'_>,
        bytes: usize,
    ) -> Result<(), Reject> {
        let prefix = data.guid.prefix;
        if self.farewells.outlived(now, &data) {
            return Err(Reject::new(RejectKind::Duplicate, 0));
        }
        match self.remotes.get(&prefix) {
            Some(remote) if !self.is_credible(remote, from) => {
                return self.handle_contested(now, from, data, bytes);
            }
            Some(remote) if is_other_life(remote, &data) => {
                self.handle_other_life(now, from, data)?;
            }
            Some(_) => {
                self.note_at_home(now, prefix, from);
                if !self.handle_same_process(now, from, &data) {
                    self.update_participant(now, from, data);
                }
            }
            None => self.admit_participant(now, from, data)?,
        }
        self.handle_presence(now, from, inbound, bytes);
        Ok(())
    }

    /// A known participant said in `bytes` octets that it is there.
    fn handle_presence(
        &mut self,
        now: Instant,
        from: Locator,
        inbound: &Inbound<'_>,
        bytes: usize,
    ) {
        let prefix = inbound.source;
        let directed = inbound.destination == self.config.guid_prefix;
        // What came by other interfaces than our multicast leaves by proves nothing of ours.
        let telling = directed || from.is_loopback() == self.config.multicast_on_host;
        if let Some(remote) = self.remotes.get_mut(&prefix) {
            // Who does not know who listens here does not know us, or no more.
            let forgotten = if inbound.unnamed {
                remote.assurance = Assurance::NONE;
                remote.confirmed
            } else {
                let greeting = Greeting::of(inbound, directed);
                telling && remote.greetings.note(now, greeting, self.config.lease)
            };
            if forgotten {
                self.reply(now, prefix);
            }
        }
        if directed {
            self.handle_answered(now, prefix, from);
        }
        self.ask_unanswered(now, prefix, bytes);
    }

    pub(super) fn admit_participant(
        &mut self,
        now: Instant,
        from: Locator,
        data: ParticipantData,
    ) -> Result<(), Reject> {
        let prefix = data.guid.prefix;
        let origin = self.host_of(from);
        self.admit(now, origin, prefix)?;
        let remote = RemoteParticipant {
            data,
            address: from,
            discovered_at: now,
            heard: Arc::new(Heard::new(now)),
            confirmed: false,
            answered: Answered::default(),
            metatraffic: Route::default(),
            user: Route::default(),
            reached: Vec::new(),
            origin,
            endpoints: 0,
            contest: None,
            address_heard_at: now,
            greetings: Greetings::default(),
            assurance: Assurance::NONE,
            told_at: None,
            announcement: Vec::new(),
            publications_acked: SequenceNumber::ZERO,
            subscriptions_acked: SequenceNumber::ZERO,
            hears: SortedSet::new(),
            resumed_at: now,
            rebirth: Rebirth::default(),
        };
        self.remotes.insert(prefix, remote);
        self.watch_lease(prefix);
        self.reroute(now, prefix, true);
        self.reported
            .push_back(ParticipantEvent::ParticipantHeard(prefix));
        Ok(())
    }

    /// A known participant has announced itself again, perhaps with other addresses.
    fn update_participant(&mut self, now: Instant, from: Locator, data: ParticipantData) {
        let prefix = data.guid.prefix;
        let patience = self.config.lease.divided_by(2);
        let host = self.host_of(from);
        let Some(remote) = self.remotes.get(&prefix) else {
            return;
        };
        // Announcements arrive by every interface that both share; the first one stays the one
        // by which the participant is reached until nothing comes from there any more or it is
        // no longer the participant's.
        let address = self.host_of(remote.address);
        let elsewhere = host != address;
        let mut announced = data.metatraffic_unicast.iter().map(|it| self.host_of(*it));
        let stale = now.since(remote.address_heard_at) >= patience
            || (announced.clone().all(|it| it != address) && announced.any(|it| it == host));
        let Some(remote) = self.remotes.get_mut(&prefix) else {
            return;
        };
        let moves = elsewhere && stale;
        if remote.data == data && !moves {
            return;
        }
        if moves {
            remote.address = from;
            remote.address_heard_at = now;
            remote.answered.retain(host);
        }
        self.apply_announcement(now, data);
    }

    /// What a participant announced holds from now on.
    pub(super) fn apply_announcement(&mut self, now: Instant, data: ParticipantData) {
        let prefix = data.guid.prefix;
        let Some(remote) = self.remotes.get_mut(&prefix) else {
            return;
        };
        let same_builtin = remote.data.builtin_endpoints == data.builtin_endpoints
            && remote.data.builtin_endpoint_qos == data.builtin_endpoint_qos;
        remote.data = data;
        remote.announcement.clear();
        self.routing_changed |= remote.confirmed;
        // A shorter lease counts from now on.
        self.watch_lease(prefix);
        self.reroute(now, prefix, !same_builtin);
    }

    /// The participant is gone, and everything of it.
    pub(super) fn forget_participant(&mut self, now: Instant, prefix: GuidPrefix, departed: bool) {
        // Who leaves with a word has its reasons.
        let served = if departed {
            Vec::new()
        } else {
            self.served_readers()
        };
        let Some(remote) = self.drop_participant(now, prefix, !departed) else {
            return;
        };
        self.expect_other_writers(now, &served);
        if departed {
            self.farewells.note(now, &remote.data);
        }
        if !remote.confirmed {
            return;
        }
        if !departed {
            self.endings.note_loss(&remote);
            self.timer.probe_soon();
        }
        let count = if departed {
            &mut self.statistics.participants_departed
        } else {
            &mut self.statistics.participants_expired
        };
        *count = count.saturating_add(1);
        self.report(ParticipantEvent::ParticipantLost { prefix, departed });
    }

    /// Takes the participant out, with all that is known of its endpoints; `lost` where it may come
    /// back.
    pub(super) fn drop_participant(
        &mut self,
        now: Instant,
        prefix: GuidPrefix,
        lost: bool,
    ) -> Option<RemoteParticipant> {
        let remote = self.remotes.remove(&prefix)?;
        self.replies.remove(&prefix);
        self.drop_claims(&remote);
        let (since, origin) = (remote.discovered_at, remote.origin);
        self.census.leave_endpoints(origin, remote.endpoints);
        self.census.leave(since, origin, prefix);
        if remote.confirmed {
            self.builtin.handle_unmatched(now, self.wall, prefix);
            self.forget_endpoints_of(prefix, lost);
        } else {
            self.reported
                .push_back(ParticipantEvent::ParticipantForgotten(prefix));
        }
        Some(remote)
    }

    /// The participant has forgotten us and started over: its readers need everything again.
    ///
    /// Its own answers show it: they ask for a first heartbeat, with counts that start over.
    pub(super) fn resume_participant(&mut self, now: Instant, prefix: GuidPrefix) {
        let Some(remote) = self.remotes.get_mut(&prefix) else {
            return;
        };
        remote.resumed_at = now;
        remote.assurance = Assurance::NONE;
        remote.hears.clear();
        remote.publications_acked = SequenceNumber::ZERO;
        remote.subscriptions_acked = SequenceNumber::ZERO;
        // It may know us all the same, where that was an echo of its first words.
        self.builtin.forget_readers(now, prefix, true);
        self.serve_discovery(now, prefix);
        self.statistics.resumed = self.statistics.resumed.saturating_add(1);
        self.renew_matches(prefix);
    }
}
