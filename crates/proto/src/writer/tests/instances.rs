//! Instances that end, return and are forgotten.

use super::*;

#[test]
fn a_deleted_instance_is_forgotten_once_everybody_knows() {
    let mut writer = writer(|config| {
        config.durable = true;
        config.instances_max = 1;
    });
    let mut sent = Sent::default();
    let instance = |byte| InstanceHandle([byte; 16]);
    let keyed = |kind, byte| NewChange {
        packed: crate::writer::Packed::Untried,
        kind,
        instance: instance(byte),
        ..change(4)
    };
    writer.write(NOW, keyed(ChangeKind::Alive, 1)).unwrap();
    assert_eq!(
        writer.write(NOW, keyed(ChangeKind::Alive, 2)),
        Err(WriteError::TooManyInstances)
    );
    writer
        .write(NOW, keyed(ChangeKind::DisposedUnregistered, 1))
        .unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(writer.history_len(), 0);
    writer.write(NOW, keyed(ChangeKind::Alive, 2)).unwrap();
}

#[test]
fn of_disposed_instances_only_the_newest_are_remembered() {
    for durable in [false, true] {
        let mut writer = writer(|config| config.durable = durable);
        let mut sent = Sent::default();
        let mut forgotten = 0;
        for number in 0..3000 {
            writer.write(NOW, keyed(ChangeKind::Alive, number)).unwrap();
            writer
                .write(NOW, keyed(ChangeKind::Disposed, number))
                .unwrap();
            writer.poll_transmit(NOW, &mut sent);
            while let Some(event) = writer.poll_event() {
                forgotten += usize::from(matches!(event, WriterEvent::InstanceForgotten(_)));
            }
        }
        assert_eq!(writer.registered_instances().count(), 1024);
        assert_eq!(writer.history_len(), if durable { 1024 } else { 0 });
        assert_eq!(forgotten, 3000 - 1024);
        assert!(writer.is_registered(keyed(ChangeKind::Alive, 2999).instance));
        assert!(!writer.is_registered(keyed(ChangeKind::Alive, 0).instance));
    }
}

#[test]
fn a_disposed_instance_that_lives_again_is_not_forgotten() {
    let mut writer = writer(|config| config.disposed_instances_max = 0);
    let mut sent = Sent::default();
    for kind in [ChangeKind::Alive, ChangeKind::Disposed, ChangeKind::Alive] {
        writer.write(NOW, keyed(kind, 1)).unwrap();
    }
    writer.write(NOW, keyed(ChangeKind::Disposed, 2)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert!(writer.is_registered(keyed(ChangeKind::Alive, 1).instance));
    assert!(!writer.is_registered(keyed(ChangeKind::Alive, 2).instance));
}

#[test]
fn keys_that_are_unregistered_leave_nothing_in_a_durable_history() {
    let mut writer = writer(|config| config.durable = true);
    let mut sent = Sent::default();
    for number in 0..100 {
        writer.write(NOW, keyed(ChangeKind::Alive, number)).unwrap();
        writer
            .write(NOW, keyed(ChangeKind::Unregistered, number))
            .unwrap();
    }
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(writer.history_len(), 0);
}

#[test]
fn an_instance_deleted_again_and_again_before_a_reader_that_is_stuck_costs_no_more_than_once() {
    let mut writer = writer(|config| config.durable = true);
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, true));
    for _ in 0..1000 {
        for kind in [
            ChangeKind::Alive,
            ChangeKind::Disposed,
            ChangeKind::DisposedUnregistered,
        ] {
            writer.write(NOW, keyed(kind, 1)).unwrap();
            writer.poll_transmit(NOW, &mut sent);
        }
    }
    assert_eq!(writer.history_len(), 1);
    assert_eq!(writer.endings.len(), 1);
}

#[test]
fn what_a_reborn_instance_wrote_since_its_deletion_is_kept() {
    let mut writer = writer(|config| {
        config.durable = true;
        config.depth = None;
    });
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, true));
    let keyed = |kind| NewChange {
        packed: crate::writer::Packed::Untried,
        kind,
        instance: InstanceHandle([1; 16]),
        ..change(4)
    };
    for kind in [
        ChangeKind::DisposedUnregistered,
        ChangeKind::Alive,
        ChangeKind::Unregistered,
    ] {
        writer.write(NOW, keyed(kind)).unwrap();
    }
    writer.poll_transmit(NOW, &mut sent);
    sent.words();
    writer
        .handle_acknack(NOW, READER, &acknack(2, &[2, 3], 1))
        .unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(sent.words(), ["data", "data", "heartbeat?"]);
    assert_eq!(writer.history_len(), 2);
}

#[test]
fn an_unregistration_that_takes_a_disposals_place_tells_of_both() {
    let mut writer = writer(|config| config.durable = true);
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    let keyed = |kind| NewChange {
        packed: crate::writer::Packed::Untried,
        kind,
        instance: InstanceHandle([1; 16]),
        ..change(4)
    };
    for kind in [
        ChangeKind::Alive,
        ChangeKind::Disposed,
        ChangeKind::Unregistered,
    ] {
        writer.write(NOW, keyed(kind)).unwrap();
        writer.poll_transmit(NOW, &mut sent);
    }
    let kept = writer.sample_of(InstanceHandle([1; 16])).unwrap();
    assert_eq!(kept.kind, ChangeKind::DisposedUnregistered);
}

