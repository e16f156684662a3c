//! The goals of latency: ratios within the run; absolute only where nobody else is the measure.
//!
//! Medians are compared round by round ([`Spread::p50_of`]), tails over all rounds.

use super::plan::{Kind, Part};
use super::rows::{Row, find};
use crate::contestant::{Mode, Product};
use crate::goal::{Goal, Side};
use crate::placement::Placement;
use crate::spread::{Quantile, Spread};

/// Whimbrel's modes that block.
const MODES: [Mode; 4] = [Mode::Listener, Mode::WaitSet, Mode::Take, Mode::Async];

/// The mode of the peers that one of Whimbrel's is compared with.
fn mode_of_peers(mode: Mode) -> Mode {
    match mode {
        Mode::Listener | Mode::AutomaticListener => Mode::Listener,
        Mode::Large => Mode::Large,
        _ => Mode::WaitSet,
    }
}

/// Median at most this many times that of the blocking raw socket: the one that is not connected,
/// as those of the benches that the bounds come from.
const OF_RAW: [(Placement, f64); 3] = [
    (Placement::TwoCores, 1.10),
    (Placement::OneCore, 1.35),
    (Placement::TwoHosts, 1.10),
];

/// Between two hosts the raw socket is the measure for samples of one datagram: larger ones of its
/// own leave as IP fragments.
const OF_RAW_TWO_HOSTS_BYTES_MAX: usize = 1024;

/// Where each process has a core of its own.
const ACROSS_CORES: [Placement; 2] = [Placement::TwoCores, Placement::TwoHosts];

/// Median of the other modes at most this many times that of the listener.
const OF_LISTENER: f64 = 1.05;

/// Median of large samples at most this many times that of the best peer.
const LARGE_OF_PEERS: f64 = 0.7;

/// Their 99th percentile at most this many times their median.
const LARGE_STEADY: f64 = 2.0;

/// Median within a process, in microseconds.
const IN_PROCESS_US: f64 = 0.15;

/// Larger samples count as they go by reference.
const IN_PROCESS_COPIED_MAX: usize = 1024;

/// Median with polling at most this many times that of the spinning raw socket.
const OF_SPINNING: f64 = 1.4;

/// Median with polling at most this many times that without, where polling cannot help.
const OF_BLOCKING: f64 = 1.03;

/// Who is compared, and how they receive.
type Who = (Product, Mode);

/// Every goal for which something was measured, by its worst size.
pub(super) fn goals(rows: &[Row], part: &Part) -> Vec<Goal> {
    let judge = Judge { rows, part };
    match part.kind {
        Kind::Usual => judge.usual(),
        Kind::Large => judge.large(),
        Kind::InProcess => judge.in_process(),
    }
}

struct Judge<'a> {
    rows: &'a [Row],
    part: &'a Part,
}

