//! What waits for readers that acknowledge nothing, and for which of them.

use core::net::SocketAddr;

use whimbrel_base::credit::{DATAGRAM_CHARGE_BYTES, FORGOTTEN_BYTES, PATIENCE};
use whimbrel_base::guid::{Guid, GuidPrefix};
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::time::{Duration, Instant};
use whimbrel_base::vendor::VendorId;

use super::tests::{Sent, acknack, change, matched, up_to, writer};
use super::{Bundling, Writer, WriterConfig};

const NOW: Instant = Instant(1_000_000_000);
const BUFFER: u32 = 64 * 1024;

/// A best-effort writer that keeps everything, and a reader whose socket holds [`BUFFER`].
fn pair() -> (Writer, Guid, Sent) {
    pair_of(|_| {})
}

fn pair_of(adapt: impl FnOnce(&mut WriterConfig)) -> (Writer, Guid, Sent) {
    let mut writer = writer(|config| {
        config.reliable = false;
        config.depth = None;
        adapt(config);
    });
    let mut reader = matched(false, false);
    reader.receive_buffer_bytes = BUFFER;
    reader.message_bytes_max = 65_507;
    reader.vendor = VendorId::WHIMBREL;
    let guid = reader.guid;
    writer.handle_matched(NOW, reader);
    (writer, guid, Sent::default())
}

/// Whole samples sent since it was last looked at.
fn samples(sent: &mut Sent) -> usize {
    let words = sent.words();
    words.iter().filter(|it| **it == "data").count()
}

/// Writes until nothing leaves any more; how many left.
fn fill(writer: &mut Writer, now: Instant, bytes: usize, sent: &mut Sent) -> usize {
    let mut left = 0;
    for _ in 0..200 {
        writer.write(now, change(bytes)).unwrap();
        writer.poll_transmit(now, sent);
        let words = sent.words();
        let data = words
            .iter()
            .filter(|it| it.starts_with("data") || **it == "frag");
        left += data.count();
    }
    left
}

fn answer(writer: &mut Writer, now: Instant, guid: Guid) {
    let said = acknack(1, &[], writer.credit.asked().0);
    writer.handle_acknack(now, guid, &said).unwrap();
}

#[test]
fn no_more_leaves_than_the_socket_of_a_reader_holds() {
    let (mut writer, guid, mut sent) = pair();
    let left = fill(&mut writer, NOW, 1000, &mut sent);
    let charge = 1000 + DATAGRAM_CHARGE_BYTES as usize;
    let held = BUFFER as usize / 2;
    assert!(
        left * charge >= held && (left - 1) * charge < held + charge,
        "{left}"
    );
    answer(&mut writer, NOW, guid);
    writer.poll_transmit(NOW, &mut sent);
    let more = sent
        .words()
        .iter()
        .filter(|it| it.starts_with("data"))
        .count();
    assert!(more > 0, "what waits leaves");
}

#[test]
fn what_is_sealed_waits_for_who_takes_it_in_as_well() {
    for (how, message_bytes) in [(Bundling::Automatic, 60_000), (up_to(8000), 8000)] {
        let (mut writer, guid, mut sent) = pair_of(|config| {
            config.depth = Some(1);
            config.bundling = how;
        });
        let mut now = NOW;
        let mut left = [0; 3];
        for left in &mut left {
            // A loop that does nothing else, until there is no room.
            let written = (0..1000).take_while(|_| {
                now = now.after(Duration::from_nanos(500));
                let is_written = writer.write(now, change(400)).is_ok();
                writer.poll_transmit(now, &mut sent);
                is_written
            });
            assert!(written.count() < 1000, "{how:?}");
            *left = samples(&mut sent);
            assert!(writer.poll_timeout().is_some_and(|(at, _)| at > now));
            answer(&mut writer, now, guid);
            writer.poll_transmit(now, &mut sent);
        }
        // The last message may be larger than what room is left for.
        let most = (BUFFER as usize / 2 + message_bytes) / 400;
        assert!(left.iter().all(|it| (20..=most).contains(it)), "{left:?}");
    }
}

