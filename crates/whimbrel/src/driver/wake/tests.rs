//! What is counted at a bell, and who hears it.

use std::task::Poll;

use super::wait::{Place, Receives};
use super::*;
use crate::driver::clock;

/// Counts how often it was woken, and wakes another.
struct Count(AtomicUsize, Waker);

impl Count {
    fn before(waker: &Waker) -> Self {
        Self(AtomicUsize::new(0), waker.clone())
    }

    fn times(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
        self.1.wake_by_ref();
    }
}

fn listening(bell: &Bell) -> usize {
    bell.listening.load(Ordering::SeqCst)
}

#[test]
fn nobody_is_counted_who_no_longer_listens() {
    let (bell, other) = (Bell::default(), Arc::new(Bell::default()));
    let (mut first, mut second) = (TaskKey::default(), TaskKey::default());
    bell.wake_task(&mut first, Waker::noop());
    bell.wake_task(&mut first, Waker::noop());
    bell.wake_task(&mut second, Waker::noop());
    assert_eq!(listening(&bell), 2);
    bell.forget_task(&mut first);
    assert_eq!(listening(&bell), 1);
    bell.ring();
    assert_eq!(listening(&bell), 0);
    bell.forget_task(&mut second);
    assert_eq!(listening(&bell), 0);
    bell.attach(&other);
    bell.detach(&other);
    bell.detach(&other);
    assert_eq!(listening(&bell), 0);
    let found = bell.wait_until(Some(clock::now()), || None::<()>);
    assert!(found.is_none());
    assert_eq!(listening(&bell), 0);
}

#[test]
fn a_check_may_ring_the_bell_it_waits_for() {
    let bell = Bell::default();
    let mut left = 3;
    let found = bell.wait_until(None, || {
        bell.ring();
        left -= 1;
        (left == 0).then_some("done")
    });
    assert_eq!(found, Some("done"));
}

#[test]
fn rings_reach_those_who_listen_through_another_bell() {
    let (bell, through) = (Arc::new(Bell::default()), Arc::new(Bell::default()));
    bell.attach(&through);
    let mut rung = false;
    let found = through.wait_until(None, || {
        let seen = std::mem::replace(&mut rung, true);
        bell.ring();
        seen.then_some(())
    });
    assert_eq!(found, Some(()));
}

#[test]
fn who_receives_hears_of_rings_at_bells_that_lead_there_and_so_does_who_else_listens() {
    let (bell, mine) = (Arc::new(Bell::default()), Arc::new(Bell::default()));
    let rings = || mine.rings.load(Ordering::SeqCst);
    let count = Arc::new(Count::before(Waker::noop()));
    let waker = Waker::from(Arc::clone(&count));
    bell.attach(&mine);
    let _place = Place::take(&mine);
    let _receives = Receives::at(&mine);
    bell.ring();
    assert_eq!(rings(), 1, "by this thread alone");
    mine.wake_task(&mut TaskKey::default(), &waker);
    bell.ring();
    assert_eq!((rings(), count.times()), (2, 1), "by a task there too");
    bell.wake_task(&mut TaskKey::default(), &waker);
    bell.ring();
    assert_eq!((rings(), count.times()), (3, 2), "by a task at the other");
    let there = Place::take(&bell);
    let seen = bell.rings.load(Ordering::SeqCst);
    bell.ring();
    assert_eq!(rings(), 4);
    assert_ne!(bell.rings.load(Ordering::SeqCst), seen, "by a thread there");
    drop(there);
    bell.ring();
    assert_eq!((rings(), count.times()), (5, 2), "by this thread alone");
    bell.detach(&mine);
    bell.ring();
    assert_eq!(rings(), 5);
}

#[test]
fn a_thread_that_polls_hears_of_its_tasks_also_where_another_has_put_its_waker_around_its_own() {
    let (bell, mine) = (Arc::new(Bell::default()), Arc::new(Bell::default()));
    let count = Arc::new(Count::before(&Waker::from(Arc::clone(&mine))));
    // Would not end without being woken.
    let woken_by = |waker: Option<&Waker>| {
        let mut polls = 0;
        mine.poll_until(|context| {
            polls += 1;
            if polls > 1 {
                return Poll::Ready(());
            }
            let waker = waker.unwrap_or_else(|| context.waker());
            bell.wake_task(&mut TaskKey::default(), waker);
            let _receives = Receives::at(&mine);
            bell.ring();
            assert_eq!(listening(&bell), 0);
            Poll::Pending
        });
    };
    woken_by(None);
    woken_by(Some(&Waker::from(Arc::clone(&count))));
    assert_eq!(count.times(), 1);
}
