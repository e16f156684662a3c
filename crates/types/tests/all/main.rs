//! Derived types: encodings, keys, refusals, compile errors.
#![allow(missing_docs)]

mod dynamic;
mod golden;
mod golden_bytes;
mod shapes;
