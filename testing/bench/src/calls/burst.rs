//! A burst of a stream of Whimbrel, with the calls of the process that writes it.

use std::time::Duration;

use crate::contestant::{Product, Programs};
use crate::stage::Seat;
use crate::stream::{Burst, Received, Sent};
use crate::streamers::{Streamers, Streaming};

use super::count::{Counter, Counts};

/// How long a burst may take beyond its length.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// What was counted.
pub(super) struct Counted {
    /// In the burst that was counted.
    pub(super) sent: Sent,
    counts: Counts,
    /// In both bursts.
    written: u64,
    /// What each reader has of that.
    arrived: Vec<u64>,
}

/// Writes `warm`, after which all addresses are known, and then `counted`.
///
/// # Errors
/// Somebody is missing, does not start or stalls; the kernel lets nobody count.
pub(super) fn count_burst(
    programs: &Programs,
    (what, seats): (&str, &[Seat; 2]),
    streaming: Streaming<'_>,
    [warm, counted]: [Burst; 2],
) -> Result<Counted, String> {
    let program = programs.of(Product::Whimbrel)?;
    let mut these = Streamers::start(what, &program, seats, streaming)?;
    these.wait_until_ready()?;
    let warm: Sent = these.writer.ask(&warm.to_string(), PATIENCE)?.parse()?;
    let counter = Counter::start(these.writer.id())?;
    let sent: Sent = these.writer.ask(&counted.to_string(), PATIENCE)?.parse()?;
    let counts = counter.stop()?;
    let mut arrived = Vec::new();
    for reader in &mut these.readers {
        let got: Received = reader.ask("count", PATIENCE)?.parse()?;
        arrived.push(got.count);
    }
    Ok(Counted {
        written: warm.written + sent.written,
        sent,
        counts,
        arrived,
    })
}

impl Counted {
    /// Calls of that name for each sample.
    pub(super) fn per_sample(&self, name: &str) -> f64 {
        self.counts.of(name) / self.sent.written as f64
    }

    /// Gives itself back where every reader has everything, or something where some `may_be_lost`.
    ///
    /// # Errors
    /// Some reader has not.
    pub(super) fn arrived(self, may_be_lost: bool) -> Result<Self, String> {
        let written = self.written;
        let lacks = |got: &&u64| **got != written && !(may_be_lost && **got > 0);
        match self.arrived.iter().find(lacks) {
            Some(got) => Err(format!("{got} of {written} samples arrived")),
            None => Ok(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_not_arrived_is_missed_unless_it_may_be_lost() {
        let is_enough = |arrived: &[u64], may_be_lost| {
            let sent = Sent {
                written: 4,
                ..Sent::default()
            };
            let counted = Counted {
                sent,
                counts: Counts::with("sends", 2.0),
                written: 6,
                arrived: arrived.to_vec(),
            };
            assert_eq!(counted.per_sample("sends"), 0.5);
            counted.arrived(may_be_lost).is_ok()
        };
        assert!(is_enough(&[6, 6], false) && is_enough(&[6, 1], true));
        assert!(!is_enough(&[6, 5], false) && !is_enough(&[6, 7], false));
        assert!(!is_enough(&[6, 0], true));
    }
}
