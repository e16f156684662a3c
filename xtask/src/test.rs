//! `cargo xtask test` and `cargo xtask nightly`: run a table of [`steps`](crate::steps) and add up.
//!
//! A failing step never stops the later ones. The last line printed is always
//! `N passed, N failed`; what failed is told again above the table.

use crate::disk;
use crate::failures::Failures;
use crate::metadata;
use crate::process::{self, End};
use crate::setup;
use crate::steps::{Count, Step};
use std::path::Path;
use std::time::{Duration, Instant};

/// Tests passed and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Totals {
    passed: u64,
    failed: u64,
}

/// A step that has run.
struct Row {
    name: &'static str,
    took: Duration,
    totals: Totals,
    result: String,
    /// What is to be told again.
    failures: Vec<String>,
}

/// Runs all steps of a table, or the one of this name.
pub(crate) fn run(steps: &[Step], only: Option<&str>) -> Result<(), String> {
    let chosen: Vec<&Step> = steps
        .iter()
        .filter(|step| only.is_none_or(|name| name == step.name))
        .collect();
    if chosen.is_empty() {
        return Err(format!(
            "no step of this name; there are: {}",
            names(steps).join(", ")
        ));
    }
    let root = metadata::root();
    if let Some(warning) = disk::warning(&root) {
        println!("{warning}");
    }
    let rows: Vec<Row> = chosen
        .into_iter()
        .map(|step| run_step(&root, step))
        .collect();
    let totals = rows
        .iter()
        .fold(Totals::default(), |sum, row| sum.plus(row.totals));
    for row in rows.iter().filter(|row| !row.failures.is_empty()) {
        println!("\n== {}: what failed ==", row.name);
        for line in &row.failures {
            println!("{line}");
        }
    }
    print!("\n{}", table(&rows));
    if let Some(warning) = disk::warning(&root) {
        println!("{warning}");
    }
    println!("{}", totals.line());
    // The totals are the last words; the exit code says the rest.
    if totals.failed > 0 {
        Err(String::new())
    } else {
        Ok(())
    }
}

/// Prints the names of the steps.
pub(crate) fn list(steps: &[Step]) -> Result<(), String> {
    for name in names(steps) {
        println!("{name}");
    }
    Ok(())
}

fn names(steps: &[Step]) -> Vec<&'static str> {
    steps.iter().map(|step| step.name).collect()
}

fn run_step(root: &Path, step: &Step) -> Row {
    println!("\n== {} ==  {}", step.name, step.command.join(" "));
    let begin = Instant::now();
    let mut counted = Totals::default();
    let mut heard = Failures::default();
    let limit = Duration::from_secs(step.limit_s);
    let mut command = setup::in_workspace(root, step.command);
    command.envs(step.env.iter().copied());
    let end = process::watch(&mut command, limit, |line| {
        println!("{line}");
        heard.hear(line);
        counted = counted.plus(test_result(line));
    });
    let (failed, result) = match end {
        Ok(End::Success) => (false, "passed".to_owned()),
        Ok(End::Failure(how)) => (true, format!("FAILED, {how}")),
        Ok(End::TimedOut) => (true, format!("FAILED, not done after {} s", step.limit_s)),
        Err(why) => (true, format!("FAILED, {why}")),
    };
    let totals = add_up(step.count, counted, failed);
    let failures = match failed {
        true => heard.into_lines(),
        false => Vec::new(),
    };
    Row {
        name: step.name,
        took: begin.elapsed(),
        totals,
        result,
        failures,
    }
}

/// The totals of one step.
fn add_up(count: Count, counted: Totals, failed: bool) -> Totals {
    match count {
        Count::Itself => Totals {
            passed: u64::from(!failed),
            failed: u64::from(failed),
        },
        Count::TestResults => {
            // A build that fails names no test, and a run that counts none proves nothing.
            let unnamed = (failed && counted.failed == 0) || counted == Totals::default();
            counted.plus(Totals {
                passed: 0,
                failed: u64::from(unnamed),
            })
        }
    }
}

/// The numbers of a line such as `test result: ok. 12 passed; 0 failed; 0 ignored; ...`.
fn test_result(line: &str) -> Totals {
    let Some(rest) = line.trim_start().strip_prefix("test result: ") else {
        return Totals::default();
    };
    let number = |word: &str| {
        let mut words = rest
            .split_whitespace()
            .collect::<Vec<_>>()
            .into_iter()
            .rev();
        words.find(|w| w.trim_end_matches(';') == word)?;
        words.next()?.parse().ok()
    };
    Totals {
        passed: number("passed").unwrap_or(0),
        failed: number("failed").unwrap_or(0),
    }
}

fn table(rows: &[Row]) -> String {
    let mut out = String::new();
    for row in rows {
        let Totals { passed, failed } = row.totals;
        out.push_str(&format!(
            "{:<14} {:>7.1} s {:>6} passed {:>4} failed   {}\n",
            row.name,
            row.took.as_secs_f64(),
            passed,
            failed,
            row.result
        ));
    }
    out
}

impl Totals {
    fn plus(self, other: Self) -> Self {
        Self {
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
        }
    }

    fn line(self) -> String {
        format!("{} passed, {} failed", self.passed, self.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::STEPS;

    fn totals(passed: u64, failed: u64) -> Totals {
        Totals { passed, failed }
    }

    #[test]
    fn result_lines_are_read() {
        let ok = "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out";
        assert_eq!(test_result(ok), totals(12, 0));
        let bad = "test result: FAILED. 4 passed; 5 failed; 0 ignored; finished in 0.00s";
        assert_eq!(test_result(bad), totals(4, 5));
        assert_eq!(test_result("test a ... ok"), totals(0, 0));
        assert_eq!(test_result("note: test result: ok. 1 passed"), totals(0, 0));
    }

    #[test]
    fn a_step_counts_once_or_by_its_tests() {
        assert_eq!(add_up(Count::Itself, totals(7, 0), false), totals(1, 0));
        assert_eq!(add_up(Count::Itself, totals(7, 0), true), totals(0, 1));
        assert_eq!(
            add_up(Count::TestResults, totals(7, 0), false),
            totals(7, 0)
        );
        assert_eq!(add_up(Count::TestResults, totals(7, 2), true), totals(7, 2));
        assert_eq!(add_up(Count::TestResults, totals(7, 0), true), totals(7, 1));
        assert_eq!(
            add_up(Count::TestResults, totals(0, 0), false),
            totals(0, 1)
        );
    }

    fn step(command: &'static [&'static str], limit_s: u64) -> Step {
        Step {
            name: "x",
            command,
            env: &[("A", "b")],
            limit_s,
            count: Count::Itself,
        }
    }

    fn check(command: &'static [&'static str], limit_s: u64, want: Totals) {
        let row = run_step(Path::new("."), &step(command, limit_s));
        assert_eq!(row.totals, want, "{command:?}: {}", row.result);
    }

    #[test]
    fn steps_fail_by_exit_code_by_time_and_by_absence() {
        check(&["true"], 20, totals(1, 0));
        check(&["sh", "-c", "test $A = b"], 20, totals(1, 0));
        check(&["false"], 20, totals(0, 1));
        check(&["sleep", "30"], 1, totals(0, 1));
        check(&["no such program"], 20, totals(0, 1));
    }

    #[test]
    fn the_last_line_is_plain() {
        assert_eq!(totals(3, 0).line(), "3 passed, 0 failed");
    }

    #[test]
    fn an_unknown_name_is_refused() {
        assert!(
            run(STEPS, Some("no such step"))
                .unwrap_err()
                .contains("tests")
        );
    }
}
