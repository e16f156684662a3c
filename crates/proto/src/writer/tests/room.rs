//! Histories that are full, and readers that hold them up.

use super::*;

#[test]
fn a_full_history_blocks_until_acknowledged() {
    let mut writer = writer(|config| {
        config.depth = None;
        config.samples_max = 2;
    });
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    writer.write(NOW, change(16)).unwrap();
    writer.write(NOW, change(16)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert!(sent.words().contains(&"heartbeat?"));
    assert_eq!(writer.write(NOW, change(16)), Err(WriteError::WouldBlock));
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(sent.words(), [""; 0], "an answer is on its way");
    let later = NOW.after(writer.config().heartbeat_period);
    assert_eq!(writer.write(later, change(16)), Err(WriteError::WouldBlock));
    writer.poll_transmit(later, &mut sent);
    assert!(sent.words().contains(&"heartbeat?"));
    while writer.poll_event().is_some() {}
    writer
        .handle_acknack(NOW, READER, &acknack(2, &[], 1))
        .unwrap();
    assert_eq!(writer.poll_event(), Some(WriterEvent::Progress));
    writer.write(NOW, change(16)).unwrap();
}

#[test]
fn a_history_without_limits_blocks_by_the_octets_under_way() {
    let mut writer = writer(|config| {
        config.depth = None;
        config.unacknowledged_bytes_max = 4000;
    });
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    // What is alone may be of any size.
    writer.write(NOW, change(5000)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(writer.write(NOW, change(1)), Err(WriteError::WouldBlock));
    writer
        .handle_acknack(NOW, READER, &acknack(2, &[], 1))
        .unwrap();
    writer.write(NOW, change(1500)).unwrap();
    writer.write(NOW, change(900)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(writer.write(NOW, change(1)), Err(WriteError::WouldBlock));
    writer
        .handle_acknack(NOW, READER, &acknack(3, &[], 2))
        .unwrap();
    assert_eq!(writer.write(NOW, change(1600)), Err(WriteError::WouldBlock));
    writer.write(NOW, change(1560)).unwrap();
    // Two that are each over the limit, so that one leaves while the other is repaired.
    writer.poll_transmit(NOW, &mut sent);
    writer
        .handle_acknack(NOW, READER, &acknack(5, &[], 3))
        .unwrap();
    writer.write(NOW, change(5000)).unwrap();
    writer.write(NOW, change(5000)).unwrap();
    assert_eq!(writer.write(NOW, change(5000)), Err(WriteError::WouldBlock));
    assert_eq!(writer.statistics().blocked, 4);
}

#[test]
fn an_answer_is_awaited_from_the_question_to_it_but_not_for_ever() {
    let mut writer = writer(|config| config.depth = None);
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    let mut written = 0;
    while !sent.words().contains(&"heartbeat?") {
        assert_eq!(writer.awaited(NOW), None);
        writer.write(NOW, change(60_000)).unwrap();
        writer.poll_transmit(NOW, &mut sent);
        written += 1;
    }
    let newest = writer.last_sequence();
    writer.write(NOW, change(60_000)).unwrap();
    assert_eq!(writer.awaited(NOW), Some(newest));
    let later = NOW.after(writer.config().heartbeat_period);
    assert_eq!(writer.awaited(later), None);
    let answer = |until: i64, count| acknack(until + 1, &[], count);
    let some = answer(written - 1, 1);
    writer.handle_acknack(NOW, READER, &some).unwrap();
    assert_eq!(writer.awaited(NOW), Some(newest));
    let all = answer(written, 2);
    writer.handle_acknack(NOW, READER, &all).unwrap();
    assert_eq!(writer.awaited(NOW), None);
}

#[test]
fn who_streams_without_a_pause_is_answered_a_few_times_in_a_window() {
    let mut writer = writer(|config| config.depth = None);
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    let (mut written, mut questions, mut answers) = (0, 0, 0);
    let mut asked_about = 0;
    while written < 10_000 {
        let outcome = writer.write(NOW, change(1400));
        writer.poll_transmit(NOW, &mut sent);
        let asked = sent
            .words()
            .iter()
            .filter(|it| **it == "heartbeat?")
            .count();
        questions += asked;
        if asked > 0 {
            asked_about = writer.last_sequence().0;
        }
        if outcome.is_ok() {
            written += 1;
            continue;
        }
        assert!(writer.is_crowded());
        // The reader answers once to what it was asked last.
        answers += 1;
        let answer = acknack(asked_about + 1, &[], answers);
        writer.handle_acknack(NOW, READER, &answer).unwrap();
        assert!(!writer.is_crowded());
    }
    let windows = 10_000 * (1400 + 768) / (1 << 20);
    assert!(
        questions <= 10 * windows,
        "{questions} in {windows} windows"
    );
    assert!(
        answers <= 2 * windows as i32,
        "blocked {answers} times in {windows}"
    );
}

#[test]
fn a_silent_reader_is_given_up_and_may_come_back() {
    let mut writer = writer(|config| {
        config.depth = None;
        config.samples_max = 1;
    });
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    writer.write(NOW, change(16)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(writer.write(NOW, change(16)), Err(WriteError::WouldBlock));
    let mut now = NOW;
    let mut events = vec![];
    while now < NOW.after(Duration::from_secs(11)) {
        now = writer.poll_timeout().unwrap().0.max(now);
        writer.handle_timeout(now);
        writer.poll_transmit(now, &mut sent);
        events.extend(core::iter::from_fn(|| writer.poll_event()));
    }
    assert!(events.contains(&WriterEvent::ReaderGivenUp(READER)));
    assert_eq!(writer.statistics().given_up, 1);
    writer.write(now, change(16)).unwrap();
    // An answer without progress changes nothing.
    writer
        .handle_acknack(now, READER, &acknack(1, &[1], 1))
        .unwrap();
    sent.words();
    writer.poll_transmit(now, &mut sent);
    assert!(sent.words().contains(&"gap"));
    writer.write(now, change(16)).unwrap();
    writer.poll_transmit(now, &mut sent);
    writer
        .handle_acknack(now, READER, &acknack(4, &[], 2))
        .unwrap();
    let resumed = core::iter::from_fn(|| writer.poll_event())
        .any(|event| event == WriterEvent::ReaderResumed(READER));
    assert!(resumed);
}

#[test]
fn an_unsent_sample_may_be_skipped_and_replaced() {
    let mut writer = writer(|_| {});
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    writer.write(NOW, change(1_000_000)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(writer.write(NOW, change(16)), Err(WriteError::WouldBlock));
    writer.skip_unsent();
    writer.write(NOW, change(16)).unwrap();
    sent.words();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(sent.words()[0], "data");
}

#[test]
fn a_history_stays_within_its_budget_and_replaces_without_more() {
    let budget = Arc::new(Budget::new(2000));
    let mut writer = writer(|config| {
        config.durable = true;
        config.budget = Some(Arc::clone(&budget));
    });
    let mut sent = Sent::default();
    let mut written = 0;
    while writer.write(NOW, keyed(ChangeKind::Alive, written)).is_ok() {
        writer.poll_transmit(NOW, &mut sent);
        written += 1;
    }
    assert!((3..20).contains(&written), "{written}");
    assert!(budget.held() <= 2000);
    assert_eq!(writer.held_bytes(), budget.held());
    let refused = writer.write(NOW, keyed(ChangeKind::Alive, 99));
    assert_eq!(refused, Err(WriteError::OutOfMemory));
    // What takes another's place needs no more room, and makes some where it ends an instance.
    for kind in [ChangeKind::Alive, ChangeKind::DisposedUnregistered] {
        writer.write(NOW, keyed(kind, 0)).unwrap();
        writer.poll_transmit(NOW, &mut sent);
    }
    writer.write(NOW, keyed(ChangeKind::Alive, 99)).unwrap();
    drop(writer);
    assert_eq!(budget.held(), 0);
}
