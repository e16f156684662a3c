//! Number sets, ranges of fragments and heartbeats with numbers at their edges.

use std::collections::BTreeSet;

use proptest::prelude::*;
use whimbrel_base::cursor::{Endian, ReadCursor, WriteCursor};
use whimbrel_base::sequence::{FragmentNumber, SequenceNumber};
use whimbrel_wire::number_set::{FragmentNumberSet, SequenceNumberSet};
use whimbrel_wire::submessage::{DataFrag, Heartbeat};

fn numbers() -> impl Strategy<Value = i64> {
    prop_oneof![
        any::<i64>(),
        -2_i64..600,
        (0_i64..300).prop_map(|less| i64::MAX - less),
        (-2_i64..300).prop_map(|more| (1 << 32) + more),
        (0_i64..3).prop_map(|more| i64::MIN + more),
    ]
}

fn endians() -> impl Strategy<Value = Endian> {
    prop_oneof![Just(Endian::Big), Just(Endian::Little)]
}

proptest! {
    #[test]
    fn a_set_holds_what_was_put_in_and_fits(
        base in numbers(),
        steps in prop::collection::vec(0_i64..400, 0..40),
        endian in endians(),
    ) {
        let base = base.max(1);
        let mut set = SequenceNumberSet::new(SequenceNumber(base));
        let mut plain = BTreeSet::new();
        for step in steps {
            // Numbers past the greatest do not exist.
            let number = base.saturating_add(step);
            let fits = number - base < 256;
            prop_assert_eq!(set.insert(SequenceNumber(number)), fits);
            if fits {
                plain.insert(number);
            }
        }
        let found: Vec<i64> = set.iter().map(|number| number.0).collect();
        prop_assert_eq!(&found, &plain.iter().copied().collect::<Vec<_>>());
        let mut bytes = Vec::new();
        set.compose(&mut WriteCursor::new(&mut bytes, endian));
        let back = SequenceNumberSet::parse(&mut ReadCursor::new(&bytes, endian)).unwrap();
        prop_assert_eq!(back, set);
    }

    #[test]
    fn any_octets_are_a_set_within_256_numbers_or_refused(
        base in numbers(),
        bits in prop_oneof![0_u32..300, any::<u32>()],
        words in prop::collection::vec(any::<u32>(), 0..9),
        endian in endians(),
    ) {
        let mut bytes = Vec::new();
        let mut out = WriteCursor::new(&mut bytes, endian);
        out.i32((base >> 32) as i32);
        out.u32(base as u32);
        out.u32(bits);
        words.iter().for_each(|word| out.u32(*word));
        let parsed = SequenceNumberSet::parse(&mut ReadCursor::new(&bytes, endian));
        let complete = words.len() >= bits.div_ceil(32) as usize;
        let fine = bits <= 256 && (base >= 1 || (base == 0 && bits == 0)) && complete;
        prop_assert_eq!(parsed.is_ok(), fine);
        for number in parsed.iter().flat_map(SequenceNumberSet::iter) {
            prop_assert!(number.0 >= base && number.0.abs_diff(base) < u64::from(bits));
        }
    }

    #[test]
    fn fragment_sets_never_leave_their_numbers(
        base in prop_oneof![1_u32..9, (0_u32..300).prop_map(|less| u32::MAX - less)],
        words in prop::collection::vec(any::<u32>(), 8),
    ) {
        let mut bytes = Vec::new();
        let mut out = WriteCursor::new(&mut bytes, Endian::Big);
        out.u32(base);
        out.u32(256);
        words.iter().for_each(|word| out.u32(*word));
        let mut cursor = ReadCursor::new(&bytes, Endian::Big);
        let set = FragmentNumberSet::parse(&mut cursor).unwrap();
        let mut last = None;
        for number in set.iter() {
            prop_assert!(number >= FragmentNumber(base) && Some(number) > last);
            prop_assert!(set.contains(number));
            last = Some(number);
        }
    }

    #[test]
    fn ranges_of_fragments_lie_within_their_sample(
        first in prop_oneof![any::<u32>(), 0_u32..70_000],
        count in prop_oneof![any::<u16>(), 0_u16..4],
        size in prop_oneof![any::<u16>(), 0_u16..4],
        total in prop_oneof![any::<u32>(), 0_u32..200_000],
    ) {
        let frag = DataFrag {
            reader: Default::default(),
            writer: Default::default(),
            number: SequenceNumber(1),
            first: FragmentNumber(first),
            count,
            fragment_size: size,
            sample_size: total,
            inline_qos: None,
            key: false,
            non_standard_payload: false,
            payload: &[],
        };
        // Without bounds: the last fragment must begin within the sample.
        let (wide, size_wide) = (i128::from(first) - 1, i128::from(size));
        let last_begins = (wide + i128::from(count) - 1) * size_wide;
        let fine = first > 0 && count > 0 && size > 0
            && u32::from(size) <= total && last_begins < i128::from(total);
        prop_assert_eq!(frag.range().is_some(), fine);
        if let Some((start, end)) = frag.range() {
            prop_assert_eq!(i128::from(start), wide * size_wide);
            prop_assert_eq!(i128::from(end), (last_begins + size_wide).min(i128::from(total)));
        }
    }

    #[test]
    fn heartbeats_say_a_range_or_are_refused(
        first in numbers(),
        last in numbers(),
        endian in endians(),
    ) {
        let mut body = Vec::new();
        let mut out = WriteCursor::new(&mut body, endian);
        out.zeros(8);
        for number in [first, last] {
            out.i32((number >> 32) as i32);
            out.u32(number as u32);
        }
        out.i32(1);
        let flags = u8::from(endian == Endian::Little);
        let parsed = Heartbeat::parse(flags, &body);
        let fine = first >= 1 && i128::from(last) >= i128::from(first) - 1;
        prop_assert_eq!(parsed.is_ok(), fine);
        if let Ok(heartbeat) = parsed {
            prop_assert_eq!((heartbeat.first.0, heartbeat.last.0), (first, last));
        }
    }
}
