//! What a step says of its failures, kept to be repeated behind all steps: logs are often cut to
//! their end.

use std::collections::VecDeque;

/// Lines repeated of one step at most.
const LINES_MAX: usize = 60;
/// Characters repeated of one line at most.
const LINE_CHARS_MAX: usize = 400;
/// Lines repeated of a step that names no failing test.
const LAST_LINES: usize = 20;

/// What was heard of one step.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    told: Vec<String>,
    last: VecDeque<String>,
    telling: bool,
}

impl Failures {
    /// Hears one line of the step's output.
    pub(crate) fn hear(&mut self, line: &str) {
        let line: String = line.chars().take(LINE_CHARS_MAX).collect();
        // The test harness lists what failed between these two.
        self.telling |= line == "failures:";
        self.telling &= !line.starts_with("test result: ");
        if self.telling && self.told.len() < LINES_MAX && !line.trim().is_empty() {
            self.told.push(line.clone());
        }
        if self.last.len() == LAST_LINES {
            self.last.pop_front();
        }
        self.last.push_back(line);
    }

    /// What the tests that failed said, or else the last lines of the step.
    pub(crate) fn into_lines(self) -> Vec<String> {
        if self.told.is_empty() {
            self.last.into()
        } else {
            self.told
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(lines: &[&str]) -> Vec<String> {
        let mut failures = Failures::default();
        for line in lines {
            failures.hear(line);
        }
        failures.into_lines()
    }

    #[test]
    fn what_failing_tests_said_is_kept_without_the_rest() {
        let told = heard(&[
            "test a ... ok",
            "test b ... FAILED",
            "failures:",
            "",
            "---- b stdout ----",
            "assertion failed: b",
            "failures:",
            "    b",
            "test result: FAILED. 1 passed; 1 failed",
            "test c ... ok",
        ]);
        let wanted = [
            "failures:",
            "---- b stdout ----",
            "assertion failed: b",
            "failures:",
            "    b",
        ];
        assert_eq!(told, wanted);
    }

    #[test]
    fn a_step_without_tests_leaves_its_last_lines() {
        let lines: Vec<String> = (0..50).map(|i| i.to_string()).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert_eq!(heard(&lines), lines[lines.len() - LAST_LINES..]);
    }

    #[test]
    fn endless_output_is_cut() {
        let long = "x".repeat(2 * LINE_CHARS_MAX);
        let mut lines = vec!["failures:"];
        lines.resize(2 * LINES_MAX, &long);
        let told = heard(&lines);
        assert_eq!(told.len(), LINES_MAX);
        assert_eq!(told[1].len(), LINE_CHARS_MAX);
    }
}
