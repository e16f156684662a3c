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
            self.mark_data();
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
    /// by [`EntityStatus::mark_data_here`]; false where no listener is under way, too many are
    /// before it, or others are to hear too. It runs no code of the program's, and may be called
    /// under the lock of the writer.
    pub(crate) fn hears_after(&self) -> bool {
        if !here::is_under_way() {
            return false;
        }
        // As in ring_of_data_here.
        fence_after_unlock();
        if !self.fresh.load(Ordering::Acquire) || !self.hears_alone() {
            return false;
        }
        self.owner.get().is_some_and(|me| {
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
        // The listener may be another since the data came, which is to hear of something else.
        let ran = if self.listener.mask().intersects(DATA) {
            self.listener.run(me, DATA)
        } else {
            Ran::Nobody { again: false }
        };
        let is_heard = self.settle_run(self, DATA, ran) || self.share_fresh();
        if !is_heard && matches!(ran, Ran::Nobody { .. }) {
            // It was marked for others who waited; those listeners may hear that it lies in.
            self.retell(DATA);
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
            self.mark_data();
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

#[cfg(all(test, not(shuttle)))]
mod tests {
    use std::any::Any;
    use std::sync::atomic::AtomicUsize;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::driver::callbacks::{Callback, Callbacks};
    use crate::driver::wake::Bell;
    use crate::driver::worker::Worker;

    struct Reader(Arc<EntityStatus>);

    impl Entity for Reader {
        fn status(&self) -> &EntityStatus {
            &self.0
        }
    }

    /// A reader that lies in `parent`.
    fn reader(callbacks: &Arc<Callbacks>, parent: Option<&Arc<EntityStatus>>) -> Arc<Reader> {
        let reader = Arc::new(Reader(EntityStatus::new(callbacks, parent)));
        let owner: Weak<Reader> = Arc::downgrade(&reader);
        reader.0.set_owner(owner);
        reader
    }

    fn hand_over(to: &Arc<Reader>) {
        to.0.mark_data_here();
        if !to.0.hears_after() {
            Arc::clone(to).tell_data_here();
        }
    }

    fn counting(calls: &Arc<AtomicUsize>) -> Option<Callback> {
        let calls = Arc::clone(calls);
        Some(Box::new(move |_: &dyn Any, kinds| {
            assert_eq!(kinds, DATA);
            calls.fetch_add(1, Ordering::SeqCst);
        }))
    }

    /// Data for a reader in a chain whose listener is replaced before its turn, by one that hears
    /// of something else or by none, while somebody waits for the reader or nobody does.
    fn check_replaced(by: Option<StatusKind>, waits: bool) {
        let callbacks = Arc::new(Callbacks::default());
        let (own, other, above) =
            <(Arc<AtomicUsize>, Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
        let subscriber = EntityStatus::new(&callbacks, None);
        subscriber.set_listener(counting(&above), DATA);
        let chained = reader(&callbacks, Some(&subscriber));
        let waiting = Arc::new(Bell::default());
        if waits {
            chained.0.bell.attach(&waiting);
        }
        chained.0.set_listener(counting(&own), DATA);
        let first = reader(&callbacks, None);
        let (to, calls) = (Arc::clone(&chained), Arc::clone(&other));
        let writes: Callback = Box::new(move |_: &dyn Any, _| {
            hand_over(&to);
            let kinds = by.map_or(StatusMask::NONE, StatusMask::of);
            let listener = by.and_then(|_| counting(&calls));
            to.0.set_listener(listener, kinds);
        });
        first.0.set_listener(Some(writes), DATA);
        hand_over(&first);
        let case = format!("{by:?}, {waits}");
        let begun = Instant::now();
        while above.load(Ordering::SeqCst) == 0 {
            assert!(begun.elapsed() < Duration::from_secs(20), "{case}");
            std::thread::yield_now();
        }
        callbacks.stop().into_iter().for_each(Worker::join);
        let calls = [&own, &other, &above].map(|it| it.load(Ordering::SeqCst));
        assert_eq!(calls, [0, 0, 1], "{case}");
    }

    #[test]
    fn data_of_a_listener_replaced_before_its_turn_is_told_to_whom_it_concerns_then() {
        for by in [None, Some(StatusKind::SampleLost)] {
            for waits in [false, true] {
                check_replaced(by, waits);
            }
        }
    }
}
