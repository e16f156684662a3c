//! How a run ends.

use whimbrel::Error;

/// Why a run ended without success.
#[derive(Debug)]
pub(crate) enum End {
    /// Exit code 1.
    Failure(String),
    /// Exit code 2.
    Usage(String),
    /// Exit code 3.
    Timeout(String),
}

impl From<Error> for End {
    fn from(error: Error) -> Self {
        match error {
            Error::Timeout => Self::Timeout(error.to_string()),
            other => Self::Failure(other.to_string()),
        }
    }
}
