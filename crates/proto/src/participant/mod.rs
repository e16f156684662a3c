//! The participant machine: discovery of participants and endpoints, leases, matching.
//!
//! It finds other participants (SPDP, RTPS 2.5 §8.5.3), exchanges with them which endpoints there
//! are (SEDP, §8.5.4), and tells the local endpoints, by [`ParticipantEvent`], whom to talk to
//! and where. It never sees user data, and never sends more than a little to an address that has
//! not answered.
//!
//! Start reading at [`Participant::handle_inbound`], then `detect.rs` (what others announce),
//! `announce.rs` (what we announce), `endpoints.rs` and `pairing.rs`.

pub mod config;
pub mod event;
pub mod local;
pub mod remote;
pub mod statistics;
pub mod unserved;

mod addresses;
mod admission;
mod announce;
mod assurance;
mod builtin;
mod census;
mod channels;
mod contest;
mod detect;
mod disposal;
mod endings;
mod endpoints;
mod expectant;
mod farewells;
mod greetings;
mod groups;
mod guard;
mod host;
mod ignore;
mod ignored;
mod jitter;
mod lease;
mod moves;
mod outlet;
mod pair;
mod pairing;
mod queries;
mod reach;
mod rebirth;
mod schedule;
#[cfg(test)]
mod tests;
mod tuning;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::guid::{EntityId, Guid, GuidPrefix};
use whimbrel_base::locator::Locator;
use whimbrel_base::reject::{Reject, RejectCounters, RejectKind};
use whimbrel_base::sorted::{SortedMap, SortedSet};
use whimbrel_base::time::{Instant, Timestamp};
use whimbrel_wire::message::Submessage;

pub use self::addresses::Addresses;
pub use self::config::ParticipantConfig;
pub use self::event::ParticipantEvent;
pub use self::local::{LocalReader, LocalWriter};
pub use self::remote::{Heard, RemoteParticipant, RemoteReader, RemoteWriter};
pub use self::statistics::ParticipantStatistics;
pub use self::unserved::{NearestWriter, Unserved};

use self::addresses::Former;
use self::builtin::Builtin;
use self::census::Census;
use self::endings::Endings;
use self::farewells::Farewells;
use self::guard::Guard;
use self::host::Claims;
use self::ignored::Ignored;
use self::jitter::Jitter;
use self::local::Announced;
use self::outlet::{Outlet, Port};
use self::pair::PairTable;
use self::schedule::{AnnounceTimer, ProbeTimer, first_probe_at};
use crate::deadline::{Deadline, Reason, earlier};
use crate::message::MessageBuilder;
use crate::outbox::Outbox;
use crate::peer::{MatchedReader, MatchedWriter};
use crate::receive::{Inbound, Target};

/// The participant machine.
#[derive(Debug)]
pub struct Participant {
    config: ParticipantConfig,
    /// Our announcement, encapsulated.
    announcement: SharedBytes,
    former: Former,
    timer: AnnounceTimer,
    probes: ProbeTimer,
    jitter: Jitter,
    message: MessageBuilder,
    /// Participants that are owed an announcement of their own.
    replies: SortedSet<GuidPrefix>,
    /// Participants that were taken for lost and are heard again.
    inquiries: SortedSet<GuidPrefix>,
    guard: Guard,
    claims: Claims,
    endings: Endings,
    census: Census,
    outlet: Outlet,
    departure: Departure,
    builtin: Builtin,
    remotes: BTreeMap<GuidPrefix, RemoteParticipant>,
    /// No lease of theirs ends before this.
    leases_at: Instant,
    farewells: Farewells,
    remote_writers: BTreeMap<Guid, Box<RemoteWriter>>,
    remote_readers: BTreeMap<Guid, Box<RemoteReader>>,
    local_writers: SortedMap<EntityId, Announced<LocalWriter>>,
    local_readers: SortedMap<EntityId, Announced<LocalReader>>,
    ignored: Ignored,
    /// New local readers, and until when each should have found a writer.
    expectant: SortedMap<EntityId, Instant>,
    /// Local writers and the readers they have to do with.
    writer_pairs: PairTable<MatchedReader>,
    /// Local readers and the writers they have to do with.
    reader_pairs: PairTable<MatchedWriter>,
    /// Addresses from which our own GUID was heard.
    impostors: SortedSet<Locator>,
    /// The wall clock when something last arrived.
    wall: Timestamp,
    reported: VecDeque<ParticipantEvent>,
    routing_changed: bool,
    rejects: RejectCounters,
    statistics: ParticipantStatistics,
}