#[test]
fn who_was_lost_and_comes_back_hears_which_instances_ended_meanwhile() {
    for kind in [ChangeKind::Unregistered, ChangeKind::DisposedUnregistered] {
        let mut writer = writer(|config| {
            config.durable = true;
            config.disposed_instances_max = 10;
        });
        let mut sent = Sent::default();
        writer.handle_matched(NOW, matched(true, true));
        writer.write(NOW, keyed(ChangeKind::Alive, 1)).unwrap();
        writer.poll_transmit(NOW, &mut sent);
        let answer = acknack(2, &[], 1);
        writer.handle_acknack(NOW, READER, &answer).unwrap();
        // The end does not reach it before it is taken for lost.
        writer.write(NOW, keyed(kind, 1)).unwrap();
        writer.poll_transmit(NOW, &mut sent);
        writer.handle_unmatched(NOW, READER, true);
        assert_eq!(writer.registered_instances().count(), 0);
        writer.handle_matched(NOW, matched(true, true));
        let answer = acknack(2, &[2], 1);
        writer.handle_acknack(NOW, READER, &answer).unwrap();
        sent.words();
        writer.poll_transmit(NOW, &mut sent);
        assert_eq!(sent.words(), ["data", "heartbeat?"]);
        // Nobody waits for ever: of many ends the newest are kept, and what lives again is none.
        writer.write(NOW, keyed(ChangeKind::Alive, 1)).unwrap();
        for number in 2..=30 {
            for kind in [ChangeKind::Alive, kind] {
                writer.write(NOW, keyed(kind, number)).unwrap();
                writer.poll_transmit(NOW, &mut sent);
            }
        }
        writer.handle_unmatched(NOW, READER, true);
        assert_eq!(writer.history_len(), 1 + 10);
        let forgotten = core::iter::from_fn(|| writer.poll_event())
            .any(|event| matches!(event, WriterEvent::InstanceForgotten(_)));
        assert!(!forgotten, "they were given up by the program");
    }
}

/// Reader `number` of a participant of its own.
fn newcomer(number: u16) -> MatchedReader {
    let mut reader = matched(true, true);
    let [high, low] = number.to_be_bytes();
    reader.guid.prefix.0[..3].copy_from_slice(&[9, high, low]);
    reader
}

#[test]
fn readers_that_never_stop_coming_hold_up_no_end_that_they_never_knew() {
    let mut writer = writer(|config| config.durable = true);
    let mut sent = Sent::default();
    // One that stays, of which every new reader is told.
    writer.write(NOW, keyed(ChangeKind::Alive, 0)).unwrap();
    let mut kept_max = 0;
    for number in 1..=2000u16 {
        // There is always somebody who has not answered yet.
        writer.handle_matched(NOW, newcomer(number));
        let key = u32::from(number);
        for kind in [ChangeKind::Alive, ChangeKind::DisposedUnregistered] {
            writer.write(NOW, keyed(kind, key)).unwrap();
            writer.poll_transmit(NOW, &mut sent);
        }
        let last = writer.last_sequence().0;
        let before = newcomer(number - 1).guid;
        let _ = writer.handle_acknack(NOW, before, &acknack(last + 1, &[], 1));
        if number > 3 {
            writer.handle_unmatched(NOW, newcomer(number - 3).guid, false);
        }
        kept_max = kept_max.max(writer.history_len());
        sent.words();
    }
    // What lives, and the ends since the two came that have not answered.
    assert!(kept_max <= 4, "{kept_max}");
    assert!(writer.endings.len() <= 3);
    assert_eq!(writer.registered_instances().count(), 1);
}

#[test]
fn an_end_is_kept_for_who_may_know_the_instance() {
    let gone = keyed(ChangeKind::DisposedUnregistered, 1);
    // Who was there before, who shares its addresses, who is in a group, and who has a history
    // from which it may have got the instance.
    for case in 0..4 {
        let mut writer = writer(|config| {
            config.durable = true;
            config.depth = if case == 3 { Some(2) } else { Some(1) };
        });
        let mut sent = Sent::default();
        let (known, mut late) = (newcomer(1), newcomer(2));
        writer.handle_matched(NOW, known.clone());
        writer.write(NOW, keyed(ChangeKind::Alive, 1)).unwrap();
        writer.poll_transmit(NOW, &mut sent);
        if case == 0 {
            writer.handle_matched(NOW, late.clone());
        }
        writer.write(NOW, gone.clone()).unwrap();
        writer.poll_transmit(NOW, &mut sent);
        if case == 1 {
            late.guid = Guid::new(known.guid.prefix, EntityId([0, 0, 9, 4]));
        }
        if case == 2 {
            late.group = late.locators.first().copied();
        }
        writer.handle_matched(NOW, late.clone());
        let all = acknack(3, &[], 1);
        writer.handle_acknack(NOW, known.guid, &all).unwrap();
        assert!(writer.history_len() > 0, "{case}");
        writer.handle_acknack(NOW, late.guid, &all).unwrap();
        assert_eq!(writer.history_len(), 0, "{case}");
    }
}

#[test]
fn who_is_gone_for_good_leaves_no_ends_behind() {
    let mut writer = writer(|config| config.durable = true);
    let mut sent = Sent::default();
    for number in 1..=100u16 {
        let reader = newcomer(number);
        writer.handle_matched(NOW, reader.clone());
        let key = u32::from(number);
        for kind in [ChangeKind::Alive, ChangeKind::DisposedUnregistered] {
            writer.write(NOW, keyed(kind, key)).unwrap();
            writer.poll_transmit(NOW, &mut sent);
        }
        writer.handle_unmatched(NOW, reader.guid, false);
    }
    assert_eq!(writer.history_len(), 0);
    assert_eq!(writer.endings.len(), 0);
}
