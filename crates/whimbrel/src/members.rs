//! The writers and readers that an entity's QoS concerns, to announce them again when it changes.
//!
//! Keeps none of them alive.

use crate::driver::sync::{Arc, Mutex, Weak, lock};
use std::any::Any;
use std::fmt;

use whimbrel_base::time::Instant;
use whimbrel_proto::Participant;

use crate::driver::participant::ParticipantCore;

/// A writer or reader.
pub(crate) trait Member: Send + Sync {
    /// Tells the bus what it is like now.
    fn announce(&self, control: &mut Participant, now: Instant);

    /// Does itself what its group says from now on.
    fn follow_group(&self) {}

    /// What it is, to be found by its type.
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

#[derive(Default)]
pub(crate) struct Members {
    list: Mutex<Vec<Weak<dyn Member>>>,
}

impl Members {
    pub(crate) fn add(&self, member: Weak<dyn Member>) {
        let mut list = lock(&self.list);
        if list.len() == list.capacity() {
            list.retain(|it| it.strong_count() > 0);
        }
        list.push(member);
    }

    /// Announces those that still have handles, and matches them again.
    pub(crate) fn announce(&self, core: &ParticipantCore) {
        // Dropped without a lock held: each may be the last handle by then, and take its entity
        // off the bus.
        let members = self.alive();
        members.iter().for_each(|member| member.follow_group());
        core.change(|control, now| {
            for member in &members {
                member.announce(control, now);
            }
        });
    }

    /// The first that still has handles, is a `T` and has the property `is_wanted`.
    pub(crate) fn find<T: Any + Send + Sync>(
        &self,
        is_wanted: impl Fn(&T) -> bool,
    ) -> Option<Arc<T>> {
        self.all().into_iter().find(|it| is_wanted(it))
    }

    /// Those that still have handles and are a `T`.
    pub(crate) fn all<T: Any + Send + Sync>(&self) -> Vec<Arc<T>> {
        let members = self.alive().into_iter().map(Member::into_any);
        members.filter_map(|it| it.downcast::<T>().ok()).collect()
    }

    fn alive(&self) -> Vec<Arc<dyn Member>> {
        lock(&self.list).iter().filter_map(Weak::upgrade).collect()
    }
}

impl fmt::Debug for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Members({})", lock(&self.list).len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;

    impl Member for Nothing {
        fn announce(&self, _control: &mut Participant, _now: Instant) {}

        fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
            self
        }
    }

    #[test]
    fn members_that_are_gone_make_room() {
        let members = Members::default();
        let stays: Arc<dyn Member> = Arc::new(Nothing);
        members.add(Arc::downgrade(&stays));
        for _ in 0..1000 {
            let goes: Arc<dyn Member> = Arc::new(Nothing);
            members.add(Arc::downgrade(&goes));
        }
        assert_eq!(members.alive().len(), 1);
        assert!(lock(&members.list).capacity() < 16);
    }
}
