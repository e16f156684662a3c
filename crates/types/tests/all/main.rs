//! Derived types: encodings, keys, refusals, compile errors.
#![allow(missing_docs)]

mod golden;
mod golden_bytes;
mod shapes;
