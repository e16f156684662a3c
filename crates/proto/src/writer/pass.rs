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
            self.credit.leave(reader);
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
        self.window.note_all_acknowledged();
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
        let aside_before = self.aside;
        for (guid, reader) in self.readers.iter_mut() {
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
                    self.audience.remove(&reader.info);
                }
                (true, false) => {
                    reader.aside = false;
                    self.aside = self.aside.saturating_sub(1);
                    self.audience.add(&reader.info);
                    stepped_in = true;
                }
                _ => {}
            }
        }
        self.heartbeat.reconsider |= stepped_in;
        if self.forms.packed && (stepped_in || self.aside != aside_before) {
            self.choose_forms();
        }
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
            self.audience.add(&proxy.info);
            if self.forms.packed {
                self.choose_forms();
            }
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

#[cfg(test)]
mod tests {
    use super::super::tests::{Sent, acknack, change, matched, writer};
    use super::*;
    use alloc::vec::Vec;
    use whimbrel_base::guid::GuidPrefix;
    use whimbrel_base::time::{Duration, Instant};

    use super::super::{Bundling, NewChange, WriterConfig};
    use crate::change::ChangeKind;

    const NOW: Instant = Instant(1_000_000_000);

    /// A writer with a reader of its process that knows it.
    fn neighbours(reliable: bool, durable: bool) -> (Writer, Guid, Sent) {
        let mut writer = writer(|config| {
            config.durable = durable;
            config.depth = None;
        });
        let reader = matched(reliable, durable);
        let guid = reader.guid;
        writer.handle_matched(NOW, reader);
        writer.note_in_process(guid);
        let mut sent = Sent::default();
        writer.poll_transmit(NOW, &mut sent);
        if reliable {
            let first = acknack(1, &[], 1);
            writer.handle_acknack(NOW, guid, &first).unwrap();
        }
        sent.words();
        (writer, guid, sent)
    }

    /// Writes and hands over; whether it was passed, and what was sent.
    fn put(writer: &mut Writer, sent: &mut Sent, taken: bool) -> (bool, Vec<&'static str>) {
        let new = change(8);
        let passed = writer.pass(new.instance, 8, |_| taken).is_some();
        if !passed {
            writer.write(NOW, new).unwrap();
            writer.hand_over(|_, _| taken);
        }
        writer.poll_transmit(NOW, sent);
        (passed, sent.words())
    }

    #[test]
    fn what_is_handed_over_is_acknowledged_and_neither_sent_nor_kept() {
        for reliable in [true, false] {
            let (mut writer, _, mut sent) = neighbours(reliable, false);
            assert_eq!(put(&mut writer, &mut sent, true), (false, Vec::new()));
            assert_eq!(put(&mut writer, &mut sent, true), (true, Vec::new()));
            assert!(writer.is_acknowledged(SequenceNumber(2)));
            assert_eq!(writer.acknowledged_through(), SequenceNumber(2));
            assert_eq!(writer.history_len(), 0);
            assert_eq!(writer.poll_timeout(), None);
            assert_eq!(writer.statistics().in_process, 2);
            assert_eq!(writer.statistics().written, 2);
        }
    }

    #[test]
    fn what_is_not_taken_goes_as_usual_until_it_is_acknowledged() {
        let (mut writer, guid, mut sent) = neighbours(true, false);
        put(&mut writer, &mut sent, true);
        let (passed, words) = put(&mut writer, &mut sent, false);
        assert!(!passed && words.contains(&"data"), "{words:?}");
        // It has not said yet that it has the last one.
        let (passed, words) = put(&mut writer, &mut sent, true);
        assert!(!passed && words.contains(&"data"), "{words:?}");
        assert!(!writer.is_acknowledged(SequenceNumber(2)));
        assert!(writer.poll_timeout().is_some());
        let all = acknack(4, &[], 2);
        writer.handle_acknack(NOW, guid, &all).unwrap();
        assert_eq!(put(&mut writer, &mut sent, true), (false, Vec::new()));
        assert_eq!(put(&mut writer, &mut sent, true), (true, Vec::new()));
    }

    #[test]
    fn an_answer_from_before_it_was_handed_the_rest_asks_for_nothing() {
        let (mut writer, guid, mut sent) = neighbours(true, false);
        for _ in 0..5 {
            put(&mut writer, &mut sent, true);
        }
        let old = acknack(2, &[2], 2);
        writer.handle_acknack(NOW, guid, &old).unwrap();
        assert_eq!(put(&mut writer, &mut sent, true), (true, Vec::new()));
    }

