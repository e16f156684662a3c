//! What arrives in its turn, as nearly everything does.

use whimbrel_base::guid::Guid;
use whimbrel_base::sequence::SequenceNumber;

use super::Reader;
use super::deliver::cache_change;
use super::line::Arrived;

impl Reader {
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
