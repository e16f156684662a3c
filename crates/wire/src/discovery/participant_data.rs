//! SPDPdiscoveredParticipantData: what a participant announces. RTPS 2.5 §8.5.3.2, §9.6.3.1.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use whimbrel_base::guid::Guid;
use whimbrel_base::locator::Locator;
use whimbrel_base::qos::CompressionIds;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::sequence::Count;
use whimbrel_base::time::Duration;
use whimbrel_base::vendor::{ProtocolVersion, VendorId};

use super::context::Context;
use super::encapsulation::{compose_parameters, guid_or_key_hash, read_parameters};
use crate::field::{read_duration, read_guid, read_locator, write_duration, write_locator};
use crate::parameter::value::{
    read_bool, read_octets, read_short_string, write_octets, write_string,
};
use crate::parameter::{Parameter, ParameterId, ParameterListWriter};
use crate::property::PropertyList;

/// Which discovery and liveliness endpoints a participant has. RTPS 2.5 §9.3.2.12.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct BuiltinEndpoints(pub u32);

impl BuiltinEndpoints {
    /// Writer of participant announcements.
    pub const PARTICIPANT_ANNOUNCER: Self = Self(1 << 0);
    /// Reader of participant announcements.
    pub const PARTICIPANT_DETECTOR: Self = Self(1 << 1);
    /// Writer of publication announcements.
    pub const PUBLICATIONS_ANNOUNCER: Self = Self(1 << 2);
    /// Reader of publication announcements.
    pub const PUBLICATIONS_DETECTOR: Self = Self(1 << 3);
    /// Writer of subscription announcements.
    pub const SUBSCRIPTIONS_ANNOUNCER: Self = Self(1 << 4);
    /// Reader of subscription announcements.
    pub const SUBSCRIPTIONS_DETECTOR: Self = Self(1 << 5);
    /// Writer of participant messages.
    pub const PARTICIPANT_MESSAGE_WRITER: Self = Self(1 << 10);
    /// Reader of participant messages.
    pub const PARTICIPANT_MESSAGE_READER: Self = Self(1 << 11);
    /// Writer of requests for types. XTypes 1.3 §7.6.3.3.
    pub const TYPE_LOOKUP_REQUEST_WRITER: Self = Self(1 << 12);
    /// Reader of requests for types.
    pub const TYPE_LOOKUP_REQUEST_READER: Self = Self(1 << 13);
    /// Writer of replies with types.
    pub const TYPE_LOOKUP_REPLY_WRITER: Self = Self(1 << 14);
    /// Reader of replies with types.
    pub const TYPE_LOOKUP_REPLY_READER: Self = Self(1 << 15);
    /// Writer of topic announcements.
    pub const TOPICS_ANNOUNCER: Self = Self(1 << 28);
    /// Reader of topic announcements.
    pub const TOPICS_DETECTOR: Self = Self(1 << 29);
    /// Discovery of participants and endpoints, and liveliness: what every participant has.
    pub const STANDARD: Self = Self(0x0c3f);

    /// True where all endpoints of `other` are there.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The endpoints of both.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Debug for BuiltinEndpoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}", self.0)
    }
}

/// Properties in which products name the process of a participant.
const PROCESS_ID: [&str; 3] = [
    "dds.sys_info.process_id",
    "fastdds.physical_data.process",
    "__Pid",
];

