//! Why a test did not run to its end, and what the process returns then.

use std::fmt;
use std::process::ExitCode;

/// Why a test did not run to its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Options that cannot be: −1 for the original, which a shell sees as 255.
    Options(String),
    /// The test could not begin, or broke off.
    Run(String),
    /// A signal ended it; what was measured until then has been printed.
    Signal(u8),
}

impl Failure {
    /// What the process returns.
    pub(crate) fn code(&self) -> ExitCode {
        match self {
            Self::Options(_) => ExitCode::from(255),
            Self::Run(_) => ExitCode::FAILURE,
            Self::Signal(number) => ExitCode::from(128_u8.saturating_add(*number)),
        }
    }

    /// For errors of what `doing` names.
    pub(crate) fn run<E: fmt::Display>(doing: &str) -> impl FnOnce(E) -> Self + '_ {
        move |error| Self::Run(format!("{doing}: {error}"))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Options(why) | Self::Run(why) => write!(f, "[Error] {why}"),
            Self::Signal(number) => write!(f, "[Error] ended by signal {number}"),
        }
    }
}
