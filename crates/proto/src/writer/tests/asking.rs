//! When readers are asked what they have while changes go on leaving.

use super::*;

const NOW: Instant = Instant(1_000_000_000);

/// How often a reader was asked since this was looked at last.
fn asked(sent: &mut Sent) -> usize {
    let words = sent.words();
    words.iter().filter(|it| **it == "heartbeat?").count()
}

/// What was said while `samples` left, one every `pause_us`, by a writer that keeps `depth` of each
/// instance, to a reader that `answers` each question at once: how often it was asked along with a
/// sample, and how often apart.
fn questions(depth: usize, samples: i64, pause_us: i64, answers: bool) -> (usize, usize) {
    let mut writer = writer(|config| config.depth = Some(depth));
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    let hello = acknack(1, &[], 1);
    writer.handle_acknack(NOW, READER, &hello).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    sent.words();
    let (mut along, mut apart, mut answered) = (0, 0, 1);
    for number in 1..=samples {
        let now = NOW.after(Duration::from_micros(pause_us * number));
        while let Some((at, _)) = writer.poll_timeout().filter(|(at, _)| *at < now) {
            writer.handle_timeout(at);
            writer.poll_transmit(at, &mut sent);
            apart += asked(&mut sent);
        }
        writer.write(now, change(16)).unwrap();
        writer.poll_transmit(now, &mut sent);
        if sent.words().contains(&"heartbeat?") {
            along += 1;
            if answers {
                answered += 1;
                let answer = acknack(number + 1, &[], answered);
                writer.handle_acknack(now, READER, &answer).unwrap();
            }
        }
    }
    (along, apart)
}

#[test]
fn the_question_of_each_period_leaves_with_a_sample_that_leaves_anyway() {
    // 200 ms, with a period of 10.
    for pause_us in [10, 100, 500] {
        let (along, apart) = questions(1, 200_000 / pause_us, pause_us, true);
        assert!((19..=21).contains(&along) && apart == 0, "{along} {apart}");
    }
    // Nobody has to answer more than one sample of ten for it.
    let (along, apart) = questions(1, 1000, 1000, true);
    assert!(along + apart <= 100, "{along} {apart}");
}

#[test]
fn who_does_not_answer_is_asked_once_a_period_while_there_is_more_to_hear_of() {
    let (along, apart) = questions(1, 20_000, 50, false);
    assert!((99..=107).contains(&along) && apart == 0, "{along} {apart}");
}

#[test]
fn a_question_that_is_lost_with_its_sample_is_asked_again_a_period_later() {
    let mut writer = writer(|_| {});
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    let hello = acknack(1, &[], 1);
    writer.handle_acknack(NOW, READER, &hello).unwrap();
    let mut now = NOW;
    loop {
        writer.write(now, change(16)).unwrap();
        writer.poll_transmit(now, &mut sent);
        if sent.words().contains(&"heartbeat?") {
            break;
        }
        now = now.after(Duration::from_micros(100));
    }
    let (next, _) = writer.poll_timeout().unwrap();
    assert!(
        next.since(now) <= Duration::from_millis(10),
        "{:?}",
        next.since(now)
    );
    writer.handle_timeout(next);
    writer.poll_transmit(next, &mut sent);
    assert_eq!(sent.words(), ["heartbeat?"]);
}

#[test]
fn who_never_answered_is_asked_by_itself() {
    let mut writer = writer(|_| {});
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    let mut apart = 0;
    for number in 0..400 {
        let now = NOW.after(Duration::from_micros(100 * number));
        writer.write(now, change(16)).unwrap();
        writer.poll_transmit(now, &mut sent);
        apart += asked(&mut sent);
        while let Some((at, _)) = writer.poll_timeout().filter(|(at, _)| *at <= now) {
            writer.handle_timeout(at);
            writer.poll_transmit(now, &mut sent);
            let words = sent.words();
            apart += usize::from(words.first() == Some(&"heartbeat?"));
        }
    }
    assert!(apart >= 3, "{apart}");
}

#[test]
fn who_keeps_little_asks_by_time_and_who_keeps_much_by_number_too() {
    assert_eq!(questions(1, 5000, 1, true), (0, 0));
    let (along, apart) = questions(1000, 5000, 1, true);
    assert!((15..=20).contains(&along) && apart == 0, "{along} {apart}");
}

#[test]
fn who_is_to_answer_soon_is_asked_along_with_each_change_and_for_what_left_before_he_was_known() {
    let (mut writer, mut sent) = greeting(|config| config.asks_along = true);
    // Only a question of its own says where its data starts.
    writer.write(NOW, change(16)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(asked(&mut sent), 0);
    // The answer to the first.
    let none = acknack(1, &[], 1);
    writer.handle_acknack(NOW, READER, &none).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(sent.words(), ["heartbeat?"]);
    let all = acknack(2, &[], 2);
    writer.handle_acknack(NOW, READER, &all).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(asked(&mut sent), 0);
    for number in 2..5 {
        writer.write(NOW, change(16)).unwrap();
        writer.poll_transmit(NOW, &mut sent);
        assert_eq!(sent.words(), ["data", "heartbeat?"]);
        let all = acknack(number + 1, &[], number as i32 + 1);
        writer.handle_acknack(NOW, READER, &all).unwrap();
        assert_eq!(writer.poll_timeout(), None);
    }
}
