//! What we announce of ourselves, to whom, and how we leave. RTPS 2.5 §8.5.3.

use alloc::vec::Vec;

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::guid::{EntityId, Guid, GuidPrefix};
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::locator::{Locator, LocatorKind};
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::sorted::{SortedMap, SortedSet};
use whimbrel_base::time::{Instant, Timestamp};
use whimbrel_base::vendor::VendorId;
use whimbrel_wire::discovery::{BuiltinEndpoints, compose_key};
use whimbrel_wire::parameter::ParameterId;

use super::assurance::Assurance;
use super::guard::GuardedOutbox;
use super::remote::RemoteParticipant;
use super::schedule::AnnounceTimer;
use super::{Departure, Participant};
use crate::change::ChangeKind;
use crate::discovery::locators::LOCAL_MESSAGE_BYTES_MAX;
use crate::outbox::Outbox;
use crate::writer::{Change, Form};

/// For whom an announcement is.
#[derive(Clone, Copy)]
enum Meant {
    /// Everybody who hears it.
    All,
    /// Whoever listens at the address: not known, or no more.
    Listener,
    /// One participant alone.
    One(GuidPrefix, Telling),
}

/// Why one participant alone is told that we are here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Telling {
    /// Our announcements to all do not reach it, or it is a peer by our settings.
    Alone,
    /// The same, as it seems: whoever does hear us says so.
    Question(VendorId, BuiltinEndpoints),
    /// It has announced itself, and is asked to say that it hears us.
    Answer(VendorId, BuiltinEndpoints),
    /// It keeps telling us alone, so it may not hear our announcements to all.
    InReturn,
    /// It has our announcement, which does not reach it otherwise: a sign of life is enough.
    Reminder,
}

impl Telling {
    /// Whose announcement it is by name: what answers another's announcement names the reader,
    /// so that it is not taken for want of multicast. Else two that answer each other would go
    /// on for ever.
    const fn reader(self) -> EntityId {
        match self {
            Self::Alone | Self::Question(..) | Self::Reminder => EntityId::UNKNOWN,
            Self::Answer(..) | Self::InReturn => EntityId::SPDP_READER,
        }
    }

    const fn question(self) -> Option<(VendorId, BuiltinEndpoints)> {
        match self {
            Self::Question(vendor, endpoints) | Self::Answer(vendor, endpoints) => {
                Some((vendor, endpoints))
            }
            Self::Alone | Self::InReturn | Self::Reminder => None,
        }
    }
}

impl Participant {
    /// Sends the announcements, answers and probes that are due.
    pub(super) fn send_announcements(&mut self, now: Instant, outbox: &mut impl Outbox) {
        let nobody = self.replies.is_empty() && self.inquiries.is_empty();
        if nobody && !self.timer.due && !self.probes.is_due() {
            return;
        }
        let change = self.own_change(SequenceNumber::FIRST, ChangeKind::Alive);
        let replies = core::mem::take(&mut self.replies);
        let mut directed = SortedMap::new();
        if core::mem::take(&mut self.timer.due) {
            self.statistics.announcements_sent =
                self.statistics.announcements_sent.saturating_add(1);
            let known = self.known_listeners();
            let unknown = |it: &&Locator| !known.contains_key(*it);
            let undirected = self.config.announce_to.iter().filter(unknown);
            let (groups, peers): (Vec<_>, Vec<_>) = undirected
                .copied()
                .partition(|it: &Locator| it.is_multicast());
            self.send_own(&change, Meant::All, &groups, outbox);
            self.send_own(&change, Meant::Listener, &peers, outbox);
            // An explicit peer that we know is told that it is meant.
            for prefix in known.into_iter().map(|(_, prefix)| prefix) {
                if let Some(remote) = self.remotes.get(&prefix) {
                    directed.insert(prefix, self.telling_alone(remote));
                }
            }
            for prefix in self.remotes.keys() {
                if let Some(telling) = self.needs_unicast(now, *prefix) {
                    directed.change(*prefix, || telling, |_| ());
                }
            }
        }
        for prefix in replies {
            if let Some(remote) = self.remotes.get(&prefix) {
                let asked = (remote.vendor(), remote.data.builtin_endpoints);
                directed.insert(prefix, Telling::Answer(asked.0, asked.1));
            }
        }
        for (prefix, telling) in directed {
            self.tell(now, prefix, telling, &change, outbox);
        }
        for prefix in core::mem::take(&mut self.inquiries) {
            let to = self.endings.reached(prefix).unwrap_or_default().to_vec();
            self.send_own(&change, Meant::Listener, &to, outbox);
        }
        self.send_probes(&change, outbox);
    }

