//! DATA_REPRESENTATION: how samples are encoded.

use alloc::vec::Vec;
use core::fmt;

use super::compression::{Compression, CompressionIds};
use super::policy::{Policy, PolicyId, RequestOffered};

/// Number of an encoding of samples. XTypes 1.3 §7.6.3.1.1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataRepresentationId(pub i16);

impl DataRepresentationId {
    /// Extended CDR version 1, the classic one.
    pub const XCDR1: Self = Self(0);
    /// XML text.
    pub const XML: Self = Self(1);
    /// Extended CDR version 2.
    pub const XCDR2: Self = Self(2);
}

impl fmt::Display for DataRepresentationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::XCDR1 => f.write_str("XCDR1"),
            Self::XML => f.write_str("XML"),
            Self::XCDR2 => f.write_str("XCDR2"),
            Self(other) => other.fmt(f),
        }
    }
}

impl fmt::Debug for DataRepresentationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The encodings that an endpoint speaks, and how it compresses: a writer writes the first
/// encoding, a reader reads all.
/// XTypes 1.3 §7.6.3.1.1.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct DataRepresentation {
    /// In order of preference; none, the default, means XCDR1 alone.
    pub ids: Vec<DataRepresentationId>,
    /// How samples are made smaller.
    pub compression: Compression,
}

impl DataRepresentation {
    /// The list as it counts: XCDR1 where it is empty.
    pub fn effective(&self) -> &[DataRepresentationId] {
        if self.ids.is_empty() {
            &[DataRepresentationId::XCDR1]
        } else {
            &self.ids
        }
    }

    /// The one that a writer with this list writes.
    pub fn first(&self) -> DataRepresentationId {
        self.ids
            .first()
            .copied()
            .unwrap_or(DataRepresentationId::XCDR1)
    }
}

impl Policy for DataRepresentation {
    const ID: PolicyId = PolicyId::DataRepresentation;
    const CHANGEABLE: bool = false;

    fn unsupported(&self) -> Option<&'static str> {
        self.ids
            .iter()
            .any(|id| {
                !matches!(
                    *id,
                    DataRepresentationId::XCDR1 | DataRepresentationId::XCDR2
                )
            })
            .then_some("only XCDR1 and XCDR2 exist")
    }
}

impl RequestOffered for DataRepresentation {
    fn compatible(offered: &Self, requested: &Self) -> bool {
        requested.effective().contains(&offered.first())
            && requested.compression.accepts(offered.compression.offered())
    }
}

impl fmt::Display for DataRepresentation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, id) in self.effective().iter().enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            id.fmt(f)?;
        }
        match self.compression.compression_ids {
            // What most readers say by themselves tells nobody anything.
            None | Some(CompressionIds::ALL) => Ok(()),
            Some(ids) => write!(f, ", compression {ids}"),
        }
    }
}
