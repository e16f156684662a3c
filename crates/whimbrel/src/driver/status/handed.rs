//! What is told of data that a writer of this process has handed over.

use whimbrel_base::status::{StatusKind, StatusMask};

use super::{AnyEntity, DATA, Entity, EntityStatus};
use crate::driver::here::{self, Hears};
use crate::driver::slot::{CallbackSlot, Ran};
use crate::driver::sync::atomic::Ordering;
use crate::driver::sync::{Arc, Weak, fence_after_unlock};

impl EntityStatus {
    /// Notes data that a writer of this process has handed over, under the lock of the reader;
    /// follow it with [`EntityStatus::hears_after`] or [`AnyEntity::tell_data_here`] once that lock
    /// is released.
    pub(crate) fn mark_data_here(&self) {
        if self.hears_alone() {
            self.fresh.store(true, Ordering::Release);
        } else {
            self.mark(DATA);
        }
    }

    /// Rings for data that a writer of this process has handed over, where that is to be; true
    /// where the listener may be called by whoever handed it over.
    fn ring_of_data_here(&self) -> bool {
        if !self.fresh.load(Ordering::Acquire) {
            self.ring_of_data();
            return self.hears_data_itself();
        }
        // Whoever began to wait since may have looked before he could see the data.
        fence_after_unlock();
        if !self.hears_alone() && !self.share_fresh() {
            self.ring_of_data();
        }
        true
    }

    /// Has the own listener called after the one under way on this thread, for data that was marked
    /// by [`EntityStatus::mark_data_here`]; false where there is none, or more is to be told. It
    /// runs no code of the program's, and may be called under the lock of the writer.
    pub(crate) fn hears_after(&self) -> bool {
        if !here::is_under_way() {
            return false;
        }
        // As in ring_of_data_here.
        fence_after_unlock();
        let is_all = self.fresh.load(Ordering::Acquire) && self.hears_alone();
        let me = self.owner.get().filter(|_| is_all);
        me.is_some_and(|me| {
            here::call_after(me.as_ptr().cast(), || Weak::clone(me) as Weak<dyn Hears>)
        })
    }

    /// Has the own listener told of data of `me`, if that is still news.
    fn call_for_data<E: Entity>(&self, me: &Arc<E>) {
        // What the program has read itself in the meantime is no news, nor is anything where its
        // last handle has gone, as far as can be seen.
        if !self.changed().intersects(DATA) || Arc::strong_count(me) < 2 {
            return;
        }
        let ran = self.listener.run(me, DATA);
        if !self.settle_run(self, DATA, ran) {
            self.share_fresh();
        }
    }

    fn ring_of_data(&self) {
        self.bell.ring();
        if let Some(parent) = &self.parent {
            parent.bell.ring();
        }
    }

    /// True when nobody is to hear of data but this entity's own listener, and nobody waits.
    fn hears_alone(&self) -> bool {
        let is_rung_for = |parent: &Arc<Self>| parent.bell.is_listened_to();
        self.hears_data_itself()
            && !self.bell.is_listened_to()
            && !self.parent.as_ref().is_some_and(is_rung_for)
    }

    /// True when no listener is to hear of data but this entity's own.
    fn hears_data_itself(&self) -> bool {
        let mut level = self;
        if !level.listener.mask().contains(StatusKind::DataAvailable) {
            return false;
        }
        while let Some(parent) = &level.parent {
            level = parent;
            if level.listener.mask().contains(StatusKind::DataOnReaders) {
                return false;
            }
        }
        true
    }

    /// Others are to hear of the data too, which this entity's own listener did not; false where
    /// the mark was taken back.
    fn share_fresh(&self) -> bool {
        let is_fresh = self.fresh.load(Ordering::Acquire);
        let shares = is_fresh && self.fresh.swap(false, Ordering::SeqCst);
        if shares {
            self.mark(DATA);
            self.ring_of_data();
            // Whoever looked in between has seen neither.
            self.retell(DATA);
        }
        shares
    }
}

impl<E: Entity> Hears for E {
    fn dispatch_data(self: Arc<Self>) {
        here::finish(self, |it| it.status().call_for_data(it));
    }

    fn leave_to_callbacks(&self) {
        let status = self.status();
        status.share_fresh();
        status.enqueue(DATA);
    }
}

impl<E: Entity> AnyEntity for E {
    fn run(self: Arc<Self>, slot: &CallbackSlot, kinds: StatusMask) -> Ran {
        slot.run(&self, kinds)
    }

    #[inline]
    fn tell_data_here(self: Arc<Self>) {
        if self.status().ring_of_data_here() {
            here::call(self);
        } else {
            here::finish(self, |it| it.status().retell(DATA));
        }
    }
}