    /// Tells `prefix` alone that we are here.
    fn tell(
        &mut self,
        now: Instant,
        prefix: GuidPrefix,
        telling: Telling,
        change: &Change,
        outbox: &mut impl Outbox,
    ) {
        let Some(remote) = self.remotes.get_mut(&prefix) else {
            return;
        };
        remote.told_at = Some(now);
        let mut to = remote.reached.clone();
        if telling == Telling::Reminder {
            return self.remind(&to, outbox);
        }
        if telling.question().is_some() {
            remote.assurance.note_question();
        }
        if let Telling::Answer(..) = telling {
            // Also to addresses from which it has not answered.
            let more = remote.metatraffic.locators.iter();
            to.extend(more.filter(|it| !remote.reached.contains(it)));
        }
        self.statistics.directed_sent = self.statistics.directed_sent.saturating_add(1);
        self.send_own(change, Meant::One(prefix, telling), &to, outbox);
    }

    /// Sends a sign of life to `to`, where one is reached that knows us.
    fn remind(&mut self, to: &[Locator], outbox: &mut impl Outbox) {
        self.statistics.reminders_sent = self.statistics.reminders_sent.saturating_add(1);
        self.message.begin(LOCAL_MESSAGE_BYTES_MAX);
        self.builtin.put_reminder(&mut self.message);
        self.message.flush(to, outbox);
    }

    fn send_probes(&mut self, change: &Change, outbox: &mut impl Outbox) {
        let is_first_round = self.probes.probed < self.config.probe.len();
        let due = self.probes.take_due();
        if due.is_empty() {
            return;
        }
        let taken = self.taken_ports();
        let mut due: Vec<Locator> = self
            .config
            .probe
            .get(due)
            .unwrap_or_default()
            .iter()
            .copied()
            .filter(|locator| !taken.contains(&(locator.kind, locator.port)))
            .collect();
        // What the system says of sockets that come and go meanwhile may leave some out, and who
        // starts must find all that are there.
        if !is_first_round {
            outbox.retain_listened(&mut due);
        }
        let count = u64::try_from(due.len()).unwrap_or(u64::MAX);
        self.statistics.probes_sent = self.statistics.probes_sent.saturating_add(count);
        self.send_own(change, Meant::Listener, &due, outbox);
    }

    /// The ports of this host that are known to be somebody's.
    fn taken_ports(&self) -> SortedSet<(LocatorKind, u32)> {
        let here = |remote: &&RemoteParticipant| remote.confirmed && remote.metatraffic.same_host;
        let theirs = self.remotes.values().filter(here);
        theirs
            .flat_map(|remote| &remote.data.metatraffic_unicast)
            .chain(&self.config.metatraffic_unicast)
            .map(|locator| (locator.kind, locator.port))
            .collect()
    }

    /// Who listens at those addresses to which we announce ourselves and which are one's alone.
    fn known_listeners(&self) -> SortedMap<Locator, GuidPrefix> {
        let mut known = SortedMap::new();
        let own = |locator: &&Locator| !locator.is_multicast();
        let peers: SortedSet<&Locator> = self.config.announce_to.iter().filter(own).collect();
        if peers.is_empty() {
            return known;
        }
        for remote in self.remotes.values() {
            for locator in remote.reached.iter().filter(|it| peers.contains(it)) {
                known.change(*locator, || remote.prefix(), |_| ());
            }
        }
        known
    }

    /// Why `prefix` needs an announcement of its own to keep us alive, if it does: those to all
    /// may not reach it.
    ///
    /// Where both have joined a group that we announce to, and announcements that are not meant
    /// for us alone keep arriving, multicast is taken to work both ways. Fast DDS repeats its
    /// announcements to everybody it knows as unicast that looks like multicast, so that theirs
    /// prove nothing.
    fn needs_unicast(&self, now: Instant, prefix: GuidPrefix) -> Option<Telling> {
        let remote = self.remotes.get(&prefix).filter(|it| it.confirmed)?;
        let (period, lease) = (self.config.announce_period, self.config.lease);
        let pause = period.divided_by(4).times(3);
        if remote.told_at.is_some_and(|at| now.since(at) < pause) {
            return None;
        }
        if !self.shares_group(remote) || remote.vendor() == VendorId::FAST_DDS {
            return Some(self.telling_alone(remote));
        }
        // What arrived late may have shown that it hears us after it took us for lost.
        let since = remote.discovered_at;
        let unheard = !remote.greetings.reach_us(now, since, lease);
        if unheard || !self.builtin.is_answered_by(&remote.data) {
            let endpoints = remote.data.builtin_endpoints;
            return Some(Telling::Question(remote.vendor(), endpoints));
        }
        let told = remote.greetings.tell_us(now, lease);
        told.then_some(Telling::InReturn)
    }

    /// How `remote`, which our announcements to all do not reach, is kept from losing us.
    fn telling_alone(&self, remote: &RemoteParticipant) -> Telling {
        // Others may want their announcements repeated.
        if remote.vendor() != VendorId::WHIMBREL || self.shares_group(remote) {
            return Telling::Alone;
        }
        if remote.assurance.is_sure() {
            return Telling::Reminder;
        }
        Telling::Question(remote.vendor(), remote.data.builtin_endpoints)
    }

