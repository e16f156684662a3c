//! Proofs that the bus survives: each is one row of [`PROOFS`] and one module.
#![forbid(unsafe_code)]

pub mod attack;
pub mod churn;
pub mod cold;
pub mod heap;
pub mod hosts;
pub mod large;
pub mod memory;
pub mod peer;
pub mod proof;
pub mod scale;
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
    scale::PROOF,
    memory::PROOF,
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_module_with_a_proof_is_listed() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        for entry in std::fs::read_dir(here).unwrap() {
            let module = entry.unwrap().path();
            let text = std::fs::read_to_string(module.join("mod.rs")).unwrap_or_default();
            let name = module.file_name().unwrap().to_string_lossy().into_owned();
            let proves = text.contains("pub const PROOF:");
            assert_eq!(
                proves,
                PROOFS.iter().any(|proof| proof.name == name),
                "{name}"
            );
        }
    }
}
