//! What is run: who, where, which sizes, how many messages.

use std::ops::Range;

use crate::arguments::Arguments;
use crate::contestant::{Contestant, IN_PROCESS, LARGE, USUAL};
use crate::placement::Placement;
use crate::protocol::Order;
use crate::turns;

/// Octets of payload that goals speak of.
const SIZES: [usize; 12] = [
    16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384, 63_000,
];
const SIZES_QUICK: [usize; 4] = [16, 1024, 16_384, 63_000];
const SIZES_LARGE: [usize; 2] = [1 << 20, 10 << 20];
const SIZES_IN_PROCESS: [usize; 2] = [16, 16_384];

const MESSAGES: usize = 10_000;
const MESSAGES_QUICK: usize = 2000;
const MESSAGES_LARGE: usize = 1000;
const MESSAGES_LARGE_QUICK: usize = 40;
/// Enough for the hundredths of a second in which the system counts its share.
const MESSAGES_IN_PROCESS: usize = 2_000_000;

/// Turns of each contestant per placement and size: so many that whatever disturbs the machine for
/// some hundredths of a second disturbs more than one.
const ROUNDS: usize = 80;
const ROUNDS_QUICK: usize = 40;
/// As many of fewer and longer trips, so that a turn is as short.
const ROUNDS_LARGE: usize = 200;

/// How often everybody is started for them: where a process and its memory lie makes it slower or
/// faster by several percent for as long as it lives.
const STARTS: usize = 10;

/// Round trips before those of a round that count.
const WARM: usize = 50;
const WARM_LARGE: usize = 1;

/// What is measured by the same goals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Samples of one datagram, or few.
    Usual,
    /// Samples of many fragments.
    Large,
    /// Both ends in one process.
    InProcess,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Usual => "usual samples",
            Self::Large => "large samples",
            Self::InProcess => "in process",
        }
    }
}

/// A part of a run.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) kind: Kind,
    pub(super) contestants: Vec<Contestant>,
    pub(super) placements: Vec<Placement>,
    pub(super) sizes: Vec<usize>,
    /// Round trips per contestant, placement and size.
    pub(super) messages: usize,
    /// Turns in which those are made.
    pub(super) rounds: usize,
    /// How often all are started for them.
    pub(super) starts: usize,
    /// Round trips before those of a round that count.
    pub(super) warm: usize,
}

impl Part {
    /// Round trips of one round that count.
    pub(super) fn per_round(&self) -> usize {
        self.messages.div_ceil(self.rounds)
    }

    /// A round of samples of so many octets.
    pub(super) fn order(&self, size: usize) -> Order {
        Order {
            size,
            count: self.per_round(),
            warm: self.warm,
        }
    }

    /// Those of all rounds that are run after `start`, counted from 0.
    pub(super) fn rounds_of(&self, start: usize) -> Range<usize> {
        turns::of_start(self.rounds, start, self.starts)
    }

    /// Without whom and where nothing was asked for.
    fn narrowed(mut self, arguments: &Arguments) -> Option<Self> {
        self.contestants.retain(|it| arguments.wants(&it.name()));
        let wanted = |it: &Placement| arguments.placement.is_none_or(|only| only == *it);
        self.placements.retain(wanted);
        if let Some(messages) = arguments.messages {
            self.messages = messages;
        }
        (!self.contestants.is_empty() && !self.placements.is_empty()).then_some(self)
    }
}

