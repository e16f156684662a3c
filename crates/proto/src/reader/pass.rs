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
use crate::cache::CacheChange;
use crate::value::SharedValue;

impl Reader {
    /// Takes a change of a matched writer of this process, with the serialized key of its instance
    /// where it comes as a value only. Whether that is news to who reads; `None`, and nothing
    /// changed, where it is to come by the protocol.
    pub fn take_over(&mut self, change: CacheChange, key: &[u8]) -> Option<bool> {
        let (instance, sequence) = (change.instance, change.sequence);
        let by_value = change.payload.is_empty() && change.value.is_some();
        if by_value && self.config.keys.is_some() && key.is_empty() {
            return None;
        }
        let bytes = change.value.as_ref().map_or(0, SharedValue::bytes);
        let bytes = bytes.max(change.payload.slab_len());
        let proxy = self.writers.get_mut(&change.writer)?;
        if !proxy.would_take_over(sequence, bytes, &self.config) {
            return None;
        }
        let added = self.cache.add(change).ok()?;
        if by_value {
            self.cache.note_key(instance, key);
        }
        proxy.taken_over(sequence);
        self.statistics.count_delivered(bytes);
        self.statistics.in_process = self.statistics.in_process.saturating_add(1);
        Some(added.is_visible())
    }

    /// Whether [`Reader::take_over`] would take a sample of `instance` that keeps so many octets
    /// and that the writer numbers like this.
    pub fn would_take_over(
        &mut self,
        (writer, sequence): (Guid, SequenceNumber),
        instance: InstanceHandle,
        bytes: usize,
    ) -> bool {
        let proxy = self.writers.get(&writer);
        proxy.is_some_and(|it| it.would_take_over(sequence, bytes, &self.config))
            && self.cache.admits(instance)
    }
}

impl WriterProxy {
    fn would_take_over(
        &self,
        sequence: SequenceNumber,
        bytes: usize,
        config: &ReaderConfig,
    ) -> bool {
        let in_turn = if config.reliable && self.info.reliable {
            self.awaited() == Some(sequence) && self.waiting.is_empty()
        } else {
            !self.contacted || self.expected == Some(sequence)
        };
        // The cache may keep as much again to tell the key.
        let needed = bytes.saturating_mul(2).saturating_add(ARRIVAL_BYTES);
        in_turn && bytes <= config.sample_bytes_max && self.account.has_room(needed)
    }

    fn taken_over(&mut self, sequence: SequenceNumber) {
        self.contacted = true;
        self.last = self.last.max(sequence);
        self.expected = Some(sequence.next());
        self.gone.forget_below(sequence.next().0);
        if !self.assemblies.is_empty() {
            self.assemblies = self.assemblies.split_off(&sequence.next());
            self.settle();
        }
    }
}
