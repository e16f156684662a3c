//! Large samples over a shaped link that loses packets, beside small traffic on the same link.

mod measure;
mod others;
mod roles;

use std::time::Duration;

use self::measure::{Run, Traffic, measure};
use crate::proof::{Figure, Proof, Share};

/// Repair traffic against what was lost, both in octets of IP packets.
const REPAIR_RATIO_MAX: f64 = 1.3;

/// Latency of small traffic beside large samples against that of the idle link, medians.
const LATENCY_RATIO_MAX: f64 = 3.0;

/// Goodput against the rate of the link, of which others leave as much as of the cores.
const GOODPUT_MIN: f64 = 0.7;

/// Share of the cores up to which others excuse a lower rate.
const OTHERS_MAX: f64 = 0.5;

/// How often a run is made in which others took more, before its rate counts as missed.
const TRIES: u32 = 3;

/// Share of ten samples a second that must be kept up.
const TEN_HERTZ_MIN: f64 = 0.9;

/// Samples of a run: what the last one takes to be acknowledged counts as time, too.
const SAMPLES_MIN: u32 = 30;

/// Rate of the link, in Mbit/s.
const LINK_MBITS: u32 = 500;

/// The proof.
pub const PROOF: Proof = Proof {
    name: "large",
    claim: "4 MB at 10 Hz over 2 % and 10 % loss: all arrives, little repair, small traffic quick",
    run,
    child: Some(roles::child),
};

fn run(share: &Share) -> Figure {
    let time = if share.full {
        share.time.max(Duration::from_secs(60))
    } else {
        share.time / 4
    };
    let samples = u32::try_from(time.as_millis() / 100)
        .unwrap_or(u32::MAX)
        .max(SAMPLES_MIN);
    let mut said = Vec::new();
    let mut missed = Vec::new();
    let runs = [
        (2, Traffic::TenHertz),
        (10, Traffic::TenHertz),
        (2, Traffic::Unpaced),
    ];
    for (percent, traffic) in runs {
        let once = || measure(percent, LINK_MBITS, samples, traffic);
        let (run, why) = prove(percent, traffic, once);
        said.extend(run.map(|it| describe(percent, traffic, &it)));
        missed.extend(why);
    }
    if missed.is_empty() {
        Figure::held(said.join("; "))
    } else {
        Figure::missed(format!(
            "{}; measured: {}",
            missed.join("; "),
            said.join("; ")
        ))
    }
}

/// The run that counts, and what it missed: the first one whose rate could be judged.
fn prove(
    percent: u32,
    traffic: Traffic,
    mut measure: impl FnMut() -> Result<Run, String>,
) -> (Option<Run>, Vec<String>) {
    let mut last = None;
    for _ in 0..TRIES {
        let run = match measure() {
            Ok(run) => run,
            Err(why) => return (last, vec![format!("{percent} % loss: {why}")]),
        };
        println!("{}", describe(percent, traffic, &run));
        let missed = judge(percent, traffic, &run);
        if !missed.is_empty() || is_judged(traffic, &run) {
            return (Some(run), missed);
        }
        last = Some(run);
    }
    let why = format!(
        "{percent} % loss, {traffic:?}: the rate was not judged: others took more than {:.0} % of \
         the cores in each of {TRIES} runs",
        100.0 * OTHERS_MAX
    );
    (last, vec![why])
}

/// Goodput that is wanted of `traffic` where nobody else wants the cores, in Mbit/s.
fn wanted_mbits(traffic: Traffic) -> f64 {
    match traffic {
        Traffic::TenHertz => TEN_HERTZ_MIN * 4.0 * 8.0 * 10.0,
        Traffic::Unpaced => GOODPUT_MIN * f64::from(LINK_MBITS),
    }
}

/// Whether the rate of `run` says anything: others left enough of the cores, or it was kept up
/// all the same.
fn is_judged(traffic: Traffic, run: &Run) -> bool {
    run.others <= OTHERS_MAX || run.goodput_mbits >= wanted_mbits(traffic)
}

fn describe(percent: u32, traffic: Traffic, run: &Run) -> String {
    let what = match traffic {
        Traffic::TenHertz => "4 MB at 10 Hz",
        Traffic::Unpaced => "4 MB one after the other",
    };
    format!(
        "{what} over {percent} % loss of {LINK_MBITS} Mbit/s: {} of {} delivered, repairs {:.2} x \
         what was lost ({REPAIR_RATIO_MAX}), goodput {:.0} Mbit/s while others \
         took {:.0} % of the cores, median round trip of the bus \
         {:.0} us against {:.0} us idle, held to {:.0}, of plain UDP {:.0} us against {:.0} us \
         ({LATENCY_RATIO_MAX} x)",
        run.delivered,
        run.written,
        run.repair_ratio(),
        run.goodput_mbits,
        100.0 * run.others,
        run.bus_us.1,
        run.bus_us.0,
        run.bus_idle_us(),
        run.udp_us.1,
        run.udp_us.0,
    )
}

