//! Changes that wait for others.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::net::SocketAddr;

use whimbrel_base::guid::{EntityId, EntityKind, Guid, GuidPrefix};
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::time::{Duration, Instant, Timestamp};

use whimbrel_base::locator::Locator;
use whimbrel_base::qos::CompressionIds;
use whimbrel_wire::message::Submessage;

use super::super::{
    Bundling, BundlingStatistics, NewChange, SharedRate, WriteError, Writer, WriterConfig,
};
use super::{READER, Sent, acknack, change, matched, writer};
use crate::outbox::Outbox;
use crate::receive::MessageReceiver;

const NOW: Instant = Instant(1_000_000_000);

const fn at(micros: u64) -> Instant {
    Instant(NOW.0 + micros * 1000)
}

fn up_to(message_bytes_max: usize) -> Bundling {
    Bundling::UpTo {
        message_bytes_max,
        wait: Duration::from_millis(5),
    }
}

/// What was sent since it was last looked at.
#[derive(Default)]
struct Wire {
    messages: Vec<Vec<&'static str>>,
    bytes_max: usize,
    announced: Option<SequenceNumber>,
    /// Messages that may leave compressed.
    packed: usize,
    /// Of the changes, in the order in which they left.
    numbers: Vec<i64>,
}

impl Outbox for Wire {
    fn send_bundle(&mut self, to: &[Locator], parts: &[&[u8]]) {
        self.packed += 1;
        self.send(to, parts);
    }

    fn send(&mut self, to: &[Locator], parts: &[&[u8]]) {
        let message = parts.concat();
        self.bytes_max = self.bytes_max.max(message.len());
        for inbound in MessageReceiver::new(&message, READER.prefix).unwrap() {
            match inbound.unwrap().submessage {
                Submessage::Heartbeat(it) => self.announced = Some(it.last),
                Submessage::Data(it) => self.numbers.push(it.number.0),
                _ => {}
            }
        }
        let mut sent = Sent::default();
        sent.send(to, parts);
        self.messages.push(sent.words());
    }
}

impl Wire {
    fn messages(&mut self) -> Vec<Vec<&'static str>> {
        core::mem::take(&mut self.messages)
    }

    fn words(&mut self) -> Vec<&'static str> {
        self.messages().concat()
    }

    /// The newest change of which anybody was told.
    fn announced(&mut self) -> Option<SequenceNumber> {
        self.messages.clear();
        self.announced.take()
    }
}

/// A writer with a reader that knows it.
fn bundling(bundling: Bundling, adapt: impl FnOnce(&mut WriterConfig)) -> (Writer, Wire) {
    let mut writer = writer(|config| {
        config.depth = None;
        config.bundling = bundling;
        adapt(config);
    });
    let reader = matched(true, false);
    let guid = reader.guid;
    writer.handle_matched(NOW, reader);
    let mut sent = Wire::default();
    writer.poll_transmit(NOW, &mut sent);
    writer
        .handle_acknack(NOW, guid, &acknack(1, &[], 1))
        .unwrap();
    writer.poll_transmit(NOW, &mut sent);
    sent.words();
    (writer, sent)
}

/// Writes `count` changes at `now`; what left with each.
fn put(writer: &mut Writer, sent: &mut Wire, now: Instant, count: usize) -> Vec<usize> {
    let put = |number| {
        let mut change = change(16);
        change.timestamp = Timestamp(1_000_000_000 * number as i64);
        writer.write(now, change).unwrap();
        writer.poll_transmit(now, sent);
        let data = |it: &&&str| **it == "data";
        sent.words().iter().filter(data).count()
    };
    (0..count).map(put).collect()
}

/// What was written left from `began` to `ended`.
fn depart(writer: &mut Writer, began: Instant, ended: Instant) {
    if writer.measures_departures() {
        writer.note_departure(began, ended);
    }
}

fn statistics(writer: &Writer) -> BundlingStatistics {
    writer.statistics().bundling
}

