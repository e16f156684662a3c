//! The others that the application does not want to know of.

use whimbrel_base::guid::{Guid, GuidPrefix};
use whimbrel_base::sorted::SortedSet;

/// Participants and endpoints that are not there for us, whatever they announce.
#[derive(Debug, Default)]
pub(super) struct Ignored {
    pub(super) participants: SortedSet<GuidPrefix>,
    pub(super) endpoints: SortedSet<Guid>,
}

impl Ignored {
    /// True when `prefix` is not there for us.
    pub(super) fn has_participant(&self, prefix: GuidPrefix) -> bool {
        self.participants.contains(&prefix)
    }

    /// True when the writer or reader `guid` is not there for us.
    pub(super) fn has_endpoint(&self, guid: Guid) -> bool {
        self.endpoints.contains(&guid)
    }
}
