//! A local writer: its machine under its own lock, and who is told of its statuses.

mod answers;
mod bundle;
mod draft;
mod drain;
mod due;
mod keep;
pub(crate) mod key;
mod pass;
mod receive;

use std::collections::BTreeMap;

use whimbrel_base::budget::Account;
use whimbrel_base::buffer::{BufferPool, Compactor};
use whimbrel_base::guid::Guid;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::qos::PolicyId;
use whimbrel_base::reject::RejectCounters;
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::sorted::SortedSet;
use whimbrel_base::status::{
    LivelinessLost, OfferedDeadlineMissed, OfferedIncompatibleQos, PublicationMatched, StatusKind,
    StatusMask,
};
use whimbrel_base::time::Instant;
use whimbrel_proto::peer::MatchedReader;
use whimbrel_proto::writer::{WriteError, Writer, WriterConfig};

use self::answers::Answers;
pub(crate) use self::draft::Draft;
use self::draft::LastStamp;
use super::clock;
use super::compression::{Packer, PlainCounts};
use super::direct::KnownLine;
use super::engine::Engine;
use super::handle::handle_of;
use super::manners::Manners;
use super::neighbours::{self, Handed, Neighbour};
use super::packing::{BundlePacker, Packing};
use super::sockets::Sockets;
use super::status::{EntityStatus, News};
use super::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use super::sync::{Arc, Mutex, MutexGuard, Weak, lock};
use super::timers::TimerSlot;
use super::wake::Bell;
use super::warning::Warnings;

/// Slab size of the pool that samples are encoded into.
const SLAB_BYTES: usize = 4096;

/// Slabs remembered while history or readers hold them.
const SLABS: usize = 1024;

/// A writer that is blocked waits so long for more room than for one change, so that it does not
/// block and ask at every one.
const ROOM_PATIENCE: std::time::Duration = std::time::Duration::from_millis(2);

const MATCHED: StatusMask = StatusMask::of(StatusKind::PublicationMatched);

/// Statuses of a writer. DDS 1.4 §2.2.4.1.
#[derive(Default)]
pub(crate) struct WriterStatuses {
    pub(crate) publication_matched: PublicationMatched,
    pub(crate) offered_incompatible_qos: OfferedIncompatibleQos,
    pub(crate) liveliness_lost: LivelinessLost,
    pub(crate) offered_deadline_missed: OfferedDeadlineMissed,
}

/// What a kept key takes beside its octets.
const KEY_BYTES: usize = 64;

/// What a writer's lock guards.
pub(crate) struct WriterState {
    pub(crate) machine: Writer,
    pub(crate) pool: BufferPool,
    /// Keeps small samples where many are kept.
    compactor: Compactor,
    /// Makes bundles smaller, where that is wanted.
    pub(crate) packer: Option<BundlePacker>,
    /// Makes samples smaller, where that is wanted; not held while one is.
    pub(crate) sample_packer: Option<Arc<Mutex<Packer>>>,
    /// Samples of which it is known as they are written that they leave as they are.
    pub(crate) plain: PlainCounts,
    /// Octets that wait, as the participant has counted them.
    waiting_bytes: usize,
    /// It is known as one whose samples wait.
    is_waiting: bool,
    /// From when on slabs may be given back again.
    trim_at: Instant,
    pub(crate) statuses: WriterStatuses,
    pub(crate) matched: SortedSet<Guid>,
    /// The serialized key of each registered instance.
    pub(crate) keys: BTreeMap<InstanceHandle, Box<[u8]>>,
    /// What `keys` hold.
    key_account: Account,
    /// Matched readers whose participants know of this writer.
    confirmed: SortedSet<Guid>,
    /// Readers given up and not warned of yet.
    given_up: Vec<Guid>,
    /// Matched readers of this process, in the order of their GUIDs.
    neighbours: Arc<Vec<Neighbour>>,
    handed: Handed,
    /// What readers were asked about when whoever wrote looked for the answer last.
    looked_for: Option<SequenceNumber>,
    last_stamp: LastStamp,
    line: KnownLine,
}

impl WriterState {
    /// How its bundles are compressed, where they are.
    fn packing(&self) -> Option<Packing> {
        self.packer.as_ref().map(BundlePacker::packing)
    }