impl Judge<'_> {
    fn usual(&self) -> Vec<Goal> {
        let mut goals = Vec::new();
        for (placement, bound) in OF_RAW {
            let of_raw = |mode| self.of_raw(placement, mode, Mode::Blocking, bound);
            goals.extend(MODES.into_iter().filter_map(of_raw));
        }
        let polling = self.polling();
        for (mode, blocking) in &polling {
            goals.extend(self.of_own(Placement::OneCore, *mode, *blocking, OF_BLOCKING));
        }
        for placement in ACROSS_CORES {
            let modes = polling.iter().map(|it| it.0).chain([Mode::Spinning]);
            let of_raw = |mode| self.of_raw(placement, mode, Mode::Spinning, OF_SPINNING);
            goals.extend(modes.filter_map(of_raw));
        }
        let polling = || polling.iter().map(|it| it.0);
        for placement in &self.part.placements {
            for mode in MODES.iter().skip(1) {
                goals.extend(self.of_own(*placement, *mode, Mode::Listener, OF_LISTENER));
            }
            for mode in MODES.into_iter().chain(polling()) {
                let beside = |it| self.of_peers(*placement, mode, it, 1.0);
                goals.extend(Quantile::ALL.into_iter().filter_map(beside));
            }
        }
        goals
    }

    /// Whimbrel's modes that poll for a while, which is the default, and what each does without.
    fn polling(&self) -> Vec<(Mode, Mode)> {
        let ours = self.part.contestants.iter();
        let ours = ours.filter(|it| it.product == Product::Whimbrel);
        ours.filter_map(|it| Some((it.mode, it.mode.without_polling()?)))
            .collect()
    }

    fn large(&self) -> Vec<Goal> {
        let (placement, mode) = (Placement::TwoCores, Mode::Large);
        let quick = self.of_peers(placement, mode, Quantile::P50, LARGE_OF_PEERS);
        let tail = self.of_peers(placement, mode, Quantile::P99, 1.0);
        // Users get the buffers that we ask for, or those of a system that grants no more.
        let steady = [mode, Mode::LargeSystemBuffers]
            .into_iter()
            .filter_map(|it| self.steady(placement, it));
        quick.into_iter().chain(tail).chain(steady).collect()
    }

    /// The tail of one of our modes beside its median.
    fn steady(&self, placement: Placement, mode: Mode) -> Option<Goal> {
        let figures = self.part.sizes.iter().filter_map(|size| {
            let spread = self.spread(placement, (Product::Whimbrel, mode), *size)?;
            Some((spread.us(0.99) / spread.us(0.5), format!("{size} B")))
        });
        let name = format!("latency.{placement}.{}.p99-of-p50", mode.name());
        Goal::worst(name, figures, Side::AtMost, LARGE_STEADY)
    }

    fn in_process(&self) -> Vec<Goal> {
        let goals = self.part.sizes.iter().flat_map(|size| {
            let mode = if *size > IN_PROCESS_COPIED_MAX {
                Mode::InProcessShared
            } else {
                Mode::InProcess
            };
            [
                self.quick_here(mode, *size),
                self.quicker_here(mode, *size, Quantile::P50),
                self.quicker_here(mode, *size, Quantile::P99),
            ]
        });
        goals.flatten().collect()
    }

    fn quick_here(&self, mode: Mode, size: usize) -> Option<Goal> {
        let ours = self.spread(Placement::Free, (Product::Whimbrel, mode), size)?;
        let name = format!("latency.{}.p50-us", mode.name());
        let figure = (ours.us(0.5), format!("{size} B"));
        Goal::worst(name, [figure], Side::AtMost, IN_PROCESS_US)
    }

    /// Beside the peers, by what they have.
    fn quicker_here(&self, mode: Mode, size: usize, quantile: Quantile) -> Option<Goal> {
        let ours = (Product::Whimbrel, mode);
        let figures = [Product::Cyclone, Product::FastDds].map(|peer| {
            let theirs = (peer, Mode::InProcess);
            let ratio = self.ratio(Placement::Free, size, quantile, ours, theirs)?;
            Some((ratio, format!("{size} B, {}", peer.name())))
        });
        let name = format!("latency.{}.{}-of-peers", mode.name(), quantile.label());
        Goal::worst(name, figures.into_iter().flatten(), Side::Below, 1.0)
    }

    fn spread(&self, placement: Placement, (product, mode): Who, size: usize) -> Option<&Spread> {
        let row = find(self.rows, placement, product, mode, size)?;
        Some(&row.spread)
    }

    fn ratio(
        &self,
        placement: Placement,
        size: usize,
        quantile: Quantile,
        ours: Who,
        theirs: Who,
    ) -> Option<f64> {
        let of = |who| self.spread(placement, who, size);
        Some(quantile.ratio(of(ours)?, of(theirs)?))
    }

    fn of_raw(&self, placement: Placement, mode: Mode, raw_mode: Mode, bound: f64) -> Option<Goal> {
        let alike = |size: &&usize| {
            placement != Placement::TwoHosts || **size <= OF_RAW_TWO_HOSTS_BYTES_MAX
        };
        let figures = self.part.sizes.iter().filter(alike).filter_map(|size| {
            let (ours, raw) = ((Product::Whimbrel, mode), (Product::Raw, raw_mode));
            let ratio = self.ratio(placement, *size, Quantile::P50, ours, raw)?;
            Some((ratio, format!("{size} B")))
        });
        let (ours, theirs) = (mode.name(), raw_mode.name());
        let name = format!("latency.{placement}.{ours}.p50-of-raw-{theirs}");
        Goal::worst(name, figures, Side::AtMost, bound)
    }

    /// One of our modes beside another.
    fn of_own(&self, placement: Placement, mode: Mode, other: Mode, bound: f64) -> Option<Goal> {
        let figures = self.part.sizes.iter().filter_map(|size| {
            let [ours, others] = [mode, other].map(|it| (Product::Whimbrel, it));
            let ratio = self.ratio(placement, *size, Quantile::P50, ours, others)?;
            Some((ratio, format!("{size} B")))
        });
        let (mode, other) = (mode.name(), other.name());
        let name = format!("latency.{placement}.{mode}.p50-of-{other}");
        Goal::worst(name, figures, Side::AtMost, bound)
    }

    fn of_peers(
        &self,
        placement: Placement,
        mode: Mode,
        quantile: Quantile,
        bound: f64,
    ) -> Option<Goal> {
        let ours = (Product::Whimbrel, mode);
        let figures = self.part.sizes.iter().flat_map(|size| {
            [Product::Cyclone, Product::FastDds]
                .into_iter()
                .filter_map(move |peer| {
                    let theirs = (peer, mode_of_peers(mode));
                    let ratio = self.ratio(placement, *size, quantile, ours, theirs)?;
                    Some((ratio, format!("{size} B, {}", peer.name())))
                })
        });
        let (mode, label) = (mode.name(), quantile.label());
        let name = format!("latency.{placement}.{mode}.{label}-of-peers");
        let side = if bound < 1.0 {
            Side::AtMost
        } else {
            Side::Below
        };
        Goal::worst(name, figures, side, bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contestant::{Contestant, USUAL};
    use crate::protocol::Order;
    use whimbrel_rig::process::Usage;

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

    fn part_of(kind: Kind) -> Part {
        Part {
            kind,
            contestants: USUAL.to_vec(),
            placements: vec![Placement::OneCore],
            sizes: vec![SIZE],
            messages: 10,
            rounds: 1,
            starts: 1,
            warm: 0,
        }
    }

    fn judged(rows: &[Row], kind: Kind) -> Vec<(String, bool)> {
        let goals = goals(rows, &part_of(kind));
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
        let judged = judged(&rows, Kind::Usual);
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
    fn medians_are_compared_by_round_and_tails_over_all() {
        let order = Order {
            size: SIZE,
            count: 10,
            warm: 0,
        };
        let mut rows = [
            row(Product::Whimbrel, Mode::Listener, 100),
            row(Product::Whimbrel, Mode::Take, 104),
            row(Product::Cyclone, Mode::WaitSet, 120),
        ];
        // Half as fast for a while, in which the last of the rounds falls.
        for (row, us) in rows.iter_mut().zip([[200, 200], [104, 208], [120, 200]]) {
            for us in us {
                row.add(&[us * 2000; 10], Usage::default(), order);
            }
        }
        let wanted = [
            ("latency.one-core.take.p50-of-listener", true),
            ("latency.one-core.take.p50-of-peers", true),
            ("latency.one-core.take.p99-of-peers", false),
        ];
        let wanted = wanted.map(|(name, met)| (name.to_owned(), met));
        assert_eq!(judged(&rows, Kind::Usual), wanted);
    }

    #[test]
    fn polling_is_judged_in_every_way_of_receiving() {
        for contestant in USUAL {
            let (polled, product) = (contestant.mode, contestant.product);
            let Some(blocking) = polled.without_polling() else {
                continue;
            };
            let rows = [row(product, blocking, 100), row(product, polled, 104)];
            let name = format!(
                "latency.one-core.{}.p50-of-{}",
                polled.name(),
                blocking.name()
            );
            assert_eq!(judged(&rows, Kind::Usual), [(name, false)]);
            let mut rows = [
                row(Product::Raw, Mode::Spinning, 100),
                row(product, polled, 141),
            ];
            rows.iter_mut()
                .for_each(|it| it.placement = Placement::TwoCores);
            let name = format!("latency.two-cores.{}.p50-of-raw-spinning", polled.name());
            assert_eq!(judged(&rows, Kind::Usual), [(name, false)]);
        }
    }

    #[test]
    fn who_polls_is_compared_with_the_peers_too() {
        for (ours, theirs) in [
            (Mode::AutomaticListener, Mode::Listener),
            (Mode::AutomaticWaitSet, Mode::WaitSet),
            (Mode::Automatic, Mode::WaitSet),
            (Mode::AutomaticAsync, Mode::WaitSet),
        ] {
            let rows = [
                row(Product::Whimbrel, ours, 100),
                row(Product::FastDds, theirs, 100),
            ];
            let goal = |label| format!("latency.one-core.{}.{label}-of-peers", ours.name());
            let wanted = [(goal("p50"), false), (goal("p99"), false)];
            assert_eq!(judged(&rows, Kind::Usual), wanted);
        }
        let spinning = [Product::Raw, Product::Whimbrel].map(|product| {
            let mut row = row(
                product,
                Mode::Spinning,
                if product == Product::Raw { 100 } else { 141 },
            );
            row.placement = Placement::TwoCores;
            row
        });
        let name = "latency.two-cores.spinning.p50-of-raw-spinning".to_owned();
        assert_eq!(judged(&spinning, Kind::Usual), [(name, false)]);
    }

    #[test]
    fn what_was_not_measured_is_not_judged() {
        assert_eq!(
            judged(&[row(Product::Whimbrel, Mode::Take, 1)], Kind::Usual),
            []
        );
    }

    fn check_placed(placement: Placement, mode: Mode, us: [u64; 2], kind: Kind, wanted: &[bool]) {
        let [ours, theirs] = us;
        let mut rows = [
            row(Product::Whimbrel, mode, ours),
            row(Product::Cyclone, mode, theirs),
        ];
        rows.iter_mut().for_each(|it| it.placement = placement);
        let judged = judged(&rows, kind);
        let met: Vec<bool> = judged.iter().map(|it| it.1).collect();
        assert_eq!(met, wanted, "{us:?}: {judged:?}");
    }

    #[test]
    fn large_samples_are_quick_and_steady() {
        let (two_cores, large) = (Placement::TwoCores, Mode::Large);
        check_placed(two_cores, large, [69, 100], Kind::Large, &[true; 3]);
        check_placed(
            two_cores,
            large,
            [80, 100],
            Kind::Large,
            &[false, true, true],
        );
        check_placed(
            two_cores,
            large,
            [100, 100],
            Kind::Large,
            &[false, false, true],
        );
        check_placed(Placement::OneCore, large, [80, 100], Kind::Large, &[]);
        // With the buffers that users get, and with those that nobody has raised.
        for mode in [large, Mode::LargeSystemBuffers] {
            let mut slow = row(Product::Whimbrel, mode, 100);
            slow.placement = two_cores;
            let order = Order {
                size: SIZE,
                count: 1,
                warm: 0,
            };
            slow.add(&[500_000; 1], Usage::default(), order);
            let missed = format!("latency.two-cores.{}.p99-of-p50", mode.name());
            assert_eq!(judged(&[slow], Kind::Large), [(missed, false)]);
        }
    }

    #[test]
    fn within_a_process_the_bound_is_absolute_and_the_peers_are_slower() {
        let (free, mode) = (Placement::Free, Mode::InProcess);
        check_placed(free, mode, [1, 100], Kind::InProcess, &[false, true, true]);
        check_placed(free, mode, [0, 100], Kind::InProcess, &[true; 3]);
        check_placed(free, mode, [100, 100], Kind::InProcess, &[false; 3]);
    }

    #[test]
    fn between_two_hosts_the_raw_socket_is_the_measure_of_one_datagram() {
        let names = |size: usize| {
            let mut rows = [
                row(Product::Raw, Mode::Blocking, 100),
                row(Product::Whimbrel, Mode::Take, 111),
                row(Product::Raw, Mode::Spinning, 100),
                row(Product::Whimbrel, Mode::Spinning, 141),
            ];
            for row in &mut rows {
                (row.placement, row.size) = (Placement::TwoHosts, size);
            }
            let part = Part {
                sizes: vec![size],
                placements: vec![Placement::TwoHosts],
                ..part_of(Kind::Usual)
            };
            let missed = goals(&rows, &part).into_iter().filter(|it| !it.met());
            missed.map(|it| it.name).collect::<Vec<_>>()
        };
        let both = [
            "latency.two-hosts.take.p50-of-raw-blocking",
            "latency.two-hosts.spinning.p50-of-raw-spinning",
        ];
        assert_eq!(names(1024), both);
        assert!(names(2048).is_empty());
    }
}
