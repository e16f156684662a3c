//! What changed at an entity since anybody looked, and who wants to be told.
//!
//! Every entity has one [`EntityStatus`]; those of writers and readers lead to that of their
//! publisher or subscriber and on to their participant's, the way listeners are looked for
//! (DDS 1.4 §2.2.4.2.3). Listeners run on the callback thread; only that of a reader itself may run
//! on a thread of the program which writes to it ([`EntityStatus::hears_after`] and
//! [`AnyEntity::tell_data_here`]).

mod handed;

use whimbrel_base::status::{StatusKind, StatusMask};

use super::callbacks::{Callback, Callbacks, Dispatch};
use super::here::Hears;
use super::slot::{CallbackSlot, Ran};
use super::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use super::sync::{Arc, OnceLock, Weak, fence_after_unlock, take_back};
use super::wake::Bell;

const DATA: StatusMask = StatusMask::of(StatusKind::DataAvailable);

/// What whoever waits for an entity is to be told, once no lock is held.
#[derive(Clone, Copy, Debug)]
#[must_use = "give it to `EntityStatus::tell` without a lock held"]
pub(crate) struct News {
    /// Statuses that were marked.
    kinds: StatusMask,
    /// Something else changed.
    ring: bool,
}

impl News {
    pub(crate) const NONE: Self = Self::of(StatusMask::NONE);

    /// Something changed that is no status.
    pub(crate) const RING: Self = Self {
        kinds: StatusMask::NONE,
        ring: true,
    };

    /// These statuses changed.
    pub(crate) const fn of(kinds: StatusMask) -> Self {
        Self { kinds, ring: false }
    }

    /// This and `other`.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            kinds: self.kinds | other.kinds,
            ring: self.ring || other.ring,
        }
    }
}

/// What has statuses; its listeners are given its `Arc`.
pub(crate) trait Entity: Send + Sync + 'static {
    fn status(&self) -> &EntityStatus;
}

/// Any [`Entity`], as its statuses know it.
pub(crate) trait AnyEntity: Hears + Send + Sync {
    /// Has the listener in `slot` told which of the entity's statuses changed.
    fn run(self: Arc<Self>, slot: &CallbackSlot, kinds: StatusMask) -> Ran;

    /// As [`EntityStatus::tell`] for data, but the listener is called on this thread where it is
    /// the reader's own and not under way already: before this returns, or where one is under way
    /// once that has returned. Call it without a lock.
    fn tell_data_here(self: Arc<Self>);
}

/// The statuses of an entity, its status condition and its listener.
pub(crate) struct EntityStatus {
    me: Weak<Self>,
    /// Rings when any status changed.
    pub(crate) bell: Arc<Bell>,
    /// Statuses changed since they were last read, but for those that tell of data.
    changed: AtomicU32,
    /// DATA_AVAILABLE is among them. It changes with each sample, by a plain store, and under the
    /// lock of the reader but where its listener is called or others are to hear of what was for
    /// that alone.
    data: AtomicBool,
    /// DATA_ON_READERS is, of a subscriber: so with each sample of any of its readers, under the
    /// lock of that one.
    data_on_readers: AtomicBool,
    /// Statuses that trigger the status condition.
    enabled: AtomicU32,
    /// There is data of which nobody is to hear but this entity's own listener, noted under the
    /// lock of the reader. What `changed` would tell of it is told from here, for this entity: what
    /// it lies in shows nothing of it.
    fresh: AtomicBool,
    /// Changed statuses that no listener has been told of.
    pending: AtomicU32,
    /// Statuses of which a listener is to be told that was running.
    deferred: AtomicU32,
    /// The callback thread tells the listeners, or is about to.
    queued: AtomicBool,
    /// DATA_AVAILABLE is to be told past listeners for DATA_ON_READERS.
    forward: AtomicBool,
    listener: CallbackSlot,
    parent: Option<Arc<Self>>,
    /// What listeners are given.
    owner: OnceLock<Weak<dyn AnyEntity>>,
    callbacks: Arc<Callbacks>,
}

impl EntityStatus {
    /// Statuses of an entity within `parent`.
    pub(crate) fn new(callbacks: &Arc<Callbacks>, parent: Option<&Arc<Self>>) -> Arc<Self> {
        let bell = Arc::<Bell>::default();
        if let Some(parent) = parent {
            bell.receive_with(&parent.bell);
        }
        Arc::new_cyclic(|me| Self {
            me: me.clone(),
            bell,
            changed: AtomicU32::new(0),
            data: AtomicBool::new(false),
            data_on_readers: AtomicBool::new(false),
            enabled: AtomicU32::new(StatusMask::ALL.0),
            fresh: AtomicBool::new(false),
            pending: AtomicU32::new(0),
            deferred: AtomicU32::new(0),
            queued: AtomicBool::new(false),
            forward: AtomicBool::new(false),
            listener: CallbackSlot::default(),
            parent: parent.cloned(),
            owner: OnceLock::new(),
            callbacks: Arc::clone(callbacks),
        })
    }

