//! When a run counts as good.

use clap::Args;

use crate::failure::Failure;
use crate::report::model::{LatencyFigure, Section, StreamFigure};

/// Bounds on what Whimbrel may show; one that is missed makes the exit code 1.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Criteria {
    /// Samples of a stream or schedule that may be lost, in percent.
    #[arg(long, value_name = "PERCENT", value_parser = bound)]
    loss_max: Option<f64>,
    /// One-way latency that 99 % must keep to, in microseconds.
    #[arg(long, value_name = "US", value_parser = bound)]
    p99_max: Option<f64>,
    /// Samples per second that a stream must reach.
    #[arg(long, value_name = "RATE", value_parser = bound)]
    rate_min: Option<f64>,
    /// Resident memory of both processes together, in MiB.
    #[arg(long, value_name = "MIB", value_parser = bound)]
    rss_max: Option<f64>,
}

/// Reads a bound that something can meet and miss.
///
/// # Errors
/// It is no number, or one below 0.
pub(crate) fn bound(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| format!("{text}: no number"))?;
    if number.is_finite() && number >= 0.0 {
        return Ok(number);
    }
    Err(format!("{text}: no number from 0 on"))
}

impl Criteria {
    /// Checks what `sections` say of Whimbrel.
    ///
    /// # Errors
    /// Every bound that was missed, or one that nothing in the run could meet or miss.
    pub(crate) fn check(&self, sections: &[Section]) -> Result<(), Failure> {
        let mut missed = Vec::new();
        let ours = |name: &str| name.starts_with("Whimbrel");
        let latencies: Vec<(&Section, &LatencyFigure)> = sections
            .iter()
            .flat_map(|it| it.latencies.iter().map(move |figure| (it, figure)))
            .filter(|(_, it)| ours(&it.contestant))
            .collect();
        let streams: Vec<(&Section, &StreamFigure)> = sections
            .iter()
            .flat_map(|it| it.streams.iter().map(move |figure| (it, figure)))
            .filter(|(_, it)| ours(&it.contestant))
            .collect();
        let mut bound =
            |limit: Option<f64>, name: &str, is_max: bool, values: Vec<(String, f64)>| {
                let Some(limit) = limit else { return };
                if values.is_empty() {
                    missed.push(format!("{name}: nothing that was measured has it"));
                }
                for (place, value) in values {
                    if (is_max && value > limit) || (!is_max && value < limit) {
                        missed.push(format!("{name} {value:.2} against {limit} in {place}"));
                    }
                }
            };
        let p99 = latencies.iter().map(|(section, it)| {
            // Too few samples for a percentile: then all must keep to it.
            (place(section, it.size), it.p99_us.unwrap_or(it.max_us))
        });
        bound(self.p99_max, "99 % latency in µs", true, p99.collect());
        let rss = latencies
            .iter()
            .map(|(section, it)| (place(section, it.size), it.resident_kib as f64 / 1024.0));
        bound(self.rss_max, "resident MiB", true, rss.collect());
        let rate = streams
            .iter()
            .map(|(section, it)| (place(section, it.size), it.samples_per_s));
        bound(self.rate_min, "samples per second", false, rate.collect());
        let lost = streams
            .iter()
            .map(|(section, it)| (place(section, it.size), it.lost_percent));
        let schedules = sections.iter().flat_map(|section| {
            section.schedules.iter().map(move |it| {
                let percent = it.lost as f64 * 100.0 / it.sent.max(1) as f64;
                (place(section, it.size), percent)
            })
        });
        bound(
            self.loss_max,
            "lost percent",
            true,
            lost.chain(schedules).collect(),
        );
        if missed.is_empty() {
            return Ok(());
        }
        Err(Failure::Missed(missed.join("; ")))
    }
}

fn place(section: &Section, size: usize) -> String {
    format!("{} at {size} B", section.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section() -> Section {
        Section {
            name: "lat3-inter".into(),
            latencies: vec![
                LatencyFigure {
                    contestant: "Whimbrel".into(),
                    size: 64,
                    p99_us: Some(50.0),
                    resident_kib: 20 * 1024,
                    ..LatencyFigure::default()
                },
                LatencyFigure {
                    contestant: "Fast DDS".into(),
                    p99_us: Some(5000.0),
                    ..LatencyFigure::default()
                },
            ],
            ..Section::default()
        }
    }

    #[test]
    fn only_what_is_ours_is_judged() {
        let criteria = |p99: f64, rss: f64| Criteria {
            p99_max: Some(p99),
            rss_max: Some(rss),
            ..Criteria::default()
        };
        assert_eq!(criteria(60.0, 30.0).check(&[section()]), Ok(()));
        let why = criteria(40.0, 10.0)
            .check(&[section()])
            .unwrap_err()
            .to_string();
        assert!(
            why.contains("50.00 against 40 in lat3-inter at 64 B"),
            "{why}"
        );
        assert!(why.contains("resident MiB 20.00 against 10"), "{why}");
    }

    #[test]
    fn bounds_that_nothing_could_miss_or_meet_are_refused() {
        assert_eq!(bound("0.5"), Ok(0.5));
        for text in ["", "nan", "inf", "-1", "x"] {
            assert!(bound(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_bound_that_nothing_can_miss_is_missed() {
        let criteria = Criteria {
            rate_min: Some(1.0),
            ..Criteria::default()
        };
        assert!(criteria.check(&[section()]).is_err());
    }
}
