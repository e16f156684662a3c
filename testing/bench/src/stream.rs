//! A stream from one writer to readers: what is ordered, sent and received.
//!
//! A writer answers each line `MS RATE` (0: as fast as it can) with what it has sent, a reader any
//! line with what has arrived since the last one.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use whimbrel::{DataReader, DataReaderListener, DdsType};

/// How long and how fast to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// In milliseconds.
    pub ms: u64,
    /// Samples per second; 0 for as many as possible.
    pub rate: u64,
}

impl Burst {
    /// Calls `write` for as long as ordered; it says whether the sample was taken.
    pub fn run(self, mut write: impl FnMut() -> bool) -> Sent {
        let begun = Instant::now();
        let length = Duration::from_millis(self.ms);
        let mut sent = Sent::default();
        loop {
            let elapsed = begun.elapsed();
            if elapsed >= length {
                sent.ns = elapsed.as_nanos() as u64;
                return sent;
            }
            if u128::from(sent.written) * 1_000_000_000 > elapsed.as_nanos() * u128::from(self.rate)
                && self.rate > 0
            {
                std::hint::spin_loop();
            } else if write() {
                sent.written += 1;
            } else {
                sent.refused += 1;
            }
        }
    }
}

impl fmt::Display for Burst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.ms, self.rate)
    }
}

impl FromStr for Burst {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        match numbers(line).as_deref() {
            Some([ms, rate]) => Ok(Self {
                ms: *ms,
                rate: *rate,
            }),
            _ => Err(format!("not MS RATE: {line}")),
        }
    }
}

/// What a writer has sent in one burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Samples written.
    pub written: u64,
    /// Samples that the product did not take, such as in time.
    pub refused: u64,
    /// How long it took.
    pub ns: u64,
}

impl Sent {
    /// What both have sent, at the same time.
    #[must_use]
    pub fn beside(self, other: Self) -> Self {
        Self {
            written: self.written + other.written,
            refused: self.refused + other.refused,
            ns: self.ns.max(other.ns),
        }
    }
}

impl fmt::Display for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.written, self.refused, self.ns)
    }
}

impl FromStr for Sent {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        match numbers(line).as_deref() {
            Some([written, refused, ns]) => Ok(Self {
                written: *written,
                refused: *refused,
                ns: *ns,
            }),
            _ => Err(format!("not what was sent: {line}")),
        }
    }
}

/// What a reader has got in one burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Samples.
    pub count: u64,
    /// From the first to the last.
    pub ns: u64,
}

impl Received {
    /// With `more`, which came within `later` of the last look: as late as that, where it is not
    /// all there is.
    #[must_use]
    pub fn followed_by(self, more: Self, later: Duration) -> Self {
        if self.count == 0 {
            return more;
        }
        Self {
            count: self.count + more.count,
            ns: self.ns + later.as_nanos() as u64,
        }
    }

    /// Samples per second.
    pub fn rate(self) -> f64 {
        if self.count < 2 || self.ns == 0 {
            return 0.0;
        }
        (self.count - 1) as f64 * 1e9 / self.ns as f64
    }
}

impl fmt::Display for Received {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.count, self.ns)
    }
}

impl FromStr for Received {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        match numbers(line).as_deref() {
            Some([count, ns]) => Ok(Self {
                count: *count,
                ns: *ns,
            }),
            _ => Err(format!("not what was received: {line}")),
        }
    }
}

/// Counts what arrives; one thread counts, another takes.
#[derive(Debug)]
pub struct Arrivals {
    epoch: Instant,
    count: AtomicU64,
    first_ns: AtomicU64,
    last_ns: AtomicU64,
}

impl Default for Arrivals {
    fn default() -> Self {
        Self {
            epoch: Instant::now(),
            count: AtomicU64::new(0),
            first_ns: AtomicU64::new(0),
            last_ns: AtomicU64::new(0),
        }
    }
}

impl Arrivals {
    /// `count` samples are here.
    pub fn note(&self, count: u64) {
        let now = self.epoch.elapsed().as_nanos() as u64;
        if self.count.fetch_add(count, Ordering::Relaxed) == 0 {
            self.first_ns.store(now, Ordering::Relaxed);
        }
        self.last_ns.store(now, Ordering::Relaxed);
    }

    /// What was counted, and starts over. Nothing may arrive meanwhile.
    pub fn take(&self) -> Received {
        let first = self.first_ns.load(Ordering::Relaxed);
        Received {
            count: self.count.swap(0, Ordering::Relaxed),
            ns: self.last_ns.load(Ordering::Relaxed).saturating_sub(first),
        }
    }
}

/// Whether a stream of this mode is reliable.
///
/// # Errors
/// There is no such mode.
pub fn is_reliable(mode: &str) -> Result<bool, String> {
    match mode {
        "reliable" => Ok(true),
        "best-effort" => Ok(false),
        _ => Err(format!("no mode {mode}")),
    }
}

/// Samples that [`Count`] takes at once.
const TAKEN_MAX: usize = 400;

/// Counts what a reader of Whimbrel takes.
#[derive(Debug)]
pub struct Count(pub Arc<Arrivals>);

impl<T: DdsType> DataReaderListener<T> for Count {
    fn on_data_available(&mut self, reader: &DataReader<T>) {
        while let Ok(taken) = reader.take(TAKEN_MAX)
            && !taken.is_empty()
        {
            self.0.note(taken.len() as u64);
        }
    }
}

fn numbers(line: &str) -> Option<Vec<u64>> {
    line.split_whitespace()
        .map(|word| word.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_written() {
        let burst = Burst { ms: 500, rate: 80 };
        assert_eq!(burst.to_string().parse(), Ok(burst));
        let sent = Sent {
            written: 7,
            refused: 1,
            ns: 9,
        };
        assert_eq!(sent.to_string().parse(), Ok(sent));
        let received = Received { count: 5, ns: 6 };
        assert_eq!(received.to_string().parse(), Ok(received));
        assert!("1 2 3".parse::<Burst>().is_err());
        assert!("1 x 3".parse::<Sent>().is_err());
        assert!("ready".parse::<Received>().is_err());
    }

    #[test]
    fn a_rate_is_intervals_per_second() {
        let received = |count, ns| Received { count, ns };
        assert_eq!(received(11, 1_000_000_000).rate(), 10.0);
        assert_eq!(received(1, 0).rate(), 0.0);
        assert_eq!(received(0, 0).rate(), 0.0);
    }

    #[test]
    fn a_burst_keeps_its_rate_and_counts_what_is_refused() {
        let burst = Burst { ms: 20, rate: 1000 };
        let sent = burst.run(|| true);
        assert!((1..=21).contains(&sent.written), "{sent:?}");
        assert!(sent.ns >= 20_000_000);
        let refused = Burst { ms: 1, rate: 0 }.run(|| false);
        assert!(refused.written == 0 && refused.refused > 0);
    }

    #[test]
    fn arrivals_start_over_when_taken() {
        let arrivals = Arrivals::default();
        arrivals.note(3);
        arrivals.note(2);
        assert_eq!(arrivals.take().count, 5);
        assert_eq!(arrivals.take().count, 0);
    }
}
