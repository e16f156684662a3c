//! Copies of what is written for readers of this process, in memory that is used again.
//!
//! Each thread remembers copies that it has passed on, by their type. Whoever got one lets go of it
//! sooner or later, most often in the order of writing; then it serves again, with all that it
//! holds.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::sync::Arc;

use whimbrel_types::DdsType;

use crate::driver::contain::contain;

/// Types of which a thread remembers copies.
const TYPES_MAX: usize = 8;

/// Copies of a type that a thread remembers, and octets that they keep, about.
const SPARES_MAX: usize = 64;
const SPARE_BYTES_MAX: usize = 256 * 1024;

/// So many of those passed on longest ago are looked at.
const SCAN: usize = 3;

/// Of larger values only the encoder can tell whether they are too large.
const VALUE_BYTES_MAX: usize = 1 << 30;

thread_local! {
    /// By type, the one that was new last at the end.
    static SPARES: RefCell<Vec<(TypeId, Box<dyn Any>)>> = const { RefCell::new(Vec::new()) };
}

/// Those of a type, in a ring.
struct Spares<T> {
    all: Vec<Arc<T>>,
    /// Which was passed on longest ago; the one before it was last.
    oldest: usize,
}

/// A copy of `value`, which keeps so many octets, to be passed on; `None` where its type makes
/// none, or it cannot be encoded.
///
/// The type's own code runs here: hold no lock.
#[inline(never)]
pub(super) fn duplicate<T: DdsType>(value: &T, bytes: usize) -> Option<Arc<T>> {
    if bytes > VALUE_BYTES_MAX {
        return None;
    }
    // Where the type's own code writes, or the thread ends, there are none.
    let copy = SPARES.try_with(|it| {
        let mut known = it.try_borrow_mut();
        let spares = known.as_mut().ok().and_then(|known| of_type(known));
        spares.map_or_else(|| new(value), |spares| spares.duplicate(value, bytes))
    });
    copy.unwrap_or_else(|_| new(value))
}

/// Octets that readers of this process keep with `value`, about.
pub(super) fn kept_bytes<T: DdsType>(value: &T) -> usize {
    size_of::<T>().saturating_add(value.held_bytes())
}

fn new<T: DdsType>(value: &T) -> Option<Arc<T>> {
    value.duplicate().map(Arc::new)
}

fn of_type<T: DdsType>(known: &mut Vec<(TypeId, Box<dyn Any>)>) -> Option<&mut Spares<T>> {
    let of = TypeId::of::<T>();
    // The last first: most threads write one type.
    let at = known.iter().rposition(|(is, _)| *is == of);
    let at = at.unwrap_or_else(|| {
        if known.len() == TYPES_MAX {
            known.remove(0);
        }
        known.push((of, Box::new(Spares::<T>::none())));
        known.len().saturating_sub(1)
    });
    known.get_mut(at)?.1.downcast_mut()
}

impl<T: DdsType> Spares<T> {
    const fn none() -> Self {
        Self {
            all: Vec::new(),
            oldest: 0,
        }
    }

    /// A copy of `value`, which keeps so many octets.
    #[inline]
    fn duplicate(&mut self, value: &T, bytes: usize) -> Option<Arc<T>> {
        for _ in 0..SCAN.min(self.all.len()) {
            let at = self.oldest;
            self.oldest = self.after(at);
            let spare = self.all.get_mut(at)?;
            if let Some(own) = Arc::get_mut(spare) {
                // Where it cannot be done it holds anything, as it does until it serves again.
                return value.duplicate_into(own).then(|| Arc::clone(spare));
            }
        }
        let copy = new(value)?;
        let kept = self.all.len().saturating_add(1);
        if kept <= SPARES_MAX && kept.saturating_mul(bytes) <= SPARE_BYTES_MAX {
            self.all.insert(self.oldest, Arc::clone(&copy));
            self.oldest = self.after(self.oldest);
        }
        Some(copy)
    }

    /// Which was passed on next after the one in place `at`.
    fn after(&self, at: usize) -> usize {
        let next = at.saturating_add(1);
        if next < self.all.len() { next } else { 0 }
    }
}