/// Whether we are leaving.
///
/// ```text
/// Present --depart--> Leaving --poll_transmit--> Gone
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Departure {
    Present,
    /// Others are still to be told.
    Leaving,
    Gone,
}

impl Participant {
    /// A participant that announces itself from `now` on.
    pub fn new(now: Instant, config: ParticipantConfig) -> Self {
        let prefix = config.guid_prefix;
        let matches_max = config.limits.matches_per_endpoint_max;
        Self {
            announcement: config.announcement(),
            former: Former::default(),
            timer: AnnounceTimer::new(
                now,
                config.announce_period,
                config.announce_burst,
                &config.announce_to,
            ),
            probes: ProbeTimer::new(first_probe_at(now, &config.announce_to), config.probe.len()),
            jitter: Jitter::new(config.seed),
            message: MessageBuilder::new(prefix),
            replies: SortedSet::new(),
            inquiries: SortedSet::new(),
            guard: Guard::default(),
            claims: Claims::default(),
            endings: Endings::default(),
            census: Census::default(),
            outlet: Outlet::new(config.discovery_bytes_per_s_max),
            departure: Departure::Present,
            builtin: Builtin::new(&config),
            remotes: BTreeMap::new(),
            leases_at: Instant::FAR_FUTURE,
            farewells: Farewells::default(),
            remote_writers: BTreeMap::new(),
            remote_readers: BTreeMap::new(),
            local_writers: SortedMap::new(),
            local_readers: SortedMap::new(),
            ignored: Ignored::default(),
            expectant: SortedMap::new(),
            writer_pairs: PairTable::new(matches_max),
            reader_pairs: PairTable::new(matches_max),
            impostors: SortedSet::new(),
            wall: Timestamp::INVALID,
            reported: VecDeque::new(),
            routing_changed: false,
            rejects: RejectCounters::default(),
            statistics: ParticipantStatistics::default(),
            config,
        }
    }

    /// Who this is.
    pub fn prefix(&self) -> GuidPrefix {
        self.config.guid_prefix
    }

    /// Its settings.
    pub fn config(&self) -> &ParticipantConfig {
        &self.config
    }

    /// A submessage that arrived at `now` (`wall` by the wall clock) from the address `from` in
    /// `datagram`. Submessages for user endpoints are passed over.
    ///
    /// # Errors
    /// What was refused and why; it is counted in [`Participant::rejects`] already.
    pub fn handle_inbound(
        &mut self,
        now: Instant,
        wall: Timestamp,
        from: Locator,
        datagram: &SharedBytes,
        inbound: &Inbound<'_>,
    ) -> Result<(), Reject> {
        self.wall = wall;
        let own = self.config.guid_prefix;
        if inbound.destination != GuidPrefix::UNKNOWN && inbound.destination != own {
            return Ok(());
        }
        let outcome = if inbound.source == own {
            self.handle_own(from, inbound)
        } else {
            self.handle_foreign(now, wall, from, datagram, inbound)
        };
        outcome.inspect_err(|reject| self.rejects.count(reject.kind))
    }

