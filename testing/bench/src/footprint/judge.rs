//! The goals of footprint: each at most Cyclone DDS's in the same run.

use super::figures::{Figures, Who};
use crate::contestant::Product;
use crate::goal::{Goal, Side};

/// Threads of a process, whatever the number of entities.
const THREADS_MAX: f64 = 3.0;

/// A figure by its name.
type Of = (&'static str, fn(&Figures) -> f64);

const OF_CYCLONE: [Of; 5] = [
    ("resident", |it| it.resident_kib),
    ("per-reader", |it| it.reader_kib),
    ("start-to-matched", |it| it.match_ms),
    ("idle-cpu", |it| it.idle_cpu_ms),
    ("idle-wakes", |it| it.idle_wakes),
];

/// Every goal for which something was measured.
pub(super) fn goals(figures: &[Figures]) -> Vec<Goal> {
    let of = |who| figures.iter().find(|it| it.who == who);
    let cyclone = of(Who::Peer(Product::Cyclone));
    let mut goals = Vec::new();
    for (who, prefix) in [
        (Who::Small, "footprint"),
        (Who::Fast, "footprint.fast"),
        (Who::Unordered, "footprint.unordered"),
    ] {
        let Some(ours) = of(who) else { continue };
        for (name, figure) in OF_CYCLONE {
            let Some(cyclone) = cyclone else { break };
            goals.push(Goal {
                name: format!("{prefix}.{name}-of-cyclone"),
                measured: figure(ours) / figure(cyclone),
                at: format!("{:.2} against {:.2}", figure(ours), figure(cyclone)),
                side: Side::AtMost,
                bound: 1.0,
            });
        }
        goals.push(Goal {
            name: format!("{prefix}.threads"),
            measured: threads_max(ours),
            at: String::new(),
            side: Side::AtMost,
            bound: THREADS_MAX,
        });
    }
    goals
}

/// The most of all that was set up.
fn threads_max(figures: &Figures) -> f64 {
    let busy = figures.threads_with_listener.max(figures.threads_of_crowd);
    figures.threads.max(figures.threads_with_readers).max(busy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(who: Who, all: f64, threads: f64) -> Figures {
        Figures {
            who,
            resident_kib: all,
            private_kib: all,
            threads,
            reader_kib: all,
            threads_with_readers: threads,
            threads_with_listener: threads,
            threads_of_crowd: threads,
            launch_ms: all,
            match_ms: all,
            match_cpu_ms: all,
            sample_ms: all,
            idle_cpu_ms: all,
            idle_system_ms: all,
            idle_wakes: all,
            binary_kib: all,
        }
    }

    fn met(ours: Figures) -> Vec<bool> {
        let cyclone = figures(Who::Peer(Product::Cyclone), 5.0, 6.0);
        goals(&[ours, cyclone]).iter().map(Goal::met).collect()
    }

    #[test]
    fn each_figure_is_judged_by_itself() {
        let good = figures(Who::Small, 5.0, 3.0);
        assert_eq!(met(good.clone()), [true; 6]);
        let heavy = Figures {
            reader_kib: 5.1,
            threads_with_readers: 4.0,
            ..good
        };
        assert_eq!(met(heavy), [true, false, true, true, true, false]);
        let busy = Figures {
            threads_with_listener: 4.0,
            ..good
        };
        assert_eq!(met(busy), [true, true, true, true, true, false]);
        let crowded = Figures {
            threads_of_crowd: 4.0,
            ..good
        };
        assert_eq!(met(crowded), [true, true, true, true, true, false]);
        for who in [Who::Fast, Who::Unordered] {
            let heavier = figures(who, 5.1, 3.0);
            assert_eq!(met(heavier), [false, false, false, false, false, true]);
        }
    }

    #[test]
    fn without_us_there_is_nothing_to_judge() {
        let cyclone = figures(Who::Peer(Product::Cyclone), 5.0, 6.0);
        assert_eq!(goals(std::slice::from_ref(&cyclone)), []);
    }
}
