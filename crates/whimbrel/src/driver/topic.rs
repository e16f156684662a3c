//! What a topic hears: that others use its name for another type.

use whimbrel_base::status::{InconsistentTopic, StatusKind, StatusMask};

use super::status::{Entity, EntityStatus, News};
use super::sync::{Arc, Mutex, lock};

/// A topic of a participant, shared by all handles of its name.
#[derive(Debug)]
pub(crate) struct TopicCore {
    pub(crate) name: String,
    pub(crate) status: Arc<EntityStatus>,
    inconsistent: Mutex<InconsistentTopic>,
}

impl Entity for TopicCore {
    fn status(&self) -> &EntityStatus {
        &self.status
    }
}

impl TopicCore {
    pub(crate) fn new(name: &str, status: Arc<EntityStatus>) -> Arc<Self> {
        Arc::new(Self {
            name: name.to_owned(),
            status,
            inconsistent: Mutex::default(),
        })
    }

    /// Somebody uses the name for another type.
    pub(crate) fn inconsistent_topic(&self) -> News {
        let kinds = StatusMask::of(StatusKind::InconsistentTopic);
        let mut status = lock(&self.inconsistent);
        status.count();
        self.status.mark(kinds);
        News::of(kinds)
    }

    /// Reads the status and starts its change anew.
    pub(crate) fn take_inconsistent_topic(&self) -> InconsistentTopic {
        let mut status = lock(&self.inconsistent);
        self.status.clear(StatusKind::InconsistentTopic);
        status.take()
    }
}
