//! Reading in a `for` loop.

use std::iter::FusedIterator;
use std::time::Duration as StdDuration;

use whimbrel_proto::cache::Selector;
use whimbrel_types::DdsType;

use super::reader::DataReader;
use super::sample::Sample;
use crate::driver::clock;
use crate::driver::reader::Glance;

impl<T: DdsType> DataReader<T> {
    /// Takes what is there, one sample at a time; ends when nothing is left. Does not block.
    ///
    /// Samples that the loop leaves behind stay in the reader. So do those that arrive after it
    /// ended.
    ///
    /// ```no_run
    /// # use whimbrel::{DataReader, DdsType};
    /// # fn show<T: DdsType + std::fmt::Debug>(reader: &DataReader<T>) {
    /// for sample in reader.samples() {
    ///     println!("{:?}", sample.data());
    /// }
    /// # }
    /// ```
    pub fn samples(&self) -> Samples<'_, T> {
        Samples {
            reader: self,
            patience: StdDuration::ZERO,
            ended: false,
        }
    }

    /// As [`DataReader::samples`], but waits up to `patience` for each next sample; ends when none
    /// came in that time.
    pub fn samples_timeout(&self, patience: StdDuration) -> Samples<'_, T> {
        Samples {
            reader: self,
            patience,
            ended: false,
        }
    }

    /// Takes the next sample that can be decoded, if there is one; those before it that cannot are
    /// counted.
    pub(super) fn take_one(&self) -> Option<Sample<T>> {
        let one = Selector {
            max_samples: 1,
            ..Selector::ALL
        };
        loop {
            let mut taken = match self.inner.core.glance(&one, true) {
                Glance::Nothing => return None,
                Glance::One(taken) => taken,
                Glance::More => self.inner.fetch_into_scratch(&one, true, Vec::pop)?,
            };
            if let Some(sample) = self.of(&mut taken) {
                return Some(sample);
            }
        }
    }
}

/// The samples of a reader; made by [`DataReader::samples`] and [`DataReader::samples_timeout`].
#[derive(Debug)]
#[must_use = "iterators do nothing unless advanced"]
pub struct Samples<'a, T: DdsType> {
    reader: &'a DataReader<T>,
    patience: StdDuration,
    ended: bool,
}

impl<T: DdsType> Iterator for Samples<'_, T> {
    type Item = Sample<T>;

    fn next(&mut self) -> Option<Sample<T>> {
        if self.ended {
            return None;
        }
        let next = if self.patience.is_zero() {
            self.reader.take_one()
        } else {
            let bell = &self.reader.inner.core.bell;
            bell.wait_until(clock::deadline(self.patience), || self.reader.take_one())
        };
        self.ended = next.is_none();
        next
    }
}

impl<T: DdsType> FusedIterator for Samples<'_, T> {}
