//! Attacks on a whole participant: each is a named case with the refusals it must meet.
//!
//! A case is played against a participant in virtual time, in both byte orders, and again as
//! datagrams at a live one. After each step nothing has panicked, the step has cost at most
//! `watch::STEP_MAX` of processor time, and no more is held than the limits allow; after the
//! case exactly the refusals it names were counted, and data still moves between honest peers.
//!
//! Start at [`CLASSES`]; a new case is a new row of its class. The classes are those of the
//! vulnerabilities known of other implementations. It must never count as held what was not run.

pub mod announced;
mod case;
pub mod compose;
mod compression;
mod discovery;
mod flood;
mod fragments;
mod headers;
mod lists;
mod live;
mod model;
mod payloads;
mod reflection;
mod round;
mod sets;
#[cfg(test)]
mod tests;
mod times;
mod watch;

pub use case::{Attack, Case, Field, Origin, Sample, Scene};

use crate::proof::{Figure, Proof, Share};

/// The row of this proof.
pub const PROOF: Proof = Proof {
    name: "attack",
    claim: "no hostile bytes panic, stall, bloat or cut off a participant; each refusal is counted",
    run,
    child: None,
};

/// All cases by class.
pub const CLASSES: &[&[Case]] = &[
    headers::CASES,
    sets::CASES,
    fragments::CASES,
    lists::CASES,
    payloads::CASES,
    discovery::CASES,
    times::CASES,
    compression::CASES,
    compression::bundles::CASES,
    compression::batches::CASES,
];

fn run(share: &Share) -> Figure {
    let figure = flood::run(share, round::run(CLASSES, share));
    reflection::run(share, figure)
}
