//! Which datagrams leave and arrive many by one system call.

use std::fmt;
use std::str::FromStr;

use whimbrel_proto::PartOf;

use crate::error::Error;

/// The largest sample of which by default as much leaves together as the system takes, in octets.
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
    /// Bundles and those of samples up to 64 KiB leave together; those of larger samples as many as
    /// have been arriving in 50 µs, so that nothing else on the way waits longer for them.
    #[default]
    Automatic,
    /// Of all samples as many as the system takes.
    On,
}

impl SegmentationOffload {
    /// Octets of what messages are parts `of` that leave together; none where they leave one by
    /// one.
    pub(crate) const fn joined_bytes_max(self, of: PartOf) -> usize {
        match self {
            Self::Off => 0,
            Self::Automatic if of.sample_bytes > SMALL_SAMPLE_BYTES_MAX => of.together_bytes,
            Self::Automatic | Self::On => usize::MAX,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_large_samples_as_much_leaves_together_as_arrives_soon_by_default() {
        let of = |sample_bytes| PartOf {
            sample_bytes,
            together_bytes: 5000,
        };
        let (small, large) = (of(SMALL_SAMPLE_BYTES_MAX), of(SMALL_SAMPLE_BYTES_MAX + 1));
        for (how, of_small, of_large) in [
            (SegmentationOffload::Off, 0, 0),
            (SegmentationOffload::Automatic, usize::MAX, 5000),
            (SegmentationOffload::On, usize::MAX, usize::MAX),
        ] {
            let most = [small, large].map(|it| how.joined_bytes_max(it));
            assert_eq!(most, [of_small, of_large], "{how}");
        }
    }
}
