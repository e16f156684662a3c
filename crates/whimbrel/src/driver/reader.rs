//! A local reader: its machine under its own lock, and who is told of its statuses.

mod look;
mod receive;

use whimbrel_base::buffer::Compactor;
use whimbrel_base::guid::Guid;
use whimbrel_base::qos::PolicyId;
use whimbrel_base::sorted::SortedSet;
use whimbrel_base::status::{
    LivelinessChanged, RequestedDeadlineMissed, RequestedIncompatibleQos, SampleLost,
    SampleRejected, StatusKind, StatusMask, SubscriptionMatched,
};
use whimbrel_base::time::{Duration, Instant};
use whimbrel_net::poll::Signal;
use whimbrel_proto::cache::CacheChange;
use whimbrel_proto::peer::MatchedWriter;
use whimbrel_proto::value::SharedValue;
use whimbrel_proto::{Reader, ReaderConfig, ReaderEvent};

use super::clock;
use super::compression::Inflated;
use super::contain::contain;
use super::engine::Engine;
use super::handle::handle_of;
use super::manners::Manners;
use super::outbox::SocketOutbox;
use super::packing::BundleCompressionStatistics;
use super::sockets::Sockets;
use super::status::{AnyEntity, EntityStatus, News};
use super::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use super::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak, lock};
use super::timers::{Timed, TimerSlot};
use super::wake::Bell;
use crate::domain::InProcess;

pub(crate) use look::Glance;
pub(crate) use receive::Arrival;

/// How often at most slabs that a burst left behind are given back.
const TRIM_PERIOD: Duration = Duration::from_secs(1);

/// What changes with every match.
const MATCHED: StatusMask =
    StatusMask(StatusKind::SubscriptionMatched.bit() | StatusKind::LivelinessChanged.bit());

/// Statuses of a reader. DDS 1.4 §2.2.4.1.
#[derive(Default)]
pub(crate) struct ReaderStatuses {
    pub(crate) subscription_matched: SubscriptionMatched,
    pub(crate) requested_incompatible_qos: RequestedIncompatibleQos,
    pub(crate) sample_lost: SampleLost,
    pub(crate) sample_rejected: SampleRejected,
    pub(crate) liveliness_changed: LivelinessChanged,
    pub(crate) requested_deadline_missed: RequestedDeadlineMissed,
}

/// What a reader's lock guards.
pub(crate) struct ReaderState {
    pub(crate) machine: Reader,
    /// What came in bundles that were compressed as a whole.
    pub(crate) bundles: BundleCompressionStatistics,
    pub(crate) statuses: ReaderStatuses,
    pub(crate) matched: SortedSet<Guid>,
    /// Keeps small samples without the datagrams in which they came.
    compactor: Compactor,
    /// From when on slabs may be given back again.
    trim_at: Instant,
    /// Matched writers whose participants know of this reader.
    confirmed: SortedSet<Guid>,
}

impl ReaderState {
    /// Gives back slabs that a burst left behind; when to be called again for that.
    fn trim(&mut self, now: Instant) -> Option<Instant> {
        if now >= self.trim_at && self.compactor.wants_trim() {
            self.compactor.trim();
            self.trim_at = now.after(TRIM_PERIOD);
        }
        self.compactor.wants_trim().then_some(self.trim_at)
    }
}

/// A local reader.
pub(crate) struct ReaderCore {
    pub(crate) guid: Guid,
    me: Weak<Self>,
    state: Mutex<ReaderState>,
    pub(crate) status: Arc<EntityStatus>,
    /// The bell of `status`: rings at every change.
    pub(crate) bell: Arc<Bell>,
    /// Samples that could not be decoded.
    pub(crate) undecodable: AtomicU64,
    /// What its unpacker counts.
    pub(crate) inflated: Arc<Inflated>,
    /// False while a look into the cache would find nothing. Changed under the lock only. Whoever
    /// listens before he looks at it without that misses nothing: one fence is in
    /// [`Bell::wait_on`], the other between the change and the look at who listens, in
    /// [`EntityStatus::tell`], [`EntityStatus::hears_after`] or [`AnyEntity::tell_data_here`].
    may_hold: AtomicBool,
    signal: OnceLock<Arc<Signal>>,
    timer: TimerSlot,
    sockets: Arc<Sockets>,
    engine: Arc<Engine>,
    manners: Manners,
}

