//! The writer machine. RTPS 2.5 §8.4.2, §8.4.7–§8.4.9.
//!
//! One machine serves best-effort and reliable readers. New changes are *pushed* once to the union
//! of all readers' locators; what a reliable reader reports missing is *repaired* for it alone.
//! Late joiners are served by the same repair: a heartbeat tells them what there is and they ask
//! for what they want. It must never wait: what cannot go on yet is a deadline.
//!
//! Start reading at [`Writer::write`], then `transmit.rs`.

mod acknowledge;
mod alone;
mod ask;
#[cfg(test)]
mod ask_tests;
mod audience;
mod batch;
#[cfg(test)]
mod batch_tests;
mod batched;
mod bundle;
mod change;
mod config;
mod divide;
#[cfg(test)]
mod edges;
mod endings;
mod fates;
mod flow;
#[cfg(test)]
mod form_tests;
mod forms;
mod gather;
mod heartbeat;
mod history;
mod instances;
mod matches;
mod pace;
mod pass;
mod push;
mod queries;
mod reader_proxy;
mod room;
mod statistics;
#[cfg(test)]
mod tests;
mod transmit;
mod window;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::hint::cold_path;

use whimbrel_base::agenda::Agenda;
use whimbrel_base::bucket::Bucket;
pub use whimbrel_base::bucket::FlowLimits;
use whimbrel_base::budget::Account;
use whimbrel_base::credit::Credit;
use whimbrel_base::guid::Guid;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::patience::Patience;
pub use whimbrel_base::rate::SharedRate;
use whimbrel_base::sequence::{Count, FragmentNumber, SequenceNumber};
use whimbrel_base::sorted::BoxedMap;
use whimbrel_base::time::{Duration, Instant};

use self::audience::Audience;
use self::batch::Batches;
pub use self::batch::{BatchLimits, BlockPacker};
use self::bundle::{Bundle, Cause};
pub use self::bundle::{Bundling, BundlingStatistics};
use self::change::slab_bytes;
pub use self::change::{Change, Form, NewChange, Packed};
pub use self::config::WriterConfig;
use self::endings::Endings;
use self::fates::Pushes;
use self::forms::Forms;
use self::history::{HistoryCache, INLINE_QOS_BYTES};
use self::pace::Pace;
use self::reader_proxy::ReaderProxy;
pub use self::statistics::WriterStatistics;
use self::window::Window;
use crate::change::ChangeKind;
use crate::deadline::Reason;
use crate::message::MessageBuilder;

/// Octets of headers around a payload at most: message, INFO_DST, INFO_TS, DATA_FRAG with inline
/// QoS, and a piggybacked HEARTBEAT.
const MESSAGE_OVERHEAD_BYTES: usize = 192;

/// Octets around a fragment at most, or around a change that travels whole: message, INFO_DST,
/// INFO_TS, DATA_FRAG. RTPS 2.5 §9.4.
const FRAGMENT_OVERHEAD_BYTES: usize = 84;

/// The largest datagram that Fast DDS receives, in octets.
const DATAGRAM_BYTES_MAX: usize = 65_500;

/// Why a change was not written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WriteError {
    /// History is full of changes that readers still need; try again after
    /// [`WriterEvent::Progress`].
    WouldBlock,
    /// The payload is over the limit, in octets.
    TooLarge {
        /// The limit.
        bytes_max: usize,
    },
    /// RESOURCE_LIMITS allows no further instance.
    TooManyInstances,
    /// The budget allows no further change. Nothing was changed then.
    OutOfMemory,
}

/// What a writer reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WriterEvent {
    /// Acknowledgements advanced or history has room again.
    Progress,
    /// A reliable reader answered for the first time: it knows this writer.
    ReaderConfirmed(Guid),
    /// A reader no longer holds back history because it does not progress.
    ReaderGivenUp(Guid),
    /// A reader that had been given up answers again.
    ReaderResumed(Guid),
    /// An instance disposed long ago is no longer registered.
    InstanceForgotten(InstanceHandle),
}

