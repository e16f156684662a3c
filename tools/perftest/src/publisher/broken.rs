//! Why sending ends before its time.

use crate::failure::Failure;

/// Why sending ended before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Break {
    /// Subscribers left.
    Left,
    Signal(u8),
}

impl From<Break> for Failure {
    fn from(it: Break) -> Self {
        match it {
            Break::Signal(number) => Self::Signal(number),
            Break::Left => Self::Run("subscribers left before the test was over".into()),
        }
    }
}
