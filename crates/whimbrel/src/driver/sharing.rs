//! Bundles of several writers of a participant, in one message to the same destinations.

use whimbrel_base::guid::Guid;
use whimbrel_base::time::Instant;
use whimbrel_proto::together::SharedMessage;

use super::packing::Packing;
use super::sync::atomic::{AtomicUsize, Ordering};
use super::sync::{Arc, Mutex, Weak, lock};

/// A writer whose samples wait for others.
pub(crate) trait Waits: Send + Sync {
    /// Who it is.
    fn guid(&self) -> Guid;

    /// Sends what waits into `shared`. Call it without a lock.
    fn leave_along(&self, now: Instant, shared: &mut Shared);
}

/// The writers of a participant whose samples wait for others.
#[derive(Default)]
pub(crate) struct Waiting {
    /// Each once; what it had waiting may have left.
    writers: Mutex<Vec<Weak<dyn Waits>>>,
    /// Octets of message that wait in all.
    bytes: AtomicUsize,
}

impl Waiting {
    /// Samples of `writer`, which is not among them, wait.
    pub(super) fn add(&self, writer: Weak<dyn Waits>) {
        lock(&self.writers).push(writer);
    }

    /// All of them but `guid`; they are among them no more.
    pub(super) fn take(&self, guid: Option<Guid>) -> Vec<Arc<dyn Waits>> {
        let mut writers = lock(&self.writers);
        let mut taken = Vec::new();
        writers.retain(|writer| {
            let Some(writer) = writer.upgrade() else {
                return false;
            };
            let stays = Some(writer.guid()) == guid;
            if !stays {
                taken.push(writer);
            }
            stays
        });
        drop(writers);
        taken
    }

    /// One of them has `now` octets waiting where it had `before`.
    pub(super) fn count(&self, before: usize, now: usize) {
        if now > before {
            self.bytes.fetch_add(now - before, Ordering::Relaxed);
        } else if before > now {
            self.bytes.fetch_sub(before - now, Ordering::Relaxed);
        }
    }

    /// Octets that wait in all.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// What several writers send together: a plain message, and one to be compressed.
#[derive(Default)]
pub(crate) struct Shared {
    pub(super) plain: SharedMessage,
    pub(super) packed: SharedMessage,
    /// How the latter is compressed; nothing is added to it otherwise.
    packing: Option<Packing>,
}

impl Shared {
    /// Nothing yet; what is compressed as `packing` says is put together too.
    pub(super) fn new(packing: Option<Packing>) -> Self {
        Self {
            packing,
            ..Self::default()
        }
    }

    /// True where messages that are compressed like that can be added.
    pub(super) fn packs(&self, packing: Packing) -> bool {
        self.packing == Some(packing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_that_wait_are_summed() {
        let waiting = Waiting::default();
        waiting.count(0, 100);
        waiting.count(0, 50);
        waiting.count(100, 30);
        assert_eq!(waiting.bytes(), 80);
        assert!(waiting.take(None).is_empty());
    }
}