/// What a participant announces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParticipantData {
    /// Who it is.
    pub guid: Guid,
    /// Protocol version it speaks; 2.5 where it does not say.
    pub version: ProtocolVersion,
    /// Its implementation; that of the message where it does not say.
    pub vendor: VendorId,
    /// Its domain; `None` where it does not say: then it is the one whose port was used.
    pub domain_id: Option<u32>,
    /// Part of the domain; empty by default. Participants with different tags ignore each other.
    pub domain_tag: String,
    /// Its discovery and liveliness endpoints.
    pub builtin_endpoints: BuiltinEndpoints,
    /// Behaviour of its built-in endpoints: bit 0 says that its reader of participant messages is
    /// best effort.
    pub builtin_endpoint_qos: u32,
    /// Where it wants discovery traffic.
    pub metatraffic_unicast: Vec<Locator>,
    /// Where it wants discovery traffic for many.
    pub metatraffic_multicast: Vec<Locator>,
    /// Where its endpoints want user traffic unless they say otherwise.
    pub default_unicast: Vec<Locator>,
    /// Where its endpoints want user traffic for many unless they say otherwise.
    pub default_multicast: Vec<Locator>,
    /// How long it lives without being heard; 100 s where it does not say.
    pub lease_duration: Duration,
    /// Grows when it asserts the liveliness of its writers.
    pub manual_liveliness_count: Count,
    /// Its readers want the QoS with every sample.
    pub expects_inline_qos: bool,
    /// USER_DATA of the participant.
    pub user_data: Vec<u8>,
    /// Names and values free to use.
    pub properties: PropertyList,
    /// Its name; empty by default.
    pub entity_name: String,
    /// Octets that the smallest receive buffer of its sockets holds; zero where it does not say.
    /// Only Whimbrel does.
    pub receive_buffer_bytes: u32,
    /// Codecs by which it takes whole messages; none of other implementations.
    pub packed_messages: CompressionIds,
    /// How many parameters were not understood.
    pub unknown_parameters: usize,
}

impl ParticipantData {
    /// The process it runs in, as its product names it; `None` where it does not say.
    pub fn process_id(&self) -> Option<&str> {
        PROCESS_ID.iter().find_map(|it| self.properties.get(it))
    }

    /// A participant of which only the GUID is known, everything else as by default.
    pub const fn new(guid: Guid, vendor: VendorId) -> Self {
        Self {
            guid,
            version: ProtocolVersion::V2_5,
            vendor,
            domain_id: None,
            domain_tag: String::new(),
            builtin_endpoints: BuiltinEndpoints(0),
            builtin_endpoint_qos: 0,
            metatraffic_unicast: Vec::new(),
            metatraffic_multicast: Vec::new(),
            default_unicast: Vec::new(),
            default_multicast: Vec::new(),
            lease_duration: Duration::from_secs(100),
            manual_liveliness_count: Count(0),
            expects_inline_qos: false,
            user_data: Vec::new(),
            properties: PropertyList {
                text: Vec::new(),
                binary: Vec::new(),
            },
            entity_name: String::new(),
            receive_buffer_bytes: 0,
            packed_messages: CompressionIds::NONE,
            unknown_parameters: 0,
        }
    }

    /// Reads an announcement.
    ///
    /// # Errors
    /// `MissingParameter` where neither payload nor key hash says the GUID; `MustUnderstand`,
    /// `Encapsulation`, `Limit` and whatever is wrong with a value.
    pub fn parse(payload: &[u8], context: &Context<'_>) -> Result<Self, Reject> {
        let mut data = Self::new(Guid::UNKNOWN, context.vendor);
        let mut guid = None;
        data.unknown_parameters = read_parameters(payload, context.limits, |parameter| {
            if parameter.id == ParameterId::PARTICIPANT_GUID {
                guid = Some(read_guid(&mut parameter.cursor())?);
                return Ok(true);
            }
            data.take(parameter, context)
        })?;
        data.guid = guid_or_key_hash(guid, context)?;
        Ok(data)
    }