    /// True, once for each, where there may be an answer to a question of late: whoever writes had
    /// better receive it. Another thread would take the core from him, and find the lock held.
    #[inline(always)]
    fn is_time_to_look(&mut self, now: Instant) -> bool {
        let awaited = self.machine.awaited(now);
        awaited.is_some() && std::mem::replace(&mut self.looked_for, awaited) != awaited
    }

    /// Readers that are matched in both directions.
    fn ready_count(&self) -> usize {
        let both =
            |guid: &&Guid| self.confirmed.contains(guid) && self.machine.is_confirmed(**guid);
        self.matched.iter().filter(both).count()
    }

    /// Keeps `key`, if there is one, while `instance` is registered, so that there are never more
    /// keys than RESOURCE_LIMITS allows instances.
    pub(crate) fn note_key(&mut self, instance: InstanceHandle, key: Option<Box<[u8]>>) {
        if !self.machine.is_registered(instance) {
            self.forget_key(instance);
        } else if let Some(key) = key {
            self.forget_key(instance);
            let bytes = key.len().saturating_add(KEY_BYTES);
            self.key_account
                .set(self.key_account.held().saturating_add(bytes));
            self.keys.insert(instance, key);
        }
    }

    fn forget_key(&mut self, instance: InstanceHandle) {
        if let Some(key) = self.keys.remove(&instance) {
            let bytes = key.len().saturating_add(KEY_BYTES);
            self.key_account
                .set(self.key_account.held().saturating_sub(bytes));
        }
    }

    /// Octets that keys hold.
    pub(super) fn key_bytes(&self) -> usize {
        self.key_account.held()
    }
}

/// A local writer.
pub(crate) struct WriterCore {
    pub(crate) guid: Guid,
    me: Weak<Self>,
    state: Mutex<WriterState>,
    answers: Answers,
    pub(crate) status: Arc<EntityStatus>,
    /// The bell of `status`: rings at every change.
    pub(crate) bell: Arc<Bell>,
    /// Threads that wait for room in history.
    blocked: AtomicUsize,
    timer: TimerSlot,
    /// The next deadline of the machine, or an earlier moment.
    due_at: AtomicU64,
    /// How often the look at what is due was put off.
    put_off: AtomicU32,
    /// That of samples that began to wait for others by themselves.
    wait_ends_at: AtomicU64,
    /// How much later than that a look is enough, in nanoseconds.
    lateness: AtomicU64,
    sockets: Arc<Sockets>,
    engine: Arc<Engine>,
    warnings: Arc<Warnings>,
    /// Of the participant.
    rejects: Arc<Mutex<RejectCounters>>,
    /// Readers that must be matched in both directions before anything is written.
    awaited: AtomicUsize,
    /// Some reader in `given_up` was not warned of yet.
    gave_up: AtomicBool,
    /// There are neighbours.
    hands_over: AtomicBool,
    /// Nobody needs what is written encoded.
    passes_values: AtomicBool,
    manners: Manners,
}