fn judge(percent: u32, traffic: Traffic, run: &Run) -> Vec<String> {
    let mut missed = Vec::new();
    let mut check = |held: bool, what: String| {
        if !held {
            missed.push(format!("{percent} % loss, {traffic:?}: {what}"));
        }
    };
    check(
        run.delivered == run.written,
        format!("{} of {} delivered", run.delivered, run.written),
    );
    check(
        run.lost_bytes > 0 && run.repair_ratio() <= REPAIR_RATIO_MAX,
        format!("repairs {:.2} x the loss", run.repair_ratio()),
    );
    let wanted = wanted_mbits(traffic) * (1.0 - run.others);
    check(
        !is_judged(traffic, run) || run.goodput_mbits >= wanted,
        format!(
            "goodput {:.0} of {wanted:.0} Mbit/s, others having taken {:.0} % of the cores",
            run.goodput_mbits,
            100.0 * run.others
        ),
    );
    let bus = (run.bus_idle_us(), run.bus_us.1);
    for (name, (idle, beside)) in [("bus", bus), ("UDP", run.udp_us)] {
        check(
            beside <= LATENCY_RATIO_MAX * idle,
            format!("{name} round trip {beside:.0} us against {idle:.0} us idle"),
        );
    }
    missed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> Run {
        Run {
            written: 30,
            delivered: 30,
            repair_bytes: 1010.0,
            lost_bytes: 1000,
            goodput_mbits: 320.0,
            others: 0.0,
            bus_us: (72.0, 150.0),
            udp_us: (47.0, 60.0),
        }
    }

    fn missed(run: Run) -> usize {
        judge(10, Traffic::TenHertz, &run).len()
    }

    /// How many runs were made of those in which others took `others` at `mbits`, and what the
    /// last one missed.
    fn proved(runs: &[(f64, f64)]) -> (usize, Vec<String>) {
        let mut left = runs.iter();
        let once = || {
            let (others, goodput_mbits) = *left.next().ok_or("no more")?;
            Ok(Run {
                others,
                goodput_mbits,
                ..run()
            })
        };
        let (_, missed) = prove(10, Traffic::TenHertz, once);
        (runs.len() - left.len(), missed)
    }

    #[test]
    fn a_rate_on_a_machine_that_others_have_is_not_judged_and_does_not_count_as_kept() {
        assert_eq!(proved(&[(0.8, 60.0), (0.2, 300.0)]), (2, vec![]));
        let (made, missed) = proved(&[(0.8, 60.0), (0.5, 140.0)]);
        assert!((made, missed.len()) == (2, 1) && missed[0].contains("goodput 140 of 144"));
        let (made, missed) = proved(&[(0.8, 250.0), (0.9, 100.0), (0.51, 250.0), (0.0, 320.0)]);
        assert!((made, missed.len()) == (3, 1) && missed[0].contains("not judged"));
        assert_eq!(proved(&[(0.8, 300.0)]), (1, vec![]), "kept up all the same");
        let (made, missed) = proved(&[(0.8, 60.0)]);
        assert!(made == 1 && missed == ["10 % loss: no more"], "{missed:?}");
    }

    #[test]
    fn polling_on_the_idle_link_does_not_count_against_the_bus() {
        let polled = |beside| Run {
            bus_us: (57.0, beside),
            udp_us: (84.0, 104.0),
            ..run()
        };
        assert_eq!((missed(polled(251.0)), missed(polled(253.0))), (0, 1));
        let slow = Run {
            bus_us: (100.0, 290.0),
            udp_us: (84.0, 260.0),
            ..run()
        };
        assert_eq!(missed(slow), 1, "plain UDP keeps to its own");
    }

    #[test]
    fn only_the_rate_is_judged_by_what_others_leave_of_the_cores() {
        assert_eq!(missed(run()), 0);
        let slow = Run {
            goodput_mbits: 220.0,
            ..run()
        };
        assert_eq!(missed(slow), 1);
        let beside = Run {
            others: 0.25,
            ..slow
        };
        assert_eq!(missed(beside), 0, "216 Mbit/s are left");
        let lost = Run {
            delivered: 29,
            repair_bytes: 1400.0,
            udp_us: (47.0, 150.0),
            others: 0.9,
            ..run()
        };
        assert_eq!(missed(lost), 3);
    }
}
