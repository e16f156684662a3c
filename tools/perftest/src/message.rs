//! What travels: the four types of the original, equal to them on the wire.

use whimbrel::DdsType;

/// Octets of a sample beside its data: key 4, five numbers of 4, length 4.
pub(crate) const OVERHEAD_BYTES: usize = 28;
/// Longest data of the types with a bound.
pub(crate) const BOUND: usize = 65_470;
/// Length of data by which a sample says that the test is about to begin.
pub(crate) const INITIALIZE_SIZE: usize = 1234;
/// Length of data by which a sample says that the test is over.
pub(crate) const FINISHED_SIZE: usize = 1235;
/// Length of data by which a sample says that the size changes.
pub(crate) const LENGTH_CHANGED_SIZE: usize = 1236;
/// Key of samples that concern everybody: 65535.
pub(crate) const EVERYBODY: [u8; 4] = [255, 255, 0, 0];
/// Nobody is to answer.
pub(crate) const NO_PING: i32 = -1;

/// What a sample holds beside its data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) key: [u8; 4],
    pub(crate) entity_id: i32,
    pub(crate) seq_num: u32,
    /// When it was sent, by the clock of the publisher, in nanoseconds.
    pub(crate) sent_ns: u64,
    /// Which subscriber is to answer.
    pub(crate) latency_ping: i32,
}

/// A type of the original.
pub(crate) trait Message: DdsType {
    /// One with this head and no data.
    fn new(head: Head) -> Self;
    fn head(&self) -> Head;
    fn set_head(&mut self, head: Head);
    fn data(&self) -> &Vec<u8>;
    fn data_mut(&mut self) -> &mut Vec<u8>;
}

/// One with zeros of the length `size` as data.
pub(crate) fn zeros<M: Message>(head: Head, size: usize) -> M {
    let mut message = M::new(head);
    message.data_mut().resize(size, 0);
    message
}

macro_rules! message {
    ($type:ident, $name:literal, #[$key:meta], #[$bound:meta]) => {
        #[doc = concat!("`", $name, "`.")]
        #[derive(DdsType, Debug)]
        #[dds(final, rename = $name)]
        pub(crate) struct $type {
            #[$key]
            key: [u8; 4],
            entity_id: i32,
            seq_num: u32,
            timestamp_sec: i32,
            timestamp_usec: u32,
            latency_ping: i32,
            #[$bound]
            bin_data: Vec<u8>,
        }

        impl Message for $type {
            fn new(head: Head) -> Self {
                let mut message = Self {
                    key: [0; 4],
                    entity_id: 0,
                    seq_num: 0,
                    timestamp_sec: 0,
                    timestamp_usec: 0,
                    latency_ping: 0,
                    bin_data: Vec::new(),
                };
                message.set_head(head);
                message
            }

            fn head(&self) -> Head {
                let high = u64::from(self.timestamp_sec.cast_unsigned());
                Head {
                    key: self.key,
                    entity_id: self.entity_id,
                    seq_num: self.seq_num,
                    sent_ns: high << 32 | u64::from(self.timestamp_usec),
                    latency_ping: self.latency_ping,
                }
            }

            fn set_head(&mut self, head: Head) {
                self.key = head.key;
                self.entity_id = head.entity_id;
                self.seq_num = head.seq_num;
                // Two halves of one number.
                self.timestamp_sec = ((head.sent_ns >> 32) as u32).cast_signed();
                self.timestamp_usec = head.sent_ns as u32;
                self.latency_ping = head.latency_ping;
            }

            fn data(&self) -> &Vec<u8> {
                &self.bin_data
            }

            fn data_mut(&mut self) -> &mut Vec<u8> {
                &mut self.bin_data
            }
        }
    };
}

message!(Plain, "TestData_t", #[dds()], #[dds(bound = 65470)]);
message!(Keyed, "TestDataKeyed_t", #[dds(key)], #[dds(bound = 65470)]);
message!(Large, "TestDataLarge_t", #[dds()], #[dds()]);
message!(KeyedLarge, "TestDataKeyedLarge_t", #[dds(key)], #[dds()]);

#[cfg(test)]
mod tests {
    use super::*;
    use whimbrel::base::cursor::Endian;
    use whimbrel::types::{Representation, from_payload, to_payload};

    const HEAD: Head = Head {
        key: [1, 2, 3, 4],
        entity_id: 5,
        seq_num: 6,
        sent_ns: 0x0102_0304_8506_0708,
        latency_ping: NO_PING,
    };

    /// The structure of `perftest.idl` in XCDR1, little-endian, final, three octets of data.
    #[rustfmt::skip]
    const GOLDEN: &[u8] = &[
        0, 1, 0, 1,                   // CDR_LE, one octet of padding
        1, 2, 3, 4,                   // key
        5, 0, 0, 0,                   // entity_id
        6, 0, 0, 0,                   // seq_num
        4, 3, 2, 1,                   // timestamp_sec, the high half
        8, 7, 6, 0x85,                // timestamp_usec, the low half
        255, 255, 255, 255,           // latency_ping
        3, 0, 0, 0, 0, 0, 0, 0,       // bin_data, padding
    ];

    fn check<M: Message>(name: &str, keyed: bool) {
        assert_eq!((M::TYPE_NAME, M::KEYED), (name, keyed));
        let message: M = zeros(HEAD, 3);
        let mut bytes = Vec::new();
        to_payload(&message, Representation::Xcdr1, Endian::Little, &mut bytes).unwrap();
        assert_eq!(bytes, GOLDEN, "{name}");
        let read: M = from_payload(GOLDEN).unwrap();
        assert_eq!((read.head(), read.data().len()), (HEAD, 3));
    }

    #[test]
    fn the_types_are_those_of_the_original() {
        check::<Plain>("TestData_t", false);
        check::<Keyed>("TestDataKeyed_t", true);
        check::<Large>("TestDataLarge_t", false);
        check::<KeyedLarge>("TestDataKeyedLarge_t", true);
        assert_eq!(GOLDEN.len() - 4 - 3 - 1, OVERHEAD_BYTES);
    }

    #[test]
    fn only_the_large_types_hold_more_than_the_bound() {
        let mut out = Vec::new();
        let mut encode = |size| {
            let plain: Plain = zeros(HEAD, size);
            to_payload(&plain, Representation::Xcdr1, Endian::Little, &mut out)
        };
        assert!(encode(BOUND).is_ok());
        assert!(encode(BOUND + 1).is_err());
        let large: Large = zeros(HEAD, BOUND + 1);
        let encoded = to_payload(&large, Representation::Xcdr1, Endian::Little, &mut out);
        assert!(encoded.is_ok());
    }
}
