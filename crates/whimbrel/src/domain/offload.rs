//! Which datagrams leave and arrive many by one system call.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// The largest sample whose parts leave together by default, in octets. Larger samples are paced,
/// and where their parts leave in crowds some overtake others on the way, which is taken for loss.
const SMALL_SAMPLE_BYTES_MAX: usize = 64 * 1024;

/// Octets of bundles that wait to leave together: of twice as many, samples of 1 KiB would go a
/// fifth faster, others would not, and what is written first would wait twice as long.
const BUNDLES_BYTES_MAX: usize = 24_000;

/// Whether datagrams of one size, such as the fragments of large samples, leave and arrive many by
/// one system call where the system can (UDP_SEGMENT and UDP_GRO). What travels is the same.
///
/// Text: `on`, `off` or `auto`. `true` and `false` are [`SegmentationOffload::On`] and
/// [`SegmentationOffload::Off`].
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum SegmentationOffload {
    /// Each leaves and arrives by itself.
    Off,
    /// Bundles and those of samples up to 64 KiB leave together, larger samples' alone.
    #[default]
    Automatic,
    /// Those of all samples do.
    On,
}

impl SegmentationOffload {
    /// Parts of larger samples leave one by one.
    pub(crate) const fn sample_bytes_max(self) -> usize {
        match self {
            Self::Off => 0,
            Self::Automatic => SMALL_SAMPLE_BYTES_MAX,
            Self::On => usize::MAX,
        }
    }

    /// Octets of bundles that wait to leave together.
    pub(crate) const fn bundles_bytes_max(self) -> usize {
        match self {
            Self::Off => 0,
            Self::Automatic | Self::On => BUNDLES_BYTES_MAX,
        }
    }
}

impl From<bool> for SegmentationOffload {
    fn from(yes: bool) -> Self {
        if yes { Self::On } else { Self::Off }
    }
}

impl fmt::Display for SegmentationOffload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::Automatic => "auto",
            Self::On => "on",
        })
    }
}

impl FromStr for SegmentationOffload {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text.trim() {
            "auto" => Ok(Self::Automatic),
            "on" => Ok(Self::On),
            "off" => Ok(Self::Off),
            other => Err(Error::BadParameter(format!(
                "{other:?} is neither on nor off nor auto"
            ))),
        }
    }
}
