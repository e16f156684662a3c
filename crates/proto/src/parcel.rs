//! A change on its way from a writer to a reader of its process, past the network: encoded, or as
//! the value that the program shares, as the reader takes it.
//!
//! [`Writer::pass`](crate::Writer::pass) and [`Writer::hand_over`](crate::Writer::hand_over) say
//! when a change is handed over, [`Reader::take_over`](crate::Reader::take_over) and
//! [`Reader::take_data`](crate::Reader::take_data) whether it is taken.

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::guid::Guid;
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::time::Timestamp;

use crate::cache::CacheChange;
use crate::change::ChangeKind;
use crate::reader::Offer;
use crate::value::SharedValue;
use crate::writer::NewChange;

/// What is handed over. Its readers take values as the program has them, or not (`takes_values`).
#[derive(Debug)]
pub struct Parcel<'a> {
    /// Who hands it over.
    pub writer: Guid,
    /// The change; without payload where it is a value only.
    pub change: &'a mut NewChange,
    /// The data as the program has it, where it shares that.
    pub value: &'a mut Option<SharedValue>,
    /// The serialized key, where it is known.
    pub key: &'a [u8],
    /// When it arrives, by the wall clock.
    pub reception: Timestamp,
}

impl<'a> Parcel<'a> {
    /// False where it is a value only, and the reader takes none.
    #[inline]
    pub fn suits(&self, takes_values: bool) -> bool {
        let only_value = self.value.is_some() && self.change.payload.is_empty();
        takes_values || !only_value
    }

    /// Whether a reader that it suits gets the value: not where the key is not known yet and what
    /// is encoded tells it.
    #[inline]
    fn comes_by_value(&self, takes_values: bool) -> bool {
        let tells_key = self.change.instance.is_nil() || !self.key.is_empty();
        let best = tells_key || self.change.payload.is_empty();
        takes_values && self.value.is_some() && best
    }

    /// What is offered to a reader that it suits.
    #[inline]
    pub fn offer(&self, takes_values: bool, sequence: SequenceNumber) -> Offer<'a> {
        let by_value = self.comes_by_value(takes_values);
        Offer {
            writer: self.writer,
            sequence,
            instance: self.change.instance,
            bytes: self.bytes(),
            key: by_value.then_some(self.key),
        }
    }

    /// As a reader takes it; `None` where it does not suit that.
    #[inline]
    pub fn change_for(
        &self,
        takes_values: bool,
        (sequence, kind): (SequenceNumber, ChangeKind),
    ) -> Option<CacheChange> {
        if !self.suits(takes_values) {
            return None;
        }
        let by_value = self.comes_by_value(takes_values);
        let value = self.value.clone().filter(|_| by_value);
        let payload = if value.is_some() {
            SharedBytes::default()
        } else {
            self.change.payload.whole()
        };
        Some(self.change_of(sequence, kind, payload, value))
    }

    /// Data as a reader takes it that it suits; nothing is left here.
    #[inline]
    pub fn moved(&mut self, takes_values: bool, sequence: SequenceNumber) -> CacheChange {
        let by_value = self.comes_by_value(takes_values);
        let value = self.value.take().filter(|_| by_value);
        let payload = if value.is_some() {
            SharedBytes::default()
        } else {
            core::mem::take(&mut self.change.payload).into_whole()
        };
        self.change_of(sequence, ChangeKind::Alive, payload, value)
    }

    #[inline]
    fn change_of(
        &self,
        sequence: SequenceNumber,
        kind: ChangeKind,
        payload: SharedBytes,
        value: Option<SharedValue>,
    ) -> CacheChange {
        CacheChange {
            writer: self.writer,
            instance: self.change.instance,
            kind,
            payload,
            value,
            source_timestamp: self.change.timestamp,
            reception_timestamp: self.reception,
            sequence,
        }
    }

    /// Octets that are kept of it at most.
    #[inline]
    pub fn bytes(&self) -> usize {
        let value = self.value.as_ref().map_or(0, SharedValue::bytes);
        value.max(self.change.payload.slab_len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::sync::Arc;
    use whimbrel_base::instance::InstanceHandle;

    use crate::writer::Packed;

    const FIRST: SequenceNumber = SequenceNumber(1);

    /// What comes of data that is encoded or not, shared or not, of an instance of which the key
    /// is known or not.
    struct Data {
        change: NewChange,
        value: Option<SharedValue>,
    }

    fn data(encoded: &[u8], shared: bool, keyed: bool) -> Data {
        let instance = InstanceHandle([u8::from(keyed); 16]);
        Data {
            change: NewChange {
                kind: ChangeKind::Alive,
                instance,
                timestamp: Timestamp(5),
                payload: SharedBytes::from_vec(encoded.to_vec()).into(),
                packed: Packed::Untried,
            },
            value: shared.then(|| SharedValue::new(Arc::new(7_u32), 4)),
        }
    }

    impl Data {
        fn parcel<'a>(&'a mut self, key: &'a [u8]) -> Parcel<'a> {
            Parcel {
                writer: Guid::default(),
                change: &mut self.change,
                value: &mut self.value,
                key,
                reception: Timestamp(6),
            }
        }

        /// How a reader gets it: by value, encoded, or not at all. What is offered, what is given
        /// and what is moved must agree.
        fn comes(mut self, key: &[u8], takes_values: bool) -> Option<&'static str> {
            let mut parcel = self.parcel(key);
            let given = parcel.change_for(takes_values, (FIRST, ChangeKind::Alive));
            assert_eq!(given.is_some(), parcel.suits(takes_values));
            let given = given?;
            let offer = parcel.offer(takes_values, FIRST);
            let moved = parcel.moved(takes_values, FIRST);
            assert_eq!(given.value.is_some(), moved.value.is_some());
            assert_eq!(given.payload, moved.payload);
            assert_eq!(offer.key.is_some(), moved.value.is_some());
            assert!(parcel.value.is_none());
            match (&moved.value, moved.payload.is_empty()) {
                (Some(_), true) => Some("value"),
                (None, false) => Some("encoded"),
                _ => panic!("{moved:?}"),
            }
        }
    }

    #[test]
    fn readers_get_the_value_where_both_sides_share_it_and_the_key_is_told() {
        let encoded: &[u8] = &[0, 1, 0, 0, 7, 0, 0, 0];
        let unencoded: &[u8] = &[];
        let cases = [
            // Encoded, shared, keyed, key, taken as values: what comes.
            (encoded, false, false, "", true, Some("encoded")),
            (encoded, true, false, "", true, Some("value")),
            (encoded, true, false, "", false, Some("encoded")),
            (encoded, true, true, "", true, Some("encoded")),
            (encoded, true, true, "key", true, Some("value")),
            (encoded, true, true, "key", false, Some("encoded")),
            (unencoded, true, false, "", true, Some("value")),
            (unencoded, true, false, "", false, None),
            (unencoded, true, true, "", true, Some("value")),
            (unencoded, true, true, "key", false, None),
        ];
        for (bytes, shared, keyed, key, takes_values, expected) in cases {
            let comes = data(bytes, shared, keyed).comes(key.as_bytes(), takes_values);
            let case = (bytes.len(), shared, keyed, key, takes_values);
            assert_eq!(comes, expected, "{case:?}");
        }
    }

    #[test]
    fn what_is_kept_counts_whichever_is_more() {
        let mut small = data(&[0; 3], true, false);
        assert_eq!(small.parcel(&[]).bytes(), 4);
        let mut large = data(&[0; 300], true, false);
        assert!(large.parcel(&[]).bytes() >= 300);
    }
}
