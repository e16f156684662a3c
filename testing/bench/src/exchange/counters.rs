//! What a writer says of itself, as a line.

use std::fmt;
use std::str::FromStr;

use whimbrel::DataWriter;

use super::Msg;

/// The line that asks for counters.
pub const COUNTERS: &str = "counters";

/// Counters of a writer since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Samples written.
    pub written: u64,
    /// Samples or fragments sent again.
    pub repairs: u64,
    /// Heartbeats sent.
    pub heartbeats: u64,
    /// Acknowledgements received.
    pub acknacks: u64,
}

impl Counters {
    /// Those of `writer`.
    pub fn of(writer: &DataWriter<Msg>) -> Self {
        let all = writer.statistics();
        Self {
            written: all.written,
            repairs: all.repairs,
            heartbeats: all.heartbeats,
            acknacks: all.acknacks,
        }
    }

    /// What both writers count.
    pub fn plus(self, other: Self) -> Self {
        Self {
            written: self.written + other.written,
            repairs: self.repairs + other.repairs,
            heartbeats: self.heartbeats + other.heartbeats,
            acknacks: self.acknacks + other.acknacks,
        }
    }

    /// What was counted since `earlier`.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            written: self.written.saturating_sub(earlier.written),
            repairs: self.repairs.saturating_sub(earlier.repairs),
            heartbeats: self.heartbeats.saturating_sub(earlier.heartbeats),
            acknacks: self.acknacks.saturating_sub(earlier.acknacks),
        }
    }
}

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d] = [self.written, self.repairs, self.heartbeats, self.acknacks];
        write!(f, "{COUNTERS} {a} {b} {c} {d}")
    }
}

impl FromStr for Counters {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let rest = line.strip_prefix(COUNTERS).unwrap_or_default();
        let numbers: Result<Vec<u64>, _> = rest.split_whitespace().map(str::parse).collect();
        match numbers.as_deref() {
            Ok([written, repairs, heartbeats, acknacks]) => Ok(Self {
                written: *written,
                repairs: *repairs,
                heartbeats: *heartbeats,
                acknacks: *acknacks,
            }),
            _ => Err(format!("no counters: {line:.80}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_as_written() {
        let counters = Counters {
            written: 9,
            repairs: 2,
            heartbeats: 3,
            acknacks: 4,
        };
        assert_eq!(counters.to_string().parse(), Ok(counters));
        assert_eq!(counters.plus(counters).since(counters), counters);
        for line in ["", "counters 1 2 3", "ready", "counters 1 2 3 x"] {
            assert!(line.parse::<Counters>().is_err(), "{line}");
        }
    }
}