#[test]
fn samples_wait_for_the_latency_budget() {
    let (mut writer, mut sent) = bundling(up_to(1400), |_| {});
    assert_eq!(put(&mut writer, &mut sent, at(0), 2), [0, 0]);
    assert!(writer.is_waiting());
    assert_eq!(put(&mut writer, &mut sent, at(4000), 1), [0]);
    assert_eq!(writer.poll_timeout().unwrap().0, at(5000));
    writer.handle_timeout(at(4999));
    writer.poll_transmit(at(4999), &mut sent);
    assert!(sent.words().is_empty());
    writer.handle_timeout(at(5000));
    writer.poll_transmit(at(5000), &mut sent);
    assert_eq!(sent.messages(), [["data", "data", "data", "heartbeat"]]);
    let wanted = BundlingStatistics {
        bundles: 1,
        samples: 3,
        time: 1,
        ..BundlingStatistics::default()
    };
    assert_eq!(statistics(&writer), wanted);
    assert_eq!(wanted.samples_per_bundle(), 3.0);
    assert!(!writer.is_waiting());
}

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
fn nobody_hears_of_what_waits() {
    let (mut writer, mut sent) = bundling(up_to(1400), |_| {});
    let reader = matched(true, false).guid;
    put(&mut writer, &mut sent, NOW, 3);
    // Not final: it wants to know.
    let mut question = acknack(1, &[], 2);
    question.is_final = false;
    writer.handle_acknack(NOW, reader, &question).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(sent.announced(), Some(SequenceNumber(0)));
    writer.flush();
    writer.poll_transmit(at(2000), &mut sent);
    assert_eq!(sent.announced(), Some(SequenceNumber(3)));
    writer
        .handle_acknack(NOW, reader, &acknack(1, &[2], 3))
        .unwrap();
    writer.poll_transmit(at(2010), &mut sent);
    assert_eq!(
        sent.words(),
        ["data", "heartbeat?"],
        "one sample is repaired"
    );
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
    let mut question = acknack(1, &[], 2);
    question.is_final = false;
    writer.handle_acknack(NOW, reader, &question).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    let words = sent.words();
    assert_eq!(words.get(..3), Some(&["data"; 3][..]), "{words:?}");
    assert_eq!(statistics(&writer).room, 1);
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

#[test]
fn a_suspension_ends_with_everything_in_few_messages() {
    for kind in [Bundling::Off, Bundling::Automatic, up_to(1400)] {
        let (mut writer, mut sent) = bundling(kind, |_| {});
        writer.suspend();
        writer.suspend();
        assert_eq!(
            put(&mut writer, &mut sent, at(100), 10),
            [0; 10],
            "{kind:?}"
        );
        assert_eq!(writer.poll_timeout(), None);
        writer.resume();
        writer.poll_transmit(at(100), &mut sent);
        assert!(sent.words().is_empty());
        writer.resume();
        writer.poll_transmit(at(100), &mut sent);
        assert_eq!(sent.messages().len(), 1);
        assert_eq!(statistics(&writer).flush, 1);
        // It ends where a message is full: memory is bounded.
        writer.suspend();
        let left = put(&mut writer, &mut sent, at(200), 100);
        assert!(left.iter().sum::<usize>() > 70);
        writer.resume();
    }
}

#[test]
fn off_and_lone_samples_leave_at_once() {
    let (mut writer, mut sent) = bundling(Bundling::Off, |_| {});
    let left = put(&mut writer, &mut sent, NOW, 100);
    assert!(left.iter().all(|it| *it > 0));
    let (mut writer, mut sent) = bundling(Bundling::Automatic, |_| {});
    let mut measured = 0;
    for step in 0..200 {
        let now = at(step * 20);
        assert!(put(&mut writer, &mut sent, now, 1)[0] > 0, "{step}");
        measured += u32::from(writer.measures_departures());
        depart(&mut writer, now, now.after(Duration::from_micros(6)));
        assert!(!writer.measures_departures());
    }
    assert_eq!(measured, 25);
    // So do those of a program that waits for an answer each time, however slow sending is.
    let mut now = at(10_000);
    for step in 1..200 {
        now = now.after(Duration::from_micros(6));
        assert!(put(&mut writer, &mut sent, now, 1)[0] > 0, "{step}");
        let began = now;
        now = now.after(Duration::from_micros(100));
        depart(&mut writer, began, now);
    }
    let (mut writer, mut sent) = bundling(Bundling::Automatic, |_| {});
    // So do few at once.
    for step in 1..20 {
        let left = put(&mut writer, &mut sent, at(10_000 * step), 7);
        assert!(left.iter().all(|it| *it > 0), "{left:?}");
    }
    assert_eq!(statistics(&writer), BundlingStatistics::default());
}

#[test]
fn what_comes_faster_than_it_can_be_sent_leaves_together() {
    let (mut writer, mut sent) = bundling(Bundling::Automatic, |_| {});
    let mut now = NOW;
    let mut messages = 0;
    for _ in 0..1000 {
        // A loop that does nothing else.
        now = now.after(Duration::from_nanos(500));
        let left = put(&mut writer, &mut sent, now, 1)[0];
        if left > 0 {
            messages += 1;
            let began = now;
            now = now.after(Duration::from_micros(6));
            depart(&mut writer, began, now);
        }
    }
    assert!(messages < 1000 / 20, "{messages}");
    assert_eq!(statistics(&writer).bundles, statistics(&writer).full);
    // It ends: what waits leaves soon, and the next waits for nothing.
    assert!(writer.is_waiting());
    let until = writer.poll_timeout().unwrap().0;
    assert!(until.since(now) <= Duration::from_micros(200));
    writer.handle_timeout(until);
    writer.poll_transmit(until, &mut sent);
    assert!(!sent.words().is_empty() && !writer.is_waiting());
    assert_eq!(statistics(&writer).idle, 1);
    assert!(
        put(
            &mut writer,
            &mut sent,
            until.after(Duration::from_micros(100)),
            1
        )[0] > 0
    );
}

#[test]
fn what_is_fast_is_known_however_long_sending_takes() {
    for send_us in [2, 5, 12, 40] {
        let (mut writer, mut sent) = bundling(Bundling::Automatic, |_| {});
        let mut now = NOW;
        let leaves = |_: &u32| {
            now = now.after(Duration::from_nanos(500));
            let left = put(&mut writer, &mut sent, now, 1)[0] > 0;
            let began = now;
            if left {
                now = now.after(Duration::from_micros(send_us));
            }
            depart(&mut writer, began, now);
            left
        };
        let alone = (0..200).take_while(leaves).count();
        assert!(alone < 20, "{send_us} us: {alone}");
    }
}

#[test]
fn who_looks_fast_and_waits_for_answers_is_soon_known() {
    for shared in [true, false] {
        let mut writers = crowd(&[7411], |config| {
            if !shared {
                config.shared_rate = None;
            }
        });
        let [writer] = &mut writers[..] else {
            panic!("one")
        };
        let (mut now, mut waits) = (NOW, 0);
        for _ in 0..10_000 {
            // The answer came in the middle of the send call.
            now = now.after(Duration::from_nanos(1500));
            if put(writer, &mut Wire::default(), now, 1) == [0] {
                waits += 1;
                now = writer.poll_timeout().unwrap().0;
                writer.handle_timeout(now);
                writer.poll_transmit(now, &mut Wire::default());
            }
            let began = now;
            now = now.after(Duration::from_micros(17));
            depart(writer, began, now);
        }
        assert!((1..=24).contains(&waits), "{waits}");
        let is_bundled = (0..10_000).any(|_| {
            now = now.after(Duration::from_nanos(500));
            let left = put(writer, &mut Wire::default(), now, 1);
            if left != [0] {
                let began = now;
                now = now.after(Duration::from_micros(6));
                depart(writer, began, now);
            }
            statistics(writer).full > 0
        });
        assert!(is_bundled);
    }
}

/// Writers of one participant, each with a reader at one of these ports.
fn crowd(ports: &[u16], adapt: impl Fn(&mut WriterConfig)) -> Vec<Writer> {
    let rate = Arc::new(SharedRate::default());
    let join = |(number, port): (usize, &u16)| {
        let mut writer = writer(|config| {
            config.guid.entity = EntityId::user(number as u32, EntityKind::WriterNoKey);
            config.depth = None;
            config.bundling = Bundling::Automatic;
            config.shared_rate = Some(Arc::clone(&rate));
            adapt(config);
        });
        let mut reader = matched(false, false);
        reader.locators = vec![SocketAddr::from(([127, 0, 0, 1], *port)).into()];
        reader.packed_messages = CompressionIds::LZ4;
        writer.handle_matched(NOW, reader);
        writer
    };
    ports.iter().enumerate().map(join).collect()
}

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

/// Has writers write in bursts, each as many samples as `counts` say, with a millisecond between
/// them, and gives how long after its burst the last sample of each left.
fn bursts(writers: &mut [Writer], counts: impl Iterator<Item = usize>) -> Vec<Duration> {
    let mut waits = Vec::new();
    let (mut now, many) = (NOW, writers.len());
    for count in counts {
        now = now.after(Duration::from_millis(1));
        let mut left = 0;
        for number in 0..count {
            now = now.after(Duration::from_nanos(500));
            let at = number % many;
            let mut gone = put(&mut writers[at], &mut Wire::default(), now, 1)[0];
            if gone == 0 && writers[at].leave_after_burst() {
                for other in &mut *writers {
                    other.leave_along();
                    let mut sent = Wire::default();
                    other.poll_transmit(now, &mut sent);
                    gone += sent.words().iter().filter(|word| **word == "data").count();
                }
            }
            left += gone;
            if gone > 0 {
                let began = now;
                now = now.after(Duration::from_micros(6));
                depart(&mut writers[at], began, now);
            }
        }
        let ended = now;
        for writer in &mut *writers {
            if let Some((at, _)) = writer.poll_timeout().filter(|_| writer.is_waiting()) {
                let mut sent = Wire::default();
                writer.handle_timeout(at);
                writer.poll_transmit(at, &mut sent);
                left += sent.words().iter().filter(|word| **word == "data").count();
                now = now.max(at);
            }
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

#[test]
fn nothing_waits_where_nobody_listens() {
    let mut writer = writer(|config| config.bundling = up_to(1400));
    let mut sent = Wire::default();
    for _ in 0..10 {
        writer.write(NOW, change(16)).unwrap();
        writer.poll_transmit(NOW, &mut sent);
    }
    assert!(sent.words().is_empty() && !writer.is_waiting());
    assert_eq!(writer.history_len(), 0);
    assert_eq!(writer.poll_timeout(), None);
}

#[test]
fn another_setting_lets_what_waits_leave() {
    let (mut writer, mut sent) = bundling(up_to(1400), |_| {});
    put(&mut writer, &mut sent, NOW, 2);
    writer.set_bundling(up_to(1400));
    writer.poll_transmit(NOW, &mut sent);
    assert!(sent.words().is_empty());
    writer.set_bundling(Bundling::Off);
    writer.poll_transmit(NOW, &mut sent);
    assert!(sent.words().contains(&"data"));
    assert!(put(&mut writer, &mut sent, NOW, 1)[0] > 0);
}

#[test]
fn only_bundles_leave_compressed_and_only_where_everybody_takes_that() {
    let (mut writer, mut sent) = bundling(up_to(1400), |config| {
        config.packed_messages = CompressionIds::LZ4;
    });
    let mut leaves = |writer: &mut Writer, samples| {
        put(writer, &mut sent, NOW, samples);
        writer.flush();
        writer.poll_transmit(NOW, &mut sent);
        core::mem::take(&mut sent.packed)
    };
    assert_eq!(leaves(&mut writer, 3), 0, "nobody said so");
    let mut reader = matched(true, false);
    reader.packed_messages = CompressionIds::ALL;
    writer.handle_matched(NOW, reader);
    assert_eq!(leaves(&mut writer, 3), 1);
    assert_eq!(leaves(&mut writer, 1), 0, "a lone sample");
    let mut other = matched(false, false);
    other.guid.prefix = GuidPrefix([9; 12]);
    other.packed_messages = CompressionIds::ZLIB;
    let guid = other.guid;
    writer.handle_matched(NOW, other);
    assert_eq!(leaves(&mut writer, 3), 0, "one takes another codec");
    writer.handle_unmatched(NOW, guid, false);
    assert_eq!(leaves(&mut writer, 3), 1);
}

#[test]
fn time_to_compress_is_no_pause_and_bundles_end_it() {
    let (mut writer, mut sent) = bundling(Bundling::Automatic, |config| {
        config.packed_messages = CompressionIds::LZ4;
    });
    let mut reader = matched(true, false);
    reader.packed_messages = CompressionIds::ALL;
    writer.handle_matched(NOW, reader);
    let mut now = NOW;
    let mut alone = 0;
    for _ in 0..1000 {
        // A loop that does nothing else; a sample by itself takes longer to compress than to send.
        if writer.packed_together_bytes_max() < 16 {
            alone += 1;
            let took = Duration::from_micros(30);
            now = now.after(took);
            writer.note_packing(took);
        }
        now = now.after(Duration::from_nanos(500));
        if put(&mut writer, &mut sent, now, 1)[0] > 0 {
            let began = now;
            now = now.after(Duration::from_micros(6));
            depart(&mut writer, began, now);
        }
    }
    assert!(alone < 20, "{alone} were compressed alone");
    assert!(
        sent.packed > 0 && sent.packed < 1000 / 20,
        "{}",
        sent.packed
    );
}

#[test]
fn only_what_leaves_in_compressed_bundles_is_not_compressed_alone() {
    let limit = |bundling_of, taken| {
        let (mut writer, _) = bundling(bundling_of, |config| {
            config.packed_messages = CompressionIds::LZ4;
        });
        let mut reader = matched(true, false);
        reader.packed_messages = taken;
        writer.handle_matched(NOW, reader);
        writer
    };
    let all = CompressionIds::ALL;
    assert_eq!(limit(Bundling::Off, all).packed_together_bytes_max(), 0);
    assert_eq!(
        limit(Bundling::Automatic, all).packed_together_bytes_max(),
        0
    );
    let together = limit(up_to(1400), all).packed_together_bytes_max();
    assert!((500..700).contains(&together), "{together}");
    let other = limit(up_to(1400), CompressionIds::ZLIB);
    assert_eq!(other.packed_together_bytes_max(), 0);
    let mut held = limit(Bundling::Off, all);
    held.suspend();
    assert!(held.packed_together_bytes_max() > 0);
}
