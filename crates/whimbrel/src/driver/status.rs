//! What changed at an entity since anybody looked, and who wants to be told.
//!
//! Every entity has one [`EntityStatus`]; those of writers and readers lead to that of their
//! publisher or subscriber and on to their participant's, the way listeners are looked for
//! (DDS 1.4 §2.2.4.2.3). Listeners run on the callback thread; only that of a reader itself may run
//! on a thread of the program which writes to it ([`EntityStatus::tell_data_here`]).

use std::any::Any;

use whimbrel_base::status::{StatusKind, StatusMask};

use super::callbacks::{Callback, CallbackSlot, Callbacks, Dispatch, Owner};
use super::here::{self, Hears};
use super::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use super::sync::{Arc, OnceLock, Weak};
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

/// The statuses of an entity, its status condition and its listener.
pub(crate) struct EntityStatus {
    me: Weak<Self>,
    /// Rings when any status changed.
    pub(crate) bell: Arc<Bell>,
    /// Statuses changed since they were last read.
    changed: AtomicU32,
    /// Statuses that trigger the status condition.
    enabled: AtomicU32,
    /// Changed statuses that no listener has been told of.
    pending: AtomicU32,
    /// Somebody tells the listeners, or is about to: one at a time.
    queued: AtomicBool,
    /// DATA_AVAILABLE is to be told past listeners for DATA_ON_READERS.
    forward: AtomicBool,
    listener: CallbackSlot,
    parent: Option<Arc<Self>>,
    /// What listeners are given.
    owner: OnceLock<Weak<dyn Any + Send + Sync>>,
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
            enabled: AtomicU32::new(StatusMask::ALL.0),
            pending: AtomicU32::new(0),
            queued: AtomicBool::new(false),
            forward: AtomicBool::new(false),
            listener: CallbackSlot::default(),
            parent: parent.cloned(),
            owner: OnceLock::new(),
            callbacks: Arc::clone(callbacks),
        })
    }

    /// Names the entity that listeners are given; its changes from before are told too.
    pub(crate) fn set_owner(&self, owner: Weak<dyn Any + Send + Sync>) {
        if self.owner.set(owner).is_ok() {
            self.retell(StatusMask::ALL);
        }
    }

    /// True until the last handle of the entity is gone, which may be before the driver lets go.
    pub(crate) fn is_alive(&self) -> bool {
        self.owner
            .get()
            .is_none_or(|owner| owner.strong_count() > 0)
    }

    /// Notes changed statuses, under the lock that guards their values; follow it with
    /// [`EntityStatus::tell`] once that lock is released.
    pub(crate) fn mark(&self, kinds: StatusMask) {
        self.changed.fetch_or(kinds.0, Ordering::SeqCst);
        if kinds.contains(StatusKind::DataAvailable)
            && let Some(parent) = &self.parent
        {
            parent
                .changed
                .fetch_or(StatusKind::DataOnReaders.bit(), Ordering::SeqCst);
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
        self.retell(kinds);
        self.bell.ring();
        if kinds.contains(StatusKind::DataAvailable)
            && let Some(parent) = &self.parent
        {
            parent.bell.ring();
        }
    }

    /// As [`EntityStatus::tell`] for data, but the listener is called before this returns where it
    /// is the reader's own and not under way already. Call it without a lock.
    pub(crate) fn tell_data_here(&self) {
        self.bell.ring();
        if let Some(parent) = &self.parent {
            parent.bell.ring();
        }
        if !self.hears_data_itself() {
            return self.retell(DATA);
        }
        self.pending.fetch_or(DATA.0, Ordering::SeqCst);
        if !self.queued.swap(true, Ordering::SeqCst) && !here::call(self) {
            self.leave_to_callbacks();
        }
    }

    /// True when nobody is to hear of data but this entity's own listener.
    fn hears_data_itself(&self) -> bool {
        let own = self.listener.mask().contains(StatusKind::DataAvailable);
        let first = StatusKind::DataOnReaders;
        let above = || self.levels().skip(1);
        own && !above().any(|level| level.listener.mask().contains(first))
    }

    /// Notes that a status was read.
    pub(crate) fn clear(&self, kind: StatusKind) {
        // Most often somebody has noted it before.
        if self.changed.load(Ordering::SeqCst) & kind.bit() != 0 {
            self.changed.fetch_and(!kind.bit(), Ordering::SeqCst);
        }
        if kind == StatusKind::DataAvailable
            && let Some(parent) = &self.parent
        {
            parent.clear(StatusKind::DataOnReaders);
        }
    }

    /// Statuses changed since they were last read.
    pub(crate) fn changed(&self) -> StatusMask {
        StatusMask(self.changed.load(Ordering::SeqCst))
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
        let old = self.listener.set(listener, kinds);
        self.retell(kinds);
        drop(old);
    }

    /// Takes the listener out: the entity's last handle is gone. It may not wait for the driver to
    /// let go, which would then run the listener's destructor. Drop it without a lock held.
    pub(crate) fn close(&self) -> Option<Callback> {
        self.listener.set(None, StatusMask::NONE)
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

    fn enqueue(&self, kinds: StatusMask) {
        self.pending.fetch_or(kinds.0, Ordering::SeqCst);
        if !self.queued.swap(true, Ordering::SeqCst) {
            self.leave_to_callbacks();
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

    fn call(&self, owner: &Owner, kinds: StatusMask) {
        self.listener.run(owner, kinds);
    }
}

impl Dispatch for EntityStatus {
    fn bell(&self) -> &Bell {
        &self.bell
    }

    fn dispatch(&self) {
        let _release = Release {
            status: self,
            by_callbacks: true,
        };
        let pending = StatusMask(self.pending.swap(0, Ordering::SeqCst));
        // What the program has read itself in the meantime is no news.
        let mut pending = pending & self.changed();
        let Some(owner) = self.owner.get().and_then(Weak::upgrade) else {
            return;
        };
        // DDS 1.4 §2.2.4.2.3: DATA_ON_READERS first; where it is heard, DATA_AVAILABLE is not told.
        let on_readers = StatusMask::of(StatusKind::DataOnReaders);
        if !self.forward.swap(false, Ordering::SeqCst)
            && pending.contains(StatusKind::DataAvailable)
            && let Some(parent) = &self.parent
            // A reader has no such status, whatever the mask of its own listener says.
            && let Some(level) = parent
                .levels()
                .find(|level| level.listener.mask().intersects(on_readers))
        {
            parent.clear(StatusKind::DataOnReaders);
            pending.remove(StatusKind::DataAvailable);
            level.call(&owner, on_readers);
        }
        for level in self.levels() {
            let kinds = pending & level.listener.mask();
            pending = pending & !kinds;
            // One by one: a panic over one status loses no other.
            for kind in kinds.iter() {
                level.call(&owner, StatusMask::of(kind));
            }
        }
    }
}

/// Whoever calls these has set `queued`.
impl Hears for EntityStatus {
    fn dispatch_data(&self) {
        let _release = Release {
            status: self,
            by_callbacks: false,
        };
        let Some(owner) = self.owner.get().and_then(Weak::upgrade) else {
            self.pending.store(0, Ordering::SeqCst);
            return;
        };
        if !self.hears_data_itself() || self.forward.load(Ordering::SeqCst) {
            // It has changed since: the callback thread finds out who is to hear.
            return;
        }
        let pending = StatusMask(self.pending.fetch_and(!DATA.0, Ordering::SeqCst));
        if (pending & self.changed()).intersects(DATA) {
            self.listener.run(&owner, DATA);
        }
    }

    fn leave_to_callbacks(&self) {
        let me: Weak<dyn Dispatch> = self.me.clone();
        self.callbacks.enqueue(me);
    }

    fn myself(&self) -> Option<Arc<dyn Hears>> {
        let me: Arc<dyn Hears> = self.me.upgrade()?;
        Some(me)
    }
}

/// Lets the next one tell, and sees to what came in the meantime.
struct Release<'a> {
    status: &'a EntityStatus,
    /// This is the callback thread, which tells of what is in its queue even where it is to end.
    by_callbacks: bool,
}

impl Drop for Release<'_> {
    fn drop(&mut self) {
        let status = self.status;
        status.queued.store(false, Ordering::SeqCst);
        let left = status.pending.load(Ordering::SeqCst);
        if left != 0 && !status.queued.swap(true, Ordering::SeqCst) {
            if self.by_callbacks {
                status.callbacks.enqueue_again(status.me.clone());
            } else {
                status.leave_to_callbacks();
            }
        }
    }
}

impl std::fmt::Debug for EntityStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "EntityStatus({:?} changed)", self.changed())
    }
}
