//! What is asked for, when, and how often.

use super::*;

#[test]
fn an_unheard_writer_is_asked_again_and_again_but_ever_less() {
    let mut reader = reader(|_| {});
    reader.handle_matched(NOW, matched(true));
    let mut now = NOW;
    let mut asked = 0;
    while now < NOW.after(Duration::from_secs(10)) {
        asked += answers(&mut reader, now).len();
        now = reader.poll_timeout().unwrap().0;
    }
    assert!((5..15).contains(&asked), "{asked}");
    reader
        .handle_heartbeat(now, WRITER, &heartbeat(1, 0, 1, true))
        .unwrap();
    assert_eq!(reader.poll_timeout(), None);
}

#[test]
fn the_next_in_order_is_asked_for_even_when_no_more_may_wait() {
    let mut reader = reader(|config| config.reorder_samples_max = 2);
    reader.handle_matched(NOW, matched(true));
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 0, 1, false))
        .unwrap();
    answers(&mut reader, NOW);
    reader.handle_data(NOW, data(3)).unwrap();
    reader.handle_data(NOW, data(4)).unwrap();
    assert!(reader.handle_data(NOW, data(5)).is_err());
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 5, 2, true))
        .unwrap();
    assert_eq!(answers(&mut reader, NOW), [(1, vec![1])]);
    reader.handle_data(NOW, data(1)).unwrap();
    reader.handle_data(NOW, data(2)).unwrap();
    assert_eq!(taken(&mut reader), [1, 2, 3, 4]);
}

#[test]
fn no_more_is_asked_for_than_finds_a_place() {
    let mut reader = reader(|config| config.reorder_samples_max = 3);
    reader.handle_matched(NOW, matched(true));
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 9, 1, false))
        .unwrap();
    assert_eq!(answers(&mut reader, NOW), [(1, vec![1, 2, 3, 4])]);
    reader.handle_data(NOW, data(3)).unwrap();
    let later = NOW.after(Duration::from_secs(1));
    reader
        .handle_heartbeat(later, WRITER, &heartbeat(1, 9, 2, false))
        .unwrap();
    assert_eq!(answers(&mut reader, later), [(1, vec![1, 2, 4])]);
}

#[test]
fn a_best_effort_reader_waits_for_no_history() {
    let mut reader = reader(|config| {
        config.reliable = false;
        config.durable = true;
    });
    reader.handle_matched(
        NOW,
        MatchedWriter {
            durable: true,
            ..matched(true)
        },
    );
    assert!(reader.has_history());
}

#[test]
fn counts_go_on_when_a_writer_comes_back() {
    let mut reader = reader(|_| {});
    let mut counts = vec![];
    for _ in 0..3 {
        reader.handle_matched(NOW, matched(true));
        let mut sent = Sent::default();
        reader.poll_transmit(NOW, &mut sent);
        for inbound in MessageReceiver::new(&sent.0[0], WRITER.prefix).unwrap() {
            if let Submessage::AckNack(acknack) = inbound.unwrap().submessage {
                counts.push(acknack.count.0);
            }
        }
        reader.handle_unmatched(NOW, Timestamp(1), WRITER);
    }
    assert_eq!(counts, [1, 2, 3]);
}

#[test]
fn the_first_question_is_put_as_each_vendor_answers_it_at_once() {
    for (vendor, base) in [(VendorId::WHIMBREL, 1), (VendorId::FAST_DDS, 0)] {
        let mut reader = reader(|_| {});
        let writer = MatchedWriter {
            vendor,
            ..matched(true)
        };
        reader.handle_matched(NOW, writer);
        let mut sent = Sent::default();
        reader.poll_transmit(NOW, &mut sent);
        let asked = MessageReceiver::new(&sent.0[0], WRITER.prefix)
            .unwrap()
            .find_map(|inbound| match inbound.unwrap().submessage {
                Submessage::AckNack(acknack) => Some(acknack),
                _ => None,
            });
        let asked = asked.unwrap();
        assert_eq!(asked.state.base(), SequenceNumber(base), "{vendor:?}");
        assert!(asked.state.is_empty() && !asked.is_final, "{vendor:?}");
    }
}

