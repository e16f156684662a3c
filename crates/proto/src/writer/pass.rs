//! What is handed to readers of the same process, past the network.
//!
//! To the protocol such a reader is one that acknowledges at once. It stands *aside* while it has
//! taken everything so far: nothing is sent to its addresses, nothing is asked of it. What it does
//! not take, because it is not its turn or there is no room, it gets as every other reader, and
//! steps aside again once it has acknowledged that.

use whimbrel_base::guid::Guid;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::sequence::SequenceNumber;

use super::reader_proxy::ReaderProxy;
use super::{Change, Writer};

impl Writer {
    /// `reader` is in this process: changes are offered to it by [`Writer::hand_over`].
    pub fn note_in_process(&mut self, reader: Guid) {
        if let Some(proxy) = self.readers.get_mut(&reader) {
            proxy.in_process = true;
        }
    }

    /// Writes data of `instance`, `bytes` octets of it, without keeping it where every reader is in
    /// this process and takes it at once, all of them or none. Its number; `None`, and nothing
    /// changed, where it is to be written as usual.
    pub fn pass(
        &mut self,
        instance: InstanceHandle,
        bytes: usize,
        offer: impl FnOnce(SequenceNumber) -> bool,
    ) -> Option<SequenceNumber> {
        let idle = self.history.len() == 0 && self.pushed == self.history.last();
        let aside = !self.readers.is_empty() && self.aside == self.readers.len();
        let plain = !self.config.durable && self.endings.is_empty();
        let fits = bytes <= self.config.sample_bytes_max && self.blocked_since.is_none();
        if !(idle && aside && plain && fits && self.history.is_registered(instance)) {
            return None;
        }
        let sequence = self.history.last().next();
        if !offer(sequence) {
            return None;
        }
        self.history.skip(sequence);
        self.count_written(bytes);
        for reader in self.readers.values_mut() {
            reader.acked = sequence;
        }
        self.pushed = sequence;
        self.acked = sequence;
        self.acked_bytes = self.written_bytes;
        let handed = u64::try_from(self.aside).unwrap_or(u64::MAX);
        self.statistics.in_process = self.statistics.in_process.saturating_add(handed);
        Some(sequence)
    }

    /// Offers the newest change to the readers in this process that have all before it;
    /// [`Writer::poll_transmit`] then sends it to those who did not take it.
    pub fn hand_over(&mut self, mut offer: impl FnMut(Guid, &Change) -> bool) {
        let last = self.history.last();
        let Some(change) = self.history.get(last) else {
            return;
        };
        let (reliable, mut stepped_in) = (self.config.reliable, false);
        for (guid, reader) in &mut self.readers {
            if !reader.in_process {
                continue;
            }
            let taken = reader.is_next(last, reliable) && offer(*guid, change);
            if taken {
                reader.acked = last;
                self.statistics.in_process = self.statistics.in_process.saturating_add(1);
            }
            match (reader.aside, taken) {
                (false, true) => {
                    reader.aside = true;
                    self.aside = self.aside.saturating_add(1);
                    self.audience.remove(&reader.info.locators);
                }
                (true, false) => {
                    reader.aside = false;
                    self.aside = self.aside.saturating_sub(1);
                    self.audience.add(&reader.info.locators);
                    stepped_in = true;
                }
                _ => {}
            }
        }
        self.heartbeat.reconsider |= stepped_in;
    }

    /// `reader` has gone back to before what it had taken: it is served as every other again.
    pub(super) fn call_in(&mut self, reader: Guid) {
        let last = self.history.last();
        let Some(proxy) = self.readers.get_mut(&reader) else {
            return;
        };
        if proxy.aside && proxy.info.reliable && proxy.acked < last {
            proxy.aside = false;
            self.aside = self.aside.saturating_sub(1);
            self.audience.add(&proxy.info.locators);
        }
    }
}

impl ReaderProxy {
    /// What an answer with this base says to a writer that is `durable` or not: one that stands
    /// aside may have given it before it was handed the rest. Where history is kept it may have
    /// begun anew, which looks the same.
    pub(super) fn base_of(&self, base: SequenceNumber, durable: bool) -> SequenceNumber {
        if self.aside && !durable {
            base.max(self.acked.next())
        } else {
            base
        }
    }

    /// True when a writer that is `reliable` or not may hand it `sequence`, as far as the writer
    /// knows.
    fn is_next(&self, sequence: SequenceNumber, reliable: bool) -> bool {
        let answers = reliable && self.info.reliable;
        !answers
            || (self.confirmed && self.acked == sequence.previous() && self.requests.is_empty())
    }
}
