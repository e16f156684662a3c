//! What writers and readers both announce. RTPS 2.5 §8.5.4, §9.6.3.1.

use alloc::string::String;
use alloc::vec::Vec;

use whimbrel_base::guid::{EntityId, Guid};
use whimbrel_base::locator::Locator;
use whimbrel_base::qos::{GroupData, Partition, Presentation, TopicData};
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::vendor::VendorId;

use super::context::Context;
use super::encapsulation::{guid_or_key_hash, read_parameters};
use super::participant_data::{push_locator, put_string, read_bounded_octets, write_locators};
use super::policy::{Readable, put_changed};
use crate::field::{read_entity_id, read_guid, read_locator};
use crate::parameter::value::{
    read_bool, read_short_string, read_strings, write_string, write_strings,
};
use crate::parameter::{Parameter, ParameterId, ParameterListWriter};
use crate::property::PropertyList;

/// What writers and readers both announce.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EndpointData {
    /// Which endpoint it is.
    pub guid: Guid,
    /// Publisher or subscriber it belongs to.
    pub group: Option<EntityId>,
    /// Name of its topic.
    pub topic_name: String,
    /// Name of its type.
    pub type_name: String,
    /// Partitions of its publisher or subscriber.
    pub partition: Partition,
    /// Order and coherence in its publisher or subscriber.
    pub presentation: Presentation,
    /// Octets of its publisher or subscriber.
    pub group_data: GroupData,
    /// Octets of its topic.
    pub topic_data: TopicData,
    /// Where it wants its traffic; where empty, the participant's default.
    pub unicast: Vec<Locator>,
    /// Where it wants its traffic for many; where empty, the participant's default.
    pub multicast: Vec<Locator>,
    /// Its name; empty by default.
    pub entity_name: String,
    /// Names and values free to use.
    pub properties: PropertyList,
    /// TypeInformation as it travels, without its padding undone. XTypes 1.3 §7.6.3.2.2.
    pub type_information: Option<Vec<u8>>,
    /// TypeObject as it travels. XTypes 1.1 §7.6.2.1.
    pub type_object: Option<Vec<u8>>,
    /// The writer does not want positive acknowledgements, or the reader sends none (a parameter
    /// of Fast DDS, read from Fast DDS only and never sent).
    pub disable_positive_acks: bool,
    /// The writer sends batches, or the reader takes them (a parameter of Whimbrel, read from
    /// Whimbrel only).
    pub batches: bool,
    /// How many parameters were not understood.
    pub unknown_parameters: usize,
}

impl EndpointData {
    /// An endpoint `guid` of topic `topic_name`, everything else as by default.
    pub fn new(guid: Guid, topic_name: impl Into<String>, type_name: impl Into<String>) -> Self {
        Self {
            guid,
            group: None,
            topic_name: topic_name.into(),
            type_name: type_name.into(),
            partition: Partition::default(),
            presentation: Presentation::default(),
            group_data: GroupData::default(),
            topic_data: TopicData::default(),
            unicast: Vec::new(),
            multicast: Vec::new(),
            entity_name: String::new(),
            properties: PropertyList::default(),
            type_information: None,
            type_object: None,
            disable_positive_acks: false,
            batches: false,
            unknown_parameters: 0,
        }
    }

    /// The participant that the endpoint belongs to.
    pub const fn participant(&self) -> Guid {
        Guid::new(self.guid.prefix, EntityId::PARTICIPANT)
    }

