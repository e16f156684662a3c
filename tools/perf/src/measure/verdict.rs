//! Whether one contestant is faster than another, or that nobody can tell.

use serde::Serialize;
use whimbrel_payload::{Random, SEED};

/// Times that rounds are drawn anew.
const DRAWS: usize = 2000;
/// Fewest rounds that say anything.
const ROUNDS_MIN: usize = 5;

/// What can be said of A against B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    Faster,
    Slower,
    CannotTell,
}

impl Verdict {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::CannotTell => "cannot tell",
        }
    }
}

/// Judges A against B by the medians of rounds that they ran in turn: how many times B's latency
/// A's is, with the bounds within which that lies in 95 of 100 cases.
pub(crate) fn judge(a: &[f64], b: &[f64]) -> (Verdict, [f64; 3]) {
    let logs: Vec<f64> = a
        .iter()
        .zip(b)
        .filter(|(a, b)| **a > 0.0 && **b > 0.0)
        .map(|(a, b)| (a / b).ln())
        .collect();
    if logs.len() < ROUNDS_MIN {
        return (Verdict::CannotTell, [0.0, mean(&logs).exp(), f64::INFINITY]);
    }
    bounds(mean(&logs), |random| mean(&drawn(&logs, random)))
}

/// The same of rounds that were not run in turn: each side is drawn anew by itself.
pub(crate) fn judge_apart(a: &[f64], b: &[f64]) -> (Verdict, [f64; 3]) {
    let logs = |all: &[f64]| -> Vec<f64> {
        let positive = all.iter().filter(|it| **it > 0.0);
        positive.map(|it| it.ln()).collect()
    };
    let (a, b) = (logs(a), logs(b));
    let middle = mean(&a) - mean(&b);
    if a.len() < ROUNDS_MIN || b.len() < ROUNDS_MIN {
        return (Verdict::CannotTell, [0.0, middle.exp(), f64::INFINITY]);
    }
    bounds(middle, |random| {
        mean(&drawn(&a, random)) - mean(&drawn(&b, random))
    })
}

fn mean(all: &[f64]) -> f64 {
    all.iter().sum::<f64>() / all.len().max(1) as f64
}

/// As many of `all`, each drawn of all.
fn drawn(all: &[f64], random: &mut Random) -> Vec<f64> {
    let one = |random: &mut Random| all[(random.next_u64() % all.len() as u64) as usize];
    (0..all.len()).map(|_| one(random)).collect()
}

/// The verdict on the logarithm of a ratio by what `draw` makes of it again and again.
fn bounds(middle: f64, mut draw: impl FnMut(&mut Random) -> f64) -> (Verdict, [f64; 3]) {
    let mut random = Random::new(SEED);
    let mut draws: Vec<f64> = (0..DRAWS).map(|_| draw(&mut random)).collect();
    draws.sort_by(f64::total_cmp);
    let (low, high) = (draws[DRAWS / 40], draws[DRAWS - 1 - DRAWS / 40]);
    let verdict = if high < 0.0 {
        Verdict::Faster
    } else if low > 0.0 {
        Verdict::Slower
    } else {
        Verdict::CannotTell
    };
    (verdict, [low.exp(), middle.exp(), high.exp()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_clear_is_said() {
        let slow = [20.0, 21.0, 19.0, 20.5, 22.0, 20.0];
        let fast = [10.0, 10.5, 11.0, 10.2, 10.1, 9.9];
        let (verdict, [low, middle, high]) = judge(&fast, &slow);
        assert_eq!(verdict, Verdict::Faster);
        assert!(low <= middle && middle <= high && (0.4..0.6).contains(&middle));
        assert_eq!(judge(&slow, &fast).0, Verdict::Slower);
        assert_eq!(judge(&slow, &slow).0, Verdict::CannotTell);
        let noisy = [10.0, 30.0, 12.0, 28.0, 20.0, 21.0];
        assert_eq!(judge(&noisy, &slow).0, Verdict::CannotTell);
        assert_eq!(judge(&fast[..4], &slow[..4]).0, Verdict::CannotTell);
        assert_eq!(judge(&[], &[]).0, Verdict::CannotTell);
    }

    #[test]
    fn runs_apart_are_told_apart_by_their_spread() {
        let slow = [20.0, 21.0, 19.0, 20.5, 22.0, 20.0];
        let fast = [10.0, 10.5, 11.0, 10.2, 10.1, 9.9, 10.3];
        assert_eq!(judge_apart(&fast, &slow).0, Verdict::Faster);
        assert_eq!(judge_apart(&slow, &fast).0, Verdict::Slower);
        let other = [20.4, 20.1, 21.5, 19.5, 20.2, 21.0];
        let (verdict, [low, middle, high]) = judge_apart(&slow, &other);
        assert_eq!(verdict, Verdict::CannotTell);
        assert!(low < 1.0 && 1.0 < high && (0.9..1.1).contains(&middle));
        assert_eq!(judge_apart(&fast[..4], &slow).0, Verdict::CannotTell);
        assert_eq!(judge_apart(&[], &[]).0, Verdict::CannotTell);
    }
}
