//! Words all modules of the matrix share.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// A lock whose holder panicked is as good as any other: the data are lists.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