/// When to ask readers for acknowledgements.
#[derive(Debug, Default)]
struct HeartbeatTimer {
    count: Count,
    next_at: Option<Instant>,
    /// Whether somebody owes an answer may have changed.
    reconsider: bool,
    period: Duration,
    sent_at: Option<Instant>,
    /// Changes pushed since acknowledgement was last asked for.
    pushed_since_asked: u32,
    /// Changes pushed since the last heartbeat of any kind.
    pushed_since_sent: u32,
}

/// The writer machine.
#[derive(Debug)]
pub struct Writer {
    config: WriterConfig,
    history: HistoryCache,
    readers: BoxedMap<Guid, ReaderProxy>,
    audience: Audience,
    /// How many readers are in this process and have taken everything.
    aside: usize,
    /// Who of them gets changes compressed.
    forms: Forms,
    /// When readers' requests may be served.
    repairs: Agenda<Guid, Reason>,
    /// Readers that asked for a heartbeat.
    heartbeats_due: Vec<Guid>,
    /// Everything up to here has left completely.
    pushed: SequenceNumber,
    /// Next fragment of the change after `pushed`.
    push_next: FragmentNumber,
    acked: SequenceNumber,
    window: Window,
    heartbeat: HeartbeatTimer,
    /// How long readers take to answer.
    patience: Patience,
    /// How fast fragments leave where no reader answers.
    pace: Pace,
    /// When held up fragments may leave.
    paced_until: Option<Instant>,
    pushes: Pushes,
    /// When new changes last left, where they are to leave together.
    departed_at: Option<Instant>,
    /// New changes wait until then.
    held_until: Option<Instant>,
    /// What may be under way to readers that acknowledge nothing.
    credit: Credit,
    /// What may leave in which time, where that is limited.
    bucket: Option<Bucket>,
    /// What waits to leave with others.
    bundle: Bundle,
    /// What is known of batches, where they are sent.
    batches: Option<Batches>,
    /// New changes were sent, and nobody has asked how long that took.
    departed: bool,
    /// A reader that has acknowledged no more than all have.
    laggard: Option<Guid>,
    /// A reader that owes an answer.
    debtor: Option<Guid>,
    /// A reader that needs to hear of the first instance that ended.
    unaware: Option<Guid>,
    blocked_since: Option<Instant>,
    endings: Endings,
    progress: bool,
    ask_now: bool,
    reported: VecDeque<WriterEvent>,
    /// Puts messages together; empty while that is done, and before the first.
    message: Option<Box<MessageBuilder>>,
    statistics: WriterStatistics,
}

impl Writer {
    /// A writer with an empty history and no readers.
    pub fn new(config: WriterConfig) -> Self {
        let rate = config.shared_rate.clone();
        Self {
            message: None,
            pace: Pace::new(config.bytes_per_second_max, config.burst_bytes, false),
            history: HistoryCache::new(Account::new(config.budget.clone())),
            readers: BoxedMap::new(),
            audience: Audience::new(config.packed_messages),
            aside: 0,
            forms: Forms::default(),
            repairs: Agenda::default(),
            heartbeats_due: Vec::new(),
            pushed: SequenceNumber::ZERO,
            push_next: FragmentNumber::FIRST,
            acked: SequenceNumber::ZERO,
            window: Window::default(),
            heartbeat: HeartbeatTimer {
                period: config.heartbeat_period,
                ..Default::default()
            },
            patience: Patience::default(),
            paced_until: None,
            pushes: Pushes::default(),
            departed_at: None,
            held_until: None,
            credit: Credit::new(config.bytes_per_second_max),
            bucket: config.flow.map(Bucket::new),
            bundle: Bundle::new(config.bundling, rate),
            batches: config
                .batch
                .map(|limits| Batches::new(limits, Account::new(config.budget.clone()))),
            departed: false,
            laggard: None,
            debtor: None,
            unaware: None,
            blocked_since: None,
            endings: Endings::default(),
            progress: false,
            ask_now: false,
            reported: VecDeque::new(),
            statistics: WriterStatistics::default(),
            config,
        }
    }

