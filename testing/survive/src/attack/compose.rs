//! Submessages of the attacker, octet by octet: nothing here checks what it writes.

use whimbrel_base::cursor::Endian;
use whimbrel_base::guid::EntityId;
use whimbrel_fuzz_targets::raw::Raw;

use super::case::Scene;

/// Submessage ids. RTPS 2.5 §9.4.5.1.1.
pub mod id {
    /// PAD.
    pub const PAD: u8 = 0x01;
    /// ACKNACK.
    pub const ACKNACK: u8 = 0x06;
    /// HEARTBEAT.
    pub const HEARTBEAT: u8 = 0x07;
    /// GAP.
    pub const GAP: u8 = 0x08;
    /// INFO_TS.
    pub const INFO_TS: u8 = 0x09;
    /// INFO_DST.
    pub const INFO_DST: u8 = 0x0e;
    /// NACK_FRAG.
    pub const NACK_FRAG: u8 = 0x12;
    /// HEARTBEAT_FRAG.
    pub const HEARTBEAT_FRAG: u8 = 0x13;
    /// DATA.
    pub const DATA: u8 = 0x15;
    /// DATA_FRAG.
    pub const DATA_FRAG: u8 = 0x16;
}

/// Counts of the attacker start here, above those of the peer it plays.
const COUNT_BASE: u32 = 1_000_000;

/// Where a DATA_FRAG says that it belongs.
#[derive(Clone, Copy, Debug)]
pub struct Fragment {
    /// The change.
    pub number: i64,
    /// Number of its first fragment.
    pub first: u32,
    /// How many fragments it says to hold.
    pub count: u16,
    /// Octets of a fragment.
    pub size: u16,
    /// Octets of the whole sample.
    pub total: u32,
}

/// Which built-in writer of the attacker speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Builtin {
    /// Announces participants.
    Participants,
    /// Announces writers.
    Publications,
    /// Announces readers.
    Subscriptions,
}

impl Builtin {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Participants, Self::Publications, Self::Subscriptions];

    const fn entities(self) -> (EntityId, EntityId) {
        match self {
            Self::Participants => (EntityId::SPDP_WRITER, EntityId::SPDP_READER),
            Self::Publications => (
                EntityId::SEDP_PUBLICATIONS_WRITER,
                EntityId::SEDP_PUBLICATIONS_READER,
            ),
            Self::Subscriptions => (
                EntityId::SEDP_SUBSCRIPTIONS_WRITER,
                EntityId::SEDP_SUBSCRIPTIONS_READER,
            ),
        }
    }
}

impl Scene {
    /// An empty byte writer in the byte order of the scene.
    pub fn raw(&self) -> Raw {
        match self.endian {
            Endian::Big => Raw::big(),
            Endian::Little => Raw::little(),
        }
    }

    /// The header of a message of the attacker. RTPS 2.5 §9.4.4.
    pub fn header(&self) -> Vec<u8> {
        let head = Raw::little().bytes(b"RTPS\x02\x05\x01\x10");
        head.bytes(&self.attacker.0).done()
    }

    /// A message of the attacker for the victim alone.
    pub fn message(&self, submessages: &[u8]) -> Vec<u8> {
        let destination = Raw::big().bytes(&[id::INFO_DST, 0]).u16(12);
        let destination = destination.bytes(&self.victim.0).done();
        [&self.header()[..], &destination, submessages].concat()
    }

    /// A submessage with its true length.
    pub fn submessage(&self, id: u8, flags: u8, body: Raw) -> Vec<u8> {
        let body = body.done();
        let len = u16::try_from(body.len()).unwrap_or(0);
        self.claiming(id, flags, len, &body)
    }

    /// A submessage that claims to be of `len` octets.
    pub fn claiming(&self, id: u8, flags: u8, len: u16, body: &[u8]) -> Vec<u8> {
        let order = u8::from(self.endian == Endian::Little);
        let head = self.raw().u8(id).u8(flags | order).u16(len);
        head.bytes(body).done()
    }

    /// Whom the attacker's writer talks to.
    pub fn to_reader(&self) -> Raw {
        let raw = self.raw().bytes(&self.victim_reader.0);
        raw.bytes(&self.writer.0)
    }

    /// Whom the attacker's reader talks to.
    pub fn to_writer(&self) -> Raw {
        let raw = self.raw().bytes(&self.reader.0);
        raw.bytes(&self.victim_writer.0)
    }

    /// HEARTBEAT that asks for an answer; the `count` is the attacker's n-th.
    pub fn heartbeat(&self, first: i64, last: i64, count: u32) -> Vec<u8> {
        let body = self.to_reader().number(first).number(last);
        let body = body.u32(COUNT_BASE.wrapping_add(count));
        self.submessage(id::HEARTBEAT, 0, body)
    }

    /// HEARTBEAT_FRAG.
    pub fn heartbeat_frag(&self, number: i64, last: u32, count: u32) -> Vec<u8> {
        let body = self.to_reader().number(number).u32(last);
        let body = body.u32(COUNT_BASE.wrapping_add(count));
        self.submessage(id::HEARTBEAT_FRAG, 0, body)
    }

