//! Bundles of several messages that leave by one call.

use super::*;
use crate::peer::MatchedReader;

/// Octets that may wait so.
const JOINED_BYTES: usize = 10_000;

/// What 1000 changes of `bytes`, written by a loop that does nothing else, left with.
#[track_caller]
fn written(bytes: usize, adapt: impl FnOnce(&mut WriterConfig)) -> (Writer, Wire) {
    written_by(Bundling::Automatic, bytes, adapt)
}

#[track_caller]
fn written_by(
    how: Bundling,
    bytes: usize,
    adapt: impl FnOnce(&mut WriterConfig),
) -> (Writer, Wire) {
    let (mut writer, mut sent) = bundling(how, |config| {
        config.joined_bytes_max = JOINED_BYTES;
        config.unacknowledged_bytes_max = u64::MAX;
        adapt(config);
    });
    write(&mut writer, &mut sent, bytes);
    (writer, sent)
}

#[track_caller]
fn write(writer: &mut Writer, sent: &mut Wire, bytes: usize) {
    let mut now = NOW;
    for _ in 0..1000 {
        now = now.after(Duration::from_nanos(500));
        writer.write(now, change(bytes)).unwrap();
        let before = sent.numbers.len();
        writer.poll_transmit(now, sent);
        if sent.numbers.len() > before {
            let began = now;
            now = now.after(Duration::from_micros(6));
            depart(writer, began, now);
        }
    }
    let end = now.after(Duration::from_millis(10));
    writer.handle_timeout(end);
    writer.poll_transmit(end, sent);
    assert!(
        sent.numbers.iter().copied().eq(1..=1000),
        "each once, in order"
    );
}

#[test]
fn messages_of_one_size_leave_several_at_once() {
    for bytes in [16, 400, 1000, 1380] {
        let (writer, sent) = written(bytes, |_| {});
        assert!(sent.bytes_max <= 1472, "{}", sent.bytes_max);
        let all = 1000 * (bytes + 36);
        let messages = all / 1472;
        assert!(
            sent.bulk.len() * 10 >= messages * 8,
            "{} of {messages}",
            sent.bulk.len()
        );
        let bundles = statistics(&writer).bundles as usize;
        assert!(
            bundles <= all / JOINED_BYTES * 3 / 2 + 20,
            "{bytes}: {bundles} bundles"
        );
        let mut sizes = sent.bulk.clone();
        sizes.sort_unstable();
        sizes.dedup();
        assert!(sizes.len() * 8 < sent.bulk.len(), "{bytes}: {sizes:?}");
    }
}

#[test]
fn bundles_of_a_size_leave_so_up_to_that_size() {
    // Of whole messages, without their heads and a heartbeat.
    for (limit, joined) in [(60_000, 7 * 1420), (5000, 3 * 1420)] {
        for bytes in [16, 400, 1000] {
            let (writer, sent) = written_by(up_to(limit), bytes, |_| {});
            assert!(sent.bytes_max <= 1472, "{}", sent.bytes_max);
            let bundles = statistics(&writer);
            let (all, one) = (1000 * (bytes + 36), bytes + 36);
            let least = all / joined;
            let most = all / (joined - 2 * one) + 2;
            assert!(
                (least..=most).contains(&(bundles.bundles as usize)),
                "{bytes} up to {limit}: {bundles:?}"
            );
            assert!(sent.bulk.len() * 10 >= all / 1472 * 8, "{bytes}");
        }
    }
}

#[test]
fn bundles_of_what_a_message_carries_are_no_larger_for_what_may_wait() {
    for limit in [400, 1400, 1500, 2800] {
        for bytes in [16, 36, 100, 640] {
            let (writer, mut sent) = written_by(up_to(limit), bytes, |_| {});
            let alone = |config: &mut WriterConfig| config.joined_bytes_max = 0;
            let (plain, mut wanted) = written_by(up_to(limit), bytes, alone);
            assert!(sent.bulk.is_empty(), "{bytes} up to {limit}");
            assert_eq!(statistics(&writer), statistics(&plain));
            assert_eq!(sent.messages(), wanted.messages());
        }
    }
}

#[test]
fn bundles_of_a_size_wait_no_longer_for_many_messages() {
    let (mut writer, mut sent) = bundling(up_to(60_000), |config| {
        config.joined_bytes_max = JOINED_BYTES;
    });
    for _ in 0..10 {
        writer.write(NOW, change(400)).unwrap();
        writer.poll_transmit(NOW, &mut sent);
    }
    assert!(sent.numbers.is_empty(), "{:?}", sent.numbers);
    let (at, _) = writer.poll_timeout().unwrap();
    assert_eq!(at, NOW.after(Duration::from_millis(5)));
    writer.handle_timeout(at);
    writer.poll_transmit(at, &mut sent);
    assert_eq!(sent.numbers.len(), 10);
    assert_eq!(statistics(&writer).time, 1);
}

