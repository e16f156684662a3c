//! The goals of footprint: each at most Cyclone DDS's in the same run.

use super::figures::Figures;
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
    let of = |product| figures.iter().find(|it| it.product == product);
    let Some(ours) = of(Product::Whimbrel) else {
        return Vec::new();
    };
    let mut goals = Vec::new();
    if let Some(cyclone) = of(Product::Cyclone) {
        for (name, figure) in OF_CYCLONE {
            goals.push(Goal {
                name: format!("footprint.{name}-of-cyclone"),
                measured: figure(ours) / figure(cyclone),
                at: format!("{:.2} against {:.2}", figure(ours), figure(cyclone)),
                side: Side::AtMost,
                bound: 1.0,
            });
        }
    }
    goals.push(Goal {
        name: "footprint.threads".to_owned(),
        measured: ours.threads.max(ours.threads_with_readers),
        at: String::new(),
        side: Side::AtMost,
        bound: THREADS_MAX,
    });
    goals
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(product: Product, all: f64, threads: f64) -> Figures {
        Figures {
            product,
            resident_kib: all,
            private_kib: all,
            threads,
            reader_kib: all,
            threads_with_readers: threads,
            match_ms: all,
            idle_cpu_ms: all,
            idle_wakes: all,
            binary_kib: all,
        }
    }

    fn met(ours: Figures) -> Vec<bool> {
        let cyclone = figures(Product::Cyclone, 5.0, 6.0);
        goals(&[ours, cyclone]).iter().map(Goal::met).collect()
    }

    #[test]
    fn each_figure_is_judged_by_itself() {
        let good = figures(Product::Whimbrel, 5.0, 3.0);
        assert_eq!(met(good.clone()), [true; 6]);
        let heavy = Figures {
            reader_kib: 5.1,
            threads_with_readers: 4.0,
            ..good
        };
        assert_eq!(met(heavy), [true, false, true, true, true, false]);
    }

    #[test]
    fn without_us_there_is_nothing_to_judge() {
        assert_eq!(goals(&[figures(Product::Cyclone, 5.0, 6.0)]), []);
    }
}
