//! What the process holds, and how that grows.

use std::fmt;
use std::fs;

use crate::heap;

/// What the process held at a stop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    resident_bytes: u64,
    heap_bytes: u64,
}

impl Reading {
    /// Now.
    pub(super) fn now() -> Result<Self, String> {
        let status = fs::read_to_string("/proc/self/status").map_err(|error| error.to_string())?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
        let kib = kib.ok_or("/proc/self/status has no VmRSS")?;
        Ok(Self {
            resident_bytes: kib * 1024,
            heap_bytes: heap::held_bytes() as u64,
        })
    }

    /// The most of each measure.
    fn most(readings: &[Self]) -> Option<Self> {
        Some(Self {
            resident_bytes: readings.iter().map(|it| it.resident_bytes).max()?,
            heap_bytes: readings.iter().map(|it| it.heap_bytes).max()?,
        })
    }
}

/// How the most that was held has grown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growth {
    from: Reading,
    to: Reading,
}

impl Growth {
    /// Growth that counts as none, in percent of what was held before.
    pub(super) const PERCENT_MAX: f64 = 2.0;

    /// Resident growth that counts as none however little was held: stacks and arenas.
    pub(super) const RESIDENT_SLACK_BYTES: u64 = 256 << 10;

    /// The same in a run of seconds, in which the most that is held at once, and stays resident,
    /// has not been reached.
    pub(super) const RESIDENT_SLACK_SHORT_BYTES: u64 = 1 << 20;

    /// Growth of the heap that counts as none however little was held.
    pub(super) const HEAP_SLACK_BYTES: u64 = 64 << 10;

    /// From the readings of the second third to those of the last; the first is the warm-up.
    pub(super) fn of(readings: &[Reading]) -> Option<Self> {
        let third = readings.len() / 3;
        let (_, steady) = readings.split_at_checked(third)?;
        let (middle, last) = steady.split_at_checked(third)?;
        Some(Self {
            from: Reading::most(middle)?,
            to: Reading::most(last)?,
        })
    }

    /// True when neither measure grew by more than its bound.
    pub(super) fn is_flat(&self, full: bool) -> bool {
        let resident_slack = if full {
            Self::RESIDENT_SLACK_BYTES
        } else {
            Self::RESIDENT_SLACK_SHORT_BYTES
        };
        let flat = |from: u64, to: u64, slack: u64| {
            to <= from + slack || percent(from, to) <= Self::PERCENT_MAX
        };
        let resident = (self.from.resident_bytes, self.to.resident_bytes);
        flat(resident.0, resident.1, resident_slack)
            && flat(
                self.from.heap_bytes,
                self.to.heap_bytes,
                Self::HEAP_SLACK_BYTES,
            )
    }

    fn resident_percent(&self) -> f64 {
        percent(self.from.resident_bytes, self.to.resident_bytes)
    }

    fn heap_percent(&self) -> f64 {
        percent(self.from.heap_bytes, self.to.heap_bytes)
    }
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "resident {:.1} MB {:+.1} %, heap {:.2} MB {:+.1} %",
            self.from.resident_bytes as f64 / 1e6,
            self.resident_percent(),
            self.from.heap_bytes as f64 / 1e6,
            self.heap_percent()
        )
    }
}

fn percent(from: u64, to: u64) -> f64 {
    (to as f64 / from.max(1) as f64 - 1.0) * 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(readings: &[(u64, u64)]) -> bool {
        let reading = |(resident_mb, heap_mb): &(u64, u64)| Reading {
            resident_bytes: resident_mb * 1_000_000,
            heap_bytes: heap_mb * 1_000_000,
        };
        let readings: Vec<_> = readings.iter().map(reading).collect();
        Growth::of(&readings).unwrap().is_flat(true)
    }

    #[test]
    fn growth_of_either_measure_counts() {
        assert!(flat(&[(1, 1), (1000, 100), (1010, 101)]));
        assert!(!flat(&[(1000, 100), (1000, 100), (1030, 100)]));
        assert!(!flat(&[(1000, 100), (1000, 100), (1000, 103)]));
        assert!(flat(&[(0, 0), (0, 0), (5, 5), (4, 3), (5, 3), (3, 5)]));
        assert!(Growth::of(&[]).is_none());
    }

    #[test]
    fn what_is_held_is_read() {
        let before = Reading::now().unwrap();
        let buffer = std::hint::black_box(vec![1_u8; 1 << 28]);
        let after = Reading::now().unwrap();
        assert!(after.resident_bytes > before.resident_bytes + (1 << 27));
        assert!(
            after.heap_bytes > before.heap_bytes + (1 << 27),
            "{}",
            buffer.len()
        );
    }
}
