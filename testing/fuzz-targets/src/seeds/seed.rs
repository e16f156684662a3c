//! One first input of a corpus.

/// One input.
pub struct Seed {
    /// The target it is for.
    pub target: &'static str,
    /// What it shows.
    pub name: String,
    /// The input.
    pub bytes: Vec<u8>,
}

impl Seed {
    pub(super) fn new(target: &'static str, name: impl Into<String>, bytes: Vec<u8>) -> Self {
        Self {
            target,
            name: name.into(),
            bytes,
        }
    }

    /// The file that holds it.
    pub fn file_name(&self) -> String {
        format!("seed-{}", self.name)
    }
}
