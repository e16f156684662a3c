//! The submessages that make up a message. RTPS 2.5 §8.3.8.

use alloc::vec::Vec;

use whimbrel_base::guid::{EntityId, GuidPrefix};
use whimbrel_base::sequence::{Count, FragmentNumber, SequenceNumber};
use whimbrel_base::time::Timestamp;
use whimbrel_wire::number_set::{FragmentNumberSet, SequenceNumberSet};
use whimbrel_wire::parameter::{ParameterId, ParameterList, ParameterListWriter};
use whimbrel_wire::submessage::{
    AckNack, Content, Data, DataFrag, Gap, Heartbeat, HeartbeatFrag, InfoDestination,
    InfoTimestamp, NackFrag, timed_head,
};

use super::{COPIED_BYTES_MAX, ENDIAN, HeartbeatFields, MessageBuilder, append_padded, small_part};
use crate::change::ChangeKind;
use crate::outbox::PlainSamples;
use crate::writer::{Change, Form, Packed};

impl MessageBuilder {
    /// INFO_DST, unless the submessages before it go to the same participant.
    /// RTPS 2.5 §8.3.8.7.
    pub fn destination(&mut self, prefix: GuidPrefix) {
        if self.destination != prefix {
            self.destination = prefix;
            self.compose(|out| InfoDestination { prefix }.compose(out, ENDIAN));
        }
    }

    /// INFO_DST that names nobody: what follows is for whoever listens at the one address that it
    /// goes to. RTPS 2.5 §8.3.8.7.
    pub fn destination_unnamed(&mut self) {
        self.destination = GuidPrefix::UNKNOWN;
        let prefix = GuidPrefix::UNKNOWN;
        self.compose(|out| InfoDestination { prefix }.compose(out, ENDIAN));
    }

    /// INFO_TS, unless the submessages before it have the same timestamp. RTPS 2.5 §8.3.8.9.
    #[inline(always)]
    pub fn timestamp(&mut self, timestamp: Timestamp) {
        if let Some(info) = self.info_of(timestamp) {
            self.compose(|out| info.compose(out, ENDIAN));
        }
    }

    /// INFO_TS where submessages of `timestamp` need one here.
    #[inline(always)]
    fn info_of(&mut self, timestamp: Timestamp) -> Option<InfoTimestamp> {
        let is_known = self.timestamp == Some(timestamp);
        self.timestamp = Some(timestamp);
        let time = (!timestamp.is_invalid()).then_some(timestamp);
        (!is_known).then_some(InfoTimestamp { time })
    }

    /// DATA with a whole change. RTPS 2.5 §8.3.8.2.
    ///
    /// Changes without data carry their key, status info and key hash; `inline_qos` adds an inline
    /// QoS list for readers that expect one.
    pub fn data(
        &mut self,
        ids: (EntityId, EntityId),
        change: &Change,
        form: Form,
        inline_qos: bool,
    ) {
        self.data_behind(None, ids, (change, form), inline_qos);
    }

    /// As [`MessageBuilder::timestamp`] with that of the change, and then [`MessageBuilder::data`].
    #[inline(always)]
    pub(crate) fn timed_data(
        &mut self,
        ids: (EntityId, EntityId),
        change: &Change,
        form: Form,
        inline_qos: bool,
    ) {
        let info = self.info_of(change.timestamp);
        self.data_behind(info, ids, (change, form), inline_qos);
    }

    /// As [`MessageBuilder::timed_data`], of data that travels as it was written to whichever
    /// readers listen, first in its message.
    #[inline(always)]
    pub(crate) fn first_data(&mut self, writer: EntityId, change: &Change) {
        let payload = &change.payload;
        let len = payload.len();
        let head = timed_head(change.timestamp, writer, change.sequence, len);
        if len <= COPIED_BYTES_MAX {
            self.extend_first(&head, payload.in_order());
        } else {
            self.extend_first(&head, [&[]; 3]);
            self.pieces(payload, 0..len);
        }
    }

    #[inline(always)]
    fn data_behind(
        &mut self,
        info: Option<InfoTimestamp>,
        (reader, writer): (EntityId, EntityId),
        (change, form): (&Change, Form),
        inline_qos: bool,
    ) {
        let payload = change.payload_in(form);
        self.plain = self.plain.plus(match (&change.packed, form) {
            (Packed::Smaller(_), Form::Packed) => PlainSamples::untried(0),
            (Packed::NoSmaller, _) => PlainSamples {
                count: 1,
                no_smaller: 1,
            },
            (Packed::Smaller(_), Form::Plain) | (Packed::Untried, _) => PlainSamples::untried(1),
        });
        let list = self.take_inline_qos(change, inline_qos);
        let data = Data {
            reader,
            writer,
            number: change.sequence,
            inline_qos: list
                .as_ref()
                .and_then(|list| ParameterList::parse(list, ENDIAN).ok()),
            content: content_of(change),
            non_standard_payload: false,
            payload: &[],
        };
        let len = payload.len();
        let small = small_part(payload, 0..len);
        self.compose(|out| {
            if let Some(info) = info {
                info.compose(out, ENDIAN);
            }
            let pad = data.compose_head(out, ENDIAN, len);
            if let Some(bytes) = small {
                append_padded(out, bytes, pad);
            }
        });
        if small.is_none() {
            self.pieces(payload, 0..len);
        }
        if let Some(list) = list {
            self.inline_qos = list;
        }
    }

