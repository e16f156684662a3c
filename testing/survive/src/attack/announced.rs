//! Announcements of the attacker, octet by octet: participants and endpoints as they are not.

use whimbrel_base::guid::{EntityId, GuidPrefix};
use whimbrel_fuzz_targets::raw::Raw;

use super::case::Scene;
use super::compose::id;

/// Parameter ids. RTPS 2.5 §9.6.4, Table 9.20.
pub mod pid {
    /// PARTICIPANT_LEASE_DURATION.
    pub const LEASE: u16 = 0x0002;
    /// TIME_BASED_FILTER.
    pub const TIME_BASED_FILTER: u16 = 0x0004;
    /// TOPIC_NAME.
    pub const TOPIC_NAME: u16 = 0x0005;
    /// TYPE_NAME.
    pub const TYPE_NAME: u16 = 0x0007;
    /// PROTOCOL_VERSION.
    pub const PROTOCOL_VERSION: u16 = 0x0015;
    /// VENDORID.
    pub const VENDOR: u16 = 0x0016;
    /// RELIABILITY.
    pub const RELIABILITY: u16 = 0x001a;
    /// LIVELINESS.
    pub const LIVELINESS: u16 = 0x001b;
    /// DURABILITY_SERVICE.
    pub const DURABILITY_SERVICE: u16 = 0x001e;
    /// DEADLINE.
    pub const DEADLINE: u16 = 0x0023;
    /// LATENCY_BUDGET.
    pub const LATENCY_BUDGET: u16 = 0x0027;
    /// LIFESPAN.
    pub const LIFESPAN: u16 = 0x002b;
    /// UNICAST_LOCATOR of an endpoint.
    pub const UNICAST: u16 = 0x002f;
    /// DEFAULT_UNICAST_LOCATOR.
    pub const DEFAULT_UNICAST: u16 = 0x0031;
    /// METATRAFFIC_UNICAST_LOCATOR.
    pub const METATRAFFIC_UNICAST: u16 = 0x0032;
    /// PARTICIPANT_GUID.
    pub const PARTICIPANT_GUID: u16 = 0x0050;
    /// BUILTIN_ENDPOINT_SET.
    pub const BUILTIN_ENDPOINT_SET: u16 = 0x0058;
    /// ENDPOINT_GUID.
    pub const ENDPOINT_GUID: u16 = 0x005a;
    /// STATUS_INFO, inline.
    pub const STATUS_INFO: u16 = 0x0071;
}

/// A duration on the wire: seconds and fraction.
pub type WireDuration = (i32, u32);

/// Ten seconds.
pub const TEN_SECONDS: WireDuration = (10, 0);

/// An IPv4 address and a port, of kind UDPv4.
pub type WireLocator = ([u8; 4], u32);

/// A parameter list in the making.
pub struct List {
    raw: Raw,
}

impl List {
    /// An encapsulated list in the byte order of `scene`.
    pub fn new(scene: &Scene) -> Self {
        let raw = scene.raw();
        let id = if raw.is_little() { 3 } else { 2 };
        Self {
            raw: raw.bytes(&[0, id, 0, 0]),
        }
    }

    /// A list for inline QoS, which has no encapsulation.
    pub fn inline(scene: &Scene) -> Self {
        Self { raw: scene.raw() }
    }

    /// A parameter.
    #[must_use]
    pub fn put(self, id: u16, value: Raw) -> Self {
        let value = value.pad().done();
        let len = u16::try_from(value.len()).unwrap_or(u16::MAX);
        Self {
            raw: self.raw.u16(id).u16(len).bytes(&value),
        }
    }

    /// The octets, with the sentinel.
    pub fn done(self) -> Vec<u8> {
        self.raw.u16(1).u16(0).done()
    }
}

impl Scene {
    /// A duration.
    pub fn duration(&self, (seconds, fraction): WireDuration) -> Raw {
        self.raw().u32(seconds as u32).u32(fraction)
    }

    fn locator(&self, (ip, port): WireLocator) -> Raw {
        self.raw().u32(1).u32(port).bytes(&[0; 12]).bytes(&ip)
    }

