//! Endpoints that come, change, go and are ignored.

use super::*;

#[test]
fn endpoints_come_change_and_go() {
    let mut net = met(config(1), config(2));
    net.take(1);
    net.take(2);
    // Another reader, later.
    let late = LocalReader {
        entity: EntityId([0, 0, 3, 7]),
        ..local_reader("Square")
    };
    let now = net.now;
    net.member(2).add_reader(now, late);
    net.run(seconds(1));
    let late = Guid::new(prefix(2), EntityId([0, 0, 3, 7]));
    let events = net.take(1);
    assert_eq!(matched_readers(&events)[0].1.guid, late);
    assert!(has(
        &events,
        &ParticipantEvent::PeerConfirmed {
            local: WRITER,
            remote: late
        }
    ));
    // It moves to another partition and comes back.
    let mut moved = LocalReader {
        entity: late.entity,
        ..local_reader("Square")
    };
    moved.subscriber = SubscriberQos::default().partition("elsewhere");
    net.take(2);
    let now = net.now;
    net.member(2).update_reader(now, moved);
    net.run(seconds(1));
    let unmatched = ParticipantEvent::ReaderUnmatched {
        writer: WRITER,
        reader: late,
        lost: false,
    };
    assert!(has(&net.take(1), &unmatched));
    let writer = Guid::new(prefix(1), WRITER);
    let theirs = ParticipantEvent::WriterUnmatched {
        reader: late.entity,
        writer,
    };
    assert!(has(&net.take(2), &theirs));
    let now = net.now;
    let back = LocalReader {
        entity: late.entity,
        ..local_reader("Square")
    };
    net.member(2).update_reader(now, back);
    net.run(seconds(1));
    assert_eq!(matched_readers(&net.take(1)).len(), 1);
    // It goes.
    let now = net.now;
    net.member(2).remove_reader(now, late.entity);
    net.run(seconds(1));
    assert_eq!(net.take(1), [unmatched, ParticipantEvent::RoutingChanged]);
    assert_eq!(net.member(1).remote_readers().count(), 1);
    assert_eq!(net.member(1).match_count(), 1);
}

#[test]
fn several_changes_at_once_arrive_in_the_end() {
    let mut net = met(config(1), config(2));
    let now = net.now;
    for partition in ["a", "b", "c", ""] {
        let mut reader = local_reader("Square");
        reader.subscriber = SubscriberQos::default().partition(partition);
        net.member(2).update_reader(now, reader);
    }
    net.member(2).remove_reader(now, READER);
    net.member(2).add_reader(now, local_reader("Circle"));
    net.run(seconds(1));
    let known: Vec<_> = net
        .member(1)
        .remote_readers()
        .map(|it| it.data.endpoint.topic_name.clone())
        .collect();
    assert_eq!(known, ["Circle"]);
}

#[test]
fn who_is_ignored_is_not_there_whatever_it_announces() {
    let mut net = Net::of([config(1), config(2)]);
    let now = net.now;
    net.member(1).add_writer(now, local_writer("Square"));
    net.member(2).add_reader(now, local_reader("Square"));
    net.run(seconds(2));
    assert_eq!(matched_readers(&net.take(1)).len(), 1);
    let reader = Guid::new(prefix(2), READER);
    net.member(1).ignore_endpoint(reader);
    net.settle();
    let unmatched = ParticipantEvent::ReaderUnmatched {
        writer: WRITER,
        reader,
        lost: false,
    };
    assert!(has(&net.take(1), &unmatched));
    let now = net.now;
    net.member(2).update_reader(now, local_reader("Square"));
    net.run(seconds(10));
    assert!(matched_readers(&net.take(1)).is_empty());
    assert_eq!(net.member(1).remote_readers().count(), 0);
    let now = net.now;
    net.member(1).ignore_participant(now, prefix(2));
    net.run(seconds(30));
    assert_eq!(net.member(1).participants().count(), 0);
    // Ours cannot be.
    net.member(1).ignore_endpoint(Guid::new(prefix(1), WRITER));
    net.member(1).ignore_participant(now, prefix(1));
    assert_eq!(net.member(1).local_writers().count(), 1);
}

#[test]
fn of_many_changes_in_a_row_the_last_is_known_at_once() {
    let mut net = met(config(1), config(2));
    net.take(1);
    let now = net.now;
    for round in 0..2000 {
        let subscriber = if round < 1999 {
            SubscriberQos::default().partition("elsewhere")
        } else {
            SubscriberQos::default()
        };
        let changed = LocalReader {
            subscriber,
            ..local_reader("Square")
        };
        net.member(2).update_reader(now, changed);
    }
    net.run(Duration::from_millis(100));
    assert_eq!(matched_readers(&net.take(1)).len(), 1, "it is back");
}

/// A reader of its own number, made at member 2.
fn add_late(net: &mut Net, key: u8) -> ParticipantEvent {
    let reader = LocalReader {
        entity: EntityId([0, 0, key, 7]),
        ..local_reader("Square")
    };
    let (local, now) = (reader.entity, net.now);
    net.take(2);
    net.log.clear();
    net.member(2).add_reader(now, reader);
    ParticipantEvent::PeerConfirmed {
        local,
        remote: Guid::new(prefix(1), WRITER),
    }
}

#[test]
fn whether_an_announcement_has_come_is_asked_along_with_it() {
    let mut net = met(config(1), config(2));
    for key in 3..6 {
        let confirmed = add_late(&mut net, key);
        // As long as endpoints may wait for each other.
        net.run(Duration::from_millis(6));
        assert!(has(&net.take(2), &confirmed), "{key}");
        net.run(seconds(1));
        assert_eq!(net.sent_to(address(1)), 1, "{key}: asked again");
    }
}

#[test]
fn announcements_that_somebody_waits_for_wait_for_no_others() {
    let mut net = met(config(1), config(2));
    let first = add_late(&mut net, 3);
    net.run(Duration::ZERO);
    assert!(has(&net.take(2), &first));
    let second = add_late(&mut net, 4);
    net.run(Duration::ZERO);
    assert!(!has(&net.take(2), &second), "it may not be the last");
    net.member(2).hurry();
    net.run(Duration::ZERO);
    assert!(has(&net.take(2), &second));
}