    /// Who this is.
    pub fn guid(&self) -> Guid {
        self.config.guid
    }

    /// Its settings.
    pub fn config(&self) -> &WriterConfig {
        &self.config
    }

    /// Its counters.
    pub fn statistics(&self) -> WriterStatistics {
        WriterStatistics {
            bundling: self.bundle.statistics,
            batches: self.batches.as_ref().map_or(0, Batches::sent),
            ..self.statistics
        }
    }

    /// Adds a change to history; [`Writer::poll_transmit`] sends it.
    ///
    /// # Errors
    /// [`WriteError::WouldBlock`] when history has no room: nothing was changed then.
    pub fn write(
        &mut self,
        now: Instant,
        mut new: NewChange,
    ) -> Result<SequenceNumber, WriteError> {
        self.write_from(now, &mut new)
    }

    /// As [`Writer::write`], but `new` is left whole where there is an error, so that it can be
    /// tried again.
    ///
    /// # Errors
    /// As [`Writer::write`].
    pub fn write_from(
        &mut self,
        now: Instant,
        new: &mut NewChange,
    ) -> Result<SequenceNumber, WriteError> {
        if self.takes_over(new) {
            return Ok(self.write_over(now, new));
        }
        self.write_beside(now, new)
    }

    /// As [`Writer::write_from`], however much history there is.
    #[inline(never)]
    fn write_beside(
        &mut self,
        now: Instant,
        new: &mut NewChange,
    ) -> Result<SequenceNumber, WriteError> {
        if new.payload.len() > self.config.sample_bytes_max {
            return Err(WriteError::TooLarge {
                bytes_max: self.config.sample_bytes_max,
            });
        }
        let known = self.history.known(new.instance);
        if !known.is_known && self.history.instance_count() >= self.config.instances_max {
            return Err(WriteError::TooManyInstances);
        }
        let mut kind = new.kind;
        if kind == ChangeKind::Unregistered && self.is_disposed(new.instance) {
            // HISTORY may give up the disposal for this change, which then must tell of both.
            kind = ChangeKind::DisposedUnregistered;
        }
        let bytes = slab_bytes(&new.payload, &new.packed);
        if !self.has_memory(&known, bytes) {
            return Err(WriteError::OutOfMemory);
        }
        if !self.make_room(new, known) {
            self.history.settle();
            self.bundle.leave(Cause::Room);
            self.blocked_since.get_or_insert(now);
            self.ask_now = self.audience.holds_history() && self.awaited(now).is_none();
            self.statistics.blocked = self.statistics.blocked.saturating_add(1);
            return Err(WriteError::WouldBlock);
        }
        let pressed = self.blocked_since.take().is_some();
        let charged_bytes = self.count_written(new.payload.len());
        let instance = new.instance;
        let fragment_bytes = self.fragment_bytes(kind);
        let sequence = self.history.push(|sequence| Change {
            sequence,
            kind,
            instance,
            timestamp: new.timestamp,
            payload: core::mem::take(&mut new.payload),
            packed: core::mem::take(&mut new.packed),
            fragment_bytes,
            charged_bytes,
        });
        self.note_kind(kind, (instance, known.is_registered), sequence);
        self.gather(now, pressed);
        Ok(sequence)
    }

    /// Counts a change with a payload of `bytes`; gives what is charged up to it.
    fn count_written(&mut self, bytes: usize) -> u64 {
        self.statistics.count_written(bytes);
        if let Some(batches) = &mut self.batches {
            batches.note_written(bytes);
        }
        self.window.note_written(bytes)
    }

    /// Notes what a change of `kind` makes of its instance, which `is_registered` or not.
    fn note_kind(
        &mut self,
        kind: ChangeKind,
        (instance, is_registered): (InstanceHandle, bool),
        sequence: SequenceNumber,
    ) {
        if kind.unregisters() {
            self.history.unregister(instance);
            // A late joiner has no use for the end of what it never saw.
            let nothing_else = self.history.depth(instance) == 1;
            if self.config.durable && (kind.disposes() || nothing_else) {
                self.endings.release(instance, sequence);
            }
            return;
        }
        if !is_registered {
            self.history.register(instance);
        }
        if kind.disposes() {
            self.endings.dispose(instance, sequence);
        } else {
            self.endings.revive(instance);
        }
    }

