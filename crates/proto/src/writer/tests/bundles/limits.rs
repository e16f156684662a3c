//! Bundles that are full, and histories that are.

use whimbrel_base::guid::{Guid, GuidPrefix};
use whimbrel_base::instance::InstanceHandle;

use super::super::super::{NewChange, WriteError};
use super::*;

#[test]
fn a_full_bundle_leaves_as_one_message_within_its_limit() {
    for limit in [300, 1400, 9000, 60_000] {
        let (mut writer, mut sent) = bundling(up_to(limit), |_| {});
        let left = put(&mut writer, &mut sent, NOW, 200);
        let each = left.iter().filter(|count| **count > 0).count();
        // What reaches the reader without fragments of IP is the limit of all limits.
        let limit = limit.min(1472);
        let samples = (limit - 52) / (36 + 16);
        assert_eq!(each, 200 / samples, "{limit}: {left:?}");
        let full = statistics(&writer);
        assert_eq!((full.full, full.bundles), (each as u64, each as u64));
        assert!(
            sent.bytes_max <= limit && sent.bytes_max > limit - 52 - 32,
            "{limit}"
        );
    }
}

#[test]
fn a_sample_of_more_than_half_the_limit_waits_for_nobody() {
    let (mut writer, mut sent) = bundling(up_to(1000), |_| {});
    put(&mut writer, &mut sent, at(2000), 1);
    for bytes in [600, 990] {
        writer.write(at(2000), change(bytes)).unwrap();
        writer.poll_transmit(at(2000), &mut sent);
        assert!(!writer.is_waiting());
    }
    assert_eq!(
        sent.messages(),
        [vec!["data", "data", "heartbeat"], vec!["data"]]
    );
}

