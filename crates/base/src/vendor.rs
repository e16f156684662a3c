//! Protocol version and vendor identity.

/// Major and minor protocol version. RTPS 2.5 §8.3.5.3.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ProtocolVersion {
    /// Major version; a receiver must not interpret messages of another one.
    pub major: u8,
    /// Minor version.
    pub minor: u8,
}

impl ProtocolVersion {
    /// RTPS 2.5, what Whimbrel sends.
    pub const V2_5: Self = Self { major: 2, minor: 5 };
}

/// Which implementation sent a message. RTPS 2.5 §8.3.5.4.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct VendorId(pub [u8; 2]);

impl VendorId {
    /// Sender unknown.
    pub const UNKNOWN: Self = Self([0, 0]);
    /// Whimbrel. Not yet assigned: the OMG must assign a number before a public release.
    pub const WHIMBREL: Self = Self([0x01, 0x77]);
    /// RTI Connext.
    pub const CONNEXT: Self = Self([0x01, 0x01]);
    /// OpenSplice.
    pub const OPENSPLICE: Self = Self([0x01, 0x02]);
    /// OpenDDS.
    pub const OPENDDS: Self = Self([0x01, 0x03]);
    /// Connext Micro.
    pub const CONNEXT_MICRO: Self = Self([0x01, 0x0a]);
    /// eProsima Fast DDS.
    pub const FAST_DDS: Self = Self([0x01, 0x0f]);
    /// Eclipse Cyclone DDS.
    pub const CYCLONE_DDS: Self = Self([0x01, 0x10]);
    /// RustDDS.
    pub const RUST_DDS: Self = Self([0x01, 0x12]);
    /// dust-dds.
    pub const DUST_DDS: Self = Self([0x01, 0x14]);

    /// True for implementations that may send changes in batches, which the standard does not know.
    pub const fn speaks_of_batches(self) -> bool {
        matches!(self, Self::CONNEXT | Self::CONNEXT_MICRO | Self::WHIMBREL)
    }

    /// True for implementations that understand batches and do not say so.
    pub const fn takes_batches_unsaid(self) -> bool {
        matches!(self, Self::CONNEXT | Self::CONNEXT_MICRO)
    }

    /// A name a person can read, or `"unknown"`.
    pub fn name(self) -> &'static str {
        match self {
            Self::WHIMBREL => "Whimbrel",
            Self::CONNEXT => "RTI Connext",
            Self::OPENSPLICE => "OpenSplice",
            Self::OPENDDS => "OpenDDS",
            Self::CONNEXT_MICRO => "RTI Connext Micro",
            Self::FAST_DDS => "eProsima Fast DDS",
            Self::CYCLONE_DDS => "Eclipse Cyclone DDS",
            Self::RUST_DDS => "RustDDS",
            Self::DUST_DDS => "dust-dds",
            _ => "unknown",
        }
    }
}
