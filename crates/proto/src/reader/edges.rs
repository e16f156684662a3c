//! Numbers at their edges, in any order: what is put together is what was taken apart, numbers
//! never go back, and nothing loops over what is only claimed.

use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;
use whimbrel_base::buffer::{BufferMut, SharedBytes};
use whimbrel_base::guid::{EntityId, Guid, GuidPrefix};
use whimbrel_base::locator::Locator;
use whimbrel_base::ranges::RangeSet;
use whimbrel_base::sequence::{Count, FragmentNumber, SequenceNumber};
use whimbrel_base::time::{Instant, Timestamp};
use whimbrel_base::vendor::VendorId;
use whimbrel_wire::number_set::SequenceNumberSet;
use whimbrel_wire::submessage::{Gap, Heartbeat};

use super::reassembly::Division;
use super::{FragmentRun, Incoming, Reader, ReaderConfig};
use crate::cache::{CacheConfig, Selector};
use crate::change::ChangeKind;
use crate::outbox::Outbox;
use crate::peer::MatchedWriter;

const NOW: Instant = Instant(1_000_000_000);
const WRITER: Guid = Guid::new(GuidPrefix([1; 12]), EntityId([0, 0, 1, 3]));
const READER: Guid = Guid::new(GuidPrefix([2; 12]), EntityId([0, 0, 1, 4]));

/// Numbers that may travel: from 1 on, small ones and those at the end.
fn numbers() -> impl Strategy<Value = i64> {
    prop_oneof![
        1_i64..20,
        1_i64..2000,
        (0_i64..300).prop_map(|less| i64::MAX - less),
        1_i64..i64::MAX,
    ]
}

/// What a writer, or somebody who forges it, may say.
#[derive(Clone, Copy, Debug)]
enum Said {
    Heartbeat(i64, i64, i32),
    Gap(i64, i64, i64),
    Data(i64),
}

fn said() -> impl Strategy<Value = Said> {
    prop_oneof![
        (numbers(), numbers(), any::<i32>()).prop_map(|(a, b, c)| Said::Heartbeat(a, b, c)),
        (numbers(), numbers(), 0_i64..300).prop_map(|(a, b, c)| Said::Gap(a, b, c)),
        numbers().prop_map(Said::Data),
    ]
}

struct Nobody;

impl Outbox for Nobody {
    fn send(&mut self, _to: &[Locator], _parts: &[&[u8]]) {}
}

fn tell(reader: &mut Reader, said: Said) {
    let (first, last) = match said {
        Said::Heartbeat(first, last, _) => (first, last.max(first.saturating_sub(1))),
        Said::Gap(start, base, _) => (start, base),
        Said::Data(number) => (number, number),
    };
    let _ = match said {
        Said::Heartbeat(_, _, count) => {
            let heartbeat = Heartbeat {
                reader: READER.entity,
                writer: WRITER.entity,
                first: SequenceNumber(first),
                last: SequenceNumber(last),
                count: Count(count),
                is_final: false,
                liveliness: false,
                group: None,
            };
            reader.handle_heartbeat(NOW, WRITER, &heartbeat)
        }
        Said::Gap(_, _, step) => {
            let mut list = SequenceNumberSet::new(SequenceNumber(last));
            list.insert(SequenceNumber(last.saturating_add(step)));
            let gap = Gap {
                reader: READER.entity,
                writer: WRITER.entity,
                start: SequenceNumber(first),
                list,
                group: None,
                filtered_count: None,
            };
            reader.handle_gap(NOW, WRITER, &gap)
        }
        Said::Data(_) => {
            let data = Incoming {
                writer: WRITER,
                sequence: SequenceNumber(first),
                kind: ChangeKind::Alive,
                key_hash: None,
                is_key: false,
                payload: SharedBytes::from_vec(vec![0; 4]),
                source_timestamp: Timestamp(1),
                reception_timestamp: Timestamp(1),
            };
            reader.handle_data(NOW, data)
        }
    };
}