    #[test]
    fn history_is_kept_for_late_joiners_and_served_to_one_that_begins_anew() {
        let (mut writer, guid, mut sent) = neighbours(true, true);
        for _ in 0..3 {
            assert_eq!(put(&mut writer, &mut sent, true), (false, Vec::new()));
        }
        assert_eq!(writer.history_len(), 3);
        let anew = acknack(1, &[1, 2, 3], 2);
        writer.handle_acknack(NOW, guid, &anew).unwrap();
        writer.poll_transmit(NOW, &mut sent);
        let words = sent.words();
        let sent_again = words.iter().filter(|it| **it == "data").count();
        assert_eq!(sent_again, 3, "{words:?}");
        let (_, words) = put(&mut writer, &mut sent, true);
        assert!(words.contains(&"data"), "{words:?}");
    }

    #[test]
    fn a_reader_elsewhere_gets_everything_beside_it() {
        let (mut writer, guid, mut sent) = neighbours(true, false);
        put(&mut writer, &mut sent, true);
        let mut other = matched(true, false);
        other.guid.prefix = GuidPrefix([9; 12]);
        writer.handle_matched(NOW, other.clone());
        writer.poll_transmit(NOW, &mut sent);
        sent.words();
        let (passed, words) = put(&mut writer, &mut sent, true);
        assert!(!passed && words.contains(&"data"), "{words:?}");
        assert!(!writer.is_acknowledged(SequenceNumber(2)));
        writer.handle_unmatched(NOW, other.guid, false);
        assert_eq!(put(&mut writer, &mut sent, true), (true, Vec::new()));
        writer.handle_unmatched(NOW, guid, false);
        assert!(!put(&mut writer, &mut sent, true).0, "nobody is there");
    }

    /// A writer of bundles that wait for 2 ms, with a reader of its process that knows it and one
    /// elsewhere that acknowledges nothing.
    fn bundles(set: impl FnOnce(&mut WriterConfig)) -> (Writer, Sent) {
        let mut writer = writer(|config| {
            config.depth = None;
            config.bundling = Bundling::UpTo {
                message_bytes_max: 1400,
                wait: Duration::from_millis(2),
            };
            set(config);
        });
        let reader = matched(true, false);
        let mut other = matched(false, false);
        other.guid.prefix = GuidPrefix([9; 12]);
        let guid = reader.guid;
        writer.handle_matched(NOW, reader);
        writer.handle_matched(NOW, other);
        writer.note_in_process(guid);
        let mut sent = Sent::default();
        let first = acknack(1, &[], 1);
        writer.handle_acknack(NOW, guid, &first).unwrap();
        writer.poll_transmit(NOW, &mut sent);
        sent.words();
        (writer, sent)
    }

    /// How many changes leave when what waits has waited long enough.
    fn left_later(writer: &mut Writer, sent: &mut Sent) -> usize {
        let later = NOW.after(Duration::from_millis(2));
        writer.handle_timeout(later);
        writer.poll_transmit(later, sent);
        let words = sent.words();
        words.iter().filter(|it| **it == "data").count()
    }

    #[test]
    fn what_is_handed_over_leaves_to_readers_elsewhere_before_its_place_is_taken() {
        let (mut writer, mut sent) = bundles(|config| config.samples_max = 1);
        for number in 1..=3 {
            let waits = put(&mut writer, &mut sent, true);
            assert_eq!(waits, (false, Vec::new()), "it waits for others");
            assert_eq!(writer.acknowledged_through(), SequenceNumber(number));
        }
        assert_eq!(left_later(&mut writer, &mut sent), 3);
    }

    #[test]
    fn an_instance_that_ended_leaves_to_readers_elsewhere_before_it_is_forgotten() {
        let (mut writer, mut sent) = bundles(|config| config.durable = true);
        put(&mut writer, &mut sent, true);
        let kind = ChangeKind::DisposedUnregistered;
        let end = NewChange { kind, ..change(8) };
        writer.write(NOW, end).unwrap();
        writer.hand_over(|_, _| true);
        writer.poll_transmit(NOW, &mut sent);
        assert_eq!(writer.acknowledged_through(), SequenceNumber(2));
        assert_eq!(left_later(&mut writer, &mut sent), 2);
        assert_eq!(writer.history_len(), 0, "nobody needs it");
    }

    #[test]
    fn what_is_handed_over_is_not_kept_for_a_reader_elsewhere_that_acknowledges_nothing() {
        let (mut writer, _, mut sent) = neighbours(true, false);
        let mut other = matched(false, false);
        other.guid.prefix = GuidPrefix([9; 12]);
        writer.handle_matched(NOW, other);
        for number in 1..=3 {
            let (passed, words) = put(&mut writer, &mut sent, true);
            assert!(!passed && words.contains(&"data"), "{words:?}");
            assert_eq!(writer.acknowledged_through(), SequenceNumber(number));
            assert_eq!(writer.history_len(), 0);
        }
    }
}
