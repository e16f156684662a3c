//! Having samples wait for each other, and leave together.

use whimbrel_proto::writer::Writer;
use whimbrel_types::DdsType;

use super::publisher::Publisher;
use super::writer::{DataWriter, WriterInner};
use crate::driver::packing::BundleCompressionStatistics;
use crate::driver::sync::{Arc, lock};
use crate::driver::writer::WriterCore;
use crate::error::Error;

impl<T: DdsType> DataWriter<T> {
    /// Writes all of `values` in as few messages as they fit; they leave when this returns. Other
    /// threads may write between them.
    ///
    /// # Errors
    /// As [`DataWriter::write`], at the first value that could not be written; those before it
    /// were, those after it not.
    pub fn write_batch<'a>(&self, values: impl IntoIterator<Item = &'a T>) -> Result<(), Error>
    where
        T: 'a,
    {
        let _batch = self.inner.core.batch();
        values.into_iter().try_for_each(|value| self.write(value))
    }

    /// Sends the samples that wait for others.
    pub fn flush(&self) {
        self.inner.core.flush();
    }

    /// What compression did for whole bundles of this writer; nothing where it does not compress.
    pub fn bundle_compression_statistics(&self) -> BundleCompressionStatistics {
        let state = self.inner.core.lock();
        let packer = state.packer.as_ref();
        packer.map_or_else(Default::default, |packer| packer.statistics)
    }
}

impl Publisher {
    /// Says that its writers are about to write much: their samples wait for each other, as long
    /// as they fit a message together, until [`Publisher::resume_publications`]. Suspensions nest.
    ///
    /// It is a hint, and holds no sample back from who waits for it: before the resumption leave
    /// those that fill a message together, and all that wait when somebody calls
    /// [`Publisher::flush`] or [`DataWriter::flush`], waits for acknowledgements
    /// ([`DataWriter::wait_for_acknowledgments`]) or finds history full. What is written after that
    /// waits again. DDS 1.4 §2.2.2.4.1.8.
    pub fn suspend_publications(&self) {
        let mut suspended = lock(&self.inner.suspended);
        *suspended += 1;
        if *suspended == 1 {
            for writer in self.inner.writers.all::<WriterInner>() {
                writer.core.suspend();
            }
        }
    }

    /// Ends one suspension; with the last, the samples that still wait leave: see
    /// [`Publisher::suspend_publications`] for what makes them leave before.
    /// DDS 1.4 §2.2.2.4.1.9.
    ///
    /// # Errors
    /// [`Error::PreconditionNotMet`] where publications are not suspended.
    pub fn resume_publications(&self) -> Result<(), Error> {
        let mut suspended = lock(&self.inner.suspended);
        *suspended = suspended.checked_sub(1).ok_or_else(|| {
            Error::PreconditionNotMet("publications are not suspended; suspend them first".into())
        })?;
        if *suspended == 0 {
            WriterCore::change_all(&self.cores(), Writer::resume);
        }
        Ok(())
    }

    /// Sends the samples of its writers that wait for others.
    pub fn flush(&self) {
        WriterCore::change_all(&self.cores(), Writer::flush);
    }

    fn cores(&self) -> Vec<Arc<WriterCore>> {
        let writers = self.inner.writers.all::<WriterInner>();
        writers.iter().map(|it| Arc::clone(&it.core)).collect()
    }
}