    /// Names the entity that listeners are given; its changes from before are told too.
    pub(crate) fn set_owner(&self, owner: Weak<dyn AnyEntity>) {
        if self.owner.set(owner).is_ok() {
            self.retell(StatusMask::ALL);
        }
    }

    /// The entity, while it has a handle.
    #[inline]
    pub(crate) fn owner(&self) -> Option<Arc<dyn AnyEntity>> {
        self.owner.get().and_then(Weak::upgrade)
    }

    /// True until the last handle of the entity is gone, which may be before the driver lets go. A
    /// write that is telling it has one.
    pub(crate) fn is_alive(&self) -> bool {
        self.owner
            .get()
            .is_none_or(|owner| owner.strong_count() > 0)
    }

    /// Notes changed statuses, under the lock that guards their values; follow it with
    /// [`EntityStatus::tell`] once that lock is released.
    pub(crate) fn mark(&self, kinds: StatusMask) {
        if kinds.contains(StatusKind::DataAvailable) {
            self.mark_data();
        }
        let others = kinds & !DATA;
        if !others.is_empty() {
            self.changed.fetch_or(others.0, Ordering::SeqCst);
        }
    }

    /// As [`EntityStatus::mark`] for data.
    #[inline(always)]
    pub(crate) fn mark_data(&self) {
        self.data.store(true, Ordering::Release);
        if let Some(parent) = &self.parent {
            parent.data_on_readers.store(true, Ordering::Release);
        }
    }

    /// Tells whoever waits. Call it without a lock: task wakers are user code.
    pub(crate) fn tell(&self, news: News) {
        let News { kinds, ring } = news;
        if kinds.is_empty() {
            if ring {
                self.bell.ring();
            }
            return;
        }
        fence_after_unlock();
        self.retell(kinds);
        // Whoever listens finds the marks, which are in one order with his beginning to.
        self.bell.ring_after_lock();
        if kinds.contains(StatusKind::DataAvailable)
            && let Some(parent) = &self.parent
        {
            parent.bell.ring_after_lock();
        }
    }

    /// True where a look at the samples has something to clear, though it finds none.
    #[inline(always)]
    pub(crate) fn tells_of_data(&self) -> bool {
        let parent = self.parent.as_ref();
        self.data.load(Ordering::SeqCst)
            || self.fresh.load(Ordering::Acquire)
            || parent.is_some_and(|it| it.data_on_readers.load(Ordering::SeqCst))
    }

    /// Notes that a status was read.
    pub(crate) fn clear(&self, kind: StatusKind) {
        match kind {
            StatusKind::DataAvailable => self.clear_data(),
            StatusKind::DataOnReaders => take_back_if_set(&self.data_on_readers),
            _ => {
                self.changed.fetch_and(!kind.bit(), Ordering::SeqCst);
            }
        }
    }

    /// As [`EntityStatus::clear`] for data.
    #[inline(always)]
    pub(crate) fn clear_data(&self) {
        take_back_if_set(&self.fresh);
        take_back_if_set(&self.data);
        if let Some(parent) = &self.parent {
            take_back_if_set(&parent.data_on_readers);
        }
    }

    /// Statuses changed since they were last read.
    pub(crate) fn changed(&self) -> StatusMask {
        let mut changed = StatusMask(self.changed.load(Ordering::SeqCst));
        if self.data.load(Ordering::SeqCst) || self.fresh.load(Ordering::Acquire) {
            changed.insert(StatusKind::DataAvailable);
        }
        if self.data_on_readers.load(Ordering::SeqCst) {
            changed.insert(StatusKind::DataOnReaders);
        }
        changed
    }

    /// Statuses that trigger the status condition.
    pub(crate) fn enabled(&self) -> StatusMask {
        StatusMask(self.enabled.load(Ordering::SeqCst))
    }

    /// Sets which statuses trigger the status condition.
    pub(crate) fn enable(&self, kinds: StatusMask) {
        self.enabled.store(kinds.0, Ordering::SeqCst);
        self.bell.ring();
    }

    /// Replaces the listener; a new one is told of what has changed already.
    pub(crate) fn set_listener(&self, listener: Option<Callback>, kinds: StatusMask) {
        let hears_data = listener.is_some() && kinds.intersects(DATA);
        let replaced = self.listener.set(listener, kinds);
        if replaced.again {
            self.see_to_deferred();
        }
        self.retell(kinds);
        if hears_data {
            // Nothing to tell, but the callback thread waits where the first sample comes, which
            // is not handed on to it by another then.
            self.enqueue(StatusMask::NONE);
        }
        drop(replaced.old);
    }

    /// Takes the listener out: the entity's last handle is gone. It may not wait for the driver to
    /// let go, which would then run the listener's destructor. Drop it without a lock held.
    #[must_use]
    pub(crate) fn close(&self) -> Vec<Callback> {
        self.listener.set(None, StatusMask::NONE).old
    }

    /// True when this is `other` or lies within it.
    pub(crate) fn is_within(&self, other: &Arc<Self>) -> bool {
        self.levels()
            .any(|level| std::ptr::eq(level, &raw const **other))
    }

