//! A whole participant without sockets: its control machine, two writers and two readers, driven
//! the way the real driver does it, and watched.
//!
//! Every change is followed by a drain, and every drain by a look at what is held. It must never
//! look away: whatever is promised of hostile input is asserted here.

mod bounds;
mod credits;
mod inflate;
mod outbox;
mod setup;

use std::collections::BTreeSet;

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::guid::{EntityId, Guid};
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::locator::Locator;
use whimbrel_base::reject::{Reject, RejectCounters, RejectKind};
use whimbrel_base::time::{Duration, Instant, Timestamp};
use whimbrel_proto::cache::{CachedSample, Selector};
use whimbrel_proto::change::ChangeKind;
use whimbrel_proto::deadline::{Deadline, earlier};
use whimbrel_proto::peer::MatchedWriter;
use whimbrel_proto::reader::Incoming;
use whimbrel_proto::receive::{Inbound, MessageReceiver, Target};
use whimbrel_proto::writer::{NewChange, WriteError};
use whimbrel_proto::{Participant, ParticipantEvent, Reader, Writer};
use whimbrel_wire::message::Submessage;

use credits::Credits;
pub use outbox::{Outgoing, Packet};
pub use setup::{
    MEMORY_BYTES_MAX, READERS, TRUSTED, Topics, WRITERS, far_away, group, metatraffic, prefix,
    topics, user,
};

/// When every station starts.
pub const START: Instant = Instant(1_000_000_000);

/// The wall clock at [`START`], in nanoseconds.
const WALL_NS: i64 = 1_700_000_000_000_000_000;

/// How often a machine may ask to be called again at the same instant.
const ROUNDS_MAX: usize = 16;

/// Deadlines served on the way of one step of time; a longer step skips the rest, as a process
/// that was stopped does.
const TIMEOUTS_MAX: usize = 32;

/// A participant with its endpoints.
pub struct Station {
    /// The time there.
    pub now: Instant,
    /// How far its wall clock has been set forward, in nanoseconds.
    pub wall_step_ns: i64,
    /// The control machine.
    pub control: Participant,
    /// A reliable one of a topic with key, and a best-effort one of a topic without.
    pub writers: [Writer; 2],
    /// The same.
    pub readers: [Reader; 2],
    /// What was sent and not fetched yet.
    pub outgoing: Outgoing,
    number: u8,
    topics: Topics,
    credits: Credits,
    /// Our readers by the remote writers that they are matched with.
    routes: BTreeSet<(Guid, usize)>,
    refused: RejectCounters,
}

impl Station {
    /// Station `number`, from 1, that writes and reads `topics`.
    pub fn new(number: u8, topics: Topics) -> Self {
        let mut station = Self {
            now: START,
            wall_step_ns: 0,
            control: Participant::new(START, setup::participant(number)),
            writers: [0, 1].map(|index| Writer::new(setup::writer(number, index))),
            readers: [0, 1].map(|index| Reader::new(setup::reader(number, index))),
            outgoing: Outgoing::default(),
            number,
            topics,
            credits: Credits::default(),
            routes: BTreeSet::new(),
            refused: RejectCounters::default(),
        };
        for index in [0, 1] {
            station.announce_writer(index);
            station.announce_reader(index);
        }
        station
    }

    /// From where it sends.
    pub fn address(&self) -> Locator {
        metatraffic(self.number)
    }

    /// True when a datagram to this address arrives here.
    pub fn listens_at(&self, to: Locator) -> bool {
        [group(), metatraffic(self.number), user(self.number)].contains(&to)
    }

    /// The wall clock.
    pub fn wall(&self) -> Timestamp {
        let time = WALL_NS.saturating_add_unsigned(self.now.0);
        Timestamp(time.saturating_add(self.wall_step_ns))
    }

    /// Announces the writer `index`, again where it was announced before.
    pub fn announce_writer(&mut self, index: usize) {
        let local = setup::local_writer(index, self.topics.writes[index]);
        self.control.add_writer(self.now, local);
        self.drain();
    }

    /// Announces the reader `index`, again where it was announced before.
    pub fn announce_reader(&mut self, index: usize) {
        let local = setup::local_reader(index, self.topics.reads[index]);
        self.control.add_reader(self.now, local);
        self.drain();
    }

