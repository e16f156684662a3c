//! What is sent where compression is measured: the lines of a seeded log, image-like octets, noise,
//! zeros, any file, and how much any of it holds.
//!
//! Start at [`Payload`] for blocks of any size and at [`LogLines`] for samples of their own size.
//! The same seed gives the same octets on every machine, so nothing here uses floating point.

pub mod entropy;
pub mod random;

mod image;
mod log;
mod payload;

pub use entropy::entropy_bits;
pub use log::LogLines;
pub use payload::{Payload, PayloadError};
pub use random::Random;

/// The seed of published figures, which the tests pin: another seed is another log.
pub const SEED: u64 = 1;

#[cfg(test)]
mod tests;