    /// What the participant `prefix` announces of itself, with `locators` for everything.
    pub fn participant_data(
        &self,
        prefix: GuidPrefix,
        lease: WireDuration,
        locators: &[WireLocator],
    ) -> Vec<u8> {
        let guid = self.raw().bytes(&prefix.0).bytes(&[0, 0, 1, 0xc1]);
        let mut list = List::new(self)
            .put(pid::PROTOCOL_VERSION, self.raw().bytes(&[2, 5]))
            .put(pid::VENDOR, self.raw().bytes(&[1, 0x10]))
            .put(pid::PARTICIPANT_GUID, guid)
            .put(pid::LEASE, self.duration(lease))
            .put(pid::BUILTIN_ENDPOINT_SET, self.raw().u32(0xc3f));
        for locator in locators {
            list = list
                .put(pid::METATRAFFIC_UNICAST, self.locator(*locator))
                .put(pid::DEFAULT_UNICAST, self.locator(*locator));
        }
        list.done()
    }

    /// DATA of a built-in writer to all readers.
    pub fn data_of(&self, writer: EntityId, number: i64, payload: &[u8]) -> Vec<u8> {
        let head = self.raw().u16(0).u16(16).bytes(&[0; 4]).bytes(&writer.0);
        self.submessage(id::DATA, 4, head.number(number).bytes(payload))
    }

    /// DATA of a built-in writer that disposes of the key in `payload`.
    pub fn disposal_of(&self, writer: EntityId, number: i64, payload: &[u8]) -> Vec<u8> {
        let status = self.raw().bytes(&[0, 0, 0, 3]);
        let qos = List::inline(self).put(pid::STATUS_INFO, status).done();
        let head = self.raw().u16(0).u16(16).bytes(&[0; 4]).bytes(&writer.0);
        let body = head.number(number).bytes(&qos).bytes(payload);
        self.submessage(id::DATA, 2 | 8, body)
    }

    /// ACKNACK of one who has heard nothing of the victim's writers yet.
    pub fn sedp_acknack(&self) -> Vec<u8> {
        let reader = EntityId::SEDP_PUBLICATIONS_READER;
        let writer = EntityId::SEDP_PUBLICATIONS_WRITER;
        let body = self.raw().bytes(&reader.0).bytes(&writer.0);
        self.submessage(id::ACKNACK, 0, body.numbers(1, 0, &[]).u32(1))
    }

    /// The key of a participant or an endpoint as a parameter list.
    pub fn key(&self, id: u16, prefix: GuidPrefix, entity: EntityId) -> Vec<u8> {
        let guid = self.raw().bytes(&prefix.0).bytes(&entity.0);
        List::new(self).put(id, guid).done()
    }

    /// A message of `from`, for the victim alone where it is `directed`.
    pub fn message_of(&self, from: GuidPrefix, directed: bool, submessages: &[u8]) -> Vec<u8> {
        let head = Raw::little().bytes(b"RTPS\x02\x05\x01\x10").bytes(&from.0);
        let mut message = head.done();
        if directed {
            let destination = Raw::big().bytes(&[id::INFO_DST, 0]).u16(12);
            message.extend(destination.bytes(&self.victim.0).done());
        }
        message.extend_from_slice(submessages);
        message
    }

    /// The announcement of `prefix` as a whole message.
    pub fn announcement(
        &self,
        prefix: GuidPrefix,
        directed: bool,
        lease: WireDuration,
        locators: &[WireLocator],
    ) -> Vec<u8> {
        let data = self.participant_data(prefix, lease, locators);
        let data = self.data_of(EntityId::SPDP_WRITER, 1, &data);
        self.message_of(prefix, directed, &data)
    }

    /// What announces the endpoint `entity` of the attacker on the topic that the victim's reader
    /// and writer have not, and further parameters.
    pub fn endpoint_data(&self, entity: EntityId, topic: &str, more: &[(u16, Raw)]) -> Vec<u8> {
        let guid = self.raw().bytes(&self.attacker.0).bytes(&entity.0);
        let list = List::new(self)
            .put(pid::ENDPOINT_GUID, guid)
            .put(pid::TOPIC_NAME, self.raw().string(topic))
            .put(pid::TYPE_NAME, self.raw().string("ShapeType"));
        let more = more.iter().cloned();
        more.fold(list, |list, (id, value)| list.put(id, value))
            .done()
    }

    /// The locator of an endpoint as a parameter.
    pub fn endpoint_locator(&self, locator: WireLocator) -> (u16, Raw) {
        (pid::UNICAST, self.locator(locator))
    }
}
