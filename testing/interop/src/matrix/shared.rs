//! Words all modules of the matrix share.

use std::path::{Path, PathBuf};
use std::process::Command;
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

/// What one of the tools of tshark prints.
///
/// # Errors
/// It is not there, or complains.
pub(crate) fn tool(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .map_err(|error| format!("{program}: {error} (cargo xtask setup installs it)"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    Err(format!("{program}: {}: {complaint}", output.status))
}
