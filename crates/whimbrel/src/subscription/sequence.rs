//! The samples of one call, and the room for them that their reader keeps.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::iter::FusedIterator;
use std::ops::{Deref, DerefMut};

use crate::driver::sync::{Arc, Mutex, lock};

/// No larger room is kept between two calls.
const ROOM_BYTES_MAX: usize = 64 * 1024;

/// Room for samples that nobody uses at the moment, of whatever kind was asked for last.
#[derive(Default)]
pub(crate) struct Room {
    unused: Mutex<Option<Box<dyn Any + Send>>>,
}

/// In one piece: filled from empty, and taken from at its ends.
struct Buffer<S>(VecDeque<S>);

impl<S> Default for Buffer<S> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl Room {
    fn lend<S: Send + 'static>(&self) -> Box<Buffer<S>> {
        let unused = lock(&self.unused).take();
        unused.and_then(|it| it.downcast().ok()).unwrap_or_default()
    }

    fn take_back<S: Send + 'static>(&self, mut buffer: Box<Buffer<S>>) {
        // Not under the lock: samples may be of types that do something when dropped.
        buffer.0.clear();
        if buffer.0.capacity().saturating_mul(size_of::<S>()) <= ROOM_BYTES_MAX {
            *lock(&self.unused) = Some(buffer);
        }
    }
}

/// The samples that one call took or read, in order: a slice of them, or an iterator that gives
/// them away. What `FooSeq` and `SampleInfoSeq` are together in DDS 1.4 §2.3.3.
///
/// Their room is the reader's, which has it back when this is dropped, as by `return_loan`,
/// DDS 1.4 §2.2.2.5.3.20, and keeps up to 64 KiB of it: who is done with what one call took before
/// he makes the next allocates nothing for that.
///
/// ```no_run
/// # use whimbrel::{DataReader, DdsType};
/// # fn show<T: DdsType + std::fmt::Debug>(reader: &DataReader<T>) -> Result<(), whimbrel::Error> {
/// let samples = reader.read(10)?;
/// println!("{} samples, the first {:?}", samples.len(), samples.first());
/// for sample in reader.take(10)? {
///     println!("{:?}", sample.into_data());
/// }
/// # Ok(())
/// # }
/// ```
pub struct SampleSeq<S: Send + 'static> {
    /// None where there never were any.
    samples: Option<Box<Buffer<S>>>,
    home: Option<Arc<Room>>,
}

impl<S: Send + 'static> SampleSeq<S> {
    /// No samples.
    pub(super) const fn new() -> Self {
        Self {
            samples: None,
            home: None,
        }
    }

    /// All of `samples`, in `room` where that is unused.
    pub(super) fn collect(room: &Arc<Room>, samples: &mut dyn Iterator<Item = S>) -> Self {
        let Some(first) = samples.next() else {
            return Self::new();
        };
        let mut all = room.lend();
        let Buffer(buffer) = &mut *all;
        let (fewest, most) = samples.size_hint();
        buffer.reserve_exact(most.unwrap_or(fewest).saturating_add(1));
        buffer.push_back(first);
        buffer.extend(samples);
        buffer.make_contiguous();
        Self {
            samples: Some(all),
            home: Some(Arc::clone(room)),
        }
    }

    /// The samples in memory of their own.
    pub fn into_vec(mut self) -> Vec<S> {
        let samples = self.samples.take();
        samples.map_or_else(Vec::new, |it| it.0.into())
    }
}

impl<S: Send + 'static> Default for SampleSeq<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: Send + 'static> Drop for SampleSeq<S> {
    fn drop(&mut self) {
        if let Some(samples) = self.samples.take()
            && let Some(home) = &self.home
        {
            home.take_back(samples);
        }
    }
}

impl<S: Send + 'static> Deref for SampleSeq<S> {
    type Target = [S];

    fn deref(&self) -> &[S] {
        self.samples.as_ref().map_or(&[], |it| it.0.as_slices().0)
    }
}

impl<S: Send + 'static> DerefMut for SampleSeq<S> {
    fn deref_mut(&mut self) -> &mut [S] {
        let samples = self.samples.as_mut();
        samples.map_or(&mut [], |it| it.0.as_mut_slices().0)
    }
}

impl<S: fmt::Debug + Send + 'static> fmt::Debug for SampleSeq<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<S: Send + 'static> From<SampleSeq<S>> for Vec<S> {
    fn from(samples: SampleSeq<S>) -> Self {
        samples.into_vec()
    }
}

