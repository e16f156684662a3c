//! What is to happen, and in which order.

use std::cmp::Ordering;

use whimbrel_base::guid::Guid;
use whimbrel_base::time::Instant;

use crate::network::NodeIndex;
use crate::scenario::Action;

/// What happens at some moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Todo {
    Act(Action),
    WriterLearns { writer: Guid, reader: Guid },
    WriterForgets { writer: Guid, reader: Guid },
    ReaderLearns { reader: Guid, writer: Guid },
    ReaderForgets { reader: Guid, writer: Guid },
    Boot { node: NodeIndex, same_prefix: bool },
    Heal,
    Rest,
}

/// When it does.
pub(super) struct Planned {
    pub(super) at: Instant,
    pub(super) order: u64,
    pub(super) todo: Todo,
}

impl PartialEq for Planned {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}

impl Eq for Planned {}

impl PartialOrd for Planned {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Planned {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}