/// All parts of a run that were asked for. Of sizes that were named, those above the largest of the
/// usual ones are those of large samples, and nothing is run in process.
pub(super) fn parts(arguments: &Arguments) -> Result<Vec<Part>, String> {
    let of_run = |full, quick| if arguments.quick { quick } else { full };
    let largest = SIZES.last().copied().unwrap_or_default();
    let named = |are_large: bool| -> Vec<usize> {
        let sizes = arguments.sizes.iter().copied();
        sizes.filter(|it| (*it > largest) == are_large).collect()
    };
    let usual = Part {
        kind: Kind::Usual,
        contestants: USUAL.to_vec(),
        placements: Placement::ALL.to_vec(),
        sizes: match arguments.sizes.as_slice() {
            [] if arguments.quick => SIZES_QUICK.to_vec(),
            [] => SIZES.to_vec(),
            _ => named(false),
        },
        messages: of_run(MESSAGES, MESSAGES_QUICK),
        rounds: of_run(ROUNDS, ROUNDS_QUICK),
        starts: of_run(STARTS, 1),
        warm: WARM,
    };
    let large = Part {
        kind: Kind::Large,
        contestants: LARGE.to_vec(),
        placements: vec![Placement::TwoCores],
        sizes: match arguments.sizes.as_slice() {
            [] => SIZES_LARGE.to_vec(),
            _ => named(true),
        },
        messages: of_run(MESSAGES_LARGE, MESSAGES_LARGE_QUICK),
        rounds: of_run(ROUNDS_LARGE, ROUNDS_QUICK),
        starts: 1,
        warm: WARM_LARGE,
    };
    let in_process = Part {
        kind: Kind::InProcess,
        contestants: IN_PROCESS.to_vec(),
        placements: vec![Placement::Free],
        sizes: SIZES_IN_PROCESS.to_vec(),
        messages: MESSAGES_IN_PROCESS,
        ..usual
    };
    let mut parts = vec![usual, large];
    if arguments.sizes.is_empty() {
        parts.push(in_process);
    }
    parts.retain(|it| !it.sizes.is_empty());
    let narrowed = parts.into_iter().filter_map(|it| it.narrowed(arguments));
    let narrowed: Vec<Part> = narrowed.collect();
    if narrowed.is_empty() {
        let all = [USUAL, LARGE, IN_PROCESS].concat();
        let names: Vec<String> = all.iter().map(|it| it.name()).collect();
        return Err(format!(
            "nobody of this name there; there are: {}",
            names.join(", ")
        ));
    }
    Ok(narrowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use whimbrel_rig::process::Usage;

    fn plan(line: &str) -> Result<Vec<Part>, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parts(&Arguments::parse(&words)?)
    }

    #[test]
    fn the_full_form_has_all_sizes_and_placements() {
        let parts = plan("latency").unwrap();
        let kinds: Vec<Kind> = parts.iter().map(|it| it.kind).collect();
        assert_eq!(kinds, [Kind::Usual, Kind::Large, Kind::InProcess]);
        assert_eq!(parts[0].sizes, SIZES);
        assert_eq!(parts[0].placements, Placement::ALL);
        for (part, messages) in parts.iter().zip([MESSAGES, MESSAGES_LARGE]) {
            assert_eq!(part.per_round() * part.rounds, messages);
        }
        for part in &parts {
            let rounds: Vec<usize> = (0..part.starts).flat_map(|it| part.rounds_of(it)).collect();
            assert!(rounds.into_iter().eq(0..part.rounds));
        }
    }

    #[test]
    fn within_a_process_there_are_enough_messages_to_split_their_time() {
        let least_ns = 2 * 150;
        for line in ["latency", "latency --quick"] {
            let parts = plan(line).unwrap();
            let messages = parts[2].messages as u64;
            assert!(
                messages * least_ns > Usage::SPLIT_NS_MIN,
                "{line}: {messages}"
            );
        }
    }

    #[test]
    fn words_narrow_the_plan() {
        let parts =
            plan("latency --quick --contestant raw --placement free --messages 50").unwrap();
        assert_eq!(parts.len(), 1);
        assert_eq!(parts[0].sizes, SIZES_QUICK);
        assert_eq!(parts[0].placements, [Placement::Free]);
        assert!(
            parts[0]
                .contestants
                .iter()
                .all(|it| it.name().starts_with("raw"))
        );
        assert_eq!(parts[0].per_round(), 2);
        assert_eq!(plan("latency --sizes 16").unwrap().len(), 1);
        let both = plan("latency --sizes 16,100000").unwrap();
        let sizes: Vec<&[usize]> = both.iter().map(|it| &it.sizes[..]).collect();
        assert_eq!(sizes, [&[16][..], &[100_000]]);
        assert_eq!(
            plan("latency --contestant large").unwrap()[0].kind,
            Kind::Large
        );
    }

    #[test]
    fn a_name_that_nobody_has_is_an_error() {
        let why = plan("latency --contestant nobody").unwrap_err();
        assert!(
            why.contains("raw calls") && why.contains("fastdds in-process"),
            "{why}"
        );
        assert!(plan("latency --contestant large --placement free").is_err());
    }
}