    /// GAP.
    pub fn gap(&self, start: i64, base: i64, bits: u32, words: &[u32]) -> Vec<u8> {
        let body = self.to_reader().number(start).numbers(base, bits, words);
        self.submessage(id::GAP, 0, body)
    }

    /// ACKNACK.
    pub fn acknack(&self, base: i64, bits: u32, words: &[u32], count: u32) -> Vec<u8> {
        let body = self.to_writer().numbers(base, bits, words);
        let body = body.u32(COUNT_BASE.wrapping_add(count));
        self.submessage(id::ACKNACK, 0, body)
    }

    /// NACK_FRAG.
    pub fn nack_frag(
        &self,
        number: i64,
        (base, bits, words): (u32, u32, &[u32]),
        count: u32,
    ) -> Vec<u8> {
        let body = self.to_writer().number(number).fragments(base, bits, words);
        let body = body.u32(COUNT_BASE.wrapping_add(count));
        self.submessage(id::NACK_FRAG, 0, body)
    }

    /// DATA with a payload.
    pub fn data(&self, number: i64, payload: &[u8]) -> Vec<u8> {
        let head = self.raw().u16(0).u16(16).bytes(&self.to_reader().done());
        self.submessage(id::DATA, 4, head.number(number).bytes(payload))
    }

    /// DATA with inline QoS, given as it stands, and a payload.
    pub fn data_with_qos(&self, number: i64, qos: &[u8], payload: &[u8]) -> Vec<u8> {
        let head = self.raw().u16(0).u16(16).bytes(&self.to_reader().done());
        let head = head.number(number).bytes(qos);
        self.submessage(id::DATA, 2 | 4, head.bytes(payload))
    }

    /// DATA of a built-in writer of the attacker for the built-in reader of the victim.
    pub fn builtin_data(&self, from: Builtin, number: i64, payload: &[u8]) -> Vec<u8> {
        let (writer, reader) = from.entities();
        let head = self.raw().u16(0).u16(16).bytes(&reader.0).bytes(&writer.0);
        self.submessage(id::DATA, 4, head.number(number).bytes(payload))
    }

    /// HEARTBEAT of a built-in writer of the attacker.
    pub fn builtin_heartbeat(&self, from: Builtin, last: i64, count: u32) -> Vec<u8> {
        let (writer, reader) = from.entities();
        let body = self.raw().bytes(&reader.0).bytes(&writer.0).number(1);
        let body = body.number(last).u32(COUNT_BASE.wrapping_add(count));
        self.submessage(id::HEARTBEAT, 0, body)
    }

    /// GAP of a built-in writer of the attacker for everything before `number`.
    pub fn builtin_gap(&self, from: Builtin, number: i64) -> Vec<u8> {
        let (writer, reader) = from.entities();
        let body = self.raw().bytes(&reader.0).bytes(&writer.0).number(1);
        self.submessage(id::GAP, 0, body.numbers(number, 0, &[]))
    }

    /// DATA_FRAG of a built-in writer of the attacker.
    pub fn builtin_data_frag(&self, from: Builtin, at: Fragment, octets: &[u8]) -> Vec<u8> {
        let (writer, reader) = from.entities();
        let to = [reader.0, writer.0].concat();
        self.fragment_of(&to, at, octets)
    }

    fn fragment_of(&self, to: &[u8], at: Fragment, octets: &[u8]) -> Vec<u8> {
        let head = self.raw().u16(0).u16(28).bytes(to).number(at.number);
        let head = head.u32(at.first).u16(at.count).u16(at.size).u32(at.total);
        self.submessage(id::DATA_FRAG, 0, head.bytes(octets))
    }

    /// A parameter list with the encapsulation of discovery and this content, sentinel and all.
    pub fn parameters(&self, list: Raw) -> Vec<u8> {
        let order = u8::from(self.endian == Endian::Little);
        let head = self.raw().bytes(&[0, 2 + order, 0, 0]);
        head.bytes(&list.done()).done()
    }

    /// One parameter with its true length.
    pub fn parameter(&self, pid: u16, value: Raw) -> Vec<u8> {
        let value = value.pad().done();
        let len = u16::try_from(value.len()).unwrap_or(u16::MAX);
        self.raw().u16(pid).u16(len).bytes(&value).done()
    }

    /// DATA_FRAG.
    pub fn data_frag(&self, at: Fragment, octets: &[u8]) -> Vec<u8> {
        self.fragment_of(&self.to_reader().done(), at, octets)
    }

    /// A good payload of the topic: a key octet and a sequence of octets.
    pub fn payload(&self, key: u8, bytes: &[u8]) -> Vec<u8> {
        let order = u8::from(self.endian == Endian::Little);
        let head = self.raw().bytes(&[0, order, 0, 0, key]).pad();
        head.u32(bytes.len() as u32).bytes(bytes).done()
    }
}
