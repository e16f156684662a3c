//! How the `whimbrel-io` thread is asked to make room.
//!
//! Whoever is woken by what that thread has received often runs before its turn is over, and finds
//! the seat taken. In a stream, where the next turn begins at once, he would go on sleeping and be
//! woken anew by each.

use std::time::Duration as StdDuration;

use crate::driver::sync::atomic::{AtomicUsize, Ordering};
use crate::driver::sync::thread;

/// How often whoever asks lets other threads run at most: together that is longer than most turns
/// take that are to end.
const LOOKS_MAX: usize = 12;

/// After so many of them he sleeps in between, so that threads of lower priority run too.
const YIELDS_MAX: usize = 8;
const SLEEP: StdDuration = StdDuration::from_micros(20);

/// Counts who asks.
#[derive(Default)]
pub(super) struct Request(AtomicUsize);

/// Somebody asks for as long as it lives.
pub(super) struct Asked<'a>(&'a Request);

impl Request {
    pub(super) fn ask(&self) -> Asked<'_> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Asked(self)
    }

    /// True where the `whimbrel-io` thread is to make room.
    pub(super) fn is_there(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 0
    }

    /// As [`Request::is_there`]; where it is, others run before this returns.
    pub(super) fn lets_others_run(&self) -> bool {
        let is_there = self.is_there();
        if is_there {
            thread::yield_now();
        }
        is_there
    }
}

impl Asked<'_> {
    /// Waits while there `is_none`, but not for long.
    pub(super) fn wait_while(&self, is_none: impl Fn() -> bool) {
        for look in 0..LOOKS_MAX {
            if !is_none() {
                return;
            }
            if look < YIELDS_MAX {
                thread::yield_now();
            } else {
                thread::sleep(SLEEP);
            }
        }
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::SeqCst);
    }
}
