//! What arrived at a thread for readers, as far as it matters to what it writes: that may be an
//! answer. What another thread receives for it does not count, nor what is handed over within the
//! process.

use std::cell::Cell;

use whimbrel_base::streak::COUNT_BITS;

use super::sync::atomic::{AtomicU32, Ordering};
use super::sync::thread_local;

/// How many threads count.
static THREADS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// How often something arrived, and above that which thread counts; zero before.
    static COUNT: Cell<u32> = const { Cell::new(0) };
}

const COUNT_MAX: u32 = (1 << COUNT_BITS) - 1;

/// Something arrived at this thread for a reader.
#[inline(always)]
pub(super) fn note() {
    COUNT.with(|it| {
        let before = match it.get() {
            0 => begin(),
            known => known,
        };
        it.set(before & !COUNT_MAX | before.wrapping_add(1) & COUNT_MAX);
    });
}

/// The first count of a thread; of few it is one that no other has.
#[cold]
fn begin() -> u32 {
    let others = THREADS.fetch_add(1, Ordering::Relaxed);
    (others % (u32::MAX >> COUNT_BITS) + 1) << COUNT_BITS
}

/// How often something did, for [`whimbrel_base::streak::Streak::with_heard`].
#[inline(always)]
pub(super) fn count() -> u32 {
    COUNT.with(Cell::get)
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn each_thread_counts_for_itself_and_stays_what_it_is() {
        let counts = || {
            let before = count();
            note();
            let first = count();
            COUNT.with(|it| it.set(first | COUNT_MAX));
            note();
            (before, first, count())
        };
        let threads = [(); 2].map(|()| std::thread::spawn(counts));
        let [one, two] = threads.map(|it| it.join().unwrap());
        for (before, first, wrapped) in [one, two] {
            assert_eq!((before, first & COUNT_MAX, wrapped & COUNT_MAX), (0, 1, 0));
            assert_eq!(first >> COUNT_BITS, wrapped >> COUNT_BITS);
            assert_ne!(wrapped, 0);
        }
        assert_ne!(one.1, two.1);
    }
}
