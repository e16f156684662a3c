//! What the writers and readers of other participants have counted.
//!
//! A participant that is told to, by [`crate::DomainParticipantBuilder::statistics`] or
//! `WHIMBREL_STATISTICS=on`, offers the topic [`TOPIC_NAME`] as any writer offers its own:
//! reliable, TRANSIENT_LOCAL, KEEP_LAST 1, each of its writers and readers an instance. Nothing is
//! counted for it that is not counted anyway. While nobody reads it, nothing is sent and no timer
//! runs; once somebody does, what has changed follows once a second. `whimbrel ls -v` shows it.
//!
//! The type, for programs of other vendors:
//!
//! ```idl
//! module whimbrel {
//!     @appendable struct EndpointStatistics {
//!         @key octet guid[16];
//!         unsigned long long samples, payload_bytes;
//!         unsigned long long compressed_samples, plain_bytes, compressed_bytes, codec_ns;
//!         unsigned long long below_threshold, incompressible, not_taken, refused;
//!         unsigned long long bundles, bundled_samples;
//!         unsigned long long compressed_bundles, bundle_plain_bytes, bundle_compressed_bytes;
//!         unsigned long long bundle_codec_ns, incompressible_bundles;
//!         unsigned long long batches, repairs, lost, heartbeats, acknacks;
//!     };
//! };
//! ```

use whimbrel_base::guid::Guid;
use whimbrel_derive::DdsType;

use crate::driver::compression::ratio;

/// The topic of the statistics.
pub const TOPIC_NAME: &str = "whimbrel/statistics";

/// What one writer or reader has counted since it was made.
#[derive(DdsType, Clone, Copy, PartialEq, Eq, Default, Debug)]
#[dds(crate = "whimbrel_types", rename = "whimbrel::EndpointStatistics")]
#[non_exhaustive]
pub struct EndpointStatistics {
    /// Which one. Believe it only of its own participant: see [`EndpointStatistics::is_of`].
    #[dds(key)]
    pub guid: [u8; 16],
    /// Samples written, or put into the reader's cache.
    pub samples: u64,
    /// Octets of their payloads, plain.
    pub payload_bytes: u64,
    /// Samples that were compressed by themselves, or with their batch.
    pub compressed_samples: u64,
    /// Octets of their payloads before.
    pub plain_bytes: u64,
    /// Octets of their payloads after.
    pub compressed_bytes: u64,
    /// Nanoseconds that the codec took for samples.
    pub codec_ns: u64,
    /// Written samples that left plain because of the threshold, or as a bundle too small to be
    /// compressed, and keys that left plain.
    pub below_threshold: u64,
    /// Written samples that left plain because they, their batch or their bundle came out no
    /// smaller.
    pub incompressible: u64,
    /// Written samples that left plain because no reader they were sent to takes the codec.
    pub not_taken: u64,
    /// Samples that arrived damaged, or compressed by a codec that is not there.
    pub refused: u64,
    /// Messages in which written samples left together.
    pub bundles: u64,
    /// Samples in them.
    pub bundled_samples: u64,
    /// Bundles that left, or brought something to the reader, compressed as a whole.
    pub compressed_bundles: u64,
    /// Octets of their messages plain.
    pub bundle_plain_bytes: u64,
    /// Octets of their messages on the wire.
    pub bundle_compressed_bytes: u64,
    /// Nanoseconds that the codec took for bundles.
    pub bundle_codec_ns: u64,
    /// Bundles that came out no smaller and left plain.
    pub incompressible_bundles: u64,
    /// Batches (DATA_BATCH) sent or received.
    pub batches: u64,
    /// Samples or fragments sent again on request.
    pub repairs: u64,
    /// Samples that the reader will never get.
    pub lost: u64,
    /// Heartbeats sent or received.
    pub heartbeats: u64,
    /// Acknowledgements received or sent.
    pub acknacks: u64,
}

impl EndpointStatistics {
    /// Which writer or reader it tells of.
    pub fn guid(&self) -> Guid {
        Guid::from_bytes(self.guid)
    }

    /// True where `writer`, from which the sample came, belongs to the same participant, so that it
    /// can know.
    pub fn is_of(&self, writer: Guid) -> bool {
        self.guid().prefix == writer.prefix
    }

    /// How many octets each octet on the wire stood for, of samples compressed by themselves; 1
    /// where there are none.
    pub fn ratio(&self) -> f64 {
        ratio(self.plain_bytes, self.compressed_bytes)
    }

    /// The same of bundles compressed as a whole.
    pub fn bundle_ratio(&self) -> f64 {
        ratio(self.bundle_plain_bytes, self.bundle_compressed_bytes)
    }
}
