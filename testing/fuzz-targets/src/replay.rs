//! Replays inputs against a target: as they are, cut off at every length, and mutated by a seed.
//!
//! The same inputs give the same runs on every machine. It reads no file; programs and tests hand
//! the inputs in.

use std::panic::{self, AssertUnwindSafe};
use std::time::Duration;

use crate::Target;
use crate::mutate::mutate;
use crate::random::Random;
use crate::thread_time::thread_time;

/// How much is tried of each input.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// How many cut-off forms; longer inputs are cut at even distances.
    pub cuts_max: usize,
    /// How many mutations.
    pub mutations: usize,
    /// Processor time that one form may take; none on builds without optimisation.
    pub time_max: Option<Duration>,
}

impl Effort {
    /// For optimised builds: inputs up to 2 KiB are cut at every length, 50 ms bound each form.
    pub const FULL: Self = Self {
        cuts_max: 2048,
        mutations: 256,
        time_max: Some(Duration::from_millis(50)),
    };

    /// For unit tests.
    pub const QUICK: Self = Self {
        cuts_max: 64,
        mutations: 16,
        time_max: None,
    };
}

/// Inputs run, and what was wrong with any of them.
#[derive(Debug, Default)]
pub struct Outcome {
    /// How many inputs ran.
    pub runs: usize,
    /// One line for each input that panicked or was too slow.
    pub failures: Vec<String>,
    /// The longest time one input took.
    pub slowest: Duration,
}

/// Runs a target on one input, all of its cut-off forms and its mutations.
///
/// The first failing form of an input ends its replay.
pub fn replay(target: Target, name: &str, input: &[u8], effort: Effort) -> Outcome {
    let mut outcome = Outcome::default();
    let cuts = cuts(input, effort.cuts_max).map(<[u8]>::to_vec);
    let forms = std::iter::once(input.to_vec())
        .chain(cuts)
        .chain(mutations(input, effort.mutations));
    for (n, form) in forms.enumerate() {
        if let Err(why) = run_once(target, &form, effort.time_max, &mut outcome) {
            let hex: String = form.iter().take(256).map(|b| format!("{b:02x}")).collect();
            let line = format!("{name}, form {n} of {} octets: {why}: {hex}", form.len());
            outcome.failures.push(line);
            break;
        }
    }
    outcome
}

/// Runs a target on one form of an input; the error says what went wrong.
pub(crate) fn run_once(
    target: Target,
    form: &[u8],
    time_max: Option<Duration>,
    outcome: &mut Outcome,
) -> Result<(), String> {
    let mut took = Duration::MAX;
    // The first run may also pay for cold memory; three in a row do not.
    for _ in 0..3 {
        let begin = thread_time();
        panic::catch_unwind(AssertUnwindSafe(|| target(form))).map_err(|cause| text_of(&*cause))?;
        took = took.min(thread_time().saturating_sub(begin));
        if time_max.is_none_or(|max| took <= max) {
            break;
        }
    }
    outcome.runs += 1;
    outcome.slowest = outcome.slowest.max(took);
    match time_max {
        Some(max) if took > max => Err(format!("took {} ms", took.as_millis())),
        _ => Ok(()),
    }
}

fn text_of(cause: &(dyn std::any::Any + Send)) -> String {
    let text = cause.downcast_ref::<String>().cloned();
    let text = text.or_else(|| cause.downcast_ref::<&str>().map(|s| (*s).to_owned()));
    format!(
        "panicked: {}",
        text.unwrap_or_else(|| "for a reason that is no text".to_owned())
    )
}

/// The input cut off at every length, or at even distances when it is long.
fn cuts(input: &[u8], cuts_max: usize) -> impl Iterator<Item = &[u8]> {
    let stride = input.len().div_ceil(cuts_max).max(1);
    (0..input.len())
        .step_by(stride)
        .filter_map(|len| input.get(..len))
}

/// Seeded mutations: flipped bits, extreme numbers, parts copied, removed or moved.
fn mutations(input: &[u8], count: usize) -> impl Iterator<Item = Vec<u8>> {
    // FNV-1a, so that each input has its own run of numbers.
    let seed = input.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let mut random = Random::new(seed);
    let count = if input.is_empty() { 0 } else { count };
    let input = input.to_vec();
    (0..count).map(move |_| {
        let mut form = input.clone();
        for _ in 0..=random.below(4) {
            mutate(&mut form, &mut random);
        }
        form
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_tried() {
        let lens: Vec<usize> = cuts(&[1, 2, 3], 2048).map(<[u8]>::len).collect();
        assert_eq!(lens, [0, 1, 2]);
        assert_eq!(cuts(&[0; 10_000], 2048).count(), 2000);
    }

    #[test]
    fn mutations_differ_and_repeat() {
        let once: Vec<Vec<u8>> = mutations(&[7; 40], 256).collect();
        let again: Vec<Vec<u8>> = mutations(&[7; 40], 256).collect();
        assert_eq!(once, again);
        assert_eq!(once.len(), 256);
        let changed = once
            .iter()
            .filter(|form| form.as_slice() != [7; 40])
            .count();
        assert!(changed > 192, "{changed}");
        assert_eq!(mutations(&[], 256).count(), 0);
    }

    #[test]
    fn a_panic_on_a_cut_off_form_is_found() {
        let outcome = replay(|data| assert!(data.len() != 3), "x", &[0; 8], Effort::QUICK);
        assert_eq!(outcome.failures.len(), 1);
        assert!(outcome.failures[0].starts_with("x, form 4 of 3 octets: panicked"));
    }

    #[test]
    fn a_slow_input_is_found() {
        let slow: Target = |_| {
            let begin = thread_time();
            while thread_time().saturating_sub(begin) < Duration::from_millis(3) {}
        };
        let strict = Effort {
            time_max: Some(Duration::from_millis(1)),
            ..Effort::QUICK
        };
        let outcome = replay(slow, "x", &[1], strict);
        assert_eq!((outcome.failures.len(), outcome.runs), (1, 1));
        assert!(replay(|_| {}, "x", &[1], Effort::FULL).failures.is_empty());
    }
}
