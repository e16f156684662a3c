//! Batches: samples that travel, are acknowledged and repaired as one.

use crate::time::Duration;

/// When the samples that wait in a batch leave: whichever is reached first. Names and defaults are
/// those of the policy BATCH of Connext.
///
/// A writer with batches has no bundles: what [`Bundling`](super::Bundling) says is not heeded.
///
/// Only readers of Whimbrel and of Connext understand batches; all others get the same samples one
/// by one, at the same time.
///
/// Where the writer compresses, each batch is compressed as a whole: for all readers that take
/// batches, or plain for all of them while one does not take the codec. In batches Connext takes
/// ZLIB only. The threshold is compared with what a batch holds, not, as in Connext, with what it
/// could hold at most: what left early and small is not worth a codec's time.
///
/// Where the path to a reader takes less than a batch may hold, batches are no larger than a packet
/// there. A sample that alone is larger leaves in one datagram, which the system divides, as there
/// are no fragments of batches: without them (the default) it leaves in fragments of RTPS, each of
/// which is repaired by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Batch {
    /// So many samples; no limit by default.
    pub max_samples: Option<u32>,
    /// So many octets of serialized samples: 1024 by default. A larger sample is a batch of its
    /// own; one that does not fit a datagram is refused.
    pub max_data_bytes: usize,
    /// So long after the first of them was written; by default they wait for the program to flush.
    pub max_flush_delay: Duration,
}

impl Batch {
    /// Greatest number of octets: what fits a datagram, with everything around it.
    pub const DATA_BYTES_MAX: usize = 60_000;

    /// Batches of at most so many samples, and as many octets as fit a datagram.
    pub const fn of_samples(max_samples: u32) -> Self {
        Self {
            max_samples: Some(max_samples),
            max_data_bytes: Self::DATA_BYTES_MAX,
            max_flush_delay: Duration::INFINITE,
        }
    }

    /// True where the limits make sense.
    pub const fn is_valid(&self) -> bool {
        let some = !matches!(self.max_samples, Some(0));
        some && self.max_data_bytes >= 1 && self.max_data_bytes <= Self::DATA_BYTES_MAX
    }
}

impl Default for Batch {
    fn default() -> Self {
        Self {
            max_samples: None,
            max_data_bytes: 1024,
            max_flush_delay: Duration::INFINITE,
        }
    }
}
