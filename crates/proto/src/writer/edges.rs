//! Answers with numbers at their edges, in any order.

use alloc::vec;

use proptest::prelude::*;
use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::guid::{EntityId, Guid, GuidPrefix};
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::locator::Locator;
use whimbrel_base::sequence::{Count, FragmentNumber, SequenceNumber};
use whimbrel_base::time::{Duration, Instant, Timestamp};
use whimbrel_base::vendor::VendorId;
use whimbrel_wire::number_set::{FragmentNumberSet, SequenceNumberSet};
use whimbrel_wire::submessage::{AckNack, NackFrag};

use super::{NewChange, Writer, WriterConfig};
use crate::change::ChangeKind;
use crate::outbox::Outbox;
use crate::peer::MatchedReader;

const WRITER: Guid = Guid::new(GuidPrefix([1; 12]), EntityId([0, 0, 1, 3]));
const READER: Guid = Guid::new(GuidPrefix([2; 12]), EntityId([0, 0, 1, 4]));

/// Octets sent.
#[derive(Default)]
struct Sent(usize);

impl Outbox for Sent {
    fn send(&mut self, _to: &[Locator], parts: &[&[u8]]) {
        self.0 += parts.iter().map(|part| part.len()).sum::<usize>();
    }
}

/// What a reader, or somebody who forges it, may answer, and how long afterwards.
type Answer = (i64, u64, u32, i32, bool, i64);

fn answers() -> impl Strategy<Value = Answer> {
    let base = prop_oneof![
        1_i64..9,
        0_i64..2000,
        (0_i64..9).prop_map(|less| i64::MAX - less)
    ];
    let fragment = prop_oneof![1_u32..9, (0_u32..9).prop_map(|less| u32::MAX - less)];
    let pause_us = prop_oneof![Just(0_i64), 0_i64..10_000, 0_i64..5_000_000];
    (
        base,
        any::<u64>(),
        fragment,
        any::<i32>(),
        any::<bool>(),
        pause_us,
    )
}

fn give(writer: &mut Writer, now: Instant, (base, bits, fragment, count, whole, _): Answer) {
    if whole {
        let mut state = SequenceNumberSet::new(SequenceNumber(base));
        for bit in (0..64).filter(|bit| bits >> bit & 1 == 1) {
            state.insert(SequenceNumber(base.saturating_add(bit)));
        }
        let acknack = AckNack {
            reader: READER.entity,
            writer: WRITER.entity,
            state,
            count: Count(count),
            is_final: bits & 1 == 0,
        };
        let _ = writer.handle_acknack(now, READER, &acknack);
    } else {
        let mut state = FragmentNumberSet::new(FragmentNumber(fragment));
        for bit in (0..64).filter(|bit| bits >> bit & 1 == 1) {
            state.insert(FragmentNumber(fragment.saturating_add(bit)));
        }
        let nack = NackFrag {
            reader: READER.entity,
            writer: WRITER.entity,
            number: SequenceNumber(base),
            state,
            count: Count(count),
        };
        let _ = writer.handle_nack_frag(now, READER, &nack);
    }
}

proptest! {
    #[test]
    fn no_answer_makes_a_writer_confirm_what_it_never_wrote_nor_flood(
        all in prop::collection::vec(answers(), 1..60),
    ) {
        let config = WriterConfig { durable: true, depth: None, ..WriterConfig::new(WRITER) };
        let mut writer = Writer::new(config);
        let addr: core::net::SocketAddr = "127.0.0.1:7411".parse().unwrap();
        let mut now = Instant(1_000_000_000);
        writer.handle_matched(now, MatchedReader {
            group: None,
            packed: false,
            batches: false,
            receive_buffer_bytes: 0,
            packed_messages: whimbrel_base::qos::CompressionIds::NONE,
            guid: READER,
            reliable: true,
            durable: true,
            expects_inline_qos: false,
            locators: vec![addr.into()],
            message_bytes_max: 1472,
            vendor: VendorId::WHIMBREL,
        });
        let mut sent = Sent::default();
        for len in [8, 8, 5000, 8] {
            let payload = SharedBytes::from_vec(vec![7; len]);
            let instance = InstanceHandle::NIL;
            let timestamp = Timestamp(1);
            let kind = ChangeKind::Alive;
            let packed = crate::writer::Packed::Untried;
            let new = NewChange { kind, instance, timestamp, payload: payload.into(), packed };
            writer.write(now, new).unwrap();
        }
        writer.poll_transmit(now, &mut sent);
        for answer in all {
            give(&mut writer, now, answer);
            sent.0 = 0;
            writer.handle_timeout(now);
            writer.poll_transmit(now, &mut sent);
            // At most everything there is, with its headers, for one answer.
            prop_assert!(sent.0 <= 3 * 5100, "{} octets at once", sent.0);
            prop_assert!(writer.acknowledged_through() <= writer.last_sequence());
            prop_assert_eq!(writer.last_sequence(), SequenceNumber(4));
            now = now.after(Duration::from_micros(answer.5));
        }
    }
}
