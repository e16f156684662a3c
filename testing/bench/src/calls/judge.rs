//! The goals of system calls per message.

use super::rows::Row;
use crate::contestant::Product;
use crate::goal::{Goal, Side};

/// At most one acknowledgment or heartbeat for ten samples, sent or received.
pub(super) const ACKNOWLEDGED: f64 = 1.1;

/// At most one wait.
pub(super) const WAITS: f64 = 1.0;

/// Of all kinds, where nobody polls: one that sends and one that receives, and what it takes to
/// acknowledge.
pub(super) const CALLS: f64 = 2.0 * ACKNOWLEDGED;

/// None, but for the odd thread that loses its core with a lock: 20 in 20,000 messages.
pub(super) const NONE: f64 = 0.001;

const BOUNDS: [(&str, f64); 4] = [
    ("sends", ACKNOWLEDGED),
    ("receives", ACKNOWLEDGED),
    ("waits", WAITS),
    ("futexes", NONE),
];

/// The bounds of every way in which Whimbrel receives.
pub(super) fn goals(rows: &[Row]) -> Vec<Goal> {
    let ours = rows
        .iter()
        .filter(|it| it.contestant.product == Product::Whimbrel);
    let judged = ours.flat_map(|row| {
        let polls = row.contestant.mode.without_polling().is_some();
        let all = (!polls).then_some(("calls", CALLS));
        BOUNDS.into_iter().chain(all).map(|(kind, bound)| Goal {
            name: format!(
                "calls.{}.{}.{kind}-per-message",
                row.placement,
                row.contestant.mode.name()
            ),
            measured: row.per_message.of(kind),
            at: String::new(),
            side: Side::AtMost,
            bound,
        })
    });
    judged.collect()
}

#[cfg(test)]
mod tests {
    use super::super::count::Counts;
    use super::*;
    use crate::contestant::{Contestant, Mode};
    use crate::placement::Placement;

    fn row(product: Product, per_message: Counts) -> Row {
        let mode = Mode::Take;
        Row {
            contestant: Contestant { product, mode },
            placement: Placement::OneCore,
            per_message,
        }
    }

    #[test]
    fn one_wait_for_each_and_hardly_a_futex_is_the_most() {
        let met = |kind: &str, count: f64| {
            let goals = goals(&[row(Product::Whimbrel, Counts::with(kind, count))]);
            let name = format!("calls.one-core.take.{kind}-per-message");
            goals.iter().any(|it| it.name == name && it.met())
        };
        assert!(met("waits", 1.0) && !met("waits", 1.01));
        assert!(met("futexes", 0.001) && !met("futexes", 0.002));
    }

    #[test]
    fn any_other_call_shows_where_nobody_polls() {
        let goals_of = |mode| {
            let mut row = row(Product::Whimbrel, Counts::with("calls", 2.3));
            row.contestant.mode = mode;
            let all = goals(&[row]);
            let judged = all.into_iter().find(|it| it.name.contains(".calls-"));
            judged.map(|it| it.met())
        };
        assert_eq!(goals_of(Mode::Take), Some(false));
        assert_eq!(goals_of(Mode::Automatic), None);
    }

    #[test]
    fn only_we_are_judged_and_what_was_not_counted_is_missed() {
        let of = |product| row(product, Counts::default());
        let goals = goals(&[of(Product::Whimbrel), of(Product::Cyclone)]);
        assert_eq!(goals.len(), BOUNDS.len() + 1);
        assert!(goals.iter().all(|it| !it.met()));
        assert_eq!(goals[3].name, "calls.one-core.take.futexes-per-message");
    }
}