    /// Has listeners told of those of `kinds` that changed and were not read.
    pub(crate) fn retell(&self, kinds: StatusMask) {
        let mut kinds = kinds;
        if kinds.contains(StatusKind::DataOnReaders) {
            kinds.insert(StatusKind::DataAvailable);
        }
        let wanted = kinds & self.changed() & self.wanted();
        if !wanted.is_empty() {
            self.enqueue(wanted);
        }
    }

    #[inline(always)]
    fn enqueue(&self, kinds: StatusMask) {
        self.pending.fetch_or(kinds.0, Ordering::SeqCst);
        if !self.queued.swap(true, Ordering::SeqCst) {
            self.callbacks.enqueue(self.me.clone());
        }
    }

    /// Has listeners told of what came while they were running.
    #[cold]
    fn see_to_deferred(&self) {
        let kinds = StatusMask(self.deferred.swap(0, Ordering::SeqCst));
        if !kinds.is_empty() {
            self.enqueue(kinds);
        }
    }

    /// Has listeners for DATA_AVAILABLE told that there is data, if it is still news, whether or
    /// not DATA_ON_READERS was heard before. DDS 1.4 §2.2.2.5.2.11.
    pub(crate) fn forward_data(&self) {
        self.forward.store(true, Ordering::SeqCst);
        self.enqueue(StatusMask::of(StatusKind::DataAvailable));
    }

    /// This entity and those it lies in, most specific first.
    fn levels(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |level| level.parent.as_deref())
    }

    fn wanted(&self) -> StatusMask {
        let mut all = StatusMask::NONE;
        self.levels().for_each(|level| all |= level.listener.mask());
        if all.contains(StatusKind::DataOnReaders) {
            all.insert(StatusKind::DataAvailable);
        }
        all
    }

    /// Sees to what came of telling the listener at `level`, which is this one or one that it lies
    /// in, of `kinds`; true where it was told, false where it will be or there is none.
    #[inline(always)]
    fn settle_run(&self, level: &Self, kinds: StatusMask, ran: Ran) -> bool {
        let again = match ran {
            Ran::Done { again } | Ran::Nobody { again } => again,
            Ran::Busy => {
                // Its own listener alone runs on other threads. Any other is just being replaced,
                // and then told of everything.
                self.deferred.fetch_or(kinds.0, Ordering::SeqCst);
                level.listener.ask_again()
            }
        };
        if again {
            self.see_to_deferred();
        }
        matches!(ran, Ran::Done { .. })
    }
}

impl Dispatch for EntityStatus {
    fn bell(&self) -> &Bell {
        &self.bell
    }

    fn dispatch(&self) {
        let _release = Release(self);
        let pending = StatusMask(self.pending.swap(0, Ordering::SeqCst));
        if pending.is_empty() {
            return;
        }
        // What the program has read itself in the meantime is no news.
        let mut pending = pending & self.changed();
        let Some(owner) = self.owner() else {
            return;
        };
        let call_at = |level: &Self, kinds| {
            let ran = Arc::clone(&owner).run(&level.listener, kinds);
            self.settle_run(level, kinds, ran);
        };
        // DDS 1.4 §2.2.4.2.3: DATA_ON_READERS first; where it is heard, DATA_AVAILABLE is not told.
        let on_readers = StatusMask::of(StatusKind::DataOnReaders);
        let forward = self.forward.load(Ordering::SeqCst);
        if !(forward && self.forward.swap(false, Ordering::SeqCst))
            && pending.contains(StatusKind::DataAvailable)
            && let Some(parent) = &self.parent
            // A reader has no such status, whatever the mask of its own listener says.
            && let Some(level) = parent
                .levels()
                .find(|level| level.listener.mask().intersects(on_readers))
        {
            parent.clear(StatusKind::DataOnReaders);
            pending.remove(StatusKind::DataAvailable);
            call_at(level, on_readers);
        }
        for level in self.levels() {
            let kinds = pending & level.listener.mask();
            pending = pending & !kinds;
            // One by one: a panic over one status loses no other.
            for kind in kinds.iter() {
                call_at(level, StatusMask::of(kind));
            }
        }
    }
}

/// As [`take_back`], where somebody has not done so before.
#[inline(always)]
fn take_back_if_set(mark: &AtomicBool) {
    if mark.load(Ordering::SeqCst) {
        take_back(mark);
    }
}

/// Lets the next one tell, and sees to what came in the meantime.
struct Release<'a>(&'a EntityStatus);

impl Drop for Release<'_> {
    fn drop(&mut self) {
        let status = self.0;
        status.queued.store(false, Ordering::SeqCst);
        let left = status.pending.load(Ordering::SeqCst);
        if left != 0 && !status.queued.swap(true, Ordering::SeqCst) {
            status.callbacks.enqueue_again(status.me.clone());
        }
    }
}

impl std::fmt::Debug for EntityStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "EntityStatus({:?} changed)", self.changed())
    }
}
