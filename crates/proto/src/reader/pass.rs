//! What writers of the same process hand over, past the network.
//!
//! A reader takes what is the next in order and finds room at once. Everything else it leaves to
//! the protocol, which knows how to wait, to repair and to report: so whatever QoS asks for is
//! done in one place.

use whimbrel_base::guid::Guid;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::sequence::SequenceNumber;

use super::writer_proxy::{ARRIVAL_BYTES, WriterProxy};
use super::{Reader, ReaderConfig};
use crate::cache::{Added, CacheChange};
use crate::value::SharedValue;

/// Data that a writer of this process would hand over.
#[derive(Clone, Copy, Debug)]
pub struct Offer<'a> {
    /// Who hands it over.
    pub writer: Guid,
    /// Its number there.
    pub sequence: SequenceNumber,
    /// Its instance.
    pub instance: InstanceHandle,
    /// Octets that it keeps.
    pub bytes: usize,
    /// The serialized key, as far as it is known, where the data comes as a value only.
    pub key: Option<&'a [u8]>,
}

impl Reader {
    /// Takes a change of a matched writer of this process, with the serialized key of its instance
    /// where it comes as a value only. Whether that is news to who reads; `None`, and nothing
    /// changed, where it is to come by the protocol.
    pub fn take_over(&mut self, change: CacheChange, key: &[u8]) -> Option<bool> {
        let by_value = change.payload.is_empty() && change.value.is_some();
        let bytes = change.value.as_ref().map_or(0, SharedValue::bytes);
        let offer = Offer {
            writer: change.writer,
            sequence: change.sequence,
            instance: change.instance,
            bytes: bytes.max(change.payload.slab_len()),
            key: by_value.then_some(key),
        };
        let lacks_key = self.lacks_key(&offer);
        let proxy = self.writers.get_mut(&offer.writer)?;
        if lacks_key || !proxy.would_take_over(&offer, &self.config) {
            return None;
        }
        let added = self.cache.add(change).ok()?;
        proxy.taken_over(offer.sequence);
        Some(self.note_taken(&offer, added))
    }

    /// As [`Reader::take_over`] of data, which `change` gives where it will be taken.
    pub fn take_data(
        &mut self,
        offer: &Offer<'_>,
        change: impl FnOnce() -> CacheChange,
    ) -> Option<bool> {
        let lacks_key = self.lacks_key(offer);
        let proxy = self.writers.get_mut(&offer.writer)?;
        if lacks_key || !proxy.would_take_over(offer, &self.config) {
            return None;
        }
        let added = match self.cache.lone_place(offer.instance, offer.writer) {
            Some(slot) => {
                self.cache.keep_alone(slot, change());
                Added::Stored
            }
            None if self.cache.admits(offer.instance) => self.cache.add(change()).ok()?,
            None => return None,
        };
        proxy.taken_over(offer.sequence);
        Some(self.note_taken(offer, added))
    }

    /// Whether [`Reader::take_data`] would take what is offered.
    pub fn would_take_data(&mut self, offer: &Offer<'_>) -> bool {
        let proxy = self.writers.get(&offer.writer);
        proxy.is_some_and(|it| it.would_take_over(offer, &self.config))
            && !self.lacks_key(offer)
            && self.cache.admits(offer.instance)
    }

    #[inline(always)]
    fn note_taken(&mut self, offer: &Offer<'_>, added: Added) -> bool {
        // Without octets there is no key to note, as in a reader without keys.
        if let Some(key) = offer.key.filter(|key| !key.is_empty()) {
            self.cache.note_key(offer.instance, key);
        }
        self.statistics.count_delivered(offer.bytes);
        self.statistics.in_process = self.statistics.in_process.saturating_add(1);
        added.is_visible()
    }

    /// True where the key is not known, and must be.
    fn lacks_key(&self, offer: &Offer<'_>) -> bool {
        self.config.keys.is_some() && offer.key.is_some_and(<[u8]>::is_empty)
    }
}

impl WriterProxy {
    fn would_take_over(&self, offer: &Offer<'_>, config: &ReaderConfig) -> bool {
        let Offer {
            sequence, bytes, ..
        } = *offer;
        let in_turn = if config.reliable && self.info.reliable {
            self.awaited() == Some(sequence) && self.waiting.is_empty()
        } else {
            !self.contacted || self.expected == Some(sequence)
        };
        // The cache may keep as much again to tell the key.
        let needed = bytes.saturating_mul(2).saturating_add(ARRIVAL_BYTES);
        in_turn && bytes <= config.sample_bytes_max && self.account.has_room(needed)
    }

    #[inline(always)]
    fn taken_over(&mut self, sequence: SequenceNumber) {
        self.contacted = true;
        self.last = self.last.max(sequence);
        self.expected = Some(sequence.next());
        self.gone.forget_below(sequence.next().0);
        if !self.assemblies.is_empty() {
            self.forget_parts_before(sequence.next());
            self.settle();
        }
    }
}
