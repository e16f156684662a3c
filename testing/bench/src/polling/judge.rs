//! The goals of polling before blocking.

use super::rows::Row;
use crate::goal::{Goal, Side};

/// Percent of a core that a stream of 1 kHz may cost beyond what it costs who blocks.
const STEADY_PERCENT: f64 = 2.0;

/// As [`STEADY_PERCENT`] where nothing happens: none, but for what the clock of the system shows.
const IDLE_PERCENT: f64 = 0.05;

/// What the median may be of that of who blocks, among busy threads.
const CROWDED: f64 = 1.03;

/// `rows`: who blocks, who polls first.
pub(super) fn goals(rows: &[Row]) -> Vec<Goal> {
    let [blocking, polling] = rows else {
        return Vec::new();
    };
    let goal = |name: &str, measured: f64, bound: f64| Goal {
        name: format!("polling.{name}"),
        measured,
        at: String::new(),
        side: Side::AtMost,
        bound,
    };
    let more = |of: fn(&Row) -> f64| of(polling) - of(blocking);
    let crowded = polling.crowded.us(0.5) / blocking.crowded.us(0.5);
    vec![
        goal(
            "thousand-hertz.percent-of-a-core-beyond-blocking",
            more(|row| row.steady_percent),
            STEADY_PERCENT,
        ),
        goal(
            "idle.percent-of-a-core-beyond-blocking",
            more(|row| row.idle_percent),
            IDLE_PERCENT,
        ),
        goal("crowded.p50-of-blocking", crowded, CROWDED),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contestant::Mode;
    use crate::spread::Spread;

    #[test]
    fn who_polls_is_held_against_who_blocks() {
        let row = |percent: f64, ns: u64| {
            let mut crowded = Spread::default();
            crowded.add_round(&[ns; 10]);
            Row {
                mode: Mode::Take,
                steady_percent: percent,
                idle_percent: percent / 100.0,
                crowded,
            }
        };
        let met = |polling: Row| -> Vec<bool> {
            let goals = goals(&[row(3.0, 20_000), polling]);
            goals.iter().map(Goal::met).collect()
        };
        assert_eq!(met(row(4.9, 20_000)), [true, true, true]);
        assert_eq!(met(row(5.1, 22_000)), [false, true, false]);
        assert_eq!(met(row(9.0, 10_000)), [false, false, true]);
    }
}
