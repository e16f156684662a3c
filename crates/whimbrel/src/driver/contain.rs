//! Running what users gave us: listeners, task wakers, types. A panic of theirs stops nothing of
//! ours, is counted, and was reported by the panic hook.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

static PANICS: AtomicU64 = AtomicU64::new(0);

/// The user's code panicked.
#[derive(Debug)]
pub(crate) struct Panicked;

/// Runs user code. Whatever state it leaves behind is its own to mend.
pub(crate) fn contain<R>(run: impl FnOnce() -> R) -> Result<R, Panicked> {
    let outcome = catch_unwind(AssertUnwindSafe(run));
    outcome.map_err(|payload| {
        PANICS.fetch_add(1, Ordering::Relaxed);
        // The payload is the user's too, and so is its destructor.
        if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            std::mem::forget(again);
        }
        Panicked
    })
}

/// How often user code panicked in this process where we ran it.
pub(crate) fn panics() -> u64 {
    PANICS.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bomb(u32);

    impl Drop for Bomb {
        fn drop(&mut self) {
            if let Some(left) = self.0.checked_sub(1) {
                std::panic::panic_any(Self(left));
            }
        }
    }

    #[test]
    fn payloads_that_panic_are_contained() {
        let before = panics();
        assert!(contain(|| std::panic::panic_any(Bomb(3))).is_err());
        assert!(panics() > before);
        assert_eq!(contain(|| 1).ok(), Some(1));
    }
}
