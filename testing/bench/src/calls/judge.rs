//! The goals of system calls per message.

use super::count::Counts;
use crate::contestant::{Contestant, Product};
use crate::goal::{Goal, Side};

/// At most one acknowledgment or heartbeat for ten samples, sent or received.
const ACKNOWLEDGED: f64 = 1.1;

/// At most one wait.
const WAITS: f64 = 1.0;

/// None, but for the odd thread that loses its core with a lock: 20 in 20,000 messages.
const NONE: f64 = 0.001;

const BOUNDS: [(&str, f64); 4] = [
    ("sends", ACKNOWLEDGED),
    ("receives", ACKNOWLEDGED),
    ("waits", WAITS),
    ("futexes", NONE),
];

/// The bounds of every way in which Whimbrel receives.
pub(super) fn goals(figures: &[(Contestant, Counts)]) -> Vec<Goal> {
    let ours = figures
        .iter()
        .filter(|it| it.0.product == Product::Whimbrel);
    let judged = ours.flat_map(|(contestant, counts)| {
        BOUNDS.map(|(kind, bound)| Goal {
            name: format!("calls.{}.{kind}-per-message", contestant.mode.name()),
            measured: counts.of(kind),
            at: String::new(),
            side: Side::AtMost,
            bound,
        })
    });
    judged.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contestant::Mode;

    #[test]
    fn one_wait_for_each_and_hardly_a_futex_is_the_most() {
        let mode = Mode::Take;
        let product = Product::Whimbrel;
        let met = |kind: &str, count: f64| {
            let counts = Counts::with(kind, count);
            let goals = goals(&[(Contestant { product, mode }, counts)]);
            let name = format!("calls.take.{kind}-per-message");
            goals.iter().any(|it| it.name == name && it.met())
        };
        assert!(met("waits", 1.0) && !met("waits", 1.01));
        assert!(met("futexes", 0.001) && !met("futexes", 0.002));
    }

    #[test]
    fn only_we_are_judged_and_what_was_not_counted_is_missed() {
        let of = |product| {
            let mode = Mode::Take;
            (Contestant { product, mode }, Counts::default())
        };
        let goals = goals(&[of(Product::Whimbrel), of(Product::Cyclone)]);
        assert_eq!(goals.len(), BOUNDS.len());
        assert!(goals.iter().all(|it| !it.met()));
        assert_eq!(goals[3].name, "calls.take.futexes-per-message");
    }
}
