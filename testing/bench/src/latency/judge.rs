//! The goals of latency: ratios within the run, never absolute times.

use super::plan::Plan;
use super::rows::{Row, find};
use crate::contestant::{Mode, Product};
use crate::goal::{Goal, Side};
use crate::placement::Placement;

/// Whimbrel's modes, and the mode of the peers that each is compared with.
const MODES: [(Mode, Mode); 4] = [
    (Mode::Listener, Mode::Listener),
    (Mode::WaitSet, Mode::WaitSet),
    (Mode::Take, Mode::WaitSet),
    (Mode::Async, Mode::WaitSet),
];

/// Median at most this many times that of the blocking raw socket.
const OF_RAW: [(Placement, f64); 2] = [(Placement::TwoCores, 1.10), (Placement::OneCore, 1.35)];

/// Median of the other modes at most this many times that of the listener.
const OF_LISTENER: f64 = 1.05;

/// Every goal for which something was measured, by its worst size.
pub(super) fn goals(rows: &[Row], plan: &Plan) -> Vec<Goal> {
    let judge = Judge { rows, plan };
    let mut goals = Vec::new();
    for (placement, bound) in OF_RAW {
        for (mode, _) in MODES {
            goals.extend(judge.of_raw(placement, mode, bound));
        }
    }
    for placement in &plan.placements {
        for (mode, _) in MODES.iter().skip(1) {
            goals.extend(judge.of_listener(*placement, *mode));
        }
        for (mode, theirs) in MODES {
            for (label, quantile) in [("p50", 0.5), ("p99", 0.99)] {
                goals.extend(judge.of_peers(*placement, mode, theirs, label, quantile));
            }
        }
    }
    goals
}

struct Judge<'a> {
    rows: &'a [Row],
    plan: &'a Plan,
}

impl Judge<'_> {
    fn us(
        &self,
        placement: Placement,
        product: Product,
        mode: Mode,
        size: usize,
        quantile: f64,
    ) -> Option<f64> {
        let row = find(self.rows, placement, product, mode, size)?;
        Some(row.spread.us(quantile))
    }

    fn of_raw(&self, placement: Placement, mode: Mode, bound: f64) -> Option<Goal> {
        let figures = self.plan.sizes.iter().filter_map(|size| {
            let ours = self.us(placement, Product::Whimbrel, mode, *size, 0.5)?;
            let raw = self.us(placement, Product::Raw, Mode::Blocking, *size, 0.5)?;
            Some((ours / raw, format!("{size} B")))
        });
        let name = format!("latency.{placement}.{}.p50-of-raw-blocking", mode.name());
        Goal::worst(name, figures, Side::AtMost, bound)
    }

    fn of_listener(&self, placement: Placement, mode: Mode) -> Option<Goal> {
        let figures = self.plan.sizes.iter().filter_map(|size| {
            let ours = self.us(placement, Product::Whimbrel, mode, *size, 0.5)?;
            let listener = self.us(placement, Product::Whimbrel, Mode::Listener, *size, 0.5)?;
            Some((ours / listener, format!("{size} B")))
        });
        let name = format!("latency.{placement}.{}.p50-of-listener", mode.name());
        Goal::worst(name, figures, Side::AtMost, OF_LISTENER)
    }

    fn of_peers(
        &self,
        placement: Placement,
        mode: Mode,
        theirs: Mode,
        label: &str,
        quantile: f64,
    ) -> Option<Goal> {
        let figures = self.plan.sizes.iter().flat_map(|size| {
            [Product::Cyclone, Product::FastDds]
                .into_iter()
                .filter_map(move |peer| {
                    let ours = self.us(placement, Product::Whimbrel, mode, *size, quantile)?;
                    let peers = self.us(placement, peer, theirs, *size, quantile)?;
                    Some((ours / peers, format!("{size} B, {}", peer.name())))
                })
        });
        let name = format!("latency.{placement}.{}.{label}-of-peers", mode.name());
        Goal::worst(name, figures, Side::Below, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contestant::{Contestant, LATENCY};
    use crate::process::Usage;
    use crate::protocol::Order;

    const SIZE: usize = 16;

    fn row(product: Product, mode: Mode, us: u64) -> Row {
        let mut row = Row::new(Contestant { product, mode }, Placement::OneCore, SIZE);
        let order = Order {
            size: SIZE,
            count: 10,
            warm: 0,
        };
        row.add(&[us * 2000; 10], Usage::default(), order);
        row
    }

    fn judged(rows: &[Row]) -> Vec<(String, bool)> {
        let plan = Plan {
            contestants: LATENCY.to_vec(),
            placements: vec![Placement::OneCore],
            sizes: vec![SIZE],
            messages: 10,
        };
        let goals = goals(rows, &plan);
        goals
            .into_iter()
            .map(|it| (it.name.clone(), it.met()))
            .collect()
    }

    #[test]
    fn figures_are_compared_with_raw_listener_and_peers() {
        let rows = [
            row(Product::Raw, Mode::Blocking, 100),
            row(Product::Whimbrel, Mode::Listener, 130),
            row(Product::Whimbrel, Mode::Take, 140),
            row(Product::Cyclone, Mode::Listener, 150),
            row(Product::Cyclone, Mode::WaitSet, 160),
            row(Product::FastDds, Mode::WaitSet, 135),
        ];
        let judged = judged(&rows);
        let wanted = [
            ("latency.one-core.listener.p50-of-raw-blocking", true),
            ("latency.one-core.take.p50-of-raw-blocking", false),
            ("latency.one-core.take.p50-of-listener", false),
            ("latency.one-core.listener.p50-of-peers", true),
            ("latency.one-core.listener.p99-of-peers", true),
            ("latency.one-core.take.p50-of-peers", false),
            ("latency.one-core.take.p99-of-peers", false),
        ];
        let wanted: Vec<(String, bool)> = wanted
            .iter()
            .map(|(name, met)| ((*name).to_owned(), *met))
            .collect();
        assert_eq!(judged, wanted);
    }

    #[test]
    fn what_was_not_measured_is_not_judged() {
        assert_eq!(judged(&[row(Product::Whimbrel, Mode::Take, 1)]), []);
    }
}
