//! What tests of several parts use.

pub(crate) mod random;
