//! Samples in fragments: pace, repair, division.

use super::*;
use crate::outbox::PartOf;

#[test]
fn large_samples_leave_in_paced_fragments() {
    let mut writer = writer(|_| {});
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    writer.poll_transmit(NOW, &mut sent);
    sent.words();
    writer.write(NOW, change(1_000_000)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    let first = sent.words();
    assert_eq!(first[first.len() - 2..], ["heartbeatfrag", "heartbeat?"]);
    assert!(first.len() < 300);
    // KEEP_LAST 1 must not replace what has not left yet.
    assert_eq!(writer.write(NOW, change(4)), Err(WriteError::WouldBlock));
    let mut frags = first.iter().filter(|word| **word == "frag").count();
    let mut now = NOW;
    while frags < 721 {
        now = writer.poll_timeout().unwrap().0.max(now);
        writer.poll_transmit(now, &mut sent);
        frags += sent.words().iter().filter(|word| **word == "frag").count();
        assert!(now < NOW.after(Duration::from_secs(1)));
    }
    assert_eq!(frags, 721);
    assert!(writer.write(now, change(4)).is_ok());
}

#[test]
fn a_write_blocked_by_the_pace_is_not_told_of_progress_that_is_none() {
    let mut writer = writer(|_| {});
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    writer.write(NOW, change(1_000_000)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(writer.write(NOW, change(4)), Err(WriteError::WouldBlock));
    while writer.poll_event().is_some() {}
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(writer.poll_event(), None);
}

#[test]
fn the_first_reader_after_one_that_left_in_mid_sample_gets_whole_samples() {
    let mut writer = writer(|config| config.depth = None);
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    writer.write(NOW, change(1_000_000)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    writer.handle_unmatched(NOW, READER, false);
    writer.poll_transmit(NOW, &mut sent);
    writer.handle_matched(NOW, matched(true, false));
    writer.poll_transmit(NOW, &mut sent);
    sent.words();
    let later = NOW.after(Duration::from_secs(1));
    writer.write(later, change(5_000)).unwrap();
    writer.poll_transmit(later, &mut sent);
    assert_eq!(
        sent.words().iter().filter(|word| **word == "frag").count(),
        4
    );
}

#[test]
fn a_large_sample_that_the_pace_holds_up_from_its_start_is_not_passed_over() {
    let mut writer = writer(|config| config.depth = None);
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(false, false));
    for bytes in [300_000, 5_000, 16] {
        writer.write(NOW, change(bytes)).unwrap();
        writer.poll_transmit(NOW, &mut sent);
    }
    let mut now = NOW;
    while writer.poll_timeout().is_some() && now < NOW.after(Duration::from_secs(1)) {
        now = writer.poll_timeout().unwrap().0.max(now);
        writer.poll_transmit(now, &mut sent);
    }
    let words = sent.words();
    let count = |wanted| words.iter().filter(|word| **word == wanted).count();
    assert_eq!(count("frag"), 300_000usize.div_ceil(1388) + 4);
    assert_eq!(count("data"), 1);
}

/// Writes 400 samples of two fragments, one every `pause_us`, to a reader that answers each
/// question at once: how many heartbeats there were, and how many of them asked.
fn heartbeats_of_short_samples(pause_us: i64) -> (usize, usize) {
    let mut writer = writer(|_| {});
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    writer.poll_transmit(NOW, &mut sent);
    sent.words();
    let (mut words, mut asked) = (vec![], 0);
    for number in 1..=400 {
        let now = NOW.after(Duration::from_micros(pause_us * number));
        writer.write(now, change(2000)).unwrap();
        // What the pace holds up leaves when the question about that is answered.
        for _ in 0..2 {
            writer.poll_transmit(now, &mut sent);
            let said = sent.words();
            if said.contains(&"heartbeat?") {
                asked += 1;
                let next = if said.contains(&"frag") {
                    number + 1
                } else {
                    number
                };
                let answer = acknack(next, &[], asked);
                writer.handle_acknack(now, READER, &answer).unwrap();
            }
            words.extend(said);
        }
        assert!(words.last().unwrap().starts_with("heartbeat"), "{words:?}");
    }
    let count = |wanted: &str| words.iter().filter(|it| it.starts_with(wanted)).count();
    assert_eq!(count("frag"), 800);
    (count("heartbeat"), count("heartbeat?"))
}

#[test]
fn samples_of_a_few_fragments_tell_where_they_end_and_seldom_ask() {
    // Beside the first, one every 10 ms asks.
    let (told, asked) = heartbeats_of_short_samples(100);
    assert!(told >= 400 && (2..=6).contains(&asked), "{told} {asked}");
    // Sent as fast as can be they ask four times in a window of 262,144 octets.
    let (told, asked) = heartbeats_of_short_samples(0);
    assert!(told >= 400 && (10..=18).contains(&asked), "{told} {asked}");
}

/// How long a sample of 60 MB takes to a reader that answers every question after `answer_us`.
fn transfer_ms(answer_us: i64) -> i64 {
    let mut writer = writer(|_| {});
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    writer.poll_transmit(NOW, &mut sent);
    writer.write(NOW, change(60_000_000)).unwrap();
    let (mut now, mut count) = (NOW, 0);
    loop {
        writer.handle_timeout(now);
        writer.poll_transmit(now, &mut sent);
        if writer.is_acknowledged(SequenceNumber(0)) && writer.paced_until.is_none() {
            return now.since(NOW).as_nanos() / 1_000_000;
        }
        sent.words();
        let answered = now.after(Duration::from_micros(answer_us));
        let timer = writer
            .poll_timeout()
            .map_or(answered, |(at, _)| at.max(now));
        now = answered.min(timer);
        if answered <= timer {
            count += 1;
            writer
                .handle_acknack(now, READER, &acknack(1, &[], count))
                .unwrap();
        }
    }
}

#[test]
fn readers_that_take_in_quickly_are_sent_more() {
    assert!(transfer_ms(50) < 100);
    // Answers that take for ever cost no more than the rate allows.
    assert!((200..2000).contains(&transfer_ms(1_000_000)));
}

#[test]
fn a_request_repeated_while_it_waits_is_lost_once() {
    let mut writer = writer(|_| {});
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    writer.write(NOW, change(100_000)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    for count in 1..10 {
        let nack = nack_frag(1, 1, count);
        writer.handle_nack_frag(NOW, READER, &nack).unwrap();
    }
    let settled = writer.readers.get(&READER).unwrap().pace.settled();
    assert_eq!((settled.arrived, settled.lost), (0, 1));
}

#[test]
fn a_fragment_that_was_just_repaired_is_not_sent_again_at_once() {
    let mut writer = writer(|_| {});
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    writer.write(NOW, change(5000)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    sent.words();
    let mut ask = |at: Instant, count: i32| {
        let nack = nack_frag(1, 2, count);
        writer.handle_nack_frag(at, READER, &nack).unwrap();
        writer.poll_transmit(at, &mut sent);
        sent.words().iter().filter(|word| **word == "frag").count()
    };
    assert_eq!(ask(NOW, 1), 1);
    let answers: usize = (2..200).map(|count| ask(NOW, count)).sum();
    assert_eq!(answers, 0);
    assert_eq!(ask(NOW.after(Duration::from_millis(3)), 200), 1);
    assert_eq!(writer.statistics().suppressed_repairs, 198);
}

/// Fragment numbers and sizes of what was sent.
fn fragments(sent: &mut Sent) -> Vec<(u32, u16)> {
    let mut found = vec![];
    for message in core::mem::take(&mut sent.0) {
        assert!(message.len() <= 1472);
        for inbound in MessageReceiver::new(&message, READER.prefix).unwrap() {
            if let Submessage::DataFrag(it) = inbound.unwrap().submessage {
                found.push((it.first.0, it.fragment_size));
            }
        }
    }
    found
}

#[test]
fn fragments_fill_the_path_and_what_goes_with_the_last_does_not_overfill_it() {
    let mut writer = writer(|config| config.depth = None);
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    writer.poll_transmit(NOW, &mut sent);
    sent.words();
    let mut now = NOW;
    for bytes in (1300..1400).chain(2700..2800).step_by(3) {
        for kind in [ChangeKind::Alive, ChangeKind::Disposed] {
            now = now.after(Duration::from_millis(2));
            writer
                .write(
                    now,
                    NewChange {
                        kind,
                        ..change(bytes)
                    },
                )
                .unwrap();
            writer.poll_transmit(now, &mut sent);
            let lengths = sent.0.iter().map(Vec::len);
            assert!(lengths.max().unwrap() <= 1472, "{bytes} {kind:?}");
            let words = sent.words();
            let size = if kind == ChangeKind::Alive {
                1388
            } else {
                1356
            };
            let parts = words
                .iter()
                .filter(|it| ["frag", "data"].contains(it))
                .count();
            assert_eq!(parts, bytes.div_ceil(size), "{bytes} {kind:?}");
            assert!(words.iter().any(|it| it.starts_with("heartbeat")));
        }
    }
}

#[test]
fn no_datagram_is_larger_than_every_product_receives() {
    let mut writer = writer(|config| config.depth = None);
    let mut sent = Sent::default();
    let wide = MatchedReader {
        message_bytes_max: 65_507,
        ..matched(true, false)
    };
    writer.handle_matched(NOW, wide);
    for (number, bytes) in (65_300..65_520).step_by(7).enumerate() {
        let number = number as i64 + 1;
        let now = NOW.after(Duration::from_millis(20 * number));
        writer.write(now, change(bytes)).unwrap();
        writer.poll_transmit(now, &mut sent);
        let again = acknack(number, &[number], 2 * number as i32);
        writer.handle_acknack(now, READER, &again).unwrap();
        writer.poll_transmit(now, &mut sent);
        let all = acknack(number + 1, &[], 2 * number as i32 + 1);
        writer.handle_acknack(now, READER, &all).unwrap();
        assert!(sent.0.iter().all(|it| it.len() <= 65_500), "{bytes}");
        let words = sent.words();
        let parts = words
            .iter()
            .filter(|it| ["frag", "data"].contains(it))
            .count();
        assert_eq!(parts, 2 * bytes.div_ceil(65_416), "{bytes} {words:?}");
    }
}

#[test]
fn a_narrower_path_divides_what_is_kept_anew() {
    let mut writer = writer(|config| config.depth = None);
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    writer.write(NOW, change(1200)).unwrap();
    writer.write(NOW, change(3000)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(fragments(&mut sent), [(1, 1388), (2, 1388), (3, 1388)]);
    // The reader misses the first and the middle of the second.
    writer
        .handle_acknack(NOW, READER, &acknack(1, &[1], 1))
        .unwrap();
    let narrow = MatchedReader {
        message_bytes_max: 548,
        ..matched(true, false)
    };
    writer.handle_matched(NOW, narrow);
    writer.poll_transmit(NOW, &mut sent);
    assert!(sent.0.iter().all(|message| message.len() <= 548));
    assert_eq!(fragments(&mut sent), [(1, 464), (2, 464), (3, 464)]);
    writer.write(NOW, change(700)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(fragments(&mut sent), [(1, 464), (2, 464)]);
}

#[test]
fn who_asks_for_fragments_is_asked_again_as_soon_as_at_first() {
    let mut writer = writer(|_| {});
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    writer.write(NOW, change(5000)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    let mut now = NOW;
    // Nobody answers, so the wait has grown.
    while now < NOW.after(Duration::from_secs(3)) {
        now = writer.poll_timeout().unwrap().0.max(now);
        writer.poll_transmit(now, &mut sent);
    }
    for count in 1..4 {
        let nack = nack_frag(1, 2, count);
        writer.handle_nack_frag(now, READER, &nack).unwrap();
        writer.poll_transmit(now, &mut sent);
        sent.words();
        let next = writer.poll_timeout().unwrap().0;
        assert!(next.since(now) <= Duration::from_millis(200), "{count}");
        writer.poll_transmit(next, &mut sent);
        assert!(sent.words().contains(&"heartbeat?"));
        now = next.after(Duration::from_millis(20));
    }
}

/// What Linux counts at most in a receive buffer for that with which a large change begins to a
/// reader on a path that carries `message_bytes_max`: memory is given out in powers of two, and in
/// pages.
fn begins(writer: &mut Writer, message_bytes_max: usize) -> usize {
    let counted = |bytes: usize| match bytes {
        0..=1700 => 2304,
        1701..=16_000 => (bytes + 400).next_power_of_two() + 256,
        _ => bytes.next_multiple_of(4096) + 4096,
    };
    let mut sent = Sent::default();
    let reader = MatchedReader {
        message_bytes_max,
        ..matched(true, false)
    };
    writer.handle_matched(NOW, reader);
    writer.write(NOW, change(4 << 20)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    sent.0.iter().map(|it| counted(it.len())).sum()
}

#[test]
fn what_leaves_at_first_fits_the_buffer_of_a_system_whatever_the_path_carries() {
    for message_bytes_max in [1232, 1472, 8972, 16_000, 32_000, 65_507] {
        let mut writer = writer(|config| {
            config.bytes_per_second_max = 1;
            config.first_burst_bytes = WriterConfig::new(config.guid).first_burst_bytes;
        });
        let all = begins(&mut writer, message_bytes_max);
        let (few, many) = (60_000, 212_992);
        assert!((few..=many).contains(&all), "{message_bytes_max}: {all}");
    }
}

#[test]
fn as_much_leaves_at_once_as_a_reader_on_this_host_receives() {
    let at_once = |receive_buffer_bytes, message_bytes_max| {
        let mut writer = writer(|config| config.bytes_per_second_max = 1);
        let mut sent = Sent::default();
        let reader = MatchedReader {
            receive_buffer_bytes,
            message_bytes_max,
            ..matched(true, false)
        };
        writer.handle_matched(NOW, reader);
        writer.write(NOW, change(4 << 20)).unwrap();
        writer.poll_transmit(NOW, &mut sent);
        let words = sent.words();
        words.iter().filter(|word| **word == "frag").count() * message_bytes_max / 1024
    };
    let (near, far) = (65_507, 1472);
    assert!((256..=320).contains(&at_once(0, near)));
    // What the system gives to who asks for nothing: two fragments, where three would just fit.
    assert!((104..=128).contains(&at_once(104 << 10, near)));
    assert!((200..=264).contains(&at_once(200 << 10, near)));
    assert!((400..=464).contains(&at_once(800 << 10, near)));
    assert!((1536..=1600).contains(&at_once(u32::MAX, near)));
    assert!((256..=320).contains(&at_once(u32::MAX, far)));
}

#[test]
fn the_end_of_a_large_sample_asks_though_its_middle_did() {
    let mut writer = writer(|config| config.depth = None);
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    writer.write(NOW, change(4 << 20)).unwrap();
    let (mut now, mut count, mut questions) = (NOW, 0, vec![]);
    while writer.pushed < writer.last_sequence() {
        writer.poll_transmit(now, &mut sent);
        questions.push(sent.words().contains(&"heartbeat?"));
        // Some of it has arrived, as the reader says in answer.
        count += 1;
        now = now.after(Duration::from_millis(1));
        let answer = acknack(1, &[], count);
        writer.handle_acknack(now, READER, &answer).unwrap();
    }
    assert!(questions.len() > 3);
    assert_eq!(questions.iter().filter(|it| !**it).count(), 0);
}

/// Of how many octets the samples are said to be to which messages belong.
#[derive(Default)]
struct Belongs(Vec<Option<usize>>);

impl Outbox for Belongs {
    fn send(&mut self, _to: &[Locator], _parts: &[&[u8]]) {
        self.0.push(None);
    }

    fn send_bulk(&mut self, _to: &[Locator], _parts: &[&[u8]], of: PartOf) {
        self.0.push(Some(of.sample_bytes));
    }
}

#[test]
fn what_belongs_to_large_samples_is_said_to_until_they_are_acknowledged() {
    let mut writer = writer(|config| {
        config.depth = None;
        config.message_bytes_max = 1472;
    });
    writer.handle_matched(NOW, matched(true, false));
    let write = |writer: &mut Writer, bytes| {
        let mut sent = Belongs::default();
        writer.write(NOW, change(bytes)).unwrap();
        writer.poll_transmit(NOW, &mut sent);
        sent.0.dedup();
        sent.0
    };
    assert_eq!(write(&mut writer, 8), [None]);
    assert_eq!(write(&mut writer, 5000), [Some(5000)]);
    assert_eq!(write(&mut writer, 8), [Some(5000)]);
    assert_eq!(write(&mut writer, 9000), [Some(9000)]);
    writer
        .handle_acknack(NOW, READER, &acknack(5, &[], 1))
        .unwrap();
    assert_eq!(write(&mut writer, 8), [None]);
}