impl<S: Send + 'static> IntoIterator for SampleSeq<S> {
    type Item = S;
    type IntoIter = IntoIter<S>;

    fn into_iter(self) -> IntoIter<S> {
        IntoIter { left: self }
    }
}

impl<'a, S: Send + 'static> IntoIterator for &'a SampleSeq<S> {
    type Item = &'a S;
    type IntoIter = std::slice::Iter<'a, S>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, S: Send + 'static> IntoIterator for &'a mut SampleSeq<S> {
    type Item = &'a mut S;
    type IntoIter = std::slice::IterMut<'a, S>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

/// Gives the samples of a [`SampleSeq`] away, one by one.
#[derive(Debug)]
#[must_use = "iterators do nothing unless advanced"]
pub struct IntoIter<S: Send + 'static> {
    left: SampleSeq<S>,
}

impl<S: Send + 'static> Iterator for IntoIter<S> {
    type Item = S;

    fn next(&mut self) -> Option<S> {
        self.left.samples.as_mut()?.0.pop_front()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left.len(), Some(self.left.len()))
    }
}

impl<S: Send + 'static> DoubleEndedIterator for IntoIter<S> {
    fn next_back(&mut self) -> Option<S> {
        self.left.samples.as_mut()?.0.pop_back()
    }
}

impl<S: Send + 'static> ExactSizeIterator for IntoIter<S> {}

impl<S: Send + 'static> FusedIterator for IntoIter<S> {}

#[cfg(test)]
mod tests {
    use super::*;

    /// What one call gives, and where its first is in memory.
    fn called(room: &Arc<Room>, numbers: &[u32]) -> (SampleSeq<u32>, *const u32) {
        let samples = SampleSeq::collect(room, &mut numbers.iter().copied());
        let at = samples.as_ptr();
        (samples, at)
    }

    #[test]
    fn a_call_uses_the_room_of_the_one_before() {
        let room = Arc::default();
        let (samples, at) = called(&room, &[1, 2, 3]);
        assert_eq!(*samples, [1, 2, 3]);
        drop(samples);
        let (samples, again_at) = called(&room, &[4, 5]);
        assert_eq!((&*samples, again_at), (&[4, 5][..], at));
        let (beside, beside_at) = called(&room, &[6]);
        assert_ne!(beside_at, at, "the room is in use");
        drop(samples);
        drop(beside);
        let (samples, last_at) = called(&room, &[7]);
        assert_eq!((&*samples, last_at), (&[7][..], beside_at));
    }

    #[test]
    fn samples_are_given_away_from_both_ends_and_the_room_is_kept() {
        let room = Arc::default();
        let (samples, at) = called(&room, &[1, 2, 3, 4]);
        let mut given = samples.into_iter();
        assert_eq!((given.next(), given.next_back()), (Some(1), Some(4)));
        assert_eq!((given.len(), given.size_hint()), (2, (2, Some(2))));
        assert_eq!(given.by_ref().collect::<Vec<_>>(), [2, 3]);
        assert_eq!((given.next(), given.next_back()), (None, None));
        drop(given);
        let (mut samples, again_at) = called(&room, &[5, 6]);
        assert_eq!(again_at, at);
        samples.reverse();
        assert_eq!(Vec::from(samples), [6, 5]);
    }

    #[test]
    fn samples_left_behind_are_dropped_at_once() {
        let room = Arc::default();
        let shared = Arc::new(());
        let mut all = std::iter::repeat_with(|| Arc::clone(&shared)).take(3);
        let samples = SampleSeq::collect(&room, &mut all);
        let mut given = samples.into_iter();
        let first = given.next();
        assert_eq!(Arc::strong_count(&shared), 4);
        drop(given);
        assert_eq!(Arc::strong_count(&shared), 2);
        drop(first);
    }

    #[test]
    fn large_rooms_and_those_for_other_kinds_are_not_kept() {
        let room = Arc::default();
        let large: Vec<u32> = (0..20_000).collect();
        let (samples, _) = called(&room, &large);
        assert_eq!(*samples, *large);
        drop(samples);
        assert!(lock(&room.unused).is_none());
        drop(called(&room, &[1]));
        let others = SampleSeq::collect(&room, &mut ["one"].into_iter());
        assert!(lock(&room.unused).is_none());
        assert_eq!(others.into_vec(), ["one"]);
        let none = SampleSeq::<u32>::collect(&room, &mut std::iter::empty());
        assert!(none.is_empty() && none.home.is_none());
    }
}
