//! What all cases together came to.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::AddAssign;
use std::time::Duration;

/// What one case moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Moved {
    /// Samples that arrived as they were to.
    pub(crate) samples: u64,
    /// Octets of their payloads.
    pub(crate) octets: u64,
    /// Processes that were ended and followed by another one.
    pub(crate) restarts: u64,
    /// Datagrams the network lost.
    pub(crate) lost: u64,
    /// Datagrams that went on in the other order of octets.
    pub(crate) converted: u64,
    /// Cases that had to be started anew because another product was stuck.
    pub(crate) anew: u64,
}

impl AddAssign for Moved {
    fn add_assign(&mut self, other: Self) {
        self.samples += other.samples;
        self.octets += other.octets;
        self.restarts += other.restarts;
        self.lost += other.lost;
        self.converted += other.converted;
        self.anew += other.anew;
    }
}

/// The sum, by class.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    classes: BTreeMap<&'static str, (u64, Moved)>,
    played: BTreeMap<String, u64>,
    failures: Vec<String>,
}

impl Tally {
    /// Adds what became of the case `name`.
    pub(crate) fn add(&mut self, class: &'static str, name: &str, result: Result<Moved, String>) {
        *self.played.entry(name.to_owned()).or_default() += 1;
        match result {
            Ok(moved) => {
                let (cases, sum) = self.classes.entry(class).or_default();
                *cases += 1;
                *sum += moved;
            }
            Err(why) => self.failures.push(format!("{name}: {why}")),
        }
    }

    /// True when something was played and nothing failed.
    pub(crate) fn held(&self) -> bool {
        self.failures.is_empty() && !self.classes.is_empty()
    }

    /// Everything in one line.
    pub(crate) fn figure(&self, took: Duration, cases: usize) -> String {
        let different = self.played.len();
        let runs: u64 = self.played.values().sum();
        let mut text = format!(
            "interop depth: {} of {runs} runs held, {different} of {cases} cases, in {:.1} s",
            runs - self.failures.len() as u64,
            took.as_secs_f64()
        );
        for (class, (cases, moved)) in &self.classes {
            let _ = write!(text, "; {class} {cases}");
            for (count, what) in [
                (moved.samples, "samples"),
                (moved.octets / 1024, "KiB"),
                (moved.restarts, "restarts"),
                (moved.lost, "datagrams lost"),
                (moved.converted, "datagrams big-endian"),
                (moved.anew, "started anew"),
            ] {
                if count > 0 {
                    let _ = write!(text, ", {count} {what}");
                }
            }
        }
        if let Some(first) = self.failures.first() {
            let _ = write!(text, "; {} FAILED, {first}", self.failures.len());
        }
        text.replace('\n', " ")
    }
}