    /// Reads one parameter; false where it is not known here.
    fn take(&mut self, parameter: Parameter<'_>, context: &Context<'_>) -> Result<bool, Reject> {
        let limits = context.limits;
        let mut cursor = parameter.cursor();
        let cursor = &mut cursor;
        match parameter.id {
            ParameterId::PROTOCOL_VERSION => {
                let [major, minor] = cursor.array()?;
                self.version = ProtocolVersion { major, minor };
            }
            ParameterId::VENDOR_ID => self.vendor = VendorId(cursor.array()?),
            ParameterId::DOMAIN_ID => self.domain_id = Some(cursor.u32()?),
            ParameterId::DOMAIN_TAG => {
                self.domain_tag = read_short_string(cursor, limits.name_bytes_max)?.into();
            }
            ParameterId::BUILTIN_ENDPOINT_SET => {
                self.builtin_endpoints = BuiltinEndpoints(cursor.u32()?);
            }
            ParameterId::BUILTIN_ENDPOINT_QOS => self.builtin_endpoint_qos = cursor.u32()?,
            ParameterId::METATRAFFIC_UNICAST_LOCATOR
            | ParameterId::METATRAFFIC_MULTICAST_LOCATOR
            | ParameterId::DEFAULT_UNICAST_LOCATOR
            | ParameterId::DEFAULT_MULTICAST_LOCATOR => {
                let locator = read_locator(cursor)?;
                let list = self.locators(parameter.id);
                push_locator(list, locator, context);
            }
            ParameterId::PARTICIPANT_LEASE_DURATION => self.lease_duration = read_duration(cursor)?,
            ParameterId::PARTICIPANT_MANUAL_LIVELINESS_COUNT => {
                self.manual_liveliness_count = Count(cursor.i32()?);
            }
            ParameterId::EXPECTS_INLINE_QOS => self.expects_inline_qos = read_bool(cursor)?,
            ParameterId::USER_DATA => {
                self.user_data = read_bounded_octets(parameter, limits.user_data_bytes_max)?;
            }
            ParameterId::PROPERTY_LIST => self.properties = PropertyList::parse(cursor, limits)?,
            ParameterId::ENTITY_NAME => {
                self.entity_name = read_short_string(cursor, limits.name_bytes_max)?.into();
            }
            ParameterId::WHIMBREL_RECEIVE_BUFFER if self.vendor == VendorId::WHIMBREL => {
                self.receive_buffer_bytes = cursor.u32()?;
            }
            ParameterId::WHIMBREL_PACKED_MESSAGES if self.vendor == VendorId::WHIMBREL => {
                self.packed_messages = CompressionIds(cursor.u32()?);
            }
            // Fast DDS says its GUID a second time.
            ParameterId::KEY_HASH => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn locators(&mut self, id: ParameterId) -> &mut Vec<Locator> {
        match id {
            ParameterId::METATRAFFIC_UNICAST_LOCATOR => &mut self.metatraffic_unicast,
            ParameterId::METATRAFFIC_MULTICAST_LOCATOR => &mut self.metatraffic_multicast,
            ParameterId::DEFAULT_UNICAST_LOCATOR => &mut self.default_unicast,
            _ => &mut self.default_multicast,
        }
    }

    /// Appends the announcement as a PL_CDR_LE payload.
    ///
    /// # Errors
    /// `Length` where a value is too long to travel; the payload then lacks it.
    pub fn compose(&self, out: &mut Vec<u8>) -> Result<(), Reject> {
        compose_parameters(out, |list| self.write(list))
    }

    fn write(&self, list: &mut ParameterListWriter<'_>) {
        let Self {
            guid,
            version,
            vendor,
            domain_id,
            domain_tag,
            builtin_endpoints,
            builtin_endpoint_qos,
            metatraffic_unicast: _,
            metatraffic_multicast: _,
            default_unicast: _,
            default_multicast: _,
            lease_duration,
            manual_liveliness_count,
            expects_inline_qos,
            user_data,
            properties,
            entity_name,
            receive_buffer_bytes,
            packed_messages,
            unknown_parameters: _,
        } = self;
        write_identity(list, *guid, *version, *vendor);
        if let Some(domain) = domain_id {
            list.put(ParameterId::DOMAIN_ID, |out| out.u32(*domain));
        }
        put_string(list, ParameterId::DOMAIN_TAG, domain_tag);
        list.put(ParameterId::BUILTIN_ENDPOINT_SET, |out| {
            out.u32(builtin_endpoints.0)
        });
        put_unless_zero(
            list,
            ParameterId::BUILTIN_ENDPOINT_QOS,
            *builtin_endpoint_qos,
        );
        self.write_addresses(list);
        list.put(ParameterId::PARTICIPANT_LEASE_DURATION, |out| {
            write_duration(out, *lease_duration);
        });
        if manual_liveliness_count.0 != 0 {
            let count = manual_liveliness_count.0;
            list.put(ParameterId::PARTICIPANT_MANUAL_LIVELINESS_COUNT, |out| {
                out.i32(count)
            });
        }
        if *expects_inline_qos {
            list.put(ParameterId::EXPECTS_INLINE_QOS, |out| out.u8(1));
        }
        if !user_data.is_empty() {
            list.put(ParameterId::USER_DATA, |out| write_octets(out, user_data));
        }
        if !properties.is_empty() {
            list.put(ParameterId::PROPERTY_LIST, |out| properties.compose(out));
        }
        put_string(list, ParameterId::ENTITY_NAME, entity_name);
        put_unless_zero(
            list,
            ParameterId::WHIMBREL_RECEIVE_BUFFER,
            *receive_buffer_bytes,
        );
        let packed_messages = packed_messages.0;
        put_unless_zero(list, ParameterId::WHIMBREL_PACKED_MESSAGES, packed_messages);
    }

    fn write_addresses(&self, list: &mut ParameterListWriter<'_>) {
        for (id, locators) in [
            (
                ParameterId::METATRAFFIC_UNICAST_LOCATOR,
                &self.metatraffic_unicast,
            ),
            (
                ParameterId::METATRAFFIC_MULTICAST_LOCATOR,
                &self.metatraffic_multicast,
            ),
            (ParameterId::DEFAULT_UNICAST_LOCATOR, &self.default_unicast),
            (
                ParameterId::DEFAULT_MULTICAST_LOCATOR,
                &self.default_multicast,
            ),
        ] {
            write_locators(list, id, locators);
        }
    }
}

fn put_unless_zero(list: &mut ParameterListWriter<'_>, id: ParameterId, value: u32) {
    if value != 0 {
        list.put(id, |out| out.u32(value));
    }
}

fn write_identity(
    list: &mut ParameterListWriter<'_>,
    guid: Guid,
    version: ProtocolVersion,
    vendor: VendorId,
) {
    let guid = guid.to_bytes();
    let ProtocolVersion { major, minor } = version;
    list.put(ParameterId::PROTOCOL_VERSION, |out| {
        out.bytes(&[major, minor])
    });
    list.put(ParameterId::VENDOR_ID, |out| out.bytes(&vendor.0));
    list.put(ParameterId::PARTICIPANT_GUID, |out| out.bytes(&guid));
}

/// Adds `locator`; what is past the limit is passed over.
pub(super) fn push_locator(list: &mut Vec<Locator>, locator: Locator, context: &Context<'_>) {
    if list.len() < context.limits.locators_max {
        list.push(locator);
    }
}

/// Puts a string unless it is empty.
pub(super) fn put_string(list: &mut ParameterListWriter<'_>, id: ParameterId, text: &str) {
    if !text.is_empty() {
        list.put(id, |out| write_string(out, text));
    }
}

/// Puts each locator as a parameter of its own.
pub(super) fn write_locators(
    list: &mut ParameterListWriter<'_>,
    id: ParameterId,
    locators: &[Locator],
) {
    for locator in locators {
        list.put(id, |out| write_locator(out, *locator));
    }
}

pub(super) fn read_bounded_octets(
    parameter: Parameter<'_>,
    len_max: usize,
) -> Result<Vec<u8>, Reject> {
    let mut cursor = parameter.cursor();
    let too_long = cursor.reject(RejectKind::Limit);
    match read_octets(&mut cursor)? {
        octets if octets.len() <= len_max => Ok(octets.to_vec()),
        _ => Err(too_long),
    }
}
