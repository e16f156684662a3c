//! How another participant announces itself: to all who hear, or to us alone.
//!
//! Announcements to all that keep arriving look as if multicast worked both ways, so that our own
//! are enough to keep us alive. Two things show that they are not: it keeps telling us alone as
//! well, which it does where it has us in its settings or does not hear us by multicast; and it
//! did so and has stopped, because it took us for lost while we heard it all the time.

use whimbrel_base::time::{Duration, Instant};

/// When a participant announced itself, and to whom.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Greetings {
    to_all_at: Option<Instant>,
    /// The first and the last of those to us alone that came one soon after the other.
    to_us: Option<(Instant, Instant)>,
}

impl Greetings {
    /// Notes an announcement; `lease` is ours. True when its sender seems to have forgotten us and
    /// must hear that we are there.
    pub(super) fn note(&mut self, now: Instant, to_us_alone: bool, lease: Duration) -> bool {
        if !to_us_alone {
            self.to_all_at = Some(now);
            return self.keeps_telling(lease) && !self.told_lately(now, lease);
        }
        let first = self
            .to_us
            .filter(|(_, last)| now.since(*last) <= lease)
            .map_or(now, |(first, _)| first);
        self.to_us = Some((first, now));
        false
    }

    /// True when our announcements to all reach the participant, as far as its own tell.
    pub(super) fn prove_multicast(&self, now: Instant, lease: Duration) -> bool {
        let lately = |at: Instant| now.since(at) < lease.divided_by(2);
        let told = self.keeps_telling(lease) && self.told_lately(now, lease);
        self.to_all_at.is_some_and(lately) && !told
    }

    /// Answers to a beginning are over after a quarter of a lease.
    fn keeps_telling(&self, lease: Duration) -> bool {
        self.to_us
            .is_some_and(|(first, last)| last.since(first) >= lease.divided_by(4))
    }

    fn told_lately(&self, now: Instant, lease: Duration) -> bool {
        self.to_us
            .is_some_and(|(_, last)| now.since(last) < lease.divided_by(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    const LEASE: Duration = Duration::from_secs(10);

    fn at(ms: u64) -> Instant {
        Instant(ms * 1_000_000)
    }

    /// Notes announcements: when, to us alone or not. Gives back when its sender seemed to have
    /// forgotten us.
    fn noted(greetings: &mut Greetings, announcements: &[(u64, bool)]) -> Vec<u64> {
        let mut forgotten = Vec::new();
        for (ms, to_us_alone) in announcements {
            if greetings.note(at(*ms), *to_us_alone, LEASE) {
                forgotten.push(*ms);
            }
        }
        forgotten
    }

    #[test]
    fn multicast_with_an_answer_at_the_beginning_is_enough() {
        let mut greetings = Greetings::default();
        assert!(!greetings.prove_multicast(at(0), LEASE));
        let beginning = [
            (0, false),
            (1, true),
            (100, false),
            (101, true),
            (3000, false),
        ];
        assert!(noted(&mut greetings, &beginning).is_empty());
        assert!(greetings.prove_multicast(at(3001), LEASE));
        assert!(noted(&mut greetings, &[(60_000, false)]).is_empty());
        assert!(greetings.prove_multicast(at(64_999), LEASE));
        assert!(!greetings.prove_multicast(at(65_000), LEASE));
    }

    #[test]
    fn who_keeps_telling_us_alone_is_told_as_well() {
        let mut greetings = Greetings::default();
        let both = [
            (0, true),
            (1, false),
            (3000, true),
            (3001, false),
            (6000, true),
        ];
        assert!(noted(&mut greetings, &both).is_empty());
        assert!(!greetings.prove_multicast(at(6001), LEASE));
    }

    #[test]
    fn who_has_stopped_telling_us_has_forgotten_us() {
        let mut greetings = Greetings::default();
        let told = [(0, true), (3000, true), (6000, true), (9000, false)];
        assert!(noted(&mut greetings, &told).is_empty());
        let lost = [(12_000, false), (15_000, false), (90_000, false)];
        assert_eq!(noted(&mut greetings, &lost), [12_000, 15_000, 90_000]);
        assert!(noted(&mut greetings, &[(91_000, true), (94_000, false)]).is_empty());
    }
}