    fn is_disposed(&self, instance: InstanceHandle) -> bool {
        self.history
            .newest(instance)
            .is_some_and(|change| change.kind.disposes())
    }

    /// Octets in a fragment of a change of `kind`.
    fn fragment_bytes(&self, kind: ChangeKind) -> u16 {
        if self.batches.is_some() {
            // A batch has no fragments: it is as large a datagram as it takes.
            return 65_532;
        }
        let inline_qos = match kind {
            ChangeKind::Alive => 0,
            _ => INLINE_QOS_BYTES,
        };
        let bytes = self
            .message_bytes_max()
            .saturating_sub(FRAGMENT_OVERHEAD_BYTES.saturating_add(inline_qos))
            .clamp(64, 65_532);
        u16::try_from(bytes & !3).unwrap_or(65_532)
    }

    /// Registers an instance without writing. DDS 1.4 §2.2.2.4.2.5.
    ///
    /// # Errors
    /// [`WriteError::TooManyInstances`] when RESOURCE_LIMITS allows no more.
    pub fn register_instance(&mut self, instance: InstanceHandle) -> Result<(), WriteError> {
        if !self.history.knows(instance)
            && self.history.instance_count() >= self.config.instances_max
        {
            return Err(WriteError::TooManyInstances);
        }
        self.history.register(instance);
        self.endings.revive(instance);
        Ok(())
    }

    /// Number of the newest change.
    pub fn last_sequence(&self) -> SequenceNumber {
        self.history.last()
    }

    /// Everything up to here is acknowledged by every reliable reader that is not given up.
    pub fn acknowledged_through(&self) -> SequenceNumber {
        self.acked
    }

    /// True when every reliable reader that is not given up has acknowledged everything up to
    /// `sequence`, history that a late joiner still has to fetch included.
    pub fn is_acknowledged(&self, sequence: SequenceNumber) -> bool {
        self.pushed >= sequence
            && self
                .holding_readers()
                .all(|reader| reader.acked >= sequence)
    }

    /// Leaves what has not been sent completely to be asked for, so that a KEEP_LAST writer may
    /// replace it.
    pub fn skip_unsent(&mut self) {
        self.pushed = self.history.last();
        self.push_next = FragmentNumber::FIRST;
        self.heartbeat.reconsider = true;
        self.bundle.skip();
    }

    /// True when some reader takes compressed changes, or one that does may come for what is
    /// written now.
    pub fn wants_packed(&self) -> bool {
        // Batches are compressed as a whole.
        self.batches.is_none() && (self.config.durable || self.forms.wanted)
    }

    /// Number of matched readers.
    pub fn reader_count(&self) -> usize {
        self.readers.len()
    }

    /// True when `reader` has answered, or needs not because it is best effort.
    pub fn is_confirmed(&self, reader: Guid) -> bool {
        self.readers
            .get(&reader)
            .is_some_and(|proxy| proxy.confirmed || !proxy.info.reliable || !self.config.reliable)
    }

    fn holding_readers(&self) -> impl Iterator<Item = &ReaderProxy> {
        let reliable = self.config.reliable;
        self.readers
            .values()
            .filter(move |reader| reliable && reader.holds_history())
    }

    fn message_bytes_max(&self) -> usize {
        self.audience
            .message_bytes_max()
            .min(self.config.message_bytes_max)
            .min(DATAGRAM_BYTES_MAX)
    }

    /// Takes the next report.
    pub fn poll_event(&mut self) -> Option<WriterEvent> {
        if core::mem::take(&mut self.progress) {
            return Some(WriterEvent::Progress);
        }
        if self.reported.is_empty() {
            return None;
        }
        cold_path();
        self.reported.pop_front()
    }
}