    /// Closes the writer `index`; a new one may be announced later.
    pub fn close_writer(&mut self, index: usize) {
        self.control.remove_writer(self.now, WRITERS[index]);
        self.writers[index] = Writer::new(setup::writer(self.number, index));
        self.drain();
    }

    /// Closes the writer `index` and opens one in its place that writes batches.
    pub fn batch_writer(&mut self, index: usize) {
        self.control.remove_writer(self.now, WRITERS[index]);
        self.writers[index] = Writer::new(setup::batch_writer(self.number, index));
        self.announce_writer(index);
    }

    /// Closes the reader `index`; a new one may be announced later.
    pub fn close_reader(&mut self, index: usize) {
        self.control.remove_reader(self.now, READERS[index]);
        self.readers[index] = Reader::new(setup::reader(self.number, index));
        self.routes.retain(|(_, reader)| *reader != index);
        self.drain();
    }

    /// Leaves the bus.
    pub fn depart(&mut self) {
        self.control.depart(self.now);
        self.drain();
    }

    /// A datagram from the address `from`.
    pub fn receive(&mut self, from: Locator, datagram: &[u8]) {
        let datagram = match inflate::message(datagram) {
            Ok(plain) => plain.unwrap_or_else(|| SharedBytes::copy_from(datagram)),
            Err(reject) => return self.refused.count(reject.kind),
        };
        let receiver = match MessageReceiver::new(&datagram, self.control.prefix()) {
            Ok(receiver) => receiver,
            Err(reject) => return self.refused.count(reject.kind),
        };
        let source = receiver.source();
        for inbound in receiver {
            if inbound.is_ok()
                && let Some(heard) = self.control.heard(source)
            {
                heard.note(self.now);
            }
            let outcome = inbound.and_then(|inbound| self.route(from, &datagram, &inbound));
            if let Err(reject) = outcome {
                self.refused.count(reject.kind);
            }
            self.drain();
        }
    }

    /// Everything refused so far, by reason.
    pub fn rejects(&self) -> RejectCounters {
        let mut all = self.refused.clone();
        all.add(self.control.rejects());
        all
    }

    fn route(
        &mut self,
        from: Locator,
        datagram: &SharedBytes,
        inbound: &Inbound<'_>,
    ) -> Result<(), Reject> {
        let (now, wall) = (self.now, self.wall());
        let stranger = Reject::new(RejectKind::Stranger, 0);
        match inbound.target() {
            Target::Reader { writer, reader }
                if writer.entity.is_builtin() || reader.is_builtin() =>
            {
                self.discover(from, datagram, inbound);
                Ok(())
            }
            Target::Writer { writer, .. } if writer.is_builtin() => {
                self.discover(from, datagram, inbound);
                Ok(())
            }
            Target::Reader { writer, reader } => {
                let mut outcome = None;
                for index in [0, 1] {
                    let named = reader == READERS[index]
                        || (reader == EntityId::UNKNOWN && self.routes.contains(&(writer, index)));
                    if named {
                        // One reader's refusal is not another's.
                        let machine = &mut self.readers[index];
                        let said =
                            machine.handle_inbound(now, wall, writer, datagram, inbound, compacted);
                        outcome = Some(outcome.unwrap_or(Ok(())).and(said));
                    }
                }
                outcome.unwrap_or(Err(stranger))
            }
            Target::Writer { reader, writer } => {
                let named = self.writers.iter_mut();
                let machine = named.into_iter().find(|it| it.guid().entity == writer);
                let machine = machine.ok_or(stranger)?;
                match &inbound.submessage {
                    Submessage::AckNack(it) => machine.handle_acknack(now, reader, it),
                    Submessage::NackFrag(it) => machine.handle_nack_frag(now, reader, it),
                    _ => Ok(()),
                }
            }
            Target::Nobody => Ok(()),
        }
    }

    /// The control machine counts what it refuses itself.
    fn discover(&mut self, from: Locator, datagram: &SharedBytes, inbound: &Inbound<'_>) {
        let (now, wall) = (self.now, self.wall());
        let _ = self
            .control
            .handle_inbound(now, wall, from, datagram, inbound);
        self.credits.heard(&self.control, from, inbound);
    }

    /// Lets time pass, serving the deadlines on the way.
    pub fn advance(&mut self, span: Duration) {
        let end = self.now.after(span);
        for _ in 0..TIMEOUTS_MAX {
            let Some((at, _)) = self.next_deadline().filter(|(at, _)| *at <= end) else {
                break;
            };
            self.now = at.max(self.now);
            self.drain();
        }
        self.now = end;
        self.drain();
    }