#[test]
fn a_writer_that_is_reliable_no_more_is_not_asked_for_ever() {
    let mut reader = reader(|_| {});
    reader.handle_matched(NOW, matched(true));
    reader.handle_matched(NOW, matched(false));
    reader.handle_data(NOW, data(1)).unwrap();
    let mut sent = Sent::default();
    reader.poll_transmit(NOW, &mut sent);
    assert_eq!(reader.poll_timeout(), None);
    assert_eq!(taken(&mut reader), [1]);
}

#[test]
fn a_writer_that_insists_does_not_get_the_same_request_again_at_once() {
    let mut reader = reader(|_| {});
    reader.handle_matched(NOW, matched(true));
    let hear = |reader: &mut Reader, now: Instant, count: i32| {
        let heartbeat = heartbeat(1, 2, count, false);
        reader.handle_heartbeat(now, WRITER, &heartbeat).unwrap();
        answers(reader, now)
    };
    answers(&mut reader, NOW);
    assert_eq!(hear(&mut reader, NOW, 1), [(1, vec![1, 2])]);
    let soon = NOW.after(Duration::from_millis(1));
    assert_eq!(hear(&mut reader, soon, 2), [(1, vec![])]);
    let (again, _) = reader.poll_timeout().unwrap();
    assert_eq!(again, NOW.after(Duration::from_millis(5)));
    assert_eq!(answers(&mut reader, again), [(1, vec![1, 2])]);
    reader.handle_data(again, data(1)).unwrap();
    assert_eq!(hear(&mut reader, again, 3), [(2, vec![2])]);
}

#[test]
fn a_request_that_was_lost_is_repeated_though_the_writer_is_silent() {
    let mut reader = reader(|config| config.durable = true);
    reader.handle_matched(NOW, matched(true));
    reader.poll_transmit(NOW, &mut Sent::default());
    let heartbeat = heartbeat(1, 2, 1, true);
    reader.handle_heartbeat(NOW, WRITER, &heartbeat).unwrap();
    for _ in 0..3 {
        let (at, _) = reader.poll_timeout().unwrap();
        let mut sent = Sent::default();
        reader.poll_transmit(at, &mut sent);
        assert_eq!(sent.0.len(), 1);
    }
    for number in [1, 2] {
        reader.handle_data(NOW, data(number)).unwrap();
    }
    let (at, _) = reader.poll_timeout().unwrap();
    let mut sent = Sent::default();
    reader.poll_transmit(at, &mut sent);
    assert_eq!(sent.0.concat().len(), 0);
    assert_eq!(reader.poll_timeout(), None);
}

#[test]
fn a_best_effort_reader_answers_a_question_that_names_it_and_no_other() {
    let mut reader = reader(|config| config.reliable = false);
    let own = reader.config.guid.entity;
    reader.handle_matched(NOW, matched(false));
    let ask = |entity, is_final| Heartbeat {
        reader: entity,
        ..heartbeat(1, 7, 41, is_final)
    };
    for other in [ask(EntityId::UNKNOWN, false), ask(own, true)] {
        reader.handle_heartbeat(NOW, WRITER, &other).unwrap();
        assert_eq!(reader.poll_timeout(), None);
    }
    reader
        .handle_heartbeat(NOW, WRITER, &ask(own, false))
        .unwrap();
    let mut sent = Sent::default();
    reader.poll_transmit(NOW, &mut sent);
    let [message] = &sent.0[..] else {
        panic!("one answer");
    };
    let answer = MessageReceiver::new(message, WRITER.prefix).unwrap().next();
    let Submessage::AckNack(answer) = answer.unwrap().unwrap().submessage else {
        panic!("an ACKNACK");
    };
    assert_eq!(
        (answer.count, answer.state.base()),
        (Count(41), SequenceNumber(8))
    );
    assert!(answer.state.is_empty() && answer.is_final);
    assert_eq!(reader.poll_timeout(), None);
    // Those of others neither ask like this nor would understand the answer.
    reader.handle_matched(
        NOW,
        MatchedWriter {
            vendor: VendorId::CYCLONE_DDS,
            ..matched(false)
        },
    );
    reader
        .handle_heartbeat(NOW, WRITER, &ask(own, false))
        .unwrap();
    assert_eq!(reader.poll_timeout(), None);
}
