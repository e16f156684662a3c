//! The goals of system calls per message.

use super::count::Counts;
use crate::contestant::{Contestant, Product};
use crate::goal::{Goal, Side};

/// At most one acknowledgment or heartbeat for ten samples, sent or received.
const ACKNOWLEDGED: f64 = 1.1;

/// None, but for the odd thread that finds a lock taken.
const NONE: f64 = 0.01;

const BOUNDS: [(&str, f64); 4] = [
    ("sends", ACKNOWLEDGED),
    ("receives", ACKNOWLEDGED),
    ("waits", ACKNOWLEDGED),
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
