//! Fragments of the sample that is the next in order, and heartbeats that say nothing new, are
//! taken in by short ways, and nothing else is seen of that than of the usual ones.

use alloc::format;

use whimbrel_base::reject::Reject;
use whimbrel_base::sequence::FragmentNumber;
use whimbrel_wire::header::Header;
use whimbrel_wire::submessage::{DataFrag, InfoTimestamp};

use super::*;
use crate::reader::line::Line;
use crate::tests::random::Random;

/// Octets of the sample `number`.
fn sample(number: i64) -> Vec<u8> {
    let len = 10 + number as usize * 7 % 50;
    (0..len).map(|at| number as u8 ^ at as u8).collect()
}

/// Fragment `index`, from 0, of the sample `number` in pieces of `size`, or what is said to be one.
fn fragment(number: i64, size: usize, index: usize, bytes: &[u8]) -> IncomingFragments<'_> {
    let start = (index * size).min(bytes.len());
    let end = (start + size).min(bytes.len());
    IncomingFragments {
        change: Incoming {
            payload: SharedBytes::default(),
            ..data(number)
        },
        run: FragmentRun {
            first: FragmentNumber(index as u32 + 1),
            fragment_bytes: size as u16,
            sample_bytes: bytes.len() as u32,
            bytes: &bytes[start..end],
        },
    }
}

/// By the way that takes in all there is.
fn usual(reader: &mut Reader, now: Instant, it: IncomingFragments<'_>) -> Result<(), Reject> {
    let IncomingFragments { mut change, run } = it;
    if let Some(whole) = reader.put_aside(now, &change, &run)? {
        change.payload = reader.spares.share(now, whole);
        reader.handle_data(now, change)?;
    }
    Ok(())
}

fn heard_as_usual(reader: &mut Reader, now: Instant, it: &Heartbeat) -> Result<(), Reject> {
    let lost = reader.heard(now, WRITER, it, Line::Changes)?;
    reader.lose(lost.unwrap_or(0));
    reader.deliver_in_order(WRITER);
    Ok(())
}

/// All that can be seen of a reader.
fn seen(reader: &mut Reader, now: Instant, takes: bool) -> alloc::string::String {
    let due = reader.poll_timeout();
    let mut sent = Sent::default();
    reader.poll_transmit(now, &mut sent);
    let mut samples = Vec::new();
    if takes {
        reader.cache_mut().take(&Selector::ALL, &mut samples);
        reader.handle_room(now);
    }
    let mut found = Vec::new();
    while let Some(event) = reader.poll_event() {
        found.push(event);
    }
    let samples: Vec<_> = samples
        .iter()
        .map(|it| (it.sequence, it.payload.to_vec(), it.info.source_timestamp))
        .collect();
    let held = (reader.held_bytes(), reader.reassembly_bytes());
    let (rest, room) = (reader.poll_timeout(), reader.waits_for_room());
    let statistics = reader.statistics();
    format!("{due:?} {found:?} {sent:?} {samples:?} {held:?} {rest:?} {room} {statistics:?}")
}

/// What the next submessage is of: mostly the next fragment of the next sample.
struct Position {
    number: i64,
    index: usize,
}

fn step(dice: &mut Random, at: &mut Position) -> (i64, usize, usize) {
    const SIZE: usize = 8;
    match dice.below(60) {
        0 => (at.number + 1, SIZE, dice.below(3) as usize),
        1 => (at.number - 1, SIZE, 0),
        2 => (at.number, SIZE, dice.below(9) as usize),
        3 => (at.number, SIZE * 2, dice.below(4) as usize),
        what => {
            let here = (at.number, SIZE, at.index);
            // Some are lost.
            at.index += 1 + usize::from(what == 4);
            if at.index * SIZE >= sample(at.number).len() {
                (at.number, at.index) = (at.number + 1, 0);
            }
            here
        }
    }
}

/// How many samples were delivered, and how many fragments led to nothing yet.
fn compare(seed: u64, adapt: &dyn Fn(&mut ReaderConfig)) -> (u64, u32) {
    let mut dice = Random::new(seed);
    let mut readers = [reader(adapt), reader(adapt)];
    let mut now = NOW;
    for reader in &mut readers {
        reader.handle_matched(now, matched(true));
        let first = heartbeat(1, 0, 1, true);
        reader.handle_heartbeat(now, WRITER, &first).unwrap();
        seen(reader, now, false);
    }
    let mut at = Position {
        number: 1,
        index: 0,
    };
    let mut quiet = 0;
    for round in 2..400 {
        now = now.after(Duration::from_micros(dice.below(4000) as i64));
        let takes = dice.below(4) == 0;
        let (number, size, index) = step(&mut dice, &mut at);
        let number = number.max(1);
        let bytes = sample(number);
        let heard = heartbeat(
            1,
            at.number - dice.below(2) as i64,
            round,
            dice.below(9) > 0,
        );
        let gone = dice.below(12) == 0;
        let [one, other] = &mut readers;
        let said = one.handle_data_frag(now, fragment(number, size, index, &bytes));
        if said == Ok(false) {
            quiet += 1;
            assert_eq!(one.poll_event(), None);
            assert_eq!(one.poll_timeout(), other.poll_timeout());
        }
        let wanted = usual(other, now, fragment(number, size, index, &bytes));
        assert_eq!(said.map(|_| ()), wanted, "seed {seed}, round {round}");
        if dice.below(3) == 0 {
            let said = one.handle_heartbeat(now, WRITER, &heard);
            assert_eq!(said, heard_as_usual(other, now, &heard));
        }
        if gone {
            // What is missing will never come.
            let all_gone = heartbeat(at.number, at.number - 1, round + 1000, true);
            let said = one.handle_heartbeat(now, WRITER, &all_gone);
            assert_eq!(said, heard_as_usual(other, now, &all_gone));
        }
        let seen = readers.each_mut().map(|it| seen(it, now, takes));
        assert_eq!(seen[0], seen[1], "seed {seed}, round {round}");
    }
    (readers[0].statistics().delivered, quiet)
}

