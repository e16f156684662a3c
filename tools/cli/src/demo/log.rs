//! A log file as lines, each with the part of the system that wrote it.

use std::io;
use std::path::Path;

use crate::failure::Failure;

/// The log that is published when none is named: one that this program wrote.
const OWN_LOG: &[u8] = include_bytes!("../../../../data/whimbrel-demo.log");

/// Its name.
const OWN_NAME: &str = "whimbrel-demo.log";

/// Largest file, in octets.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// Longest source, in octets; what is longer is cut.
const SOURCE_BYTES_MAX: usize = 40;

/// Words in front of a line in which its source is looked for.
const WORDS: usize = 6;

/// A log file.
#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) name: String,
    text: String,
    /// Ends of the lines.
    ends: Vec<usize>,
}

impl Log {
    /// Loads `file`, or our own log.
    pub(crate) fn load(file: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = file else {
            return Self::parse(OWN_NAME.into(), OWN_LOG.to_vec());
        };
        let name = path.display().to_string();
        let refused = |error| refused(&name, &error);
        let facts = std::fs::metadata(path).map_err(refused)?;
        if !facts.is_file() {
            return Err(Failure::Usage(format!("{name} is not a file")));
        }
        if facts.len() > FILE_BYTES_MAX {
            return Err(Failure::Usage(format!(
                "{name} has more than {} MiB",
                FILE_BYTES_MAX >> 20
            )));
        }
        let bytes = std::fs::read(path).map_err(refused)?;
        Self::parse(name, bytes)
    }

    fn parse(name: String, bytes: Vec<u8>) -> Result<Self, Failure> {
        let binary = |_| Failure::Usage(format!("{name} is not text: it is not in UTF-8"));
        let text = String::from_utf8(bytes).map_err(binary)?;
        if text.contains('\0') {
            return Err(Failure::Usage(format!(
                "{name} is not text: it contains NUL characters"
            )));
        }
        let mut ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
        if !text.is_empty() && !text.ends_with('\n') {
            ends.push(text.len());
        }
        if ends.is_empty() {
            return Err(Failure::Usage(format!(
                "{name} is empty: there is nothing to publish"
            )));
        }
        Ok(Self { name, text, ends })
    }

    /// How many lines it has; never none.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Line `number`; after the last one it starts again.
    pub(crate) fn line(&self, number: u64) -> &str {
        let at = usize::try_from(number % self.ends.len() as u64).unwrap_or(0);
        let start = if at == 0 { 0 } else { self.ends[at - 1] + 1 };
        let line = &self.text[start..self.ends[at]];
        line.strip_suffix('\r').unwrap_or(line)
    }

    /// Checksum of the first `count` lines.
    pub(crate) fn checksum(&self, count: u64) -> u64 {
        let mut checksum = Checksum::default();
        (0..count).for_each(|number| checksum.add(self.line(number)));
        checksum.0
    }
}

/// A name without a file is a mistake of whoever gave it; the rest is this host's refusal.
fn refused(name: &str, error: &io::Error) -> Failure {
    let text = format!("cannot read {name}: {error}");
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Failure::Usage(text),
        _ => Failure::Setup(text),
    }
}

/// FNV-1a over lines in their order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Checksum(pub(crate) u64);

impl Default for Checksum {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Checksum {
    /// Adds a line.
    pub(crate) fn add(&mut self, line: &str) {
        for byte in line.bytes().chain([b'\n']) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// The part of the system that wrote `line`: the first of its words that ends in a colon, without
/// process number (`sshd[17]:`), else its level, else `-`.
pub(crate) fn source_of(line: &str) -> &str {
    let words = || line.split_ascii_whitespace().take(WORDS);
    let named = words()
        .filter_map(|word| word.strip_suffix(':'))
        .find_map(|word| {
            let name = word.split('[').next().unwrap_or_default();
            name.starts_with(|c: char| c.is_alphabetic())
                .then_some(name)
        });
    let level = || {
        words()
            .map(|word| word.trim_matches(|c: char| !c.is_ascii_alphanumeric()))
            .find(|word| {
                let levels = [
                    "TRACE", "DEBUG", "INFO", "WARN", "WARNING", "ERROR", "FATAL",
                ];
                levels.iter().any(|level| word.eq_ignore_ascii_case(level))
            })
    };
    let source = named.or_else(level).unwrap_or("-");
    let mut end = source.len().min(SOURCE_BYTES_MAX);
    while !source.is_char_boundary(end) {
        end -= 1;
    }
    &source[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Log, Failure> {
        Log::parse("t".into(), text.into())
    }

    #[test]
    fn lines_with_and_without_an_end() {
        for text in ["a\r\n\nc", "a\n\nc\n"] {
            let log = parse(text).unwrap();
            let lines: Vec<_> = (0..4).map(|at| log.line(at)).collect();
            assert_eq!(lines, ["a", "", "c", "a"]);
        }
        assert_ne!(
            parse("a\nb\n").unwrap().checksum(2),
            parse("b\na\n").unwrap().checksum(2)
        );
    }

    #[test]
    fn what_is_no_log_is_refused() {
        let load = |path| Log::load(Some(Path::new(path)));
        for outcome in [
            parse(""),
            parse("a\0b"),
            Log::parse("t".into(), vec![0xff, 0xfe]),
            load("/"),
            load("/no such file"),
            load("/dev/null/file"),
        ] {
            assert!(matches!(outcome, Err(Failure::Usage(_))), "{outcome:?}");
        }
        // A file that is there, but not for us; root may open it, and is refused by its kind.
        let denied = refused("t", &io::ErrorKind::PermissionDenied.into());
        assert!(matches!(denied, Failure::Setup(_)));
    }

    #[test]
    fn the_own_log_is_a_real_one() {
        let log = Log::load(None).unwrap();
        assert!(log.len() > 2000);
        let sources: std::collections::BTreeSet<_> = (0..log.len() as u64)
            .map(|at| source_of(log.line(at)))
            .collect();
        assert!(sources.len() >= 3, "{sources:?}");
        assert!(!sources.contains("-"));
    }

    #[test]
    fn sources_of_usual_logs() {
        for (line, expected) in [
            ("2026-11-21T17:25:12.1Z INFO  writers: found x", "writers"),
            ("Nov 21 17:25:12 host sshd[712]: Accepted key", "sshd"),
            ("[2026-11-21 17:25:12] WARN disk is full", "WARN"),
            ("12:30: words", "-"),
            ("", "-"),
            ("plain words only", "-"),
        ] {
            assert_eq!(source_of(line), expected, "{line}");
        }
        let long = format!("{}: x", "ä".repeat(100));
        assert_eq!(source_of(&long).len(), SOURCE_BYTES_MAX);
    }
}
