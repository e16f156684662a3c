//! What an entity contains or is used by, to announce it again when the entity's QoS changes.
//!
//! Keeps nothing alive. Handles that [`Members::alive`] returns must be dropped without any lock
//! held: each may be the last one, and then takes its entity off the bus.

use std::fmt;
use std::sync::{Arc, Mutex, Weak};

use crate::driver::wake::lock;

pub(crate) struct Members<T> {
    list: Mutex<Vec<Weak<T>>>,
}

impl<T> Members<T> {
    pub(crate) fn add(&self, member: &Arc<T>) {
        let mut list = lock(&self.list);
        if list.len() == list.capacity() {
            list.retain(|it| it.strong_count() > 0);
        }
        list.push(Arc::downgrade(member));
    }

    /// Those that still have handles.
    pub(crate) fn alive(&self) -> Vec<Arc<T>> {
        lock(&self.list).iter().filter_map(Weak::upgrade).collect()
    }
}

impl<T> Default for Members<T> {
    fn default() -> Self {
        Self {
            list: Mutex::default(),
        }
    }
}

impl<T> fmt::Debug for Members<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Members({})", lock(&self.list).len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_that_are_gone_make_room() {
        let members = Members::default();
        let stays = Arc::new(0);
        members.add(&stays);
        for number in 1..1000 {
            members.add(&Arc::new(number));
        }
        assert_eq!(members.alive(), [stays]);
        assert!(lock(&members.list).capacity() < 16);
    }
}
