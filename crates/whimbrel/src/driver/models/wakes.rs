//! No change is slept through: bells, tasks, wait sets.

use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Wake, Waker};

use crate::condition::{GuardCondition, WaitSet};
use crate::driver::block::block_on;
use crate::driver::sync::atomic::{AtomicBool, Ordering};
use crate::driver::sync::{Arc, thread};
use crate::driver::task::until;
use crate::driver::wake::Bell;
use crate::driver::wake::wait::{Place, Receives};

use super::explore;

const LONG: std::time::Duration = std::time::Duration::from_secs(3600);

/// A change, and the bell to ring after it.
#[derive(Clone, Default)]
struct Change {
    bell: Arc<Bell>,
    made: Arc<AtomicBool>,
}

impl Change {
    fn make(&self) {
        self.made.store(true, Ordering::SeqCst);
        self.bell.ring();
    }

    fn is_made(&self) -> Option<()> {
        self.made.load(Ordering::SeqCst).then_some(())
    }
}

/// Wakes another.
struct Passing(Waker);

impl Wake for Passing {
    fn wake(self: Arc<Self>) {
        self.0.wake_by_ref();
    }
}

#[test]
fn threads_that_wait_are_woken() {
    explore(|| {
        let change = Change::default();
        let through = Arc::new(Bell::default());
        change.bell.attach(&through);
        let waits = [Arc::clone(&change.bell), through].map(|bell| {
            let change = change.clone();
            thread::spawn(move || bell.wait_until(None, || change.is_made()))
        });
        change.make();
        for wait in waits {
            assert_eq!(wait.join().unwrap(), Some(()));
        }
    });
}

#[test]
fn tasks_that_wait_are_woken_and_none_that_gave_up_is_counted() {
    explore(|| {
        let change = Change::default();
        let wait = |change: Change| {
            let bell = Arc::clone(&change.bell);
            until(bell, move || change.is_made())
        };
        let patient = thread::spawn({
            let wait = wait(change.clone());
            move || shuttle::future::block_on(wait)
        });
        let impatient = thread::spawn({
            let wait = wait(change.clone());
            move || {
                let mut wait = pin!(wait);
                let _ = wait.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            }
        });
        change.make();
        patient.join().unwrap();
        impatient.join().unwrap();
        assert_eq!(format!("{:?}", change.bell), "Bell(0 listening)");
    });
}

#[test]
fn a_thread_that_polls_tasks_is_woken_for_its_own_and_for_those_within_others() {
    explore(|| {
        let changes = [Change::default(), Change::default()];
        let wait = |change: &Change| {
            let change = change.clone();
            until(Arc::clone(&change.bell), move || change.is_made())
        };
        let both = changes.each_ref().map(wait);
        let patient = thread::spawn(move || {
            let [first, second] = both;
            block_on(first);
            let mut second = pin!(second);
            block_on(poll_fn(|context| {
                let waker = Waker::from(Arc::new(Passing(context.waker().clone())));
                second.as_mut().poll(&mut Context::from_waker(&waker))
            }));
        });
        for change in &changes {
            change.make();
        }
        patient.join().unwrap();
    });
}

#[test]
fn who_sleeps_at_a_bell_is_woken_also_where_another_comes_to_lead_to_who_rings_it() {
    explore(|| {
        let change = Change::default();
        let mine = Arc::new(Bell::default());
        let sleeper = thread::spawn({
            let change = change.clone();
            move || change.bell.wait_until(None, || change.is_made())
        });
        let attacher = thread::spawn({
            let (bell, mine) = (Arc::clone(&change.bell), Arc::clone(&mine));
            move || bell.attach(&mine)
        });
        let receiver = thread::spawn(move || {
            let _place = Place::take(&mine);
            let _receives = Receives::at(&mine);
            change.make();
        });
        receiver.join().unwrap();
        attacher.join().unwrap();
        assert_eq!(sleeper.join().unwrap(), Some(()));
    });
}

#[test]
fn wait_sets_hear_of_conditions_attached_while_they_wait() {
    explore(|| {
        let (wait_set, first, second) =
            (WaitSet::new(), GuardCondition::new(), GuardCondition::new());
        wait_set.attach(first.clone());
        let waiter = thread::spawn({
            let wait_set = wait_set.clone();
            move || wait_set.wait(LONG).unwrap()
        });
        let setter = thread::spawn({
            let second = second.clone();
            move || second.set_trigger_value(true)
        });
        wait_set.attach(second.clone());
        wait_set.detach(first).unwrap();
        assert_eq!(waiter.join().unwrap(), [second.into()]);
        setter.join().unwrap();
    });
}
