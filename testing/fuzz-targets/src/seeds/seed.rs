//! One first input of a corpus.

use crate::raw::Raw;

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

/// A submessage: the flags octet, then a body that is in the byte order of `raw`.
pub(super) fn seed(target: &'static str, name: &str, flags: u8, raw: Raw) -> Seed {
    let little = raw.is_little();
    let order = if little { "le" } else { "be" };
    let mut bytes = vec![flags | u8::from(little)];
    bytes.extend(raw.done());
    Seed::new(target, format!("{name}-{order}"), bytes)
}
