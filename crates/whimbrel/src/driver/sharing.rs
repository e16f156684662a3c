//! Bundles of several writers of a participant, in one message to the same destinations.

use whimbrel_base::guid::Guid;
use whimbrel_base::locator::Locator;
use whimbrel_base::time::Instant;
use whimbrel_proto::PlainSamples;
use whimbrel_wire::header::Header;

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
    plain: Together,
    packed: Together,
    /// In the latter.
    samples: PlainSamples,
    /// How that is compressed; nothing is added to it otherwise.
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

    /// Adds the submessages of a message to `to` that names no participant; false where it does
    /// not go with those that are there, or would be larger than `bytes_max`.
    pub(super) fn add(&mut self, to: &[Locator], parts: &[&[u8]], bytes_max: usize) -> bool {
        self.plain.add(to, parts, bytes_max)
    }

    /// The same of `samples` that are to be compressed.
    pub(super) fn add_packed(
        &mut self,
        to: &[Locator],
        parts: &[&[u8]],
        (samples, bytes_max): (PlainSamples, usize),
    ) -> bool {
        let fits = self.packed.add(to, parts, bytes_max);
        if fits {
            self.samples = self.samples.plus(samples);
        }
        fits
    }

    /// The plain message, and where it goes; nothing is there then.
    pub(super) fn take(&mut self) -> Option<(Vec<Locator>, Vec<u8>)> {
        self.plain.take()
    }

    /// The one to be compressed, and of which samples; nothing is there then.
    pub(super) fn take_packed(&mut self) -> Option<(Vec<Locator>, Vec<u8>, PlainSamples)> {
        let samples = std::mem::take(&mut self.samples);
        let (to, message) = self.packed.take()?;
        Some((to, message, samples))
    }

    /// True where there is one to be compressed.
    pub(super) fn has_packed(&self) -> bool {
        !self.packed.message.is_empty()
    }
}

/// A message to which several writers add.
#[derive(Default)]
struct Together {
    to: Vec<Locator>,
    message: Vec<u8>,
    bytes_max: usize,
}

impl Together {
    fn add(&mut self, to: &[Locator], parts: &[&[u8]], bytes_max: usize) -> bool {
        let bytes: usize = parts.iter().map(|part| part.len()).sum();
        if self.message.is_empty() {
            self.to.clear();
            self.to.extend_from_slice(to);
            self.bytes_max = bytes_max;
            parts
                .iter()
                .for_each(|part| self.message.extend_from_slice(part));
            return true;
        }
        let more = bytes.saturating_sub(Header::LEN);
        let limit = self.bytes_max.min(bytes_max);
        if self.to != to || self.message.len().saturating_add(more) > limit {
            return false;
        }
        self.bytes_max = limit;
        let mut skipped = 0;
        for part in parts {
            let skip = (Header::LEN - skipped).min(part.len());
            skipped += skip;
            self.message
                .extend_from_slice(part.get(skip..).unwrap_or_default());
        }
        true
    }

    fn take(&mut self) -> Option<(Vec<Locator>, Vec<u8>)> {
        let message = std::mem::take(&mut self.message);
        (!message.is_empty()).then(|| (std::mem::take(&mut self.to), message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;

    #[test]
    fn messages_to_the_same_places_become_one_within_the_smaller_limit() {
        let at = |port| Locator::from(SocketAddr::from(([127, 0, 0, 1], port)));
        let (here, there) = ([at(1), at(2)], [at(1)]);
        let header = [9; Header::LEN];
        let mut shared = Shared::default();
        assert!(shared.take().is_none());
        assert!(shared.add(&here, &[&header, &[1; 30]], 100));
        assert!(!shared.add(&there, &[&header, &[2; 4]], 100));
        // The header may be divided, or stand in one part with what follows.
        assert!(shared.add(&here, &[&header[..7], &header[7..], &[2; 20]], 90));
        let whole = [&header[..], &[3; 20]].concat();
        assert!(shared.add(&here, &[&whole], 200));
        assert!(!shared.add(&here, &[&header, &[4; 4]], 200));
        let (to, message) = shared.take().unwrap();
        let wanted = [&header[..], &[1; 30], &[2; 20], &[3; 20]].concat();
        assert_eq!((&to[..], message), (&here[..], wanted));
        assert!(shared.add(&there, &[&header, &[4; 400]], 100), "alone");
    }

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
