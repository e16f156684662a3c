//! Derived types: encodings, keys, refusals, compile errors.
#![allow(missing_docs)]

mod shapes;
