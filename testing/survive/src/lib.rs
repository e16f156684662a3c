//! Proofs that the bus survives: each is one row of [`PROOFS`] and one module.
#![forbid(unsafe_code)]

pub mod attack;
pub mod churn;
pub mod cold;
pub mod heap;
pub mod hosts;
pub mod large;
pub mod memory;
pub mod network;
pub mod peer;
pub mod proof;
pub mod write;

use proof::Proof;

/// All proofs, in the order in which `whimbrel-survive` lists them.
pub const PROOFS: &[Proof] = &[
    attack::PROOF,
    churn::PROOF,
    cold::PROOF,
    write::PROOF,
    hosts::PROOF,
    large::PROOF,
    memory::PROOF,
];
