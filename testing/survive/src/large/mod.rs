//! Large samples over a shaped link that loses packets, beside small traffic on the same link.

mod measure;
mod others;
mod roles;

use std::time::Duration;

use self::measure::{Run, Traffic, measure};
use crate::proof::{Figure, Proof, Share};

/// Repair traffic against what was lost, both in octets of IP packets.
const REPAIR_RATIO_MAX: f64 = 1.3;

/// Latency of small traffic beside large samples against that of an idle link, medians.
const LATENCY_RATIO_MAX: f64 = 3.0;

/// Goodput against the rate of the link, of which others leave as much as of the cores.
const GOODPUT_MIN: f64 = 0.7;

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
        match measure(percent, LINK_MBITS, samples, traffic) {
            Ok(run) => {
                let line = describe(percent, traffic, &run);
                println!("{line}");
                missed.extend(judge(percent, traffic, &run));
                said.push(line);
            }
            Err(why) => missed.push(format!("{percent} % loss: {why}")),
        }
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

fn describe(percent: u32, traffic: Traffic, run: &Run) -> String {
    let what = match traffic {
        Traffic::TenHertz => "4 MB at 10 Hz",
        Traffic::Unpaced => "4 MB one after the other",
    };
    format!(
        "{what} over {percent} % loss of {LINK_MBITS} Mbit/s: {} of {} delivered, repairs {:.2} x \
         what was lost ({REPAIR_RATIO_MAX}), goodput {:.0} Mbit/s while others \
         took {:.0} % of the cores, median round trip of the bus \
         {:.0} us against {:.0} us idle, of plain UDP {:.0} us against {:.0} us \
         ({LATENCY_RATIO_MAX} x)",
        run.delivered,
        run.written,
        run.repair_ratio(),
        run.goodput_mbits,
        100.0 * run.others,
        run.bus_us.1,
        run.bus_us.0,
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
    let wanted = match traffic {
        Traffic::TenHertz => TEN_HERTZ_MIN * 4.0 * 8.0 * 10.0,
        Traffic::Unpaced => GOODPUT_MIN * f64::from(LINK_MBITS),
    };
    let wanted = wanted * (1.0 - run.others);
    check(
        run.goodput_mbits >= wanted,
        format!(
            "goodput {:.0} of {wanted:.0} Mbit/s, others having taken {:.0} % of the cores",
            run.goodput_mbits,
            100.0 * run.others
        ),
    );
    for (name, (idle, beside)) in [("bus", run.bus_us), ("UDP", run.udp_us)] {
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