#[test]
fn by_the_short_way_or_the_usual_one_the_same_is_delivered() {
    for seed in 0..30 {
        let (delivered, quiet) = compare(seed, &|_| {});
        assert!(delivered > 20 && quiet > 100, "{seed}: {delivered} {quiet}");
        compare(seed, &|config| config.cache = keep_all(3));
        compare(seed, &|config| config.reassembly_bytes_max = 100);
        compare(seed, &|config| config.reassembly_samples_max = 1);
        compare(seed, &|config| config.sample_bytes_max = 50);
        compare(seed, &|config| {
            config.budget = Some(Arc::new(Budget::new(4000)));
        });
    }
}

#[test]
fn a_heartbeat_that_says_something_is_heard() {
    let mut reader = reader(|_| {});
    reader.handle_matched(NOW, matched(true));
    let first = heartbeat(1, 0, 1, true);
    assert!(!reader.knows_already(NOW, WRITER, &first));
    reader.handle_heartbeat(NOW, WRITER, &first).unwrap();
    reader.handle_data(NOW, data(1)).unwrap();
    assert!(reader.knows_already(NOW, WRITER, &heartbeat(1, 1, 2, true)));
    // Seen before, more than there is, an answer wanted, less than there is.
    for other in [
        heartbeat(1, 1, 2, true),
        heartbeat(1, 2, 3, true),
        heartbeat(1, 1, 3, false),
        heartbeat(1, 0, 3, true),
    ] {
        assert!(!reader.knows_already(NOW, WRITER, &other), "{other:?}");
    }
    assert_eq!(reader.statistics().heartbeats, 2);
}

#[test]
fn fragments_are_found_without_a_look_at_the_rest() {
    let frag = |key, number| DataFrag {
        reader: EntityId::UNKNOWN,
        writer: WRITER.entity,
        number: SequenceNumber(7),
        first: FragmentNumber(number),
        count: 1,
        fragment_size: 8,
        sample_size: 12,
        inline_qos: None,
        key,
        non_standard_payload: false,
        payload: &[1, 2, 3, 4, 5, 6, 7, 8][..if number == 1 { 8 } else { 4 }],
    };
    let message = |frags: &[DataFrag<'_>]| {
        let mut out = Vec::new();
        let header = Header {
            version: whimbrel_base::vendor::ProtocolVersion::V2_5,
            vendor: VendorId::WHIMBREL,
            prefix: WRITER.prefix,
        };
        header.compose(&mut out);
        let time = Some(Timestamp(5));
        let endian = whimbrel_base::cursor::Endian::Little;
        InfoTimestamp { time }.compose(&mut out, endian);
        frags.iter().for_each(|it| it.compose(&mut out, endian));
        out
    };
    let bytes = message(&[frag(false, 1), frag(false, 2)]);
    let mut rest = MessageReceiver::new(&bytes, READER.prefix).unwrap();
    for number in [1, 2] {
        assert!(!rest.is_at_end());
        // Whoever wants samples leaves it for others.
        assert!(
            rest.next_alike((WRITER.entity, EntityId::UNKNOWN))
                .is_none()
        );
        let Some((ids, Plain::Part(part))) = rest.next_plain(Some) else {
            panic!("no fragment");
        };
        assert_eq!(ids, (WRITER.entity, EntityId::UNKNOWN));
        let it = part.fragments(WRITER, Timestamp(9));
        assert_eq!(
            (it.run.first, it.run.sample_bytes),
            (FragmentNumber(number), 12)
        );
        assert_eq!(it.run.bytes.len(), if number == 1 { 8 } else { 4 });
        let times = (it.change.source_timestamp, it.change.reception_timestamp);
        assert_eq!(times, (Timestamp(5), Timestamp(9)));
    }
    assert!(rest.is_at_end() && rest.next().is_none());
    let bytes = message(&[frag(true, 1)]);
    let mut rest = MessageReceiver::new(&bytes, READER.prefix).unwrap();
    assert!(rest.next_plain(Some).is_none());
    assert!(
        matches!(rest.next(), Some(Ok(it)) if matches!(it.submessage, Submessage::DataFrag(_)))
    );
}
