//! Derived types: encodings, keys, refusals, compile errors.
#![allow(missing_docs)]

mod apart;
mod compile;
mod duplicate;
mod dynamic;
mod evolution;
mod golden;
mod golden_bytes;
mod hostile;
mod shapes;
