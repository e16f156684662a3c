//! Numbers of command lines and clocks.

use std::time::Duration;

use whimbrel_bench::protocol::option;

/// The number after `key` among `words`.
pub(super) fn number(words: &[String], key: &str) -> Result<usize, String> {
    let text = option(words, key)?;
    text.parse().map_err(|_| format!("{key} {text}: no number"))
}

/// `time` in nanoseconds.
pub(super) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
