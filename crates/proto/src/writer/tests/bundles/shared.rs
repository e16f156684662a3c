//! Changes of several writers of one participant.

use super::*;

/// Has each write in turn `rounds` times, every `pause`; which round was the first of which
/// something waits.
fn take_turns(writers: &mut [Writer], rounds: u32, pause: Duration) -> Option<u32> {
    let mut now = NOW;
    for round in 0..rounds {
        for writer in &mut *writers {
            now = now.after(pause);
            if put(writer, &mut Wire::default(), now, 1) == [0] {
                return Some(round);
            }
            let began = now;
            now = now.after(Duration::from_micros(6));
            depart(writer, began, now);
        }
    }
    None
}

#[test]
fn writers_that_are_fast_together_leave_together_where_they_write_to_the_same_addresses() {
    let fast = Duration::from_nanos(500);
    // Of a hundred each rests for half a millisecond.
    let mut same = crowd(&[7411; 100], |_| {});
    assert_eq!(take_turns(&mut same, 3, fast), Some(0));
    assert_eq!(
        take_turns(
            &mut crowd(&[7411; 100], |_| {}),
            3,
            Duration::from_micros(20)
        ),
        None
    );
    let mut others: Vec<_> = (7000..7100).collect();
    assert_eq!(take_turns(&mut crowd(&others, |_| {}), 3, fast), None);
    others.fill(7411);
    let alone = |config: &mut WriterConfig| config.shared_rate = None;
    assert_eq!(take_turns(&mut crowd(&others, alone), 3, fast), None);
    // What is compressed as a whole leaves with what is compressed alike only.
    let packs = |config: &mut WriterConfig| config.packed_messages = CompressionIds::LZ4;
    assert_eq!(take_turns(&mut crowd(&others, packs), 3, fast), Some(0));
    let every_other = |config: &mut WriterConfig| {
        let odd = config.guid.entity.0[2] % 2 == 1;
        config.packed_messages = [CompressionIds::NONE, CompressionIds::LZ4][usize::from(odd)];
    };
    assert_eq!(take_turns(&mut crowd(&others, every_other), 3, fast), None);
}

/// Has all that waits leave; how many changes did.
fn leave_along(writers: &mut [Writer], now: Instant) -> usize {
    let mut sent = Wire::default();
    for writer in writers {
        writer.leave_along();
        writer.poll_transmit(now, &mut sent);
    }
    let words = sent.words();
    words.iter().filter(|word| **word == "data").count()
}

/// Has writers write in bursts, each as many samples as `counts` say, with a millisecond between
/// them, and gives how long after its burst the last sample of each left.
fn bursts(writers: &mut [Writer], counts: impl Iterator<Item = usize>) -> Vec<Duration> {
    bursts_after(writers, counts, || 0)
}

/// The same, each after what `hears` gives has arrived.
fn bursts_after(
    writers: &mut [Writer],
    counts: impl Iterator<Item = usize>,
    mut hears: impl FnMut() -> u32,
) -> Vec<Duration> {
    let mut waits = Vec::new();
    let (mut now, many) = (NOW, writers.len());
    for count in counts {
        now = now.after(Duration::from_millis(1));
        let mut left = 0;
        for number in 0..count {
            now = now.after(Duration::from_nanos(500));
            let at = number % many;
            writers[at].note_heard(hears());
            let mut gone = put(&mut writers[at], &mut Wire::default(), now, 1)[0];
            if gone == 0 && writers[at].leave_after_burst() {
                gone += leave_along(writers, now);
            }
            left += gone;
            if gone > 0 {
                let began = now;
                now = now.after(Duration::from_micros(6));
                depart(&mut writers[at], began, now);
            }
        }
        let ended = now;
        let due = |it: &Writer| Some(it.poll_timeout().filter(|_| it.is_waiting())?.0);
        if let Some(at) = writers.iter().filter_map(due).min() {
            // The first timer has the others leave along.
            let first = writers.iter_mut().filter(|it| due(it) == Some(at));
            first.for_each(|it| it.handle_timeout(at));
            left += leave_along(writers, at);
            now = now.max(at);
        }
        assert_eq!(left, count);
        waits.push(now.since(ended));
    }
    waits
}

#[test]
fn the_end_of_a_burst_that_comes_again_and_again_is_known() {
    for many in [1, 30] {
        let late = |counts: &mut dyn Iterator<Item = usize>| {
            let waits = bursts(&mut crowd(&vec![7411; many], |_| {}), counts);
            let late = waits.iter().map(|it| *it > Duration::ZERO);
            late.collect::<Vec<_>>()
        };
        let known = late(&mut (0..20).map(|_| 30));
        assert!(known[0], "{many}: nothing is known of the first");
        assert!(known[4..].iter().all(|late| !late), "{many}: {known:?}");
        // Another length is soon as well known.
        let changed = late(&mut (0..20).map(|round| if round < 10 { 30 } else { 24 }));
        assert!(
            changed[14..].iter().all(|late| !late),
            "{many}: {changed:?}"
        );
        // Where they differ all the time nothing waits longer than for a burst of which nothing is
        // known.
        let differ = (1..200).map(|round| 10 + round * 7 % 23);
        let waits = bursts(&mut crowd(&vec![7411; many], |_| {}), differ);
        assert!(
            waits.iter().all(|it| *it <= Duration::from_micros(200)),
            "{many}"
        );
    }
}

#[test]
fn bursts_of_answers_leave_together_once_there_were_enough() {
    let mut writers = crowd(&[7411; 30], |_| {});
    let mut heard = 0;
    let mut together = |rounds| {
        let before: u64 = writers.iter().map(|it| statistics(it).samples).sum();
        let hears = || {
            heard += 1;
            heard
        };
        bursts_after(&mut writers, (0..rounds).map(|_| 30), hears);
        let after: u64 = writers.iter().map(|it| statistics(it).samples).sum();
        after - before
    };
    assert_eq!(together(100), 0, "they may be answers to each other");
    together(200);
    let late = together(100);
    assert!(late > 100 * 15, "{late}");
}

#[test]
fn lone_samples_beside_the_stream_of_another_writer_leave_at_once() {
    let mut writers = crowd(&[7411, 7411], |_| {});
    let [stream, lone] = &mut writers[..] else {
        panic!("two")
    };
    let (mut now, mut waited) = (NOW, 0);
    for step in 0..100_000 {
        now = now.after(Duration::from_nanos(500));
        let left = put(stream, &mut Wire::default(), now, 1)[0];
        waited += usize::from(left == 0);
        if left > 0 {
            let began = now;
            now = now.after(Duration::from_micros(20));
            depart(stream, began, now);
        }
        if step % 100 == 0 {
            now = now.after(Duration::from_nanos(500));
            assert_eq!(put(lone, &mut Wire::default(), now, 1), [1], "{step}");
            let began = now;
            now = now.after(Duration::from_micros(6));
            depart(lone, began, now);
        }
    }
    assert!(waited > 90_000);
}
