//! Readers without a writer are reported.

use super::*;

fn unserved(events: &[ParticipantEvent]) -> Vec<(EntityId, String)> {
    let found = events.iter().filter_map(|event| match event {
        ParticipantEvent::ReaderUnserved { reader, unserved } => {
            Some((*reader, unserved.to_string()))
        }
        _ => None,
    });
    found.collect()
}

#[test]
fn a_reader_without_writer_is_reported_once_with_the_cause() {
    let mut net = Net::of([config(1), config(2)]);
    let now = net.now;
    let mut writer = local_writer("Square");
    writer.qos.reliability = Reliability::BEST_EFFORT;
    let mut reader = local_reader("Square");
    reader.qos.reliability = Reliability::RELIABLE;
    net.member(1).add_writer(now, writer);
    net.member(2).add_reader(now, reader.clone());
    net.run(Duration::from_millis(4999));
    assert!(unserved(&net.take(2)).is_empty());
    net.run(Duration::from_millis(1));
    net.settle();
    let guid = Guid::new(prefix(1), WRITER);
    let text = alloc::format!(
        "topic \"Square\": 1 writer found, nearest {guid}: \
         RELIABILITY failed: writer BEST_EFFORT, reader RELIABLE"
    );
    assert_eq!(unserved(&net.take(2)), [(READER, text)]);
    // Once, whatever else happens to it.
    let now = net.now;
    reader.qos.durability = Durability::TransientLocal;
    net.member(2).update_reader(now, reader);
    net.run(seconds(60));
    assert!(unserved(&net.take(2)).is_empty());
    assert!(unserved(&net.take(1)).is_empty());
}

#[test]
fn a_reader_whose_last_writer_is_lost_is_reported_once() {
    for leaves in [false, true] {
        let mut net = met(config(1), config(2));
        net.run(seconds(5));
        net.take(2);
        if leaves {
            let now = net.now;
            net.member(1).depart(now);
            net.settle();
        }
        net.members.remove(&1);
        let lost = ParticipantEvent::ParticipantLost {
            prefix: prefix(1),
            departed: leaves,
        };
        let mut events = vec![];
        while !has(&events, &lost) {
            net.run(Duration::from_millis(10));
            events.extend(net.take(2));
        }
        net.run(Duration::from_millis(4980));
        assert!(unserved(&net.take(2)).is_empty());
        net.run(Duration::from_millis(20));
        net.settle();
        let reported = usize::from(!leaves);
        assert_eq!(unserved(&net.take(2)).len(), reported, "{leaves}");
        net.run(seconds(60));
        assert!(unserved(&net.take(2)).is_empty());
    }
}

#[test]
fn a_reader_that_finds_a_writer_in_time_is_not_reported() {
    let mut net = Net::of([config(1), config(2)]);
    let now = net.now;
    net.member(2).add_reader(now, local_reader("Square"));
    net.run(seconds(4));
    let now = net.now;
    net.member(1).add_writer(now, local_writer("Square"));
    net.run(seconds(20));
    let events = net.take(2);
    assert_eq!(matched_writers(&events).len(), 1);
    assert!(unserved(&events).is_empty());
}

#[test]
fn slips_in_topic_names_are_shown() {
    let check = |theirs: &str, expected: &str| {
        let mut net = Net::of([config(1), config(2)]);
        let now = net.now;
        net.member(1).add_writer(now, local_writer(theirs));
        net.member(2).add_reader(now, local_reader("chatter"));
        net.run(seconds(6));
        let found = unserved(&net.take(2));
        assert_eq!(found.len(), 1);
        assert!(found[0].1.ends_with(expected), "{}", found[0].1);
    };
    check(
        "rt/chatter",
        "topic name failed: writer rt/chatter, reader chatter",
    );
    check(
        "Chatter",
        "topic name failed: writer Chatter, reader chatter",
    );
    check("other", "0 writers found and none of a similar name");
}

#[test]
fn many_readers_without_writer_are_looked_into_a_few_at_a_time() {
    let mut net = Net::of([config(1)]);
    let now = net.now;
    for number in 0..100u32 {
        let reader = LocalReader {
            entity: EntityId::user(number, EntityKind::ReaderWithKey),
            ..local_reader("Square")
        };
        net.member(1).add_reader(now, reader);
    }
    net.run(seconds(5));
    net.settle();
    assert_eq!(unserved(&net.take(1)).len(), 8);
    net.run(Duration::from_millis(20));
    net.settle();
    assert_eq!(unserved(&net.take(1)).len(), 92);
    let now = net.now;
    net.member(1).remove_reader(now, READER);
    assert!(net.member(1).expectant.is_empty());
}
