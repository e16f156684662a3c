//! Sequence numbers, fragment numbers and counts, against whole numbers without bounds.

use proptest::prelude::*;
use whimbrel_base::sequence::{Count, FragmentNumber, SequenceNumber};

/// Numbers at the edges as often as any others.
fn edges() -> impl Strategy<Value = i64> {
    prop_oneof![
        any::<i64>(),
        -3_i64..4,
        (0_i64..4).prop_map(|less| i64::MAX - less),
        (0_i64..4).prop_map(|more| i64::MIN + more),
        (-3_i64..4).prop_map(|more| (1 << 32) + more),
        (-3_i64..4).prop_map(|more| -(1 << 32) + more),
    ]
}

fn clamped(number: i128) -> i64 {
    number.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

proptest! {
    #[test]
    fn sequence_numbers_saturate(number in edges(), count in any::<u64>()) {
        let (it, wide) = (SequenceNumber(number), i128::from(number));
        prop_assert_eq!(it.next().0, clamped(wide + 1));
        prop_assert_eq!(it.previous().0, clamped(wide - 1));
        prop_assert_eq!(it.plus(count).0, clamped(wide + i128::from(count)));
        prop_assert_eq!(it.is_valid(), number > 0);
    }

    #[test]
    fn distances_are_exact(later in edges(), earlier in edges()) {
        let distance = (i128::from(later) - i128::from(earlier)).max(0);
        let found = SequenceNumber(later).since(SequenceNumber(earlier));
        prop_assert_eq!(i128::from(found), distance);
        if later >= earlier {
            prop_assert_eq!(SequenceNumber(earlier).plus(found), SequenceNumber(later));
        }
    }

    #[test]
    fn fragment_numbers_saturate(number in prop_oneof![any::<u32>(), Just(u32::MAX), Just(0)]) {
        prop_assert_eq!(FragmentNumber(number).next().0, number.saturating_add(1));
    }

    #[test]
    fn exactly_the_counts_remembered_are_old(last in any::<i32>(), back in any::<i32>()) {
        let count = Count(last.wrapping_sub(back));
        let old = (0..Count::REMEMBERED).contains(&back);
        prop_assert_eq!(count.is_news_after(Count(last)), !old);
    }

    #[test]
    fn the_next_count_is_always_news(last in prop_oneof![any::<i32>(), Just(i32::MAX), Just(-1)]) {
        prop_assert!(Count(last).next().is_news_after(Count(last)));
        prop_assert!(!Count(last).is_news_after(Count(last).next()));
    }
}