proptest! {
    #[test]
    fn samples_come_in_ascending_order_and_once(
        all in prop::collection::vec(said(), 1..60),
        reliable in any::<bool>(),
    ) {
        let cache = CacheConfig { keyed: false, ..CacheConfig::default() };
        let mut config = ReaderConfig::new(READER, cache);
        config.reliable = reliable;
        config.reorder_samples_max = 16;
        let mut reader = Reader::new(config);
        reader.handle_matched(NOW, MatchedWriter { packs: false, batches: false,
            guid: WRITER,
            reliable,
            durable: false,
            locators: Vec::new(),
            vendor: VendorId::WHIMBREL,
        });
        let (mut samples, mut expected, mut before) = (Vec::new(), None, 0);
        for one in all {
            tell(&mut reader, one);
            reader.poll_transmit(NOW, &mut Nobody);
            let proxy = reader.writers.get(&WRITER).unwrap();
            prop_assert!(proxy.expected >= expected);
            prop_assert!(proxy.waiting.len() <= 17);
            expected = proxy.expected;
            let wanted = proxy.missing();
            let below = |number: SequenceNumber| Some(number) < expected;
            prop_assert!(!wanted.iter().any(|number| expected.is_some() && below(number)));
            reader.cache_mut().take(&Selector::ALL, &mut samples);
            for sample in samples.drain(..) {
                prop_assert!(sample.sequence.0 > before);
                before = sample.sequence.0;
            }
            reader.handle_room(NOW);
        }
        prop_assert!(reader.statistics().delivered <= 60);
    }

    #[test]
    fn ranges_with_numbers_at_the_end_agree_with_themselves(
        pairs in prop::collection::vec((numbers(), numbers()), 1..20),
        below in numbers(),
    ) {
        let mut set = RangeSet::default();
        for (start, end) in &pairs {
            set.insert(*start, *end);
        }
        for (start, end) in &pairs {
            for number in [*start, start.midpoint(*end), end.saturating_sub(1)] {
                let inside = pairs.iter().any(|(start, end)| (*start..*end).contains(&number));
                prop_assert_eq!(set.contains(number), inside);
                let missing = set.first_missing(number);
                prop_assert!(missing >= number && !set.contains(missing));
            }
        }
        prop_assert!(set.range_count() <= pairs.len());
        set.forget_below(below);
        prop_assert!(!set.contains(below.saturating_sub(1)));
    }

    #[test]
    fn fragments_in_any_order_make_the_sample_again(
        len in 1_usize..6000,
        size in 1_u16..900,
        runs in prop::collection::vec((any::<u32>(), 1_u32..6), 1..40),
    ) {
        let sample: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
        let size = size.min(len as u16);
        let of = |first: u32, count: u32| {
            let start = (first as usize - 1) * usize::from(size);
            let end = (start + count as usize * usize::from(size)).min(len);
            FragmentRun {
                first: FragmentNumber(first),
                fragment_bytes: size,
                sample_bytes: len as u32,
                bytes: &sample[start..end],
            }
        };
        let fragments = len.div_ceil(size.into()) as u32;
        let mut division = Division::new(&of(1, 1), 6000, BufferMut::default()).unwrap();
        let mut complete = false;
        for (at, count) in runs {
            let first = 1 + at % fragments;
            let count = count.min(fragments - first + 1);
            complete = division.insert(NOW, &of(first, count)) == Ok(true);
        }
        for first in 1..=fragments {
            if complete {
                break;
            }
            let missing = division.missing(FragmentNumber::FIRST, 0, false);
            prop_assert!(missing.is_some());
            // It may be that pieces lie too far apart to be kept; from the start they never do.
            complete = division.insert(NOW, &of(first, 1)) == Ok(true);
        }
        prop_assert!(complete);
        prop_assert_eq!(division.into_buffer(), BufferMut::from(sample));
    }

    #[test]
    fn fragments_with_any_numbers_are_refused_or_within_the_sample(
        first in prop_oneof![any::<u32>(), 0_u32..20],
        size in any::<u16>(),
        total in prop_oneof![any::<u32>(), 0_u32..5000],
        len in 0_usize..3000,
    ) {
        let bytes = vec![7; len];
        let run = FragmentRun {
            first: FragmentNumber(first),
            fragment_bytes: size,
            sample_bytes: total,
            bytes: &bytes,
        };
        let Ok(mut division) = Division::new(&run, 1 << 30, BufferMut::default()) else {
            prop_assert!(size == 0 || total == 0 || u32::from(size) > total || total > 1 << 30);
            return Ok(());
        };
        let outcome = division.insert(NOW, &run);
        prop_assert!(division.arrived_bytes() <= len.min(total as usize));
        prop_assert!(division.memory_bytes() <= 2 * len + 300 * 1024);
        if outcome == Ok(true) {
            prop_assert_eq!(division.into_buffer().bytes().len(), total as usize);
        }
    }
}
