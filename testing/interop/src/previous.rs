//! The peers of previous releases, built from the revisions that `previous.txt` names.

use std::process::Command;

use crate::matrix::shared::{previous_dir, root};

/// Builds the peers of previous releases where they are missing or of another revision.
///
/// # Errors
/// What the script complains of.
pub(crate) fn build() -> Result<(), String> {
    let output = Command::new("sh")
        .arg(root().join("testing/interop/previous.sh"))
        .arg(previous_dir())
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    Err(format!("previous.sh: {complaint}"))
}
