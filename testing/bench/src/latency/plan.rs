//! What is run: who, where, which sizes, how many messages.

use crate::arguments::Arguments;
use crate::contestant::{Contestant, LATENCY};
use crate::placement::Placement;

/// Octets of payload that goals speak of.
const SIZES: [usize; 12] = [
    16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384, 63_000,
];
const SIZES_QUICK: [usize; 4] = [16, 1024, 16_384, 63_000];

const MESSAGES: usize = 10_000;
const MESSAGES_QUICK: usize = 2000;

/// Turns of each contestant per placement and size.
pub(super) const ROUNDS: usize = 20;

/// Round trips before those of a round that count.
pub(super) const WARM: usize = 50;

/// What is run.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) contestants: Vec<Contestant>,
    pub(super) placements: Vec<Placement>,
    pub(super) sizes: Vec<usize>,
    /// Round trips per contestant, placement and size.
    pub(super) messages: usize,
}

impl Plan {
    pub(super) fn new(arguments: &Arguments) -> Result<Self, String> {
        let wanted = |it: &&Contestant| arguments.wants(&it.name());
        let contestants: Vec<Contestant> = LATENCY.iter().filter(wanted).copied().collect();
        if contestants.is_empty() {
            let names: Vec<String> = LATENCY.iter().map(|it| it.name()).collect();
            return Err(format!(
                "nobody of this name; there are: {}",
                names.join(", ")
            ));
        }
        let usual = if arguments.quick {
            (&SIZES_QUICK[..], MESSAGES_QUICK)
        } else {
            (&SIZES[..], MESSAGES)
        };
        Ok(Self {
            contestants,
            placements: arguments
                .placement
                .map_or(Placement::ALL.to_vec(), |only| vec![only]),
            sizes: match arguments.sizes.as_slice() {
                [] => usual.0.to_vec(),
                sizes => sizes.to_vec(),
            },
            messages: arguments.messages.unwrap_or(usual.1),
        })
    }

    /// Round trips of one round that count.
    pub(super) fn per_round(&self) -> usize {
        self.messages.div_ceil(ROUNDS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(line: &str) -> Result<Plan, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Plan::new(&Arguments::parse(&words)?)
    }

    #[test]
    fn the_full_form_has_all_sizes_and_placements() {
        let plan = plan("latency").unwrap();
        assert_eq!(plan.sizes, SIZES);
        assert_eq!(plan.placements, Placement::ALL);
        assert_eq!(plan.per_round() * ROUNDS, MESSAGES);
    }

    #[test]
    fn words_narrow_the_plan() {
        let plan = plan("latency --quick --contestant raw --placement free --messages 30").unwrap();
        assert_eq!(plan.sizes, SIZES_QUICK);
        assert_eq!(plan.placements, [Placement::Free]);
        assert!(
            plan.contestants
                .iter()
                .all(|it| it.name().starts_with("raw"))
        );
        assert_eq!(plan.per_round(), 2);
    }

    #[test]
    fn a_name_that_nobody_has_is_an_error() {
        assert!(
            plan("latency --contestant nobody")
                .unwrap_err()
                .contains("raw calls")
        );
    }
}
