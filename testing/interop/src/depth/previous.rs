//! The previous releases against the present tree: cases of the matrix, both ways.

use std::fmt;

use super::stage::Stage;
use super::tally::Moved;
use crate::matrix::cases::{Case, Pair};
use crate::matrix::outcome::Verdict;
use crate::matrix::scene::{self, Captures};
use crate::matrix::shared::root;

/// A case of the matrix with a previous release.
#[derive(Debug)]
pub(crate) struct Previous {
    pub(crate) case: &'static Case,
    pub(crate) pair: Pair,
}

impl fmt::Display for Previous {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.case.name, self.pair)
    }
}

impl Previous {
    /// Plays the case as the matrix does.
    pub(crate) fn play(&self, stage: &Stage<'_>) -> Result<Moved, String> {
        let work = root().join("target/interop");
        std::fs::create_dir_all(&work).map_err(|error| error.to_string())?;
        let captures = Captures::default();
        let (number, dir) = (stage.number, stage.peers_dir);
        let scene = scene::Stage::new(self.case, self.pair, number, dir, &work, &captures);
        let verdict = scene.play();
        for file in captures.take() {
            let _ = std::fs::remove_file(file);
        }
        match verdict {
            Verdict::Passed => Ok(Moved::default()),
            Verdict::Failed(why) => Err(why),
            Verdict::NotApplicable(why) => Err(format!("a release cannot: {why}")),
        }
    }
}
