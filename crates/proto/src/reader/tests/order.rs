//! Order, holes, losses and what is refused.

use super::*;

#[test]
fn order_is_kept_and_holes_are_asked_for() {
    let mut reader = reader(|_| {});
    reader.handle_matched(NOW, matched(true));
    assert_eq!(answers(&mut reader, NOW), [(1, vec![])]);
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 0, 1, false))
        .unwrap();
    assert_eq!(answers(&mut reader, NOW), [(1, vec![])]);
    reader.handle_data(NOW, data(1)).unwrap();
    reader.handle_data(NOW, data(4)).unwrap();
    assert_eq!(taken(&mut reader), [1]);
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 5, 2, true))
        .unwrap();
    assert_eq!(answers(&mut reader, NOW), [(2, vec![2, 3, 5])]);
    reader.handle_data(NOW, data(3)).unwrap();
    reader.handle_data(NOW, data(2)).unwrap();
    assert_eq!(taken(&mut reader), [2, 3, 4]);
    assert!(reader.handle_data(NOW, data(2)).is_err());
    reader.handle_data(NOW, data(5)).unwrap();
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 5, 3, true))
        .unwrap();
    assert_eq!(answers(&mut reader, NOW), []);
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 5, 4, false))
        .unwrap();
    assert_eq!(answers(&mut reader, NOW), [(6, vec![])]);
    assert!(
        reader
            .handle_heartbeat(NOW, WRITER, &heartbeat(1, 5, 4, false))
            .is_err()
    );
}

#[test]
fn gaps_of_any_size_are_passed_over() {
    let mut reader = reader(|_| {});
    reader.handle_matched(NOW, matched(true));
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, i64::MAX - 1, 1, false))
        .unwrap();
    let gap = Gap {
        reader: EntityId::UNKNOWN,
        writer: WRITER.entity,
        start: SequenceNumber(1),
        list: SequenceNumberSet::new(SequenceNumber(i64::MAX - 1)),
        group: None,
        filtered_count: None,
    };
    reader.handle_gap(NOW, WRITER, &gap).unwrap();
    assert_eq!(
        answers(&mut reader, NOW),
        [(i64::MAX - 1, vec![i64::MAX - 1])]
    );
    reader.handle_data(NOW, data(i64::MAX - 1)).unwrap();
    assert_eq!(taken(&mut reader), [i64::MAX - 1]);
}

#[test]
fn what_the_writer_gave_up_is_lost_but_the_rest_arrives() {
    let mut reader = reader(|_| {});
    reader.handle_matched(NOW, matched(true));
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 9, 1, true))
        .unwrap();
    reader.handle_data(NOW, data(3)).unwrap();
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(6, 9, 2, true))
        .unwrap();
    assert_eq!(taken(&mut reader), [3]);
    let events: Vec<_> = core::iter::from_fn(|| reader.poll_event()).collect();
    assert!(
        events.contains(&ReaderEvent::SampleLost { count: 4 }),
        "{events:?}"
    );
    assert_eq!(reader.statistics().lost, 4);
}

#[test]
fn a_claimed_range_costs_nothing() {
    let mut reader = reader(|_| {});
    reader.handle_matched(NOW, matched(true));
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 5, 1, true))
        .unwrap();
    let huge = heartbeat(i64::MAX - 5, i64::MAX - 1, 2, true);
    reader.handle_heartbeat(NOW, WRITER, &huge).unwrap();
    assert_eq!(answers(&mut reader, NOW)[0].0, i64::MAX - 5);
}

#[test]
fn best_effort_never_goes_back_and_counts_losses() {
    let mut reader = reader(|config| config.reliable = false);
    reader.handle_matched(NOW, matched(false));
    for number in [7, 8, 11, 9, 11, 12] {
        let _ = reader.handle_data(NOW, data(number));
    }
    assert_eq!(taken(&mut reader), [7, 8, 11, 12]);
    assert_eq!(reader.statistics().lost, 2);
    assert_eq!(reader.poll_timeout(), None);
}

#[test]
fn a_full_cache_holds_back_and_goes_on_after_a_take() {
    let mut reader = reader(|config| config.cache = keep_all(2));
    reader.handle_matched(NOW, matched(true));
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 0, 1, true))
        .unwrap();
    for number in 1..=4 {
        reader.handle_data(NOW, data(number)).unwrap();
    }
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 6, 2, false))
        .unwrap();
    assert_eq!(answers(&mut reader, NOW), [(3, vec![])]);
    assert_eq!(taken(&mut reader), [1, 2]);
    reader.handle_room(NOW);
    assert_eq!(answers(&mut reader, NOW), [(5, vec![5, 6])]);
    assert_eq!(taken(&mut reader), [3, 4]);
}

#[test]
fn strangers_are_refused() {
    let mut reader = reader(|_| {});
    assert!(reader.handle_data(NOW, data(1)).is_err());
    assert!(
        reader
            .handle_heartbeat(NOW, WRITER, &heartbeat(1, 1, 1, false))
            .is_err()
    );
    assert!(
        reader
            .handle_heartbeat_frag(NOW, WRITER, SequenceNumber(1), FragmentNumber(1), Count(1))
            .is_err()
    );
}

#[derive(Debug)]
struct FirstOctet;

impl KeyExtractor for FirstOctet {
    fn instance_of(&self, payload: &[u8], _is_key: bool) -> Option<InstanceHandle> {
        payload
            .first()
            .filter(|octet| **octet < 200)
            .map(|octet| InstanceHandle([*octet; 16]))
    }
}

#[test]
fn a_payload_without_key_is_refused_and_holds_nobody_up() {
    let mut reader = reader(|config| {
        config.keys = Some(Box::new(FirstOctet));
        config.cache = CacheConfig {
            keyed: true,
            ..keep_all(100)
        };
    });
    reader.handle_matched(NOW, matched(true));
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 0, 1, true))
        .unwrap();
    assert!(reader.handle_data(NOW, data(255)).is_err());
    let bad = Incoming {
        sequence: SequenceNumber(1),
        ..data(255)
    };
    assert!(reader.handle_data(NOW, bad).is_err());
    reader.handle_data(NOW, data(2)).unwrap();
    assert_eq!(taken(&mut reader), [2]);
}

#[test]
fn the_last_number_there_is_does_not_come_again_and_again() {
    for reliable in [false, true] {
        let mut reader = reader(|config| config.reliable = reliable);
        reader.handle_matched(NOW, matched(reliable));
        for _ in 0..3 {
            let refused = reader.handle_data(NOW, data(i64::MAX)).unwrap_err();
            assert_eq!(refused.kind, RejectKind::SequenceNumber);
        }
        reader.handle_data(NOW, data(i64::MAX - 1)).unwrap();
        assert!(reader.handle_data(NOW, data(i64::MAX - 1)).is_err());
        assert!(taken(&mut reader).len() <= 1);
    }
}

#[test]
fn what_waits_for_an_earlier_sample_is_bounded_in_octets() {
    let mut reader = reader(|config| config.reorder_bytes_max = 20);
    reader.handle_matched(NOW, matched(true));
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 0, 1, true))
        .unwrap();
    reader.handle_data(NOW, data(2)).unwrap();
    reader.handle_data(NOW, data(3)).unwrap();
    assert!(reader.handle_data(NOW, data(4)).is_err());
    reader.handle_data(NOW, data(1)).unwrap();
    reader.handle_data(NOW, data(4)).unwrap();
    assert_eq!(taken(&mut reader), [1, 2, 3, 4]);
}
