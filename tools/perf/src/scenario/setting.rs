//! How much is measured, and with what.

use crate::contestant::Programs;

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Moments, for tests: fewest sizes and messages that say anything at all.
    Miniature,
    /// A minute or so for each scenario.
    Quick,
    /// As in the seeds.
    Full,
}

/// What a run works with.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) programs: Programs,
    pub(crate) extent: Extent,
    /// Payload where samples have content that matters.
    pub(crate) payload: String,
    /// Sizes other than the usual.
    pub(crate) sizes: Vec<usize>,
}

impl Setting {
    /// `sizes` unless others were asked for.
    pub(super) fn sizes(&self, miniature: &[usize], quick: &[usize], full: &[usize]) -> Vec<usize> {
        if !self.sizes.is_empty() {
            return self.sizes.clone();
        }
        match self.extent {
            Extent::Miniature => miniature.to_vec(),
            Extent::Quick => quick.to_vec(),
            Extent::Full => full.to_vec(),
        }
    }
}
