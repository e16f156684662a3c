//! Which subscribers have announced themselves.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::bus::SLICE;
use crate::failure::Failure;
use crate::message::{FINISHED_SIZE, INITIALIZE_SIZE, LENGTH_CHANGED_SIZE};
use crate::stop;

/// Numbers of subscribers: in with their first word, out with their last.
#[derive(Debug, Default)]
pub(super) struct Announced {
    all: Mutex<BTreeSet<i32>>,
    changed: Condvar,
}

impl Announced {
    /// Takes note of an announcement of `size` octets by the subscriber `id`.
    pub(super) fn note(&self, id: i32, size: usize) {
        let mut all = self.lock();
        match size {
            INITIALIZE_SIZE | LENGTH_CHANGED_SIZE => all.insert(id),
            FINISHED_SIZE => all.remove(&id),
            _ => return,
        };
        drop(all);
        self.changed.notify_all();
    }

    /// Forgets all, to hear who says it again.
    pub(super) fn clear(&self) {
        self.lock().clear();
    }

    /// Waits until `wanted` holds.
    ///
    /// # Errors
    /// A signal.
    pub(super) fn wait_until(
        &self,
        wanted: impl Fn(&BTreeSet<i32>) -> bool,
    ) -> Result<(), Failure> {
        while !self.wait(SLICE, &wanted) {
            if let Some(signal) = stop::signal() {
                return Err(Failure::Signal(signal));
            }
        }
        Ok(())
    }

    /// Waits until `wanted` holds, at most for `time`; whether it does.
    pub(super) fn wait(&self, time: Duration, wanted: impl Fn(&BTreeSet<i32>) -> bool) -> bool {
        let waited = self
            .changed
            .wait_timeout_while(self.lock(), time, |all| !wanted(all));
        let (all, _) = waited.unwrap_or_else(PoisonError::into_inner);
        wanted(&all)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<i32>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subscribers_come_and_go_with_their_words() {
        let announced = Announced::default();
        for id in [4, 7, 4] {
            announced.note(id, INITIALIZE_SIZE);
        }
        announced.note(9, 72);
        assert!(announced.wait(Duration::ZERO, |all| all.len() == 2));
        announced.note(4, FINISHED_SIZE);
        assert!(!announced.wait(Duration::ZERO, BTreeSet::is_empty));
        announced.clear();
        announced.note(7, LENGTH_CHANGED_SIZE);
        assert!(announced.wait(Duration::ZERO, |all| all.len() == 1));
    }
}
