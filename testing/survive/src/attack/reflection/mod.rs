//! Random streams of forged datagrams that name third parties: to an address that never answered
//! go at most three times the octets of the datagrams that named it, and no user data.
//!
//! An address has answered once a datagram that is meant for the target came from its host. The
//! judge here counts by itself: it knows nothing of how the participant keeps the promise.

mod stream;
mod target;

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::Instant;

use whimbrel_base::locator::Locator;
use whimbrel_fuzz_targets::random::Random;

use crate::proof::{Figure, Share};
use stream::{Action, Stream};
use target::Target;

/// Octets that may be sent for each octet received.
const FACTOR: u64 = 3;

/// Actions of a stream.
const ACTIONS: usize = 80;

/// What the target announces of its user's, so that an answer is longer than what asks for it.
const USER_DATA_OCTETS: [usize; 3] = [0, 250, 2000];

/// Streams of a full run, and part of the time of a short one.
const STREAMS_FULL: u64 = 100_000;
const TIME_PARTS: u32 = 8;

/// What became of one stream, or of many.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Outcome {
    streams: u64,
    /// Octets to addresses that never answered, and those of datagrams that named them.
    sent: u64,
    named: u64,
    /// Octets to addresses that answered: participants were met, and served.
    answered: u64,
    /// The most to one address, in hundredths of what named it.
    worst_percent: u64,
}

/// Counts what names an address and what is sent there.
#[derive(Default)]
struct Judge {
    named: BTreeMap<Locator, u64>,
    answered: BTreeSet<IpAddr>,
}

impl Judge {
    fn has_answered(&self, at: Locator) -> bool {
        at.ip().is_some_and(|ip| self.answered.contains(&ip))
    }

    /// The error names the address that was sent too much.
    fn check(&self, target: &Target) -> Result<(), String> {
        for (to, bytes) in target.sent() {
            let named = self.named.get(to).copied().unwrap_or(0);
            if *to != target::group() && !self.has_answered(*to) && *bytes > FACTOR * named {
                return Err(format!(
                    "{bytes} octets to {to}, which never answered, for {named} that named it"
                ));
            }
            if let Some(samples) = target.samples_to(*to)
                && !self.has_answered(*to)
            {
                return Err(format!("{samples} samples to {to}, which never answered"));
            }
        }
        Ok(())
    }

    fn outcome(&self, target: &Target) -> Outcome {
        let mut outcome = Outcome {
            streams: 1,
            ..Outcome::default()
        };
        for (to, bytes) in target.sent() {
            if self.has_answered(*to) {
                outcome.answered += bytes;
            } else if let Some(named) = self.named.get(to) {
                outcome.sent += bytes;
                outcome.named += named;
                outcome.worst_percent = outcome.worst_percent.max(bytes * 100 / named.max(&1));
            }
        }
        outcome
    }
}

impl Outcome {
    fn join(&mut self, other: &Self) {
        self.streams += other.streams;
        self.sent += other.sent;
        self.named += other.named;
        self.answered += other.answered;
        self.worst_percent = self.worst_percent.max(other.worst_percent);
    }
}

/// Plays the stream of `seed`; the error says what was sent too much.
fn play(seed: u64) -> Result<Outcome, String> {
    let mut random = Random::new(seed);
    let mut target = Target::new(*random.one_of(&USER_DATA_OCTETS));
    let mut stream = Stream::new(&mut random);
    let mut judge = Judge::default();
    for step in 0..ACTIONS {
        match stream.next(&mut random) {
            Action::Datagram(forged) => {
                for at in &forged.names {
                    *judge.named.entry(*at).or_default() += forged.bytes.len() as u64;
                }
                if forged.answers {
                    judge.answered.extend(forged.from.ip());
                }
                target.receive(forged.from, &forged.bytes);
            }
            Action::Pause(span) => target.advance(span),
            Action::Write(octets) => target.write(octets),
        }
        let judged = judge.check(&target);
        judged.map_err(|why| format!("seed {seed}, action {step}: {why}"))?;
    }
    Ok(judge.outcome(&target))
}

/// Plays streams for a part of the time, or as many as a full run has; adds that to `figure`.
pub(super) fn run(share: &Share, mut figure: Figure) -> Figure {
    let started = Instant::now();
    let time = share.time / TIME_PARTS;
    let mut all = Outcome::default();
    for seed in 0.. {
        let over = match share.full {
            true => seed >= STREAMS_FULL,
            false => started.elapsed() >= time,
        };
        if over {
            break;
        }
        match play(seed) {
            Ok(outcome) => all.join(&outcome),
            Err(why) => {
                println!("attack: reflection {why}");
                figure.held = false;
                break;
            }
        }
    }
    figure.text += &format!(
        "; {} streams of {ACTIONS} forged datagrams, pauses and writes: {} octets to addresses \
         that never answered for {} that named them, at most {}.{:02} x to one (bound {FACTOR} x)",
        all.streams,
        all.sent,
        all.named,
        all.worst_percent / 100,
        all.worst_percent % 100,
    );
    figure
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;

    #[test]
    fn nobody_is_sent_more_than_three_times_what_names_him() {
        let mut all = Outcome::default();
        // And those that were once sent too much.
        for seed in (0..200).chain([25_046]) {
            let outcome = play(seed).unwrap();
            all.join(&outcome);
        }
        // The streams do make it send: to those who never answered, and to those who did.
        assert!(all.worst_percent > 150 && all.sent > 100_000, "{all:?}");
        assert!(all.answered > 1_000_000, "{all:?}");
    }

    #[test]
    fn the_judge_sees_an_octet_too_many_and_every_sample() {
        let bystander = SocketAddr::from(([203, 0, 113, 1], 7410)).into();
        let mut judge = Judge::default();
        judge.named.insert(bystander, 100);
        let mut target = Target::new(0);
        target.note_sent(bystander, 300, false);
        assert!(judge.check(&target).is_ok());
        target.note_sent(bystander, 1, false);
        assert!(judge.check(&target).is_err());
        judge.named.insert(bystander, 1000);
        assert!(judge.check(&target).is_ok());
        target.note_sent(bystander, 1, true);
        assert!(judge.check(&target).is_err());
        judge.answered.extend(Locator::ip(bystander));
        assert!(judge.check(&target).is_ok());
    }
}