impl ReaderCore {
    pub(crate) fn new(
        config: ReaderConfig,
        inflated: Arc<Inflated>,
        sockets: Arc<Sockets>,
        engine: Arc<Engine>,
        status: Arc<EntityStatus>,
        manners: Manners,
    ) -> Arc<Self> {
        Arc::new_cyclic(|me| Self {
            guid: config.guid,
            me: me.clone(),
            state: Mutex::new(ReaderState {
                machine: Reader::new(config),
                bundles: BundleCompressionStatistics::default(),
                statuses: ReaderStatuses::default(),
                matched: SortedSet::new(),
                compactor: Compactor::default(),
                trim_at: Instant::ZERO,
                confirmed: SortedSet::new(),
            }),
            bell: Arc::clone(&status.bell),
            status,
            undecodable: AtomicU64::new(0),
            inflated,
            may_hold: AtomicBool::new(false),
            signal: OnceLock::new(),
            timer: TimerSlot::default(),
            sockets,
            engine,
            manners,
        })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, ReaderState> {
        lock(&self.state)
    }

    /// Sends what is due, arms the next deadline, lets go of the lock and tells whoever waits.
    #[inline(always)]
    fn drain(&self, state: MutexGuard<'_, ReaderState>, now: Instant) {
        let news = self.settle(state, now);
        self.status.tell(news);
    }

    /// Sends what is due, arms the next deadline and lets go of the lock.
    #[inline(always)]
    fn settle(&self, mut state: MutexGuard<'_, ReaderState>, now: Instant) -> News {
        if state.compactor.wants_trim() {
            return self.settle_all(state, now);
        }
        match state.machine.poll_only_data() {
            None => self.settle_all(state, now),
            Some(false) => News::NONE,
            Some(true) => {
                self.mark_data();
                News::of(StatusMask::of(StatusKind::DataAvailable))
            }
        }
    }

    /// Marks that there is data, under the lock, so that whoever takes it also takes back what
    /// tells of it.
    #[inline(always)]
    fn mark_data(&self) {
        self.may_hold.store(true, Ordering::Release);
        self.status.mark_data();
        if let Some(signal) = self.signal.get() {
            signal.set();
        }
    }

    #[inline(never)]
    fn settle_all(&self, mut state: MutexGuard<'_, ReaderState>, now: Instant) -> News {
        state
            .machine
            .poll_transmit(now, &mut SocketOutbox::user(&self.sockets));
        let mut news = StatusMask::NONE;
        let mut ring = false;
        while let Some(event) = state.machine.poll_event() {
            match event {
                ReaderEvent::DataAvailable => news.insert(StatusKind::DataAvailable),
                ReaderEvent::SampleLost { count } => {
                    state.statuses.sample_lost.count_many(count);
                    news.insert(StatusKind::SampleLost);
                }
                ReaderEvent::SampleRejected { reason, instance } => {
                    state.statuses.sample_rejected.count(reason, instance);
                    news.insert(StatusKind::SampleRejected);
                }
                ReaderEvent::HistoryComplete(_) => ring = true,
            }
        }
        let deadline = state.machine.poll_timeout().map(|(at, _)| at);
        let deadline = [deadline, state.trim(now)].into_iter().flatten().min();
        if state.machine.waits_for_room() {
            self.may_hold.store(true, Ordering::Release);
        }
        if news.contains(StatusKind::DataAvailable) {
            self.mark_data();
        }
        let others = StatusMask(news.0 & !StatusKind::DataAvailable.bit());
        if !others.is_empty() {
            self.status.mark(others);
        }
        drop(state);
        if let Some(at) = deadline {
            self.arm(at);
        }
        let rung = if ring { News::RING } else { News::NONE };
        News::of(news).and(rung)
    }

    #[inline(never)]
    fn arm(&self, at: Instant) {
        if !self.timer.fires_by(at) {
            let me: Weak<dyn Timed> = self.me.clone();
            self.engine.arm(&self.timer, &me, at);
        }
    }

    /// Nobody reads it any more: it takes and keeps nothing, though writers of this process may
    /// still know it. Call it without a lock.
    pub(crate) fn close(&self) {
        let held = self.lock().machine.close();
        let _ = contain(|| drop(held));
    }

    /// Whether it takes values of writers with these manners as the program has them.
    pub(super) fn takes_values(&self, of: Manners) -> bool {
        self.manners.takes_values(of)
    }

    /// Takes a change that a writer of this process hands over, and says whether that is news;
    /// `None` where it is to come by the network. Values that gave way go to `discarded`.
    pub(super) fn take_over(
        &self,
        state: &mut ReaderState,
        change: CacheChange,
        key: &[u8],
        discarded: &mut Vec<SharedValue>,
    ) -> Option<bool> {
        let news = state.machine.take_over(change, key);
        self.note_taken(state, news, discarded)
    }

    /// Marks what was handed over where it is news, which is given back.
    #[inline(always)]
    pub(super) fn note_taken(
        &self,
        state: &mut ReaderState,
        news: Option<bool>,
        discarded: &mut Vec<SharedValue>,
    ) -> Option<bool> {
        let news = news?;
        discarded.extend(state.machine.cache_mut().take_discarded());
        if news {
            self.may_hold.store(true, Ordering::Release);
            if self.manners.in_process == InProcess::Direct {
                self.status.mark_data_here();
            } else {
                self.status.mark_data();
            }
            if let Some(signal) = self.signal.get() {
                signal.set();
            }
        }
        Some(news)
    }

    /// Tells of what was handed over. Call it without a lock.
    pub(super) fn tell_of_parcel(&self) {
        match self.told_here() {
            Some(reader) => reader.tell_data_here(),
            None => self
                .status
                .tell(News::of(StatusMask::of(StatusKind::DataAvailable))),
        }
    }

    /// The reader, where it is told of what was handed over by [`AnyEntity::tell_data_here`]: not
    /// where that is off, nor where it has no handle.
    pub(super) fn told_here(&self) -> Option<Arc<dyn AnyEntity>> {
        let direct = self.manners.in_process == InProcess::Direct;
        direct.then(|| self.status.owner()).flatten()
    }

    pub(crate) fn matched(&self, now: Instant, writer: MatchedWriter) -> News {
        let guid = writer.guid;
        let mut state = self.lock();
        state.machine.handle_matched(now, writer);
        let news = state.matched.insert(guid);
        if news {
            let handle = handle_of(guid);
            state.statuses.subscription_matched.matched(handle);
            // DDS 1.4 §2.2.4.1: a writer counts as alive from its match on.
            state.statuses.liveliness_changed.change(1, 0, handle);
            self.status.mark(MATCHED);
        }
        let changed = if news { MATCHED } else { StatusMask::NONE };
        self.settle(state, now).and(News::of(changed))
    }

    pub(crate) fn unmatched(&self, now: Instant, writer: Guid) -> News {
        let mut state = self.lock();
        state.machine.handle_unmatched(now, clock::wall(), writer);
        state.confirmed.remove(&writer);
        let news = state.matched.remove(&writer);
        if news {
            let handle = handle_of(writer);
            state.statuses.subscription_matched.unmatched(handle);
            state.statuses.liveliness_changed.change(-1, 0, handle);
            self.status.mark(MATCHED);
        }
        let changed = if news { MATCHED } else { StatusMask::NONE };
        self.settle(state, now).and(News::of(changed))
    }

    pub(crate) fn incompatible(&self, policies: Vec<PolicyId>) -> News {
        let kinds = StatusMask::of(StatusKind::RequestedIncompatibleQos);
        let mut state = self.lock();
        state.statuses.requested_incompatible_qos.count(policies);
        self.status.mark(kinds);
        News::of(kinds)
    }

    /// The participant of `writer` knows of this reader.
    pub(crate) fn confirmed(&self, writer: Guid) -> News {
        self.lock().confirmed.insert(writer);
        News::RING
    }

    /// Writers that are matched in both directions.
    pub(crate) fn ready_count(&self) -> usize {
        let state = self.lock();
        state
            .matched
            .iter()
            .filter(|guid| state.confirmed.contains(guid))
            .count()
    }

    /// Reads statuses and notes that `kind` was read.
    pub(crate) fn take_status<R>(
        &self,
        kind: StatusKind,
        read: impl FnOnce(&mut ReaderStatuses) -> R,
    ) -> R {
        let mut state = self.lock();
        self.status.clear(kind);
        read(&mut state.statuses)
    }
}

impl Timed for ReaderCore {
    fn on_timer(&self, now: Instant) {
        let mut state = self.lock();
        state.machine.handle_timeout(now);
        self.drain(state, now);
    }

    fn timer(&self) -> &TimerSlot {
        &self.timer
    }
}

impl Drop for ReaderCore {
    fn drop(&mut self) {
        self.engine.disarm(&self.timer);
    }
}

impl std::fmt::Debug for ReaderCore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ReaderCore({})", self.guid)
    }
}