    /// Status info and key hash of changes without data. RTPS 2.5 §9.6.4.8, §9.6.4.9.
    #[inline(always)]
    fn take_inline_qos(&mut self, change: &Change, expected: bool) -> Option<Vec<u8>> {
        let is_wanted = change.kind != ChangeKind::Alive || expected;
        is_wanted.then(|| self.inline_qos_of(change)).flatten()
    }

    #[inline(never)]
    fn inline_qos_of(&mut self, change: &Change) -> Option<Vec<u8>> {
        let mut bytes = core::mem::take(&mut self.inline_qos);
        bytes.clear();
        let mut list = ParameterListWriter::new(&mut bytes, ENDIAN);
        if change.kind != ChangeKind::Alive {
            let flags =
                u8::from(change.kind.disposes()) | (u8::from(change.kind.unregisters()) << 1);
            list.put(ParameterId::KEY_HASH, |out| {
                out.bytes(&change.instance.key_hash())
            });
            list.put(ParameterId::STATUS_INFO, |out| out.bytes(&[0, 0, 0, flags]));
        }
        list.finish().ok()?;
        Some(bytes)
    }

    /// DATA_FRAG with fragment `number` of a change. RTPS 2.5 §8.3.8.3.
    pub fn data_frag(
        &mut self,
        (reader, writer): (EntityId, EntityId),
        change: &Change,
        form: Form,
        number: FragmentNumber,
    ) {
        let payload = change.payload_in(form);
        let fragment = change.fragment(form, number);
        let list = self.take_inline_qos(change, false);
        let frag = DataFrag {
            reader,
            writer,
            number: change.sequence,
            first: number,
            count: 1,
            fragment_size: change.fragment_bytes,
            sample_size: u32::try_from(payload.len()).unwrap_or(u32::MAX),
            inline_qos: list
                .as_ref()
                .and_then(|list| ParameterList::parse(list, ENDIAN).ok()),
            key: content_of(change) == Content::Key,
            non_standard_payload: false,
            payload: &[],
        };
        self.compose(|out| {
            frag.compose_head(out, ENDIAN, fragment.len());
        });
        self.payload(payload, fragment);
        if let Some(list) = list {
            self.inline_qos = list;
        }
    }

    /// HEARTBEAT. RTPS 2.5 §8.3.8.6.
    pub fn heartbeat(&mut self, reader: EntityId, writer: EntityId, fields: HeartbeatFields) {
        let heartbeat = Heartbeat {
            reader,
            writer,
            first: fields.first,
            last: fields.last,
            count: fields.count,
            is_final: fields.is_final,
            liveliness: false,
            group: None,
        };
        self.compose(|out| heartbeat.compose(out, ENDIAN));
    }

    /// HEARTBEAT_FRAG: fragments of `number` up to `last` have left. RTPS 2.5 §8.3.8.7.
    pub fn heartbeat_frag(
        &mut self,
        reader: EntityId,
        writer: EntityId,
        number: SequenceNumber,
        last: FragmentNumber,
        count: Count,
    ) {
        let heartbeat = HeartbeatFrag {
            reader,
            writer,
            number,
            last,
            count,
        };
        self.compose(|out| heartbeat.compose(out, ENDIAN));
    }

    /// GAP over `start..end`. RTPS 2.5 §8.3.8.4.
    pub fn gap(
        &mut self,
        reader: EntityId,
        writer: EntityId,
        start: SequenceNumber,
        end: SequenceNumber,
    ) {
        let list = SequenceNumberSet::new(end);
        let gap = Gap {
            reader,
            writer,
            start,
            list,
            group: None,
            filtered_count: None,
        };
        self.compose(|out| gap.compose(out, ENDIAN));
    }

    /// ACKNACK. RTPS 2.5 §8.3.8.1.
    pub fn acknack(
        &mut self,
        reader: EntityId,
        writer: EntityId,
        state: SequenceNumberSet,
        count: Count,
        is_final: bool,
    ) {
        let acknack = AckNack {
            reader,
            writer,
            state,
            count,
            is_final,
        };
        self.compose(|out| acknack.compose(out, ENDIAN));
    }

    /// NACK_FRAG. RTPS 2.5 §8.3.8.10.
    pub fn nack_frag(
        &mut self,
        reader: EntityId,
        writer: EntityId,
        number: SequenceNumber,
        state: FragmentNumberSet,
        count: Count,
    ) {
        let nack = NackFrag {
            reader,
            writer,
            number,
            state,
            count,
        };
        self.compose(|out| nack.compose(out, ENDIAN));
    }
}

#[inline(always)]
fn content_of(change: &Change) -> Content {
    match change.kind {
        _ if change.payload.is_empty() => Content::None,
        ChangeKind::Alive => Content::Data,
        ChangeKind::Disposed | ChangeKind::Unregistered | ChangeKind::DisposedUnregistered => {
            Content::Key
        }
    }
}
