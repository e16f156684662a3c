//! What others announce of themselves. RTPS 2.5 §8.5.3.

use alloc::sync::Arc;
use alloc::vec::Vec;

use whimbrel_base::guid::GuidPrefix;
use whimbrel_base::locator::Locator;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::time::{Duration, Instant};
use whimbrel_base::vendor::{ProtocolVersion, VendorId};
use whimbrel_wire::discovery::{Context, ParticipantData, parse_key};
use whimbrel_wire::message::Submessage;
use whimbrel_wire::parameter::ParameterId;

use super::Participant;
use super::event::ParticipantEvent;
use super::remote::{Heard, RemoteParticipant};
use crate::change::ChangeKind;
use crate::discovery::locators::{Route, choose, is_own};
use crate::reader::Incoming;
use crate::receive::Inbound;

/// Octets of a DATA submessage besides its payload, at least.
const DATA_HEADER_BYTES: usize = 24;

/// How long late announcements of a participant that has departed are ignored.
const DEPARTED_PATIENCE: Duration = Duration::from_secs(10);

/// Departed participants remembered.
const DEPARTED_MAX: usize = 64;

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
            is_own(ip, &self.config.interfaces) || is_own(ip, &self.former.interfaces)
        });
        let ours = || match &inbound.submessage {
            Submessage::Data(data) => self.is_own_announcement(data.payload),
            _ => true,
        };
        if local && ours() {
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
            self.forget_participant(now, guid.prefix, true);
            return Ok(());
        }
        let data = ParticipantData::parse(&change.payload, &context)?;
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
        self.statistics.announcements_received =
            self.statistics.announcements_received.saturating_add(1);
        let prefix = data.guid.prefix;
        let bytes = change.payload.len().saturating_add(DATA_HEADER_BYTES);
        // Prefixes are never used again, so this is an echo of the past.
        if self
            .departed
            .iter()
            .any(|(at, it)| *it == prefix && now.since(*at) < DEPARTED_PATIENCE)
        {
            return Err(Reject::new(RejectKind::Duplicate, 0));
        }
        if self.remotes.contains_key(&prefix) {
            self.update_participant(now, from, data);
        } else {
            self.admit_participant(now, from, data)?;
        }
        let directed = inbound.destination != GuidPrefix::UNKNOWN;
        if let Some(remote) = self.remotes.get_mut(&prefix)
            && !directed
        {
            remote.undirected_at = now;
        }
        self.answer_unconfirmed(prefix, bytes);
        Ok(())
    }

    fn admit_participant(
        &mut self,
        now: Instant,
        from: Locator,
        data: ParticipantData,
    ) -> Result<(), Reject> {
        if self.remotes.len() >= self.config.limits.remote_participants_max {
            self.statistics.not_admitted = self.statistics.not_admitted.saturating_add(1);
            return Err(Reject::new(RejectKind::Limit, 0));
        }
        let prefix = data.guid.prefix;
        let (metatraffic, user) = self.routes(&data, from);
        self.builtin
            .handle_matched(now, self.wall, &data, &metatraffic);
        let mut remote = RemoteParticipant {
            data,
            address: from,
            discovered_at: now,
            heard: Arc::new(Heard::new(now)),
            confirmed: false,
            metatraffic,
            user,
            address_heard_at: now,
            undirected_at: Instant::ZERO,
            check_at: now,
            publications_acked: SequenceNumber::ZERO,
            subscriptions_acked: SequenceNumber::ZERO,
            resumed_at: now,
        };
        remote.check_at = remote.lease_ends_at();
        self.remotes.insert(prefix, remote);
        self.statistics.participants_discovered =
            self.statistics.participants_discovered.saturating_add(1);
        self.report(ParticipantEvent::ParticipantDiscovered(prefix));
        Ok(())
    }

    pub(super) fn routes(&self, data: &ParticipantData, from: Locator) -> (Route, Route) {
        let interfaces = &self.config.interfaces;
        let metatraffic = choose(&data.metatraffic_unicast, from, interfaces);
        let user = choose(&data.default_unicast, from, interfaces);
        (self.narrowed(metatraffic), self.narrowed(user))
    }

    /// A known participant has announced itself again, perhaps with other addresses.
    fn update_participant(&mut self, now: Instant, from: Locator, data: ParticipantData) {
        let prefix = data.guid.prefix;
        let patience = self.config.lease.divided_by(2);
        let Some(remote) = self.remotes.get_mut(&prefix) else {
            return;
        };
        remote.heard.note(now);
        // Announcements arrive by every interface that both share; the first one stays the one
        // by which the participant is reached until nothing comes from there any more or it is
        // no longer the participant's.
        let elsewhere = from.ip() != remote.address.ip();
        let announces = |ip| data.metatraffic_unicast.iter().any(|it| it.ip() == ip);
        let stale = now.since(remote.address_heard_at) >= patience
            || (!announces(remote.address.ip()) && announces(from.ip()));
        if !elsewhere || stale {
            remote.address_heard_at = now;
        }
        let address = if elsewhere && stale {
            from
        } else {
            remote.address
        };
        if remote.data == data && remote.address.ip() == address.ip() {
            return;
        }
        let (metatraffic, user) = self.routes(&data, address);
        let Some(remote) = self.remotes.get_mut(&prefix) else {
            return;
        };
        remote.address = address;
        let same_builtin = remote.data.builtin_endpoints == data.builtin_endpoints
            && remote.data.builtin_endpoint_qos == data.builtin_endpoint_qos
            && remote.metatraffic == metatraffic;
        let old_locators = core::mem::replace(&mut remote.metatraffic, metatraffic).locators;
        let moved = core::mem::replace(&mut remote.user, user) != remote.user;
        remote.data = data;
        // A shorter lease counts from now on.
        remote.check_at = remote.check_at.min(remote.lease_ends_at());
        let confirmed = remote.confirmed;
        if !same_builtin {
            let remote = self.remotes.get(&prefix);
            if let Some(remote) = remote {
                self.builtin
                    .handle_matched(now, self.wall, &remote.data, &remote.metatraffic);
            }
            self.release_unused(&old_locators);
        }
        if moved && confirmed {
            self.pair_participant(prefix);
        }
        self.routing_changed = true;
    }

    /// Plans an answer to a participant that has not shown yet that it hears us, and lets its
    /// addresses be sent as much as `bytes` received allow.
    fn answer_unconfirmed(&mut self, prefix: GuidPrefix, bytes: usize) {
        let Some(remote) = self.remotes.get(&prefix) else {
            return;
        };
        if remote.confirmed {
            return;
        }
        let locators = remote.metatraffic.locators.clone();
        for locator in locators {
            let answered = self
                .remotes
                .values()
                .any(|other| other.confirmed && other.metatraffic.locators.contains(&locator));
            // Addresses from our settings are nobody's claim.
            let ours = self.config.announce_to.contains(&locator);
            if !answered && !ours && !self.config.probe.contains(&locator) {
                self.guard.credit(locator, bytes);
            }
        }
        self.replies.insert(prefix);
    }

    /// The participant has shown that it hears us: its endpoints may be served.
    pub(super) fn handle_confirmed(&mut self, prefix: GuidPrefix) {
        let Some(remote) = self.remotes.get_mut(&prefix) else {
            return;
        };
        if core::mem::replace(&mut remote.confirmed, true) {
            return;
        }
        for locator in remote.metatraffic.locators.clone() {
            self.guard.release(locator);
        }
        if let Some(remote) = self.remotes.get_mut(&prefix) {
            remote.check_at = remote.lease_ends_at();
        }
        self.pair_participant(prefix);
    }

    /// Stops guarding those of `locators` that no participant announces any more.
    pub(super) fn release_unused(&mut self, locators: &[Locator]) {
        for locator in locators {
            let used = self
                .remotes
                .values()
                .any(|other| other.metatraffic.locators.contains(locator));
            if !used {
                self.guard.release(*locator);
            }
        }
    }

    /// The participant is gone, and everything of it.
    pub(super) fn forget_participant(&mut self, now: Instant, prefix: GuidPrefix, departed: bool) {
        let Some(remote) = self.remotes.remove(&prefix) else {
            return;
        };
        if departed {
            while self.departed.len() >= DEPARTED_MAX {
                self.departed.pop_front();
            }
            self.departed.push_back((now, prefix));
        }
        self.builtin.handle_unmatched(now, self.wall, prefix);
        self.replies.remove(&prefix);
        self.release_unused(&remote.metatraffic.locators);
        self.forget_endpoints_of(prefix);
        let count = if departed {
            &mut self.statistics.participants_departed
        } else {
            &mut self.statistics.participants_expired
        };
        *count = count.saturating_add(1);
        self.report(ParticipantEvent::ParticipantLost { prefix, departed });
    }

    /// The participant has forgotten us and started over: its readers need everything again.
    ///
    /// Its own answers show it: they ask for a first heartbeat, with counts that start over.
    pub(super) fn resume_participant(&mut self, now: Instant, prefix: GuidPrefix) {
        let Some(remote) = self.remotes.get_mut(&prefix) else {
            return;
        };
        remote.resumed_at = now;
        remote.publications_acked = SequenceNumber::ZERO;
        remote.subscriptions_acked = SequenceNumber::ZERO;
        self.builtin.forget_readers(now, prefix);
        self.builtin
            .handle_matched(now, self.wall, &remote.data, &remote.metatraffic);
        self.statistics.resumed = self.statistics.resumed.saturating_add(1);
        self.renew_matches(prefix);
    }

    /// The participants whose leases may have ended at `now`.
    pub(super) fn leases_to_check(&self, now: Instant) -> Vec<GuidPrefix> {
        let due = self
            .remotes
            .values()
            .filter(|remote| remote.check_at <= now);
        due.map(RemoteParticipant::prefix).collect()
    }
}
