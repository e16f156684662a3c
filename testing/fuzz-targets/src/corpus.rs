//! The committed corpora: `fuzz/corpus/TARGET/NAME`, one input a file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// One input with its name.
pub struct Input {
    /// The file's name.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// The folder of all corpora.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus")
}

/// All inputs of a target, sorted by name.
///
/// # Errors
///
/// When the target has no folder or a file cannot be read.
pub fn inputs(target: &str) -> io::Result<Vec<Input>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder().join(target))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        found.push(Input {
            name,
            bytes: fs::read(entry.path())?,
        });
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}
