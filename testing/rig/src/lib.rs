//! What proofs and measurements set up: hosts on one machine ([`network`]) and processes that talk
//! by lines ([`process`]). It knows nothing of DDS.
#![forbid(unsafe_code)]

pub mod network;
pub mod process;