    /// True when `remote` listens to a group to which we announce ourselves.
    fn shares_group(&self, remote: &RemoteParticipant) -> bool {
        let mut groups = remote.data.metatraffic_multicast.iter();
        groups.any(|group| self.config.announce_to.contains(group))
    }

    /// Our announcement is another from now on.
    pub(super) fn withdraw_assurance(&mut self) {
        for remote in self.remotes.values_mut() {
            remote.assurance = Assurance::CHANGED;
        }
    }

    /// A participant that we do not know sent something other than an announcement.
    pub(super) fn hear_stranger(&mut self, now: Instant, prefix: GuidPrefix) {
        if !self.remotes.contains_key(&prefix) && self.endings.is_missed(now, prefix) {
            self.inquiries.insert(prefix);
        }
    }

    /// Sends our announcement, or our departure, to `to`.
    fn send_own(
        &mut self,
        change: &Change,
        meant: Meant,
        to: &[Locator],
        outbox: &mut impl Outbox,
    ) {
        if to.is_empty() {
            return;
        }
        let mut outbox = GuardedOutbox {
            inner: outbox,
            guard: &mut self.guard,
        };
        self.message.begin(LOCAL_MESSAGE_BYTES_MAX);
        match meant {
            Meant::All => {}
            Meant::Listener => self.message.destination_unnamed(),
            Meant::One(prefix, _) => self.message.destination(prefix),
        }
        let (reader, question) = match meant {
            Meant::All | Meant::Listener => (EntityId::UNKNOWN, None),
            Meant::One(_, telling) => (telling.reader(), telling.question()),
        };
        self.message
            .data((reader, EntityId::SPDP_WRITER), change, Form::Plain, false);
        if let Some(asked) = question {
            self.builtin.put_question(asked, &mut self.message);
        }
        self.message.flush(to, &mut outbox);
    }

    fn own_change(&self, sequence: SequenceNumber, kind: ChangeKind) -> Change {
        let guid = Guid::new(self.config.guid_prefix, EntityId::PARTICIPANT);
        let payload = match kind {
            ChangeKind::Alive => self.announcement.clone(),
            ChangeKind::Disposed | ChangeKind::Unregistered | ChangeKind::DisposedUnregistered => {
                let mut key = Vec::new();
                compose_key(guid, ParameterId::PARTICIPANT_GUID, &mut key);
                SharedBytes::from_vec(key)
            }
        };
        Change {
            packed: crate::writer::Packed::Untried,
            sequence,
            kind,
            instance: InstanceHandle::from_key_hash(guid.to_bytes()),
            timestamp: Timestamp::INVALID,
            payload: payload.into(),
            fragment_bytes: u16::MAX,
            charged_bytes: 0,
        }
    }

    /// Changes USER_DATA and announces it at once, and again a few times quickly, as at the start:
    /// announcements may get lost. DDS 1.4 §2.2.3.1.
    pub fn set_user_data(&mut self, now: Instant, user_data: Vec<u8>) {
        self.config.user_data = user_data;
        self.announcement = self.config.announcement();
        self.withdraw_assurance();
        let (period, burst) = (self.config.announce_period, self.config.announce_burst);
        self.timer = AnnounceTimer::new(now, period, burst, &self.config.announce_to);
    }

    /// Endpoints that wait to be announced with others are at the next
    /// [`Participant::poll_transmit`]: somebody waits for them to be matched.
    pub fn hurry(&mut self) {
        self.builtin.hurry();
    }

    /// Leaves: the next [`Participant::poll_transmit`] tells everybody, and is the last one.
    pub fn depart(&mut self, now: Instant) {
        if self.departure != Departure::Present {
            return;
        }
        self.departure = Departure::Leaving;
        self.builtin.hurry();
        let (writers, readers) = self.local_entities();
        for writer in writers {
            self.announce_end(now, EntityId::SEDP_PUBLICATIONS_WRITER, writer);
        }
        for reader in readers {
            self.announce_end(now, EntityId::SEDP_SUBSCRIPTIONS_WRITER, reader);
        }
    }

    pub(super) fn send_departure(&mut self, outbox: &mut impl Outbox) {
        let number = SequenceNumber::FIRST.next();
        let change = self.own_change(number, ChangeKind::DisposedUnregistered);
        let mut to: Vec<Locator> = self.config.announce_to.clone();
        // Who was probed may know us already though its answer has not arrived.
        let probed = self.config.probe.iter().take(self.probes.probed);
        let known = self.remotes.values().flat_map(|remote| &remote.reached);
        for locator in probed.chain(known) {
            if !to.contains(locator) {
                to.push(*locator);
            }
        }
        self.send_own(&change, Meant::All, &to, outbox);
    }
}