/// A KEEP_LAST writer and its reader, once as much has left as that one takes, with a bundle that
/// is sealed and would leave; and the number of the first change in it.
fn held_pair() -> (Writer, Guid, Sent, i64) {
    let (mut writer, guid, mut sent) = pair_of(|config| {
        config.depth = Some(1);
        config.bundling = up_to(8000);
    });
    let mut count = 0;
    while writer.write(NOW, change(400)).is_ok() {
        writer.poll_transmit(NOW, &mut sent);
        count += samples(&mut sent) as i64;
        assert!(count < 1000);
    }
    (writer, guid, sent, count + 1)
}

#[test]
fn what_is_sealed_and_held_leaves_before_readers_come_or_go() {
    let (mut writer, guid, mut sent, first) = held_pair();
    let held = writer.last_sequence().0 - first;
    assert!(held > 10);
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(samples(&mut sent), 0);
    assert!(writer.leaves_before_readers_change());
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(samples(&mut sent) as i64, held);
    writer.handle_unmatched(NOW, guid, false);
}

#[test]
fn what_is_sealed_and_held_is_not_what_a_writer_in_haste_gives_up() {
    let (mut writer, guid, mut sent, first) = held_pair();
    let held = writer.last_sequence().0 - first;
    writer.skip_unsent();
    writer.write(NOW, change(400)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(samples(&mut sent), 0);
    answer(&mut writer, NOW, guid);
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(samples(&mut sent) as i64, held, "all but the one given up");
}

#[test]
fn nobody_who_acknowledges_is_told_of_what_is_held() {
    let (mut writer, _, mut sent) = pair_of(|config| {
        config.reliable = true;
        config.depth = Some(1);
        config.bundling = up_to(8000);
    });
    let mut other = matched(true, false);
    other.guid.prefix = GuidPrefix([9; 12]);
    writer.handle_matched(NOW, other);
    let mut left = 0;
    while writer.write(NOW, change(400)).is_ok() && left < 1000 {
        writer.poll_transmit(NOW, &mut sent);
        left += samples(&mut sent);
    }
    writer.poll_transmit(NOW, &mut sent);
    left += samples(&mut sent);
    let through = SequenceNumber(left as i64);
    assert_eq!(writer.pushed, through, "all that others are told of");
    assert_eq!(writer.last_sequence(), through.next());
}

/// Lets time pass until all has left; when that is.
fn pass_time(writer: &mut Writer, mut now: Instant, sent: &mut Sent) -> Instant {
    for _ in 0..40 {
        let Some((next, _)) = writer.poll_timeout() else {
            break;
        };
        now = next;
        writer.handle_timeout(now);
        writer.poll_transmit(now, sent);
    }
    sent.words();
    assert_eq!(writer.pushed, writer.history.last());
    now
}

#[test]
fn a_reader_that_says_nothing_is_waited_for_once() {
    let (mut writer, guid, mut sent) = pair();
    let mut began = NOW;
    for waits in [PATIENCE, Duration::ZERO] {
        let left = fill(&mut writer, began, 1000, &mut sent);
        let ended = pass_time(&mut writer, began, &mut sent);
        let charge = 1000 + DATAGRAM_CHARGE_BYTES as usize;
        let held = BUFFER as usize / 2;
        let by_rate = (200 - left) * charge - if waits.is_zero() { 0 } else { held };
        let rate = writer.config.bytes_per_second_max as f64;
        let wanted = by_rate as f64 / rate * 1e9 + waits.as_nanos() as f64;
        let took = ended.since(began).as_nanos() as f64;
        let step = 2.0 * FORGOTTEN_BYTES as f64 / rate * 1e9;
        assert!(
            took > wanted - step && took < wanted + step,
            "{took} {wanted}"
        );
        // That it answers once, late, changes nothing.
        began = ended;
        answer(&mut writer, began, guid);
    }
}

#[test]
fn a_reader_that_goes_on_taking_in_is_waited_for_again_and_again() {
    let (mut writer, guid, mut sent) = pair();
    fill(&mut writer, NOW, 1000, &mut sent);
    let mut now = pass_time(&mut writer, NOW, &mut sent);
    // It was too slow, and is quick enough again.
    for _ in 0..2 {
        now = now.after(PATIENCE);
        answer(&mut writer, now, guid);
    }
    fill(&mut writer, now, 1000, &mut sent);
    for _ in 0..3 {
        let (waits_until, _) = writer.poll_timeout().unwrap();
        assert_eq!(waits_until, now.after(PATIENCE));
        now = Instant(waits_until.0 - 1);
        writer.handle_timeout(now);
        writer.poll_transmit(now, &mut sent);
        assert!(!sent.words().iter().any(|it| it.starts_with("data")));
        answer(&mut writer, now, guid);
        writer.poll_transmit(now, &mut sent);
        assert!(sent.words().iter().any(|it| it.starts_with("data")));
    }
}

/// As [`pair`], of which the reader is on another host.
fn far_pair() -> (Writer, Guid, Sent) {
    let (mut writer, guid, sent) = pair();
    let mut reader = writer.readers.get(&guid).unwrap().info.clone();
    reader.message_bytes_max = 1472;
    writer.handle_matched(NOW, reader);
    (writer, guid, sent)
}

/// How long nothing leaves once as much is under way as may be, after an answer that took
/// `answer_takes`; `None` where all leaves.
fn held_up(writer: &mut Writer, guid: Guid, answer_takes: Duration) -> Option<Duration> {
    let mut sent = Sent::default();
    writer.write(NOW, change(1000)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    sent.words();
    let now = NOW.after(answer_takes);
    if writer.credit.asked().0 > 0 {
        answer(writer, now, guid);
    }
    if fill(writer, now, 1000, &mut sent) == 200 {
        return None;
    }
    let (until, _) = writer.poll_timeout().unwrap();
    Some(until.since(now))
}

const QUICK: Duration = Duration::from_micros(200);

#[test]
fn a_reader_on_another_host_is_waited_for_where_it_answers_quickly() {
    let (mut far, guid, _) = far_pair();
    assert_eq!(held_up(&mut far, guid, QUICK), Some(PATIENCE));
    // What may be under way is forgotten in a third of a millisecond.
    let late = Duration::from_millis(1);
    let (mut far, guid, _) = far_pair();
    assert_eq!(held_up(&mut far, guid, late), None);
    let (mut near, guid, mut sent) = pair();
    fill(&mut near, NOW, 1000, &mut sent);
    assert_eq!(held_up(&mut near, guid, late), Some(PATIENCE));
}

#[test]
fn a_reader_on_another_host_slows_down_nobody_here_or_who_acknowledges() {
    for other in 0..3 {
        let (mut writer, guid, _) = far_pair();
        let mut reader = writer.readers.get(&guid).unwrap().info.clone();
        reader.guid.prefix = GuidPrefix([9; 12]);
        reader.vendor = VendorId::FAST_DDS;
        match other {
            0 => reader.message_bytes_max = 65_507,
            1 => {
                writer.config.reliable = true;
                reader.reliable = true;
            }
            _ => {}
        }
        writer.handle_matched(NOW, reader);
        // One that says nothing on another host gets what is lost anyway.
        let wanted = (other == 2).then_some(PATIENCE);
        assert_eq!(held_up(&mut writer, guid, QUICK), wanted, "{other}");
    }
}

/// What of the socket of [`far_pair`]'s reader may be under way is forgotten in so long.
const TRIAL: Duration = Duration::from_nanos(BUFFER as i64 / 2 * 10);

#[test]
fn little_leaves_until_a_reader_on_another_host_has_answered_or_would_have() {
    for answers in [true, false] {
        let (mut writer, guid, mut sent) = far_pair();
        let left = fill(&mut writer, NOW, 1000, &mut sent);
        let charge = 1000 + DATAGRAM_CHARGE_BYTES as usize;
        assert_eq!(left, (BUFFER as usize / 8).div_ceil(charge));
        let (until, _) = writer.poll_timeout().unwrap();
        assert_eq!(until, NOW.after(TRIAL));
        let now = if answers { NOW.after(QUICK) } else { until };
        if answers {
            answer(&mut writer, now, guid);
        }
        writer.poll_transmit(now, &mut sent);
        let is_held = writer.pushed < writer.history.last();
        assert_eq!(is_held, answers, "as much leaves as its socket holds");
        if answers {
            let (until, _) = writer.poll_timeout().unwrap();
            assert_eq!(until, now.after(PATIENCE));
        }
    }
}

#[test]
fn while_a_reader_is_tried_parts_of_samples_leave_alone() {
    let (mut writer, guid, mut sent) = far_pair();
    let mut now = NOW;
    writer.write(now, change(10_000_000)).unwrap();
    for _ in 0..100 {
        writer.poll_transmit(now, &mut sent);
        sent.words();
        now = now.after(Duration::from_micros(250));
        answer(&mut writer, now, guid);
    }
    assert!(writer.together_bytes() > 0);
    let mut another = writer.readers.get(&guid).unwrap().info.clone();
    another.guid.prefix = GuidPrefix([9; 12]);
    writer.handle_matched(now, another);
    writer.poll_transmit(now, &mut sent);
    assert_eq!(writer.together_bytes(), 0);
}

#[test]
fn what_left_before_a_reader_was_known_to_be_near_is_not_forgotten_then() {
    let (mut writer, guid, mut sent) = far_pair();
    writer.write(NOW, change(10_000_000)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert!(sent.words().contains(&"frag"));
    let now = NOW.after(QUICK);
    answer(&mut writer, now, guid);
    // As much as is tried with is taken in, and the rest of a window leaves.
    writer.poll_transmit(now, &mut sent);
    assert!(sent.words().contains(&"frag"));
    writer.poll_transmit(now, &mut sent);
    let (until, _) = writer.poll_timeout().unwrap();
    assert!(!sent.words().contains(&"frag"));
    assert!(until > now.after(PATIENCE.divided_by(2)), "{until:?}");
}

#[test]
fn what_would_be_known_too_late_is_no_trial() {
    let (mut writer, guid, mut sent) = far_pair();
    writer.write(NOW, change(10)).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    let asked = writer.credit.asked().0;
    // Asked again, it answers the first question.
    let now = NOW.after(Duration::from_millis(100));
    writer.write(now, change(10)).unwrap();
    writer.poll_transmit(now, &mut sent);
    writer
        .handle_acknack(now, guid, &acknack(1, &[], asked))
        .unwrap();
    let left = fill(&mut writer, now, 1000, &mut sent);
    assert!(left < 10, "it is still tried: {left}");
}

#[test]
fn a_write_that_waits_for_room_does_not_wait_for_another_host() {
    let (mut writer, guid, mut sent) = far_pair();
    assert_eq!(held_up(&mut writer, guid, QUICK), Some(PATIENCE));
    writer.config.depth = Some(1);
    writer.blocked_since = Some(NOW);
    writer.poll_transmit(NOW.after(QUICK), &mut sent);
    assert_eq!(writer.pushed, writer.history.last());
}

#[test]
fn what_leaves_for_a_group_is_no_matter_of_answers() {
    let (mut writer, guid, mut sent) = pair();
    let mut reader = writer.readers.get(&guid).unwrap().info.clone();
    let group: SocketAddr = "239.255.0.1:7401".parse().unwrap();
    reader.group = Some(group.into());
    writer.handle_matched(NOW, reader);
    assert_eq!(fill(&mut writer, NOW, 1000, &mut sent), 200);
}

#[test]
fn an_answer_to_a_question_of_long_ago_is_one() {
    let (mut writer, guid, mut sent) = pair();
    for _ in 0..10 {
        fill(&mut writer, NOW, 1000, &mut sent);
        for _ in 0..40 {
            answer(&mut writer, NOW, guid);
            writer.poll_transmit(NOW, &mut sent);
        }
    }
    assert!(writer.credit.asked().0 > 40);
    writer
        .handle_acknack(NOW, guid, &acknack(1, &[], 1))
        .unwrap();
}

#[test]
fn it_is_asked_for_the_way_before_anything_leaves_until_it_is_known_to_be_short() {
    let (mut writer, guid, mut sent) = far_pair();
    let mut write = |now: Instant, answered: bool| {
        writer.write(now, change(10)).unwrap();
        writer.poll_transmit(now, &mut sent);
        if answered {
            answer(&mut writer, now, guid);
        }
        sent.words().first() == Some(&"heartbeat?")
    };
    let at = |ms| NOW.after(Duration::from_millis(ms));
    assert!(write(at(0), false));
    assert!(!write(at(99), false));
    // Ever less often.
    assert!(write(at(100), false));
    assert!(!write(at(299), false));
    assert!(write(at(300), true));
    assert!(!write(at(10_000), false));
    let (mut near, _, mut sent) = pair();
    near.write(NOW, change(10)).unwrap();
    near.poll_transmit(NOW, &mut sent);
    assert!(!sent.words().contains(&"heartbeat?"));
}

#[test]
fn nobody_who_says_nothing_gets_more_for_what_others_say() {
    let left = |silent: bool| {
        let (mut writer, guid, mut sent) = far_pair();
        if silent {
            let mut other = writer.readers.get(&guid).unwrap().info.clone();
            other.guid.prefix = GuidPrefix([9; 12]);
            other.vendor = VendorId::FAST_DDS;
            writer.handle_matched(NOW, other);
        }
        writer.write(NOW, change(10_000_000)).unwrap();
        let mut fragments = 0;
        for _ in 0..1000 {
            writer.poll_transmit(NOW, &mut sent);
            fragments += sent.words().iter().filter(|it| **it == "frag").count();
            answer(&mut writer, NOW, guid);
        }
        fragments * 1400
    };
    assert!(left(false) > 9_000_000);
    let burst = writer(|_| ()).config.burst_bytes as usize;
    assert!(left(true) <= burst + 3000, "{}", left(true));
}

#[test]
fn fragments_wait_as_well() {
    let (mut writer, guid, mut sent) = pair();
    writer.config.message_bytes_max = 8000;
    writer.write(NOW, change(1_000_000)).unwrap();
    let mut fragments = 0;
    for _ in 0..100 {
        writer.poll_transmit(NOW, &mut sent);
        let words = sent.words();
        let left = words.iter().filter(|it| **it == "frag").count();
        fragments += left;
        assert!(left <= 5 && words.contains(&"heartbeat?"), "{words:?}");
        if writer.pushed == SequenceNumber(1) {
            break;
        }
        answer(&mut writer, NOW, guid);
    }
    assert!(fragments > 100 && writer.pushed == SequenceNumber(1));
}

#[test]
fn who_does_not_answer_questions_is_asked_none() {
    for other in 0..2 {
        let (mut writer, guid, mut sent) = pair();
        let mut reader = writer.readers.get(&guid).unwrap().info.clone();
        match other {
            0 => reader.vendor = VendorId::FAST_DDS,
            _ => reader.receive_buffer_bytes = 0,
        }
        writer.handle_matched(NOW, reader);
        assert_eq!(fill(&mut writer, NOW, 1000, &mut sent), 200);
        assert!(!sent.words().contains(&"heartbeat?"));
    }
    let (mut writer, guid, mut sent) = pair();
    writer.note_in_process(guid);
    assert_eq!(fill(&mut writer, NOW, 1000, &mut sent), 200);
}

#[test]
fn an_answer_that_nobody_asked_for_is_refused() {
    let (mut writer, guid, mut sent) = pair();
    fill(&mut writer, NOW, 1000, &mut sent);
    let said = acknack(1, &[], 999);
    assert!(writer.handle_acknack(NOW, guid, &said).is_err());
}
