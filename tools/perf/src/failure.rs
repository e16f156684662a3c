//! Why a run did not end well, and what the process returns then.

use std::fmt;
use std::process::ExitCode;

/// Why a run did not end well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// A criterion was missed: 1.
    Missed(String),
    /// The run could not begin: 2.
    Setup(String),
    /// The run broke off; what was measured until then has been written: 3.
    Broke(String),
    /// A signal ended it; what was measured until then has been written.
    Signal(u8),
}

impl Failure {
    /// What the process returns.
    pub(crate) fn code(&self) -> ExitCode {
        match self {
            Self::Missed(_) => ExitCode::from(1),
            Self::Setup(_) => ExitCode::from(2),
            Self::Broke(_) => ExitCode::from(3),
            Self::Signal(number) => ExitCode::from(128_u8.saturating_add(*number)),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missed(why) => write!(f, "missed: {why}"),
            Self::Setup(why) => write!(f, "cannot begin: {why}"),
            Self::Broke(why) => write!(f, "broke off: {why}"),
            Self::Signal(number) => write!(f, "ended by signal {number}"),
        }
    }
}
