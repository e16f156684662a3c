//! Why a reader has no writer.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use whimbrel_base::guid::Guid;

use crate::discovery::matching::RuleVerdict;

/// Why a reader has no writer, as far as is known here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unserved {
    /// Name of the reader's topic.
    pub topic_name: String,
    /// Writers known of that topic.
    pub writers: usize,
    /// The writer that comes nearest to a match.
    pub nearest: Option<NearestWriter>,
}

/// A writer that nearly matches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NearestWriter {
    /// Who it is.
    pub writer: Guid,
    /// The rules that stand in the way. None where all are obeyed, but its participant has not
    /// shown yet that it hears us, or the reader has as many matches as it may have.
    pub failed: Vec<RuleVerdict>,
}

impl fmt::Display for Unserved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.writers == 1 { "" } else { "s" };
        write!(
            f,
            "topic {:?}: {} writer{plural} found",
            self.topic_name, self.writers
        )?;
        let Some(nearest) = &self.nearest else {
            return write!(f, " and none of a similar name");
        };
        write!(f, ", nearest {}: ", nearest.writer)?;
        if nearest.failed.is_empty() {
            return write!(f, "every rule passes, but its participant does not answer");
        }
        for (at, verdict) in nearest.failed.iter().enumerate() {
            let separator = if at > 0 { "; " } else { "" };
            write!(f, "{separator}{verdict}")?;
        }
        Ok(())
    }
}
