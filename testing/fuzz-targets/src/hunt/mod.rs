//! A hunt for inputs that break a target, on a stable toolchain and without a look at coverage.
//!
//! Inputs are built with the structure that their parser expects and a lie here and there
//! ([`generate`]), or are committed ones, mutated and crossed. The n-th input of a target depends
//! on the seed and n alone. What breaks its target is made small ([`minimise`]).

pub mod generate;
pub mod minimise;

use std::time::Duration;

use crate::corpus::Input;
use crate::mutate::{cross, extreme, mutate};
use crate::random::Random;
use crate::replay::{Outcome, run_once};
use crate::{TARGETS, Target};

/// Processor time that one input may take.
pub const INPUT_MAX: Duration = Duration::from_millis(50);

/// The longest input made by mutation.
const LEN_MAX: usize = 16 * 1024;

/// An input that breaks its target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// Which target.
    pub target: &'static str,
    /// Which of its inputs.
    pub index: u64,
    /// What went wrong.
    pub why: String,
    /// The input, as small as it could be made.
    pub bytes: Vec<u8>,
}

/// The inputs of one target.
pub struct Quarry {
    /// Its name.
    pub name: &'static str,
    target: Target,
    known: Vec<Input>,
    seed: u64,
    /// How many inputs have been tried.
    pub tried: u64,
    /// The longest time that one of them took.
    pub slowest: Duration,
}

impl Quarry {
    /// Every target, or the one of this name, each with its committed inputs.
    ///
    /// # Errors
    /// Corpora that cannot be read.
    pub fn all(seed: u64, name: Option<&str>) -> std::io::Result<Vec<Self>> {
        let chosen = TARGETS
            .iter()
            .filter(|(other, _)| name.is_none_or(|name| name == *other));
        let quarry = |(name, target): &(&'static str, Target)| {
            Ok(Self {
                name,
                target: *target,
                known: crate::corpus::inputs(name)?,
                seed,
                tried: 0,
                slowest: Duration::ZERO,
            })
        };
        chosen.map(quarry).collect()
    }

    /// The input number `index`.
    pub fn input(&self, index: u64) -> Vec<u8> {
        let name = self.name.bytes().fold(self.seed, |hash, octet| {
            (hash ^ u64::from(octet)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let mut random = Random::new(name.wrapping_add(index));
        let mut input = match generate::input(self.name, &mut random) {
            Some(built) if random.below(3) > 0 => built,
            _ => self.known_one(&mut random),
        };
        if random.once_in(3) {
            return input;
        }
        for _ in 0..=random.below(6) {
            match random.below(6) {
                0 => cross(&mut input, &self.known_one(&mut random), &mut random),
                1 | 2 => extreme(&mut input, &mut random),
                _ => mutate(&mut input, &mut random),
            }
        }
        input.truncate(LEN_MAX);
        input
    }

    fn known_one(&self, random: &mut Random) -> Vec<u8> {
        match self.known.len() {
            0 => Vec::new(),
            count => self.known[random.below(count)].bytes.clone(),
        }
    }

    /// Tries the next input.
    pub fn try_next(&mut self) -> Option<Found> {
        let index = self.tried;
        self.tried += 1;
        let input = self.input(index);
        let (why, bytes) = self.broken_by(input)?;
        Some(Found {
            target: self.name,
            index,
            why,
            bytes,
        })
    }

    fn broken_by(&mut self, input: Vec<u8>) -> Option<(String, Vec<u8>)> {
        let limit = (!cfg!(debug_assertions)).then_some(INPUT_MAX);
        let mut outcome = Outcome::default();
        let target = self.target;
        let result = run_once(target, &input, limit, &mut outcome);
        self.slowest = self.slowest.max(outcome.slowest);
        let why = result.err()?;
        let breaks = |form: &[u8]| run_once(target, form, limit, &mut Outcome::default()).is_err();
        Some((why, minimise::smallest(input, breaks)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_inputs() {
        let inputs = |seed| {
            let all = Quarry::all(seed, None).unwrap();
            all.iter().map(|it| it.input(5)).collect::<Vec<_>>()
        };
        assert_eq!(inputs(7), inputs(7));
        assert_ne!(inputs(7), inputs(8));
    }

    #[test]
    fn a_broken_target_is_found_and_its_input_small() {
        let target: Target = |data| assert!(!data.contains(&0x2a));
        let mut quarry = Quarry {
            name: "message",
            target,
            known: Vec::new(),
            seed: 1,
            tried: 0,
            slowest: Duration::ZERO,
        };
        let found = (0..2000).find_map(|_| quarry.try_next()).unwrap();
        assert_eq!(found.bytes, [0x2a]);
    }

    #[test]
    fn no_target_breaks_at_a_few_inputs() {
        for mut quarry in Quarry::all(3, None).unwrap() {
            for _ in 0..20 {
                assert_eq!(quarry.try_next(), None);
            }
        }
    }
}