impl<T> Drop for Spares<T> {
    fn drop(&mut self) {
        for spare in self.all.drain(..) {
            // The destructor is the program's own.
            let _ = contain(|| drop(spare));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::mem;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;
    use crate::DdsType;

    #[derive(DdsType, Clone, PartialEq, Debug)]
    #[dds(crate = "whimbrel_types")]
    struct Text {
        text: String,
    }

    #[derive(DdsType, Clone, PartialEq, Debug)]
    #[dds(crate = "whimbrel_types")]
    struct Number {
        number: u32,
    }

    fn text(text: &str) -> Text {
        let text = text.into();
        Text { text }
    }

    fn copy<T: DdsType>(value: &T) -> Arc<T> {
        duplicate(value, kept_bytes(value)).unwrap()
    }

    #[test]
    fn a_copy_serves_again_when_nobody_has_it_any_more() {
        let first = copy(&text("first"));
        let place = Arc::as_ptr(&first);
        let second = copy(&text("second"));
        assert_eq!((&*first, &*second), (&text("first"), &text("second")));
        drop(first);
        // Whatever else the thread writes.
        assert_eq!(copy(&Number { number: 5 }).number, 5);
        let third = copy(&text("third"));
        assert_eq!((Arc::as_ptr(&third), &*third), (place, &text("third")));
        assert_eq!(*second, text("second"));
        // What cannot be encoded is none, and takes nothing from what comes next.
        drop(third);
        let none = text("a\0b");
        assert!(duplicate(&none, kept_bytes(&none)).is_none());
        let next = copy(&text("next"));
        let after = copy(&text("after"));
        assert_eq!((&*next, &*after), (&text("next"), &text("after")));
        assert!([&next, &after].map(Arc::as_ptr).contains(&place));
    }

    #[test]
    fn copies_serve_again_in_the_order_in_which_they_were_passed_on() {
        let kept: Vec<_> = (0..5).map(|number| copy(&Number { number })).collect();
        let mut made: Vec<_> = kept.iter().map(Arc::as_ptr).collect();
        drop(kept);
        let next = || Arc::as_ptr(&copy(&Number { number: 7 }));
        let [first, second] = [(); 2].map(|()| -> Vec<_> { (0..5).map(|_| next()).collect() });
        assert_eq!(first, second);
        let mut served = first;
        served.sort_unstable();
        made.sort_unstable();
        assert_eq!(served, made);
    }

    #[test]
    fn some_copies_that_somebody_keeps_are_remembered_and_not_too_many() {
        let kept: Vec<_> = (0..200).map(|number| copy(&Number { number })).collect();
        assert!((0..200).all(|number| kept[number as usize].number == number));
        let remembered = |it: &&Arc<Number>| Arc::strong_count(it) == 2;
        assert_eq!(kept.iter().filter(remembered).count(), SPARES_MAX);
        // One that is free is found behind some that are not.
        let (place, at) = (Arc::as_ptr(&kept[2]), 2);
        let mut kept: Vec<_> = kept.into_iter().map(Some).collect();
        kept[at] = None;
        let found = (0..SPARES_MAX).any(|_| Arc::as_ptr(&copy(&Number { number: 1 })) == place);
        assert!(found);
    }

    #[test]
    fn large_values_are_remembered_as_far_as_they_are_few_octets_together() {
        let large = text(&"x".repeat(100_000));
        let kept = [(); 4].map(|()| copy(&large));
        assert!(kept.iter().all(|it| **it == large));
        let remembered = kept.iter().filter(|it| Arc::strong_count(it) == 2);
        assert_eq!(remembered.count(), 2);
    }

    #[test]
    fn a_thread_takes_along_what_it_remembers_whatever_comes_of_it() {
        static DROPPED: AtomicUsize = AtomicUsize::new(0);

        #[derive(DdsType)]
        #[dds(crate = "whimbrel_types")]
        struct Bomb {
            number: u32,
        }

        impl Drop for Bomb {
            fn drop(&mut self) {
                DROPPED.fetch_add(1, Ordering::SeqCst);
                panic!("as asked");
            }
        }

        let ended = thread::spawn(|| {
            let bomb = Bomb { number: 1 };
            let copies = [(); 3].map(|()| copy(&bomb));
            copies.into_iter().for_each(drop);
            mem::forget(bomb);
        });
        assert!(ended.join().is_ok());
        assert_eq!(DROPPED.load(Ordering::SeqCst), 3);
    }
}
