//! IP versions.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// Which IP versions a participant uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum IpVersions {
    /// IPv4 only, which every implementation understands.
    #[default]
    V4,
    /// IPv6 only.
    V6,
    /// Both.
    Both,
}

impl FromStr for IpVersions {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text.trim() {
            "4" => Ok(Self::V4),
            "6" => Ok(Self::V6),
            "46" | "64" => Ok(Self::Both),
            other => Err(Error::BadParameter(format!("{other:?} is no IP version"))),
        }
    }
}

impl fmt::Display for IpVersions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V4 => "4",
            Self::V6 => "6",
            Self::Both => "46",
        })
    }
}
