//! What is counted at a bell, and who hears it.

use super::*;

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
