//! What writers of the same process hand over.

use super::*;
use crate::cache::CacheChange;
use crate::reader::Offer;
use crate::value::SharedValue;

fn parcel(number: i64) -> CacheChange {
    CacheChange {
        writer: WRITER,
        instance: InstanceHandle::NIL,
        kind: ChangeKind::Alive,
        payload: SharedBytes::copy_from(&number.to_le_bytes()),
        value: None,
        source_timestamp: Timestamp(number),
        reception_timestamp: Timestamp(number),
        sequence: SequenceNumber(number),
    }
}

#[test]
fn only_the_next_in_order_is_taken_over() {
    let mut reader = reader(|_| ());
    assert_eq!(reader.take_over(parcel(1), &[]), None, "a stranger's");
    reader.handle_matched(NOW, matched(true));
    assert_eq!(reader.take_over(parcel(1), &[]), None, "not heard yet");
    let first = heartbeat(1, 0, 1, true);
    reader.handle_heartbeat(NOW, WRITER, &first).unwrap();
    assert_eq!(reader.take_over(parcel(1), &[]), Some(true));
    assert_eq!(reader.take_over(parcel(1), &[]), None);
    assert_eq!(reader.take_over(parcel(3), &[]), None);
    reader.handle_data(NOW, data(3)).unwrap();
    assert_eq!(reader.take_over(parcel(2), &[]), None, "another waits");
    reader.handle_data(NOW, data(2)).unwrap();
    assert_eq!(reader.take_over(parcel(4), &[]), Some(true));
    assert_eq!(taken(&mut reader), [1, 2, 3, 4]);
    assert_eq!(reader.statistics().in_process, 2);
    let late = reader.handle_data(NOW, data(4)).unwrap_err();
    assert_eq!(late.kind, RejectKind::Duplicate);
    // And it says that it has them.
    let question = heartbeat(1, 4, 2, false);
    reader.handle_heartbeat(NOW, WRITER, &question).unwrap();
    assert_eq!(answers(&mut reader, NOW), [(5, vec![])]);
}

#[test]
fn a_closed_reader_takes_nothing_and_keeps_nothing() {
    let mut reader = reader(|_| ());
    reader.handle_matched(NOW, matched(true));
    let first = heartbeat(1, 0, 1, false);
    reader.handle_heartbeat(NOW, WRITER, &first).unwrap();
    assert_eq!(reader.take_over(parcel(1), &[]), Some(true));
    assert!(reader.poll_timeout().is_some(), "it owes an answer");
    assert!(!reader.close().is_empty());
    assert!(reader.cache().is_empty());
    assert_eq!(reader.poll_timeout(), None);
    assert_eq!(reader.take_over(parcel(2), &[]), None);
    let late = reader.handle_data(NOW, data(2)).unwrap_err();
    assert_eq!(late.kind, RejectKind::Stranger);
}

#[test]
fn a_full_reader_takes_nothing_over_and_shows_no_trace() {
    let mut reader = reader(|config| config.cache = keep_all(1));
    reader.handle_matched(NOW, matched(true));
    let first = heartbeat(1, 0, 1, true);
    reader.handle_heartbeat(NOW, WRITER, &first).unwrap();
    let of = |number| Offer {
        writer: WRITER,
        sequence: SequenceNumber(number),
        instance: InstanceHandle::NIL,
        bytes: 8,
        key: None,
    };
    assert!(reader.would_take_data(&of(1)));
    assert_eq!(reader.take_over(parcel(1), &[]), Some(true));
    assert!(!reader.would_take_data(&of(2)));
    assert_eq!(reader.take_data(&of(2), || parcel(2)), None);
    assert_eq!(reader.take_over(parcel(2), &[]), None);
    assert_eq!(reader.statistics().rejected, 0);
    assert!(!reader.waits_for_room());
    taken(&mut reader);
    assert_eq!(reader.take_data(&of(2), || parcel(2)), Some(true));
}

#[test]
fn values_count_what_they_keep_and_are_given_back_when_they_give_way() {
    let budget = Arc::new(Budget::new(10_000));
    let mut reader = reader(|config| {
        config.budget = Some(Arc::clone(&budget));
        config.cache.history = History::KeepLast(1);
    });
    reader.handle_matched(NOW, matched(true));
    let first = heartbeat(1, 0, 1, true);
    reader.handle_heartbeat(NOW, WRITER, &first).unwrap();
    let of_value = |number: i64, bytes| {
        let mut parcel = parcel(number);
        parcel.payload = SharedBytes::default();
        parcel.value = Some(SharedValue::new(Arc::new(number), bytes));
        parcel
    };
    assert_eq!(reader.take_over(of_value(1, 3000), &[]), Some(true));
    assert!(budget.held() > 3000, "{}", budget.held());
    assert_eq!(reader.take_over(of_value(2, 9000), &[]), None);
    assert_eq!(reader.take_over(of_value(2, 10), &[]), Some(true));
    let old = reader.cache_mut().take_discarded().unwrap();
    assert_eq!(old.get::<i64>(), Some(&1));
    assert!(reader.cache_mut().take_discarded().is_none());
    assert!(budget.held() < 1000, "{}", budget.held());
}
