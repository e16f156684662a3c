//! Arithmetic at its edges.

mod numbers;
mod times;
