//! How samples share messages. Not part of the standard, and nothing that travels.

use core::fmt;

/// When the samples of a writer share messages, which every implementation understands.
///
/// Where the writer compresses, each bundle leaves compressed as a whole to those addresses at
/// which only participants of this implementation listen that announced the codec and whose
/// readers take it, and plain to all others, at the same time. So a reader of another vendor
/// changes nothing for the others, but where it hears them by the same multicast group, or another
/// reader of the same participant takes no codec: there one plain message serves all, since a
/// second one would be octets in addition. Samples in a bundle are then not compressed one by one,
/// unless some reader takes only that. A bundle is filled by its plain octets: what is compressed
/// leaves as smaller messages, not with more samples in each. Loss is repaired sample by sample.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Bundling {
    /// Samples that come faster than they can be sent leave together, those of several writers of
    /// a participant to the same addresses too; a lone sample leaves at once. To other hosts
    /// several messages of one size leave by one call, where the writer keeps all samples, or 256
    /// of each instance, and compresses none. A participant may be set up without
    /// (`automatic_bundling`), for which this is as [`Bundling::Off`].
    #[default]
    Automatic,
    /// Each sample leaves at once. What cannot, as a flow controller or a best-effort reader on
    /// this host holds it back, leaves with what is held back beside it.
    Off,
    /// Samples wait until their message is full, LATENCY_BUDGET has passed since the first of them
    /// was written, or the program flushes. Without a LATENCY_BUDGET they wait for
    /// [`Bundling::WAIT_MS`].
    UpTo {
        /// Largest message, in octets of UDP payload. It is cut to what a packet carries on the way
        /// to the readers, so that none is divided: 1472 octets by IPv4 over Ethernet, whatever is
        /// said here; between participants of one host it holds as it is. `message_bytes_max` of
        /// the participant can only lower it. Where it is more than a packet carries, several
        /// messages leave by one call to other hosts, with up to so many octets and 24,000 in all,
        /// if the writer keeps all samples, or as many of each instance as that can be, and
        /// compresses none; `segmentation_offload` off ends it. A sample that alone takes more than
        /// half of what leaves together, or more than a message, waits for no other.
        message_bytes_max: usize,
    },
}

impl Bundling {
    /// What fits an Ethernet frame.
    pub const MESSAGE_BYTES: usize = 1400;

    /// Smallest limit, in octets.
    pub const MESSAGE_BYTES_MIN: usize = 64;

    /// Greatest limit, in octets: what fits a datagram.
    pub const MESSAGE_BYTES_MAX: usize = 65_507;

    /// How long samples wait where LATENCY_BUDGET is zero, in milliseconds.
    pub const WAIT_MS: i32 = 1;

    /// Bundles that fit an Ethernet frame.
    pub const ON: Self = Self::UpTo {
        message_bytes_max: Self::MESSAGE_BYTES,
    };

    /// Messages of at most so many octets.
    pub const fn up_to(message_bytes_max: usize) -> Self {
        Self::UpTo { message_bytes_max }
    }

    /// True where the limit, if there is one, makes sense.
    pub const fn is_valid(self) -> bool {
        match self {
            Self::Automatic | Self::Off => true,
            Self::UpTo { message_bytes_max } => {
                message_bytes_max >= Self::MESSAGE_BYTES_MIN
                    && message_bytes_max <= Self::MESSAGE_BYTES_MAX
            }
        }
    }
}

impl fmt::Display for Bundling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Automatic => f.write_str("automatic"),
            Self::Off => f.write_str("off"),
            Self::UpTo { message_bytes_max } => write!(f, "{message_bytes_max}"),
        }
    }
}
