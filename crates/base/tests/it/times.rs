//! Spans, instants and timestamps, against whole numbers without bounds.

use proptest::prelude::*;
use whimbrel_base::time::{Duration, Instant, NANOS_PER_SECOND, Timestamp};

fn nanos() -> impl Strategy<Value = i64> {
    prop_oneof![
        any::<i64>(),
        -2_i64..3,
        (0_i64..3).prop_map(|less| i64::MAX - less),
        (0_i64..3).prop_map(|more| i64::MIN + more),
        (-2_i64..3).prop_map(|more| i64::from(i32::MAX) * NANOS_PER_SECOND + more),
        (-2_i64..3).prop_map(|more| i64::from(u32::MAX) * NANOS_PER_SECOND + more),
        (-2_i64..3).prop_map(|more| (i64::from(u32::MAX) + 1) * NANOS_PER_SECOND + more),
    ]
}

fn seconds() -> impl Strategy<Value = i32> {
    prop_oneof![
        any::<i32>(),
        -2_i32..3,
        Just(i32::MAX),
        Just(i32::MAX - 1),
        Just(i32::MIN)
    ]
}

fn fractions() -> impl Strategy<Value = u32> {
    prop_oneof![
        any::<u32>(),
        0_u32..4,
        (0_u32..8).prop_map(|less| u32::MAX - less)
    ]
}

proptest! {
    #[test]
    fn spans_are_never_negative(nanos in nanos(), factor in any::<u32>()) {
        let all = [
            Duration::from_nanos(nanos),
            Duration::from_micros(nanos),
            Duration::from_millis(nanos),
            Duration::from_secs(nanos),
        ];
        for span in all {
            prop_assert!(span >= Duration::ZERO);
            prop_assert!(span.times(factor) >= Duration::ZERO);
            prop_assert!(span.divided_by(factor) <= span);
            prop_assert_eq!(span.divided_by(0), span);
        }
        prop_assert_eq!(Duration::INFINITE.divided_by(factor), Duration::INFINITE);
    }

    #[test]
    fn spans_travel_within_a_nanosecond(nanos in 0_i64..i64::from(i32::MAX) * NANOS_PER_SECOND) {
        let span = Duration::from_nanos(nanos);
        let (seconds, fraction) = span.to_wire();
        let back = Duration::from_wire(seconds, fraction).unwrap();
        prop_assert!(back.is_infinite() || back.as_nanos().abs_diff(nanos) <= 1);
        // What travelled once does not change any more.
        let (seconds, fraction) = back.to_wire();
        prop_assert_eq!(Duration::from_wire(seconds, fraction), Some(back));
    }

    #[test]
    fn every_span_of_the_wire_is_one_or_refused(seconds in seconds(), fraction in fractions()) {
        match Duration::from_wire(seconds, fraction) {
            None => prop_assert!(seconds < 0),
            Some(span) => {
                prop_assert!(seconds >= 0 && span >= Duration::ZERO);
                let least = i64::from(seconds) * NANOS_PER_SECOND;
                let most = least + NANOS_PER_SECOND;
                let within = (least..=most).contains(&span.as_nanos());
                prop_assert!(within || span.is_infinite());
                prop_assert!(!span.is_infinite() || seconds >= i32::MAX - 1);
            }
        }
    }

    #[test]
    fn instants_saturate(at in any::<u64>(), nanos in nanos(), other in any::<u64>()) {
        let span = Duration::from_nanos(nanos);
        let later = Instant(at).after(span);
        let wide = u128::from(at) + span.as_nanos() as u128;
        let exact = u64::try_from(wide).unwrap_or(u64::MAX);
        prop_assert_eq!(later.0, if span.is_infinite() { u64::MAX } else { exact });
        prop_assert!(later >= Instant(at));
        let since = Instant(at).since(Instant(other));
        let exact = at.saturating_sub(other).min(i64::MAX as u64);
        prop_assert_eq!(since.as_nanos() as u64, exact);
    }

    #[test]
    fn every_timestamp_of_the_wire_is_one(seconds in seconds(), fraction in fractions()) {
        let stamp = Timestamp::from_wire(seconds, fraction);
        prop_assert!(stamp.is_invalid() || stamp.0 >= 0);
        let (seconds, fraction) = stamp.to_wire();
        // The last fractions of 2106 round up to a second that does not travel any more.
        let ends = (i64::from(u32::MAX) + 1) * NANOS_PER_SECOND;
        prop_assert!(Timestamp::from_wire(seconds, fraction) == stamp || stamp.0 == ends);
    }

    #[test]
    fn timestamps_travel_within_a_nanosecond(nanos in nanos()) {
        let stamp = Timestamp(nanos);
        let (seconds, fraction) = stamp.to_wire();
        let back = Timestamp::from_wire(seconds, fraction);
        let fits = (0..(i64::from(u32::MAX) + 1) * NANOS_PER_SECOND).contains(&nanos);
        prop_assert_eq!(back.is_invalid(), !fits);
        if fits {
            prop_assert!(back.0.abs_diff(nanos) <= 1);
        }
    }
}
