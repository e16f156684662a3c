//! How another participant announces itself: to all who hear, or to us alone.
//!
//! Announcements to all that keep arriving look as if multicast worked both ways, so that our own
//! are enough to keep us alive. Two things show that they are not: it keeps telling us alone as
//! well, which it does where it has us in its settings or does not hear us by multicast; and it
//! did so and has stopped, because it took us for lost while we heard it all the time.

use whimbrel_base::guid::EntityId;
use whimbrel_base::time::{Duration, Instant};

use crate::receive::{Inbound, Target};

/// To whom an announcement was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Greeting {
    /// Everybody.
    ToAll,
    /// Us, as it seems because we do not hear those to all.
    ToUs,
    /// Us, in answer to what we said: it names our reader, which proves nothing.
    InReturn,
}

impl Greeting {
    /// Of what `inbound` announces, `directed` to us or not.
    pub(super) fn of(inbound: &Inbound<'_>, directed: bool) -> Self {
        let named = matches!(inbound.target(), Target::Reader { reader, .. }
            if reader == EntityId::SPDP_READER);
        match (directed, named) {
            (false, _) => Self::ToAll,
            (true, false) => Self::ToUs,
            (true, true) => Self::InReturn,
        }
    }
}

/// When a participant announced itself, and to whom.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Greetings {
    to_all_at: Option<Instant>,
    /// The first and the last of those to us alone that came one soon after the other.
    to_us: Option<(Instant, Instant)>,
    /// It seems to have forgotten us, and was not heard to answer since.
    forgotten: bool,
}

impl Greetings {
    /// Notes an announcement; `lease` is ours. True when its sender seems to have forgotten us and
    /// must hear that we are there.
    pub(super) fn note(&mut self, now: Instant, greeting: Greeting, lease: Duration) -> bool {
        match greeting {
            Greeting::InReturn => return false,
            Greeting::ToUs => {}
            Greeting::ToAll => {
                self.to_all_at = Some(now);
                self.forgotten = self.keeps_telling(lease) && !self.told_lately(now, lease);
                return self.forgotten;
            }
        }
        let first = self
            .to_us
            .filter(|(_, last)| now.since(*last) <= lease)
            .map_or(now, |(first, _)| first);
        self.to_us = Some((first, now));
        false
    }

    /// It has answered something that we sent to it alone: if it had forgotten us, it knows us
    /// now.
    pub(super) fn note_answer(&mut self) {
        if core::mem::take(&mut self.forgotten) {
            self.to_us = None;
        }
    }

    /// True when its announcements to all reach us, or it was discovered, at `since`, too lately
    /// for us to know.
    pub(super) fn reach_us(&self, now: Instant, since: Instant, lease: Duration) -> bool {
        let lately = |at: Instant| now.since(at) < lease.divided_by(2);
        self.to_all_at.is_some_and(lately) || now.since(since) < lease.divided_by(3)
    }

    /// True when it goes on telling us alone, as if ours to all did not reach it.
    pub(super) fn tell_us(&self, now: Instant, lease: Duration) -> bool {
        self.keeps_telling(lease) && self.told_lately(now, lease)
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
    use super::Greeting::{InReturn, ToAll, ToUs};
    use super::*;
    use std::vec::Vec;

    const LEASE: Duration = Duration::from_secs(10);

    fn at(ms: u64) -> Instant {
        Instant(ms * 1_000_000)
    }

    /// Notes announcements: when, and to whom. Gives back when their sender seemed to have
    /// forgotten us.
    fn noted(greetings: &mut Greetings, announcements: &[(u64, Greeting)]) -> Vec<u64> {
        let mut forgotten = Vec::new();
        for (ms, greeting) in announcements {
            if greetings.note(at(*ms), *greeting, LEASE) {
                forgotten.push(*ms);
            }
        }
        forgotten
    }

    /// Whether announcements to all seem to work both ways.
    fn both_ways(greetings: &Greetings, ms: u64) -> bool {
        greetings.reach_us(at(ms), at(0), LEASE) && !greetings.tell_us(at(ms), LEASE)
    }

    #[test]
    fn multicast_with_an_answer_at_the_beginning_is_enough() {
        let mut greetings = Greetings::default();
        assert!(both_ways(&greetings, 3333) && !both_ways(&greetings, 3334));
        let beginning = [
            (0, ToAll),
            (1, ToUs),
            (100, ToAll),
            (101, ToUs),
            (3000, ToAll),
        ];
        assert!(noted(&mut greetings, &beginning).is_empty());
        assert!(both_ways(&greetings, 3001));
        assert!(noted(&mut greetings, &[(60_000, ToAll)]).is_empty());
        assert!(both_ways(&greetings, 64_999));
        assert!(!both_ways(&greetings, 65_000));
    }

    #[test]
    fn who_keeps_telling_us_alone_is_told_as_well() {
        let mut greetings = Greetings::default();
        let both = [
            (0, ToUs),
            (1, ToAll),
            (3000, ToUs),
            (3001, ToAll),
            (6000, ToUs),
        ];
        assert!(noted(&mut greetings, &both).is_empty());
        assert!(!both_ways(&greetings, 6001));
    }

    #[test]
    fn answers_however_many_do_not_count_for_want_of_multicast() {
        let mut greetings = Greetings::default();
        let both = [
            (0, InReturn),
            (1, ToAll),
            (3000, InReturn),
            (3001, ToAll),
            (6000, InReturn),
        ];
        assert!(noted(&mut greetings, &both).is_empty());
        assert!(both_ways(&greetings, 6001));
    }

    #[test]
    fn who_has_stopped_telling_us_has_forgotten_us_until_it_answers() {
        let mut greetings = Greetings::default();
        let told = [(0, ToUs), (3000, ToUs), (6000, ToUs), (9000, ToAll)];
        assert!(noted(&mut greetings, &told).is_empty());
        let lost = [(12_000, ToAll), (15_000, ToAll), (90_000, ToAll)];
        assert_eq!(noted(&mut greetings, &lost), [12_000, 15_000, 90_000]);
        assert!(noted(&mut greetings, &[(91_000, ToUs), (94_000, ToAll)]).is_empty());
        let again = [(94_000, ToUs), (97_000, ToUs), (103_000, ToAll)];
        assert_eq!(noted(&mut greetings, &again), [103_000]);
        greetings.note_answer();
        assert!(noted(&mut greetings, &[(106_000, ToAll), (109_000, ToAll)]).is_empty());
    }
}
