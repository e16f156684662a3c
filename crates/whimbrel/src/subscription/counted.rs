//! What a reader has counted, and what it holds.

use std::sync::atomic::Ordering;

use whimbrel_proto::reader::ReaderStatistics;
use whimbrel_types::DdsType;

use super::reader::DataReader;
use crate::driver::compression::CompressionStatistics;
use crate::driver::memory::EndpointMemory;
use crate::driver::packing::BundleCompressionStatistics;

impl<T: DdsType> DataReader<T> {
    /// What this reader holds. Samples that were taken are the program's own; room for the next
    /// that are, of 64 KiB at most, is not counted.
    pub fn memory(&self) -> EndpointMemory {
        self.inner.core.memory(&self.inner.topic.name)
    }

    /// What compression did for this reader.
    pub fn compression_statistics(&self) -> CompressionStatistics {
        self.inner.compression_statistics()
    }

    /// What compression did for whole bundles that brought something to this reader.
    pub fn bundle_compression_statistics(&self) -> BundleCompressionStatistics {
        self.inner.core.lock().bundles
    }

    /// Counters of this reader.
    pub fn statistics(&self) -> ReaderStatistics {
        self.inner.core.lock().machine.statistics()
    }

    /// Samples that arrived but could not be decoded as `T`, and were passed over.
    pub fn undecodable_samples(&self) -> u64 {
        self.inner.core.undecodable.load(Ordering::Relaxed)
    }
}