#[test]
fn what_does_not_fit_a_message_waits_for_nothing() {
    let (mut writer, mut sent) = written(400, |_| {});
    let before = statistics(&writer).bundles;
    sent.bulk.clear();
    let mut now = NOW.after(Duration::from_secs(1));
    for _ in 0..30 {
        now = now.after(Duration::from_nanos(500));
        writer.write(now, change(1500)).unwrap();
        assert!(!writer.is_waiting());
        writer.poll_transmit(now, &mut sent);
        depart(&mut writer, now, now.after(Duration::from_micros(6)));
        now = now.after(Duration::from_micros(6));
    }
    assert_eq!(statistics(&writer).bundles, before);
}

#[test]
fn bundles_leave_message_by_message_where_more_may_not_wait() {
    // Nothing is to leave so; history gives up what waits; the path carries it all in one.
    let many = |config: &mut WriterConfig| config.depth = Some(256);
    assert!(!written(400, many).1.bulk.is_empty());
    let few = |config: &mut WriterConfig| config.depth = Some(255);
    assert!(written(400, few).1.bulk.is_empty());
    let none = |config: &mut WriterConfig| config.joined_bytes_max = 0;
    assert!(written(400, none).1.bulk.is_empty());
    let small = up_to(1400);
    assert!(written_by(small, 400, |_| {}).1.bulk.is_empty());
    // Of 10,000 octets of samples that have none beside their heads.
    let [many, few] = [277, 276].map(|depth| {
        let adapt = |config: &mut WriterConfig| config.depth = Some(depth);
        written_by(up_to(60_000), 400, adapt).1
    });
    assert!(!many.bulk.is_empty() && few.bulk.is_empty());
    let (mut writer, mut sent) = bundling(Bundling::Automatic, |config| {
        config.joined_bytes_max = JOINED_BYTES;
        config.unacknowledged_bytes_max = u64::MAX;
    });
    writer.handle_matched(
        NOW,
        MatchedReader {
            message_bytes_max: 65_507,
            ..matched(true, false)
        },
    );
    write(&mut writer, &mut sent, 400);
    assert!(sent.bulk.is_empty() && sent.bytes_max > 20_000);
}

#[test]
fn what_was_told_to_wait_leaves_with_each_full_message() {
    let (mut writer, mut sent) = bundling(Bundling::Automatic, |config| {
        config.joined_bytes_max = JOINED_BYTES;
        config.unacknowledged_bytes_max = u64::MAX;
    });
    writer.suspend();
    for _ in 0..100 {
        writer.write(NOW, change(400)).unwrap();
        writer.poll_transmit(NOW, &mut sent);
    }
    assert!(sent.bulk.is_empty() && sent.numbers.len() > 90);
}

#[test]
fn what_follows_them_leaves_as_usual() {
    let (mut writer, mut sent) = written(400, |_| {});
    sent.bulk.clear();
    let later = NOW.after(Duration::from_secs(1));
    assert!(put(&mut writer, &mut sent, later, 1)[0] > 0);
    writer.flush();
    writer.poll_transmit(later.after(Duration::from_secs(1)), &mut sent);
    assert!(sent.bulk.is_empty(), "{:?}", sent.bulk);
}

#[test]
fn writers_that_write_in_turn_leave_together_once_what_waits_fills_a_call() {
    let left = |joined: usize| {
        let mut writers = crowd(&[7411; 2], |config| {
            config.bundling = up_to(60_000);
            config.joined_bytes_max = joined;
        });
        let mut sent = Wire::default();
        let mut times = 0;
        for at in 0..1000 {
            let writer = &mut writers[at % 2];
            writer.write(NOW, change(400)).unwrap();
            writer.poll_transmit(NOW, &mut sent);
            let all = writers.iter().map(Writer::waiting_bytes).sum();
            if writers[at % 2].is_filled_by(all) {
                times += 1;
                for writer in &mut writers {
                    writer.leave_along();
                    writer.poll_transmit(NOW, &mut sent);
                    assert_eq!(writer.waiting_bytes(), 0);
                }
            }
        }
        (times, sent)
    };
    // So many of 436 octets fill a message of 1472, and seven of them.
    let (times, sent) = left(0);
    assert_eq!((times, sent.bulk.len()), (1000 / 4, 0));
    let (times, sent) = left(JOINED_BYTES);
    assert_eq!(times, 1000 / 23);
    assert!(sent.bulk.len() > 250 && sent.bytes_max <= 1472);
}
