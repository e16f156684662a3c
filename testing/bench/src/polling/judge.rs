//! The goals of polling before blocking.

use super::rows::Row;
use crate::goal::{Goal, Side};

/// Percent of a core: what a stream of 1 kHz is to cost less of than this beyond what it costs who
/// blocks. So much may who waits for its samples and answers them pay, and so much both processes.
const STEADY_PERCENT: f64 = 2.0;

/// As [`STEADY_PERCENT`] where nothing happens: none, but for what the clock of the system shows.
const IDLE_PERCENT: f64 = 0.05;

/// What the median and the 90th percentile may be of those of who blocks, among busy processes.
const CROWDED: f64 = 1.03;

/// Whoever polls beside who receives alike without, by the worst of them.
pub(super) fn goals(rows: &[Row]) -> Vec<Goal> {
    let pairs: Vec<(&Row, &Row)> = rows
        .iter()
        .filter_map(|polling| {
            let mode = polling.mode.without_polling()?;
            let blocking = rows.iter().find(|it| it.mode == mode)?;
            Some((blocking, polling))
        })
        .collect();
    let worst = |name: &str, of: &dyn Fn(&Row, &Row) -> f64, side: Side, bound: f64| {
        let figures = pairs.iter().map(|(blocking, polling)| {
            let mode = polling.mode.name().to_owned();
            (of(blocking, polling), mode)
        });
        Goal::worst(format!("polling.{name}"), figures, side, bound)
    };
    let crowded = |quantile: f64| {
        move |blocking: &Row, polling: &Row| {
            polling.crowded.spread.us(quantile) / blocking.crowded.spread.us(quantile)
        }
    };
    [
        worst(
            "thousand-hertz.answering.percent-of-a-core-beyond-blocking",
            &|blocking, polling| {
                polling.calm.answering.percent() - blocking.calm.answering.percent()
            },
            Side::Below,
            STEADY_PERCENT,
        ),
        worst(
            "thousand-hertz.percent-of-a-core-beyond-blocking",
            &|blocking, polling| polling.calm.steady.percent() - blocking.calm.steady.percent(),
            Side::Below,
            STEADY_PERCENT,
        ),
        worst(
            "idle.percent-of-a-core-beyond-blocking",
            &|blocking, polling| polling.calm.idle.percent() - blocking.calm.idle.percent(),
            Side::AtMost,
            IDLE_PERCENT,
        ),
        worst(
            "crowded.p50-of-blocking",
            &crowded(0.5),
            Side::AtMost,
            CROWDED,
        ),
        worst(
            "crowded.p90-of-blocking",
            &crowded(0.9),
            Side::AtMost,
            CROWDED,
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::super::rows::{Calm, Crowded, Share};
    use super::*;
    use crate::contestant::Mode;
    use std::time::Duration;
    use whimbrel_rig::process::Usage;

    /// That both processes use so much at a steady stream, the one that answers half of it.
    fn row(mode: Mode, percent: f64, ns: [u64; 2]) -> Row {
        let mut crowded = Crowded::default();
        let [usual, late] = ns;
        let trips = [usual, usual, usual, usual, usual, late, late];
        crowded.add_round(&trips, trips.len(), Usage::default());
        let share = |percent: f64| {
            let mut share = Share::default();
            let used = Usage {
                cpu_ns: (percent * 1e7) as u64,
                ..Usage::default()
            };
            share.add(used, Duration::from_secs(1));
            share
        };
        Row {
            mode,
            calm: Calm {
                steady: share(percent),
                answering: share(percent / 2.0),
                idle: share(percent / 100.0),
            },
            crowded,
            wait_us: None,
        }
    }

    #[test]
    fn who_polls_is_held_against_who_blocks_in_the_same_way() {
        let ways = [
            (Mode::Take, Mode::Automatic),
            (Mode::Listener, Mode::AutomaticListener),
            (Mode::WaitSet, Mode::AutomaticWaitSet),
            (Mode::Async, Mode::AutomaticAsync),
        ];
        for (at, way) in ways.iter().enumerate() {
            let met = |percent: f64, ns: [u64; 2]| -> Vec<bool> {
                let rows = ways
                    .iter()
                    .enumerate()
                    .flat_map(|(it, (blocking, polling))| {
                        let good = row(*polling, 3.0, [20_000, 40_000]);
                        let judged = if it == at {
                            row(*polling, percent, ns)
                        } else {
                            good
                        };
                        [row(*blocking, 3.0, [20_000, 40_000]), judged]
                    });
                let goals = goals(&rows.collect::<Vec<_>>());
                let at_way = |it: &Goal| it.met() || it.at == way.1.name();
                assert!(goals.iter().all(at_way), "{goals:?}");
                goals.iter().map(Goal::met).collect()
            };
            assert_eq!(met(4.9, [20_000, 40_000]), [true, true, true, true, true]);
            assert_eq!(met(5.1, [22_000, 40_000]), [true, false, true, false, true]);
            assert_eq!(
                met(9.0, [10_000, 42_000]),
                [false, false, false, true, false]
            );
        }
    }
}