impl WriterCore {
    pub(crate) fn new(
        config: WriterConfig,
        sockets: Arc<Sockets>,
        engine: Arc<Engine>,
        status: Arc<EntityStatus>,
        warnings: Arc<Warnings>,
        rejects: Arc<Mutex<RejectCounters>>,
        manners: Manners,
    ) -> Arc<Self> {
        let key_account = Account::new(config.budget.clone());
        Arc::new_cyclic(|me| Self {
            guid: config.guid,
            me: me.clone(),
            state: Mutex::new(WriterState {
                machine: Writer::new(config),
                pool: BufferPool::new(SLAB_BYTES, SLABS),
                compactor: Compactor::default(),
                packer: None,
                sample_packer: None,
                plain: PlainCounts::default(),
                waiting_bytes: 0,
                is_waiting: false,
                trim_at: Instant::ZERO,
                statuses: WriterStatuses::default(),
                matched: SortedSet::new(),
                keys: BTreeMap::new(),
                key_account,
                confirmed: SortedSet::new(),
                given_up: Vec::new(),
                neighbours: Arc::default(),
                handed: Handed::default(),
                looked_for: None,
                last_stamp: LastStamp::default(),
                line: KnownLine::default(),
            }),
            answers: Answers::default(),
            bell: Arc::clone(&status.bell),
            status,
            blocked: AtomicUsize::new(0),
            timer: TimerSlot::default(),
            due_at: AtomicU64::new(0),
            put_off: AtomicU32::new(0),
            wait_ends_at: AtomicU64::new(0),
            lateness: AtomicU64::new(0),
            sockets,
            engine,
            warnings,
            rejects,
            awaited: AtomicUsize::new(0),
            gave_up: AtomicBool::new(false),
            hands_over: AtomicBool::new(false),
            passes_values: AtomicBool::new(false),
            manners,
        })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, WriterState> {
        lock(&self.state)
    }

    /// True while all that is written leaves as messages, and nothing is handed over.
    pub(crate) fn sends_all(&self) -> bool {
        !self.hands_over.load(Ordering::Acquire)
    }

    /// True while nobody needs what is written encoded: all readers are neighbours that take values
    /// as the program has them.
    pub(crate) fn passes_values(&self) -> bool {
        self.passes_values.load(Ordering::Acquire)
    }

    /// After readers or neighbours have changed.
    fn note_neighbours(&self, state: &WriterState) {
        let all = &state.neighbours;
        let alone = all.len() == state.matched.len() && all.len() <= neighbours::AT_ONCE_MAX;
        let by_value = alone && all.iter().all(Neighbour::takes_values);
        let passes = by_value && !all.is_empty() && !state.machine.config().durable;
        self.hands_over.store(!all.is_empty(), Ordering::Release);
        self.passes_values.store(passes, Ordering::Release);
    }

    /// Writes a change that was encoded under the lock `state`; blocks while history is full, as
    /// long as `max_blocking` says.
    ///
    /// # Errors
    /// What the machine refuses; `WouldBlock` when the wait was too long.
    pub(crate) fn write(
        &self,
        state: MutexGuard<'_, WriterState>,
        draft: &mut Draft,
        max_blocking: impl FnOnce() -> Option<std::time::Duration>,
    ) -> Result<SequenceNumber, WriteError> {
        let mut state = state;
        if !state.neighbours.is_empty() {
            state = match self.pass_or_not(state, draft) {
                Ok(sequence) => return Ok(sequence),
                Err(state) => state,
            };
        }
        let started = draft.began.take().unwrap_or_else(clock::now);
        match self.admit(&mut state, started, draft) {
            Err(WriteError::WouldBlock) => self.drain(state, started),
            outcome => {
                let looks_for_answer = state.is_time_to_look(started);
                self.dispatch(state, started);
                if looks_for_answer {
                    self.bell.receive_now();
                }
                if self.blocked.load(Ordering::SeqCst) > 0 {
                    // Whoever waits must look again, or the machine takes it for gone.
                    self.bell.ring();
                }
                return outcome;
            }
        }
        let deadline = max_blocking().and_then(clock::deadline);
        self.blocked.fetch_add(1, Ordering::SeqCst);
        let soon = clock::deadline(ROOM_PATIENCE);
        let soon = [soon, deadline].into_iter().flatten().min();
        let waited = self
            .bell
            .wait_until(soon, || self.try_resume(draft))
            .or_else(|| self.bell.wait_until(deadline, || self.try_write(draft)));
        self.blocked.fetch_sub(1, Ordering::SeqCst);
        waited.unwrap_or_else(|| self.replace(draft))
    }

    fn admit(
        &self,
        state: &mut WriterState,
        now: Instant,
        draft: &mut Draft,
    ) -> Result<SequenceNumber, WriteError> {
        if self.is_held(state) {
            return Err(WriteError::WouldBlock);
        }
        self.append(state, now, draft)
    }

    /// Holds what is written until `count` readers are matched in both directions.
    pub(crate) fn hold_until_matched(&self, count: usize) {
        self.awaited.store(count, Ordering::SeqCst);
        self.bell.ring();
    }

    /// True until enough readers are matched; then never again.
    fn is_held(&self, state: &WriterState) -> bool {
        let awaited = self.awaited.load(Ordering::SeqCst);
        awaited > 0 && self.still_awaits(state, awaited)
    }

    #[cold]
    fn still_awaits(&self, state: &WriterState, awaited: usize) -> bool {
        let awaits = state.ready_count() < awaited;
        if !awaits {
            self.awaited.store(0, Ordering::SeqCst);
        }
        awaits
    }

    /// After all the waiting allowed: a KEEP_LAST history replaces what has not left yet, any
    /// other stays as it is. DDS 1.4 §2.2.3.18.
    fn replace(&self, draft: &mut Draft) -> Result<SequenceNumber, WriteError> {
        let mut state = self.lock();
        if state.machine.config().depth.is_none() {
            return Err(WriteError::WouldBlock);
        }
        if self.is_held(&state) {
            return Err(WriteError::WouldBlock);
        }
        let now = clock::now();
        state.machine.skip_unsent();
        let outcome = self.append(&mut state, now, draft);
        self.drain(state, now);
        outcome
    }

    /// Writes an encoded change; `None` while history is full.
    pub(crate) fn try_write(
        &self,
        draft: &mut Draft,
    ) -> Option<Result<SequenceNumber, WriteError>> {
        let mut state = self.lock();
        let now = clock::now();
        let outcome = self.admit(&mut state, now, draft);
        if outcome.is_ok() {
            self.dispatch(state, now);
        } else {
            self.drain(state, now);
        }
        (outcome != Err(WriteError::WouldBlock)).then_some(outcome)
    }

    /// As [`Self::try_write`] once there is room for more than one change.
    fn try_resume(&self, draft: &mut Draft) -> Option<Result<SequenceNumber, WriteError>> {
        if self.lock().machine.is_crowded() {
            return None;
        }
        self.try_write(draft)
    }

    pub(crate) fn matched(&self, now: Instant, reader: MatchedReader) -> News {
        let guid = reader.guid;
        let neighbour = neighbours::find(guid, self.manners);
        let mut state = self.lock();
        self.transmit_before_readers_change(&mut state, now);
        state.machine.handle_matched(now, reader);
        if let Some(neighbour) = neighbour {
            state.machine.note_in_process(guid);
            neighbours::add(&mut state.neighbours, neighbour);
        }
        let mut changed = StatusMask::NONE;
        if state.matched.insert(guid) {
            state.statuses.publication_matched.matched(handle_of(guid));
            self.status.mark(MATCHED);
            changed = MATCHED;
        }
        self.note_neighbours(&state);
        self.settle(state, now).and(News::of(changed))
    }

    pub(crate) fn unmatched(&self, now: Instant, reader: Guid, lost: bool) -> News {
        let mut state = self.lock();
        self.transmit_before_readers_change(&mut state, now);
        state.machine.handle_unmatched(now, reader, lost);
        let _neighbour = neighbours::remove(&mut state.neighbours, reader);
        state.confirmed.remove(&reader);
        let mut changed = StatusMask::NONE;
        if state.matched.remove(&reader) {
            let matched = &mut state.statuses.publication_matched;
            matched.unmatched(handle_of(reader));
            self.status.mark(MATCHED);
            changed = MATCHED;
        }
        self.note_neighbours(&state);
        self.settle(state, now).and(News::of(changed))
    }

    pub(crate) fn incompatible(&self, policies: Vec<PolicyId>) -> News {
        let kinds = StatusMask::of(StatusKind::OfferedIncompatibleQos);
        let mut state = self.lock();
        state.statuses.offered_incompatible_qos.count(policies);
        self.status.mark(kinds);
        News::of(kinds)
    }

    /// The participant of `reader` knows of this writer.
    pub(crate) fn confirmed(&self, reader: Guid) -> News {
        self.lock().confirmed.insert(reader);
        News::RING
    }

    /// Readers that are matched in both directions.
    pub(crate) fn ready_count(&self) -> usize {
        self.lock().ready_count()
    }

    /// Reads statuses and notes that `kind` was read.
    pub(crate) fn take_status<R>(
        &self,
        kind: StatusKind,
        read: impl FnOnce(&mut WriterStatuses) -> R,
    ) -> R {
        let mut state = self.lock();
        self.status.clear(kind);
        read(&mut state.statuses)
    }
}

impl Drop for WriterCore {
    fn drop(&mut self) {
        self.engine.disarm(&self.timer);
        let counted = self.lock().waiting_bytes;
        self.sockets.waiting.count(counted, 0);
    }
}

impl std::fmt::Debug for WriterCore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "WriterCore({})", self.guid)
    }
}
