//! A process that is always busy, until its input ends.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use whimbrel_bench::protocol::stand_by;

/// Says `ready` and keeps a core until the input ends.
///
/// # Errors
/// Nobody listens.
pub(crate) fn run() -> Result<(), String> {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let stood = scope.spawn(|| {
            let stood = stand_by();
            done.store(true, Ordering::Relaxed);
            stood
        });
        while !done.load(Ordering::Relaxed) {
            black_box(0);
        }
        stood.join().map_err(|_| "panicked".to_owned())?
    })
}