#[test]
fn a_sample_for_which_there_is_no_room_begins_the_next_bundle() {
    let (mut writer, mut sent) = bundling(up_to(1000), |_| {});
    for bytes in [200, 200, 200] {
        writer.write(NOW, change(bytes)).unwrap();
        writer.poll_transmit(NOW, &mut sent);
    }
    assert!(sent.words().is_empty());
    writer.write(NOW, change(300)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(sent.messages(), [["data", "data", "data"]]);
    assert!(writer.is_waiting());
    writer.flush();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(sent.words(), ["data"]);
    assert_eq!(statistics(&writer).flush, 1);
}

#[test]
fn what_history_gives_up_has_its_place_in_the_message() {
    let (mut writer, mut sent) = bundling(up_to(1400), |config| config.depth = Some(1));
    assert_eq!(put(&mut writer, &mut sent, NOW, 5), [0; 5]);
    assert_eq!(writer.history_len(), 1);
    writer.handle_timeout(at(5000));
    writer.poll_transmit(at(5000), &mut sent);
    assert_eq!(
        sent.messages(),
        [["data", "data", "data", "data", "data", "heartbeat"]]
    );
    // Also where it fills up meanwhile.
    let left = put(&mut writer, &mut sent, at(6000), 100);
    let samples: usize = left.iter().sum();
    assert!(samples >= 75, "{left:?}");
    writer.flush();
    writer.poll_transmit(at(6000), &mut sent);
    let rest = sent.words();
    let rest = rest.iter().filter(|it| **it == "data").count();
    assert_eq!(samples + rest, 100, "none is left out");
}

#[test]
fn a_sealed_bundle_is_not_overtaken_by_what_left_after_it() {
    let (mut writer, mut sent) = bundling(up_to(1400), |config| config.depth = Some(1));
    let write = |writer: &mut Writer, key: u8| {
        let instance = InstanceHandle([key; 16]);
        let change = NewChange {
            instance,
            ..change(16)
        };
        writer.write(NOW, change).unwrap();
    };
    // The first is sealed when HISTORY gives it up; all leave, and then another begins to wait.
    for key in [1, 1, 2] {
        write(&mut writer, key);
    }
    writer.flush();
    write(&mut writer, 3);
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(sent.numbers, [1, 2, 3]);
    writer.handle_timeout(at(5000));
    writer.poll_transmit(at(5000), &mut sent);
    assert_eq!(sent.numbers, [1, 2, 3, 4]);
}

#[test]
fn a_question_does_not_overtake_a_sealed_bundle() {
    let (mut writer, mut sent) = bundling(up_to(1400), |config| config.depth = Some(1));
    let reader = matched(true, false).guid;
    put(&mut writer, &mut sent, NOW, 3);
    writer.handle_acknack(NOW, reader, &question()).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    let words = sent.words();
    assert_eq!(words.get(..3), Some(&["data"; 3][..]), "{words:?}");
    assert_eq!(statistics(&writer).room, 1);
}

#[test]
fn what_a_sealed_bundle_has_is_not_said_to_be_gone_before_it_leaves() {
    let (mut writer, mut sent) = bundling(up_to(1400), |config| config.depth = Some(1));
    let reader = matched(true, false).guid;
    put(&mut writer, &mut sent, NOW, 1);
    writer.flush();
    writer.poll_transmit(NOW, &mut sent);
    sent.words();
    // The first is lost, and history has given it up when the reader asks for it.
    put(&mut writer, &mut sent, NOW, 3);
    let asked = acknack(1, &[1], 3);
    writer.handle_acknack(NOW, reader, &asked).unwrap();
    writer.poll_transmit(at(2000), &mut sent);
    let words = sent.words();
    assert_eq!(words.get(..3), Some(&["data"; 3][..]), "{words:?}");
    assert!(words.contains(&"gap"), "{words:?}");
}

#[test]
fn readers_that_come_and_go_meet_a_sealed_bundle() {
    let (mut writer, mut sent) = bundling(up_to(1400), |config| config.depth = Some(1));
    put(&mut writer, &mut sent, NOW, 3);
    let mut other = matched(true, false);
    other.guid.prefix = GuidPrefix([9; 12]);
    let guid: Guid = other.guid;
    writer.handle_matched(NOW, other);
    writer.handle_unmatched(NOW, guid, false);
    writer.flush();
    writer.poll_transmit(at(2000), &mut sent);
    assert_eq!(sent.announced(), Some(SequenceNumber(3)));
    put(&mut writer, &mut sent, NOW, 3);
    writer.handle_unmatched(NOW, matched(true, false).guid, false);
    writer.poll_transmit(NOW, &mut sent);
    writer.flush();
    writer.poll_transmit(NOW, &mut sent);
    assert!(writer.is_acknowledged(SequenceNumber(6)));
    assert_eq!(writer.poll_timeout(), None);
}

#[test]
fn what_history_gave_up_leaves_to_who_is_here_before_readers_come_or_go() {
    let (mut writer, mut sent) = bundling(up_to(1400), |config| config.depth = Some(1));
    assert!(!writer.leaves_before_readers_change(), "nothing waits");
    put(&mut writer, &mut sent, NOW, 1);
    assert!(!writer.leaves_before_readers_change(), "history has it");
    put(&mut writer, &mut sent, NOW, 2);
    assert!(writer.leaves_before_readers_change());
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(sent.numbers, [1, 2, 3]);
    let mut other = matched(true, false);
    other.guid.prefix = GuidPrefix([9; 12]);
    writer.handle_matched(NOW, other);
    writer.flush();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(sent.numbers, [1, 2, 3], "nothing leaves twice");
}

#[test]
fn a_full_history_has_the_bundle_leave() {
    let (mut writer, mut sent) = bundling(up_to(1400), |config| config.samples_max = 4);
    assert_eq!(put(&mut writer, &mut sent, NOW, 4), [0; 4]);
    assert_eq!(writer.write(NOW, change(16)), Err(WriteError::WouldBlock));
    writer.poll_transmit(NOW, &mut sent);
    let words = sent.words();
    assert_eq!(words.iter().filter(|it| **it == "data").count(), 4);
    assert!(words.contains(&"heartbeat?"));
    assert_eq!(statistics(&writer).room, 1);
}
