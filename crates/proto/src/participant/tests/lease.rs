//! When leases are looked at, and when they end.

use super::*;
use crate::deadline::Reason;

/// How often the members of `net` are woken to look at leases while it runs for `span`.
fn looks(net: &mut Net, span: Duration) -> usize {
    let end = net.now.after(span);
    let mut looks = 0;
    loop {
        let next = net.members.values().filter_map(|it| it.poll_timeout());
        let Some((at, _)) = next.min().filter(|(at, _)| *at <= end) else {
            break;
        };
        let due = |it: &&Participant| {
            let next = it.poll_timeout();
            next.is_some_and(|(due, reason)| due <= at && reason == Reason::Lease)
        };
        looks += net.members.values().filter(due).count();
        net.run(at.since(net.now));
    }
    looks
}

#[test]
fn leases_that_are_kept_wake_nobody() {
    for count in [2, 30] {
        let mut net = Net::of((1..=count).map(config));
        net.run(seconds(20));
        assert_eq!(looks(&mut net, seconds(60)), 0);
        let all = net.members.values();
        let known = all.map(|it| it.participants().count());
        assert_eq!(known.max(), Some(usize::from(count) - 1));
        // Who falls silent does.
        net.members.remove(&1);
        assert!(looks(&mut net, seconds(60)) > 0);
        let left = net.members.values().map(|it| it.participants().count());
        assert_eq!(left.max(), Some(usize::from(count) - 2));
    }
}

#[test]
fn who_falls_silent_is_lost_on_time_among_many_that_do_not() {
    let mut net = Net::of((1..=12).map(config));
    net.run(seconds(20));
    net.members.remove(&7);
    let now = net.now;
    let remote = net.member(1).participant(prefix(7)).unwrap();
    let (left, ends_at) = (remote.lease_left(now), remote.lease_ends_at());
    assert!(left > seconds(6) && left <= seconds(10));
    let before = Duration::from_nanos(left.as_nanos() - 1);
    net.run(before);
    assert!(net.member(1).participant(prefix(7)).is_some());
    net.run(ends_at.since(net.now));
    assert!(net.member(1).participant(prefix(7)).is_none());
    assert_eq!(net.member(1).participants().count(), 10);
}

#[test]
fn a_shorter_lease_counts_from_when_it_is_announced() {
    let mut net = Net::of([config(1), config(2)]);
    net.run(seconds(5));
    net.members.remove(&2);
    let short = ParticipantConfig {
        lease: seconds(1),
        ..config(2)
    };
    net.add(short);
    net.run(Duration::from_millis(10));
    net.members.remove(&2);
    net.run(Duration::from_millis(900));
    assert_eq!(net.member(1).participants().count(), 1);
    net.run(Duration::from_millis(100));
    assert_eq!(net.member(1).participants().count(), 0);
}

#[test]
fn a_peer_that_forgot_us_at_once_and_greets_whoever_listens_is_told() {
    let one = ParticipantConfig {
        announce_to: vec![at(GROUP), address(2)],
        ..config(1)
    };
    let mut net = Net {
        no_multicast: true,
        ..Net::of([one, config(2)])
    };
    net.run(Duration::from_millis(50));
    let now = net.now;
    net.member(1).forget_participant(now, prefix(2), false);
    assert_eq!(net.member(1).participants().count(), 0);
    net.run(seconds(4));
    let again = net.member(1).participant(prefix(2));
    assert!(again.is_some_and(|remote| remote.confirmed));
    net.take(1);
    net.take(2);
    net.run(seconds(60));
    assert_eq!((net.take(1), net.take(2)), (vec![], vec![]));
}
