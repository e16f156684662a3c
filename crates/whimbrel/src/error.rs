//! What can go wrong, and the standard's code for it.

use std::{fmt, io};

use whimbrel_base::qos::{ImmutablePolicy, InconsistentPolicy, UnsupportedPolicy};
use whimbrel_types::EncodeError;

/// The standard's return codes. DDS 1.4 §2.2.1.1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(i32)]
pub enum ReturnCode {
    /// RETCODE_OK.
    Ok = 0,
    /// RETCODE_ERROR.
    Error = 1,
    /// RETCODE_UNSUPPORTED.
    Unsupported = 2,
    /// RETCODE_BAD_PARAMETER.
    BadParameter = 3,
    /// RETCODE_PRECONDITION_NOT_MET.
    PreconditionNotMet = 4,
    /// RETCODE_OUT_OF_RESOURCES.
    OutOfResources = 5,
    /// RETCODE_NOT_ENABLED.
    NotEnabled = 6,
    /// RETCODE_IMMUTABLE_POLICY.
    ImmutablePolicy = 7,
    /// RETCODE_INCONSISTENT_POLICY.
    InconsistentPolicy = 8,
    /// RETCODE_ALREADY_DELETED.
    AlreadyDeleted = 9,
    /// RETCODE_TIMEOUT.
    Timeout = 10,
    /// RETCODE_NO_DATA.
    NoData = 11,
}

/// Why an operation did not succeed.
///
/// Its `Debug` form is for people too, as programs print it whose `main` returns a `Result`: the
/// standard's code, and the text.
#[non_exhaustive]
pub enum Error {
    /// A policy whose behaviour does not exist yet was asked for.
    UnsupportedPolicy(UnsupportedPolicy),
    /// Policies of one entity contradict each other.
    InconsistentPolicy(InconsistentPolicy),
    /// A policy that cannot change once the entity is enabled was changed.
    ImmutablePolicy(ImmutablePolicy),
    /// An argument makes no sense; the text says which and what to do.
    BadParameter(String),
    /// The call does not fit the state of things; the text says what to do.
    PreconditionNotMet(String),
    /// A limit was met; the text says which.
    OutOfResources(String),
    /// The time allowed has passed.
    Timeout,
    /// A value cannot be encoded.
    Encode(EncodeError),
    /// The operating system refused something; the text says what was tried.
    Io {
        /// What was tried.
        what: String,
        /// What the system said.
        source: io::Error,
    },
}

impl Error {
    /// The standard's code.
    pub fn return_code(&self) -> ReturnCode {
        match self {
            Self::UnsupportedPolicy(_) => ReturnCode::Unsupported,
            Self::InconsistentPolicy(_) => ReturnCode::InconsistentPolicy,
            Self::ImmutablePolicy(_) => ReturnCode::ImmutablePolicy,
            Self::BadParameter(_) | Self::Encode(_) => ReturnCode::BadParameter,
            Self::PreconditionNotMet(_) => ReturnCode::PreconditionNotMet,
            Self::OutOfResources(_) => ReturnCode::OutOfResources,
            Self::Timeout => ReturnCode::Timeout,
            Self::Io { .. } => ReturnCode::Error,
        }
    }

    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.return_code())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnsupportedPolicy(it) => it.fmt(f),
            Self::InconsistentPolicy(it) => it.fmt(f),
            Self::ImmutablePolicy(it) => it.fmt(f),
            Self::BadParameter(text)
            | Self::PreconditionNotMet(text)
            | Self::OutOfResources(text) => f.write_str(text),
            Self::Timeout => f.write_str("the time allowed has passed"),
            Self::Encode(it) => write!(f, "the value cannot be encoded: {it}"),
            Self::Io { what, source } => write!(f, "{what}: {source}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl From<UnsupportedPolicy> for Error {
    fn from(it: UnsupportedPolicy) -> Self {
        Self::UnsupportedPolicy(it)
    }
}

impl From<InconsistentPolicy> for Error {
    fn from(it: InconsistentPolicy) -> Self {
        Self::InconsistentPolicy(it)
    }
}

impl From<ImmutablePolicy> for Error {
    fn from(it: ImmutablePolicy) -> Self {
        Self::ImmutablePolicy(it)
    }
}

impl From<EncodeError> for Error {
    fn from(it: EncodeError) -> Self {
        Self::Encode(it)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_main_prints_is_for_people() {
        let error = Error::BadParameter("variable \"lo\"".into());
        assert_eq!(format!("{error:?}"), "BadParameter: variable \"lo\"");
        assert_eq!(error.to_string(), "variable \"lo\"");
    }
}
