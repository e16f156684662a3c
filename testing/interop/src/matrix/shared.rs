//! Words all modules of the matrix share.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Where the peers of previous releases are built.
pub(crate) fn previous_dir() -> PathBuf {
    root().join("target/previous")
}

/// Versions of the previous releases that are played, newest first.
pub(crate) fn previous_versions() -> impl Iterator<Item = &'static str> {
    let lines = PREVIOUS.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split(' ').next()).take(2)
}

const PREVIOUS: &str = include_str!("../../previous.txt");

/// A lock whose holder panicked is as good as any other: the data are lists.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
