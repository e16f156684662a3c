//! Listeners of topics.

use whimbrel_base::status::{InconsistentTopic, StatusMask};
use whimbrel_types::DdsType;

use super::endpoint::entity;
use crate::driver::callbacks::Callback;
use crate::driver::topic::TopicCore;
use crate::topic::Topic;

/// Hears what happens to a topic. DDS 1.4 §2.2.2.3.3.
pub trait TopicListener: Send {
    /// Somebody uses the name `topic_name` for another type. The status given has been read.
    fn on_inconsistent_topic(&mut self, topic_name: &str, status: InconsistentTopic) {
        let _ = (topic_name, status);
    }
}

impl<T: DdsType> Topic<T> {
    /// Has `listener` told of the statuses in `kinds` from now on, and of those that changed
    /// before and were not read; `None` for nobody. All handles of one name share the listener.
    /// DDS 1.4 §2.2.2.1.1.3.
    pub fn set_listener(
        &self,
        listener: Option<Box<dyn TopicListener>>,
        kinds: impl Into<StatusMask>,
    ) {
        let callback = listener.map(|mut listener| -> Callback {
            Box::new(move |owner, _| {
                if let Some(topic) = entity::<TopicCore>(owner) {
                    let status = topic.take_inconsistent_topic();
                    listener.on_inconsistent_topic(&topic.name, status);
                }
            })
        });
        self.inner.core.status.set_listener(callback, kinds.into());
    }
}