    fn handle_foreign(
        &mut self,
        now: Instant,
        wall: Timestamp,
        from: Locator,
        datagram: &SharedBytes,
        inbound: &Inbound<'_>,
    ) -> Result<(), Reject> {
        let source = inbound.source;
        let spdp = matches!(inbound.target(), Target::Reader { writer, .. }
            if writer.entity == EntityId::SPDP_WRITER);
        // Announcements look at their source themselves: their sender may have moved.
        let remote = self.remotes.get(&source).filter(|_| !spdp);
        if remote.is_some_and(|remote| !self.is_credible(remote, from)) {
            return Err(Reject::new(RejectKind::Source, 0));
        }
        // Whoever knows our prefix, or answers, has heard us.
        let directed = inbound.destination == self.config.guid_prefix
            || matches!(inbound.target(), Target::Writer { .. });
        if !spdp {
            self.hear_stranger(now, source);
            self.note_at_home(now, source, from);
            if directed {
                self.handle_answered(now, source, from);
            }
        }
        match inbound.target() {
            Target::Reader { writer, .. } if writer.entity == EntityId::SPDP_WRITER => {
                match &inbound.submessage {
                    Submessage::Data(data) => {
                        let change = inbound.change(data, datagram, wall)?;
                        self.handle_announcement(now, from, inbound, &change)
                    }
                    // Announcements are best effort: nothing else has a meaning here.
                    _ => Err(Reject::new(RejectKind::Unexpected, 0)),
                }
            }
            Target::Reader { writer, .. } => {
                self.note_writer_runs_back(now, writer, &inbound.submessage);
                let outcome = self
                    .builtin
                    .handle_data(now, wall, datagram, inbound, writer);
                self.handle_arrivals();
                outcome
            }
            Target::Writer { reader, writer } => {
                self.note_reader_runs_back(now, from, reader, writer, &inbound.submessage);
                self.handle_answer(now, inbound, reader, writer)
            }
            Target::Nobody => Ok(()),
        }
    }

    /// When this participant wants to be called again, and why.
    pub fn poll_timeout(&self) -> Option<Deadline> {
        match self.departure {
            Departure::Gone => return None,
            Departure::Leaving | Departure::Present => {}
        }
        let mut next = Some((self.timer.next_at, Reason::Announce));
        next = earlier(next, self.probes.next_at.map(|at| (at, Reason::Probe)));
        next = earlier(next, self.lease_deadline());
        next = earlier(next, self.unserved_deadline());
        next = earlier(next, self.outlet.next_at().map(|at| (at, Reason::Pace)));
        earlier(next, self.builtin.poll_timeout())
    }

    /// Acts on deadlines that have passed; [`Participant::poll_transmit`] then sends what is due.
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.departure == Departure::Gone {
            return;
        }
        if self.timer.advance(now, &mut self.jitter) {
            self.probes.start_round(now);
        }
        self.probes.advance(now);
        self.end_leases(now);
        self.report_unserved(now);
        self.builtin.handle_timeout(now);
    }

    /// Sends whatever is due at `now`.
    pub fn poll_transmit(&mut self, now: Instant, outbox: &mut impl Outbox) {
        if self.departure == Departure::Gone {
            return;
        }
        self.handle_timeout(now);
        let mut outlet = core::mem::take(&mut self.outlet);
        let mut port = Port {
            outlet: &mut outlet,
            now,
            inner: outbox,
        };
        self.send_announcements(now, &mut port);
        self.builtin.poll_transmit(now, &mut port);
        if self.departure == Departure::Leaving {
            self.send_departure(&mut port);
            self.departure = Departure::Gone;
            outlet.release_all(now, outbox);
        }
        outlet.release(now, outbox);
        self.outlet = outlet;
    }

    /// Takes the next report.
    pub fn poll_event(&mut self) -> Option<ParticipantEvent> {
        if let Some(event) = self.reported.pop_front() {
            return Some(event);
        }
        core::mem::take(&mut self.routing_changed).then_some(ParticipantEvent::RoutingChanged)
    }

    fn report(&mut self, event: ParticipantEvent) {
        self.routing_changed = true;
        self.reported.push_back(event);
    }

    /// Bytes refused so far, by reason.
    pub fn rejects(&self) -> &RejectCounters {
        &self.rejects
    }

    /// Its counters.
    pub fn statistics(&self) -> ParticipantStatistics {
        ParticipantStatistics {
            withheld: self.guard.withheld,
            participants_unanswered: u64::try_from(self.census.unanswered()).unwrap_or(u64::MAX),
            discovery_dropped: self.outlet.dropped,
            ..self.statistics
        }
    }

    /// The local endpoints, without what they have to do with others.
    fn local_entities(&self) -> (Vec<EntityId>, Vec<EntityId>) {
        let writers = self.local_writers.keys().copied().collect();
        (writers, self.local_readers.keys().copied().collect())
    }
}
