//! Cases of the matrix: with previous releases, or with other losses each time.

use std::fmt;

use super::stage::Stage;
use super::tally::Moved;
use crate::matrix::cases::{Case, Pair};
use crate::matrix::outcome::Verdict;
use crate::matrix::scene::{self, Captures};
use crate::matrix::shared::root;

/// A case of the matrix with a pair of peers.
#[derive(Debug)]
pub(crate) struct OfMatrix {
    pub(crate) case: &'static Case,
    pub(crate) pair: Pair,
}

impl fmt::Display for OfMatrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.case.name, self.pair)
    }
}

impl OfMatrix {
    /// Plays the case as the matrix does; the number of the stage is the seed of the losses.
    pub(crate) fn play(&self, stage: &Stage<'_>) -> Result<Moved, String> {
        let work = root().join("target/interop");
        std::fs::create_dir_all(&work).map_err(|error| error.to_string())?;
        let captures = Captures::new(true);
        let (number, dir) = (stage.number, stage.peers_dir);
        let scene = scene::Stage::new(self.case, self.pair, number, dir, &work, &captures);
        let verdict = scene.seed(number + 1).play();
        for file in captures.take() {
            let _ = std::fs::remove_file(file);
        }
        match verdict {
            Verdict::Passed => Ok(Moved::default()),
            Verdict::Failed(why) => Err(format!("seed {}: {why}", number + 1)),
            Verdict::NotApplicable(why) => Err(format!("a peer cannot: {why}")),
        }
    }
}