    /// Reads an announcement; `take` gets the parameters that only writers or only readers have.
    ///
    /// # Errors
    /// `MissingParameter` where GUID, topic name or type name is absent, `Parameter` where the
    /// stated participant is not the endpoint's own, and those of `read_parameters`.
    pub(super) fn parse(
        payload: &[u8],
        context: &Context<'_>,
        mut take: impl FnMut(Parameter<'_>) -> Result<bool, Reject>,
    ) -> Result<Self, Reject> {
        let mut data = Self::new(Guid::UNKNOWN, "", "");
        let mut guid = None;
        let mut hash = None;
        let mut participant: Option<Guid> = None;
        data.unknown_parameters = read_parameters(payload, context.limits, |parameter| {
            match parameter.id {
                ParameterId::ENDPOINT_GUID => guid = Some(read_guid(&mut parameter.cursor())?),
                // Fast DDS says its GUID a second time.
                ParameterId::KEY_HASH => hash = Some(read_guid(&mut parameter.cursor())?),
                ParameterId::PARTICIPANT_GUID => {
                    participant = Some(read_guid(&mut parameter.cursor())?);
                }
                _ => return Ok(data.take(parameter, context)? || take(parameter)?),
            }
            Ok(true)
        })?;
        data.guid = guid_or_key_hash(guid.or(hash), context)?;
        if participant.is_some_and(|participant| participant.prefix != data.guid.prefix) {
            return Err(Reject::new(RejectKind::Parameter, 0));
        }
        if data.topic_name.is_empty() || data.type_name.is_empty() {
            return Err(Reject::new(RejectKind::MissingParameter, 0));
        }
        Ok(data)
    }

    fn take(&mut self, parameter: Parameter<'_>, context: &Context<'_>) -> Result<bool, Reject> {
        let limits = context.limits;
        let octets = || read_bounded_octets(parameter, limits.user_data_bytes_max);
        let name = || read_short_string(&mut parameter.cursor(), limits.name_bytes_max);
        let mut cursor = parameter.cursor();
        let cursor = &mut cursor;
        match parameter.id {
            ParameterId::GROUP_ENTITY_ID => self.group = Some(read_entity_id(cursor)?),
            ParameterId::GROUP_GUID => self.group = Some(read_guid(cursor)?.entity),
            ParameterId::TOPIC_NAME => self.topic_name = name()?.into(),
            ParameterId::TYPE_NAME => self.type_name = name()?.into(),
            ParameterId::ENTITY_NAME => self.entity_name = name()?.into(),
            ParameterId::PARTITION => {
                let len_max = limits.partition_bytes_max;
                self.partition.names = read_strings(cursor, limits.partitions_max, len_max)?;
            }
            ParameterId::PRESENTATION => self.presentation = Readable::read(cursor)?,
            ParameterId::GROUP_DATA => self.group_data.value = octets()?,
            ParameterId::TOPIC_DATA => self.topic_data.value = octets()?,
            ParameterId::UNICAST_LOCATOR => {
                push_locator(&mut self.unicast, read_locator(cursor)?, context);
            }
            ParameterId::MULTICAST_LOCATOR => {
                push_locator(&mut self.multicast, read_locator(cursor)?, context);
            }
            ParameterId::PROPERTY_LIST => self.properties = PropertyList::parse(cursor, limits)?,
            ParameterId::TYPE_INFORMATION => self.type_information = Some(parameter.value.to_vec()),
            ParameterId::TYPE_OBJECT => self.type_object = Some(parameter.value.to_vec()),
            ParameterId::FAST_DDS_DISABLE_POSITIVE_ACKS if context.vendor == VendorId::FAST_DDS => {
                self.disable_positive_acks = cursor.u8()? != 0;
            }
            ParameterId::WHIMBREL_BATCHES if context.vendor == VendorId::WHIMBREL => {
                self.batches = read_bool(cursor)?;
            }
            // Known and of no use: the version and vendor of the message count.
            ParameterId::PROTOCOL_VERSION | ParameterId::VENDOR_ID => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Writes what both sorts of endpoints announce. Policies at their defaults are left out.
    pub(super) fn write(&self, list: &mut ParameterListWriter<'_>) {
        let Self {
            guid,
            group,
            topic_name,
            type_name,
            partition,
            presentation,
            group_data,
            topic_data,
            unicast,
            multicast,
            entity_name,
            properties,
            type_information,
            type_object,
            disable_positive_acks: _,
            batches,
            unknown_parameters: _,
        } = self;
        let participant = self.participant().to_bytes();
        list.put(ParameterId::ENDPOINT_GUID, |out| {
            out.bytes(&guid.to_bytes())
        });
        list.put(ParameterId::PARTICIPANT_GUID, |out| out.bytes(&participant));
        if let Some(group) = group {
            list.put(ParameterId::GROUP_ENTITY_ID, |out| out.bytes(&group.0));
        }
        list.put(ParameterId::TOPIC_NAME, |out| write_string(out, topic_name));
        list.put(ParameterId::TYPE_NAME, |out| write_string(out, type_name));
        if !partition.names.is_empty() {
            list.put(ParameterId::PARTITION, |out| {
                write_strings(out, &partition.names)
            });
        }
        put_changed(list, presentation);
        put_changed(list, group_data);
        put_changed(list, topic_data);
        write_locators(list, ParameterId::UNICAST_LOCATOR, unicast);
        write_locators(list, ParameterId::MULTICAST_LOCATOR, multicast);
        put_string(list, ParameterId::ENTITY_NAME, entity_name);
        if !properties.is_empty() {
            list.put(ParameterId::PROPERTY_LIST, |out| properties.compose(out));
        }
        if *batches {
            list.put(ParameterId::WHIMBREL_BATCHES, |out| out.u8(1));
        }
        if let Some(information) = type_information {
            list.put(ParameterId::TYPE_INFORMATION, |out| out.bytes(information));
        }
        if let Some(object) = type_object {
            list.put(ParameterId::TYPE_OBJECT, |out| out.bytes(object));
        }
    }
}
