//! Numbers of command lines.

use whimbrel_bench::protocol::option;

/// The number after `key` among `words`.
pub(super) fn number(words: &[String], key: &str) -> Result<usize, String> {
    let text = option(words, key)?;
    text.parse().map_err(|_| format!("{key} {text}: no number"))
}