    /// When some machine wants to be called next.
    pub fn next_deadline(&self) -> Option<Deadline> {
        let writers = self.writers.iter().map(Writer::poll_timeout);
        let readers = self.readers.iter().map(Reader::poll_timeout);
        let all = writers.chain(readers).chain([self.control.poll_timeout()]);
        all.fold(None, earlier)
    }

    /// Writes `payload`, encapsulation included, to the instance `key` of the writer `index`.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(
        &mut self,
        index: usize,
        kind: ChangeKind,
        key: u8,
        payload: Vec<u8>,
    ) -> Result<(), WriteError> {
        let instance = if index == 0 {
            setup::instance(key)
        } else {
            InstanceHandle::NIL
        };
        let timestamp = self.wall();
        let change = NewChange {
            packed: whimbrel_proto::writer::Packed::Untried,
            kind,
            instance,
            timestamp,
            payload: SharedBytes::from_vec(payload).into(),
        };
        let outcome = self.writers[index].write(self.now, change);
        self.drain();
        outcome.map(drop)
    }

    /// Takes, or reads, everything of the reader `index`.
    pub fn fetch(&mut self, index: usize, take: bool) -> Vec<CachedSample> {
        let mut samples = Vec::new();
        let cache = self.readers[index].cache_mut();
        if take {
            cache.take(&Selector::ALL, &mut samples);
            self.readers[index].handle_room(self.now);
        } else {
            cache.read(&Selector::ALL, &mut samples);
        }
        self.drain();
        samples
    }

    /// Sends and applies whatever follows from a change, until all machines rest.
    pub fn drain(&mut self) {
        let now = self.now;
        for round in 0.. {
            self.outgoing.begin_round();
            self.control.handle_timeout(now);
            self.control.poll_transmit(now, &mut self.outgoing);
            let mut news = false;
            while let Some(event) = self.control.poll_event() {
                news = true;
                self.apply(event);
            }
            for writer in &mut self.writers {
                writer.handle_timeout(now);
                writer.poll_transmit(now, &mut self.outgoing);
                while writer.poll_event().is_some() {}
            }
            for reader in &mut self.readers {
                reader.handle_timeout(now);
                reader.poll_transmit(now, &mut self.outgoing);
                while reader.poll_event().is_some() {}
            }
            let due = self.next_deadline().filter(|(at, _)| *at <= now);
            if due.is_none() && !news {
                break;
            }
            assert!(round < ROUNDS_MAX, "called again and again for {due:?}");
        }
        self.check_bounds();
    }

    fn apply(&mut self, event: ParticipantEvent) {
        let now = self.now;
        let position = |of: &[EntityId; 2], entity| of.iter().position(|it| *it == entity);
        match event {
            ParticipantEvent::ReaderMatched { writer, reader } => {
                if let Some(index) = position(&WRITERS, writer) {
                    self.writers[index].handle_matched(now, reader);
                }
            }
            ParticipantEvent::ReaderUnmatched {
                writer,
                reader,
                lost,
            } => {
                if let Some(index) = position(&WRITERS, writer) {
                    self.writers[index].handle_unmatched(now, reader, lost);
                }
            }
            ParticipantEvent::WriterMatched { reader, writer } => {
                if let Some(index) = position(&READERS, reader) {
                    self.match_writer(index, writer);
                }
            }
            ParticipantEvent::WriterUnmatched { reader, writer } => {
                if let Some(index) = position(&READERS, reader) {
                    self.unmatch_writer(index, writer);
                }
            }
            _ => {}
        }
    }

    /// Lets the reader `index` listen to `writer`; drain afterwards.
    pub fn match_writer(&mut self, index: usize, writer: MatchedWriter) {
        self.routes.insert((writer.guid, index));
        self.readers[index].handle_matched(self.now, writer);
    }

    /// The reader `index` listens to `writer` no more; drain afterwards.
    pub fn unmatch_writer(&mut self, index: usize, writer: Guid) {
        self.routes.remove(&(writer, index));
        let wall = self.wall();
        self.readers[index].handle_unmatched(self.now, wall, writer);
    }
}

/// The change, apart from the datagram in which it came.
fn compacted(mut change: Incoming) -> Incoming {
    change.payload = change.payload.compacted();
    change
}
