//! What arrives in its turn, as nearly everything does.

use whimbrel_base::guid::Guid;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_wire::compressed::Compressed;

use super::Reader;
use super::config::KeyExtractor;
use super::deliver::{Incoming, cache_change};
use super::line::{Arrived, Line};
use super::room::arrival_bytes;
use super::writer_proxy::WriterProxy;
use crate::change::ChangeKind;

impl Reader {
    /// Moves a plain sample that is the next in order of a reliable writer of which nothing else is
    /// under way into the cache, with one look at all that this touches. Gives back anything else,
    /// having changed nothing.
    pub(super) fn deliver_at_once(&mut self, data: Incoming) -> Result<(), Incoming> {
        let (writer, sequence) = (data.writer, data.sequence);
        let Some(proxy) = self.writers.get_mut(&writer) else {
            return Err(data);
        };
        let bytes = data.payload.len();
        let needed = arrival_bytes(&self.config, data.payload.slab_len());
        let simple = self.config.reliable
            && data.kind == ChangeKind::Alive
            && bytes <= self.config.sample_bytes_max
            && proxy.rests_before(sequence)
            && proxy.account.has_room(needed)
            && (!proxy.info.packs || matches!(Compressed::parse(&data.payload), Ok(None)));
        if !simple {
            return Err(data);
        }
        let instance = data.instance(self.config.keys.as_deref());
        let Some(instance) = instance.filter(|it| self.cache.admits(*it)) else {
            return Err(data);
        };
        let change = cache_change(writer, sequence, data.arrived(instance));
        let Ok(added) = self.cache.add(change) else {
            // It was admitted. Not noted it would be asked for again.
            return Ok(());
        };
        proxy.pass(sequence);
        self.starved = false;
        self.news |= added.is_visible();
        self.statistics.count_delivered(bytes);
        Ok(())
    }

    /// Moves a change that is the next in order, before which nothing waits, into the cache; false
    /// where that has no room.
    pub(super) fn deliver_next(
        &mut self,
        writer: Guid,
        sequence: SequenceNumber,
        arrived: Arrived,
    ) -> bool {
        let bytes = arrived.payload.len();
        let Ok(added) = self.cache.add(cache_change(writer, sequence, arrived)) else {
            return false;
        };
        self.news |= added.is_visible();
        self.statistics.count_delivered(bytes);
        if let Some(proxy) = self.writers.get_mut(&writer) {
            proxy.delivered(sequence);
            proxy.settle();
        }
        true
    }
}

impl WriterProxy {
    /// True when `sequence` is the next in order and nothing else of the writer, which is reliable
    /// and numbers changes, is under way.
    fn rests_before(&self, sequence: SequenceNumber) -> bool {
        self.info.reliable
            && self.line == Line::Changes
            && self.assemblies.is_empty()
            && sequence != SequenceNumber::MAX
            && self.is_next(sequence)
    }

    /// Notes that the next in order was delivered, where nothing waits.
    fn pass(&mut self, sequence: SequenceNumber) {
        self.last = self.last.max(sequence);
        self.expected = Some(sequence.next());
        self.gone.forget_below(sequence.next().0);
    }
}

impl Incoming {
    /// Its instance by `keys`, where there are any; `None` where that cannot be had.
    pub(super) fn instance(&self, keys: Option<&dyn KeyExtractor>) -> Option<InstanceHandle> {
        match keys {
            None => Some(InstanceHandle::NIL),
            // A payload speaks for itself; the key hash only helps where there is none.
            Some(keys) if !self.payload.is_empty() => keys
                .instance_of(&self.payload, self.is_key)
                .or_else(|| keys.instance_of_unreadable(self.key_hash)),
            Some(keys) => self.key_hash.or_else(|| keys.instance_of_unreadable(None)),
        }
    }

    /// The whole change, of `instance`.
    pub(super) fn arrived(self, instance: InstanceHandle) -> Arrived {
        Arrived {
            kind: self.kind,
            instance,
            payload: self.payload,
            source_timestamp: self.source_timestamp,
            reception_timestamp: self.reception_timestamp,
        }
    }
}
