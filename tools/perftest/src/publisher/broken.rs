//! Why sending ends before its time.

use crate::failure::Failure;

/// Why sending ended before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Break {
    /// Subscribers left.
    Left,
    /// The test is over, and some never said that they know.
    Silent,
    Signal(u8),
}

impl From<Break> for Failure {
    fn from(it: Break) -> Self {
        match it {
            Break::Signal(number) => Self::Signal(number),
            Break::Silent => {
                Self::Run("not all subscribers said that they know that the test is over".into())
            }
            Break::Left => Self::Run("subscribers left before the test was over".into()),
        }
    }
}
