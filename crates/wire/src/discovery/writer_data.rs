//! DiscoveredWriterData: what a writer announces. RTPS 2.5 §8.5.4.2, §9.6.3.1.

use alloc::vec::Vec;

use whimbrel_base::qos::DataWriterQos;
use whimbrel_base::reject::Reject;
use whimbrel_base::vendor::VendorId;

use super::context::Context;
use super::encapsulation::compose_parameters;
use super::endpoint_data::EndpointData;
use super::participant_data::read_bounded_octets;
use super::policy::{
    Readable, put, put_changed, put_data_representation, read_data_representation, read_own_codecs,
};
use crate::parameter::{Parameter, ParameterId, ParameterListWriter};

/// What a writer announces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WriterData {
    /// What readers announce as well.
    pub endpoint: EndpointData,
    /// QoS of the writer; policies that do not travel are as by default.
    pub qos: DataWriterQos,
    /// Greatest size of a serialized sample, where it says so.
    pub max_serialized_size: Option<u32>,
}

impl WriterData {
    /// Reads an announcement. Policies that are absent are as by default, among them RELIABLE.
    ///
    /// # Errors
    /// `MissingParameter` where GUID, topic name or type name is absent; `MustUnderstand`,
    /// `Encapsulation`, `Limit` and whatever is wrong with a value.
    pub fn parse(payload: &[u8], context: &Context<'_>) -> Result<Self, Reject> {
        let mut qos = DataWriterQos::default();
        let mut max_serialized_size = None;
        let endpoint = EndpointData::parse(payload, context, |parameter| {
            if parameter.id == ParameterId::TYPE_MAX_SIZE_SERIALIZED {
                max_serialized_size = Some(parameter.cursor().u32()?);
                return Ok(true);
            }
            take(&mut qos, parameter, context)
        })?;
        Ok(Self {
            endpoint,
            qos,
            max_serialized_size,
        })
    }

    /// Appends the announcement as a PL_CDR_LE payload. Reliability and durability are always
    /// said, other policies where they are not as by default.
    ///
    /// # Errors
    /// `Length` where a value is too long to travel; the payload then lacks it.
    pub fn compose(&self, out: &mut Vec<u8>) -> Result<(), Reject> {
        compose_parameters(out, |list| {
            self.endpoint.write(list);
            write(list, &self.qos);
            if let Some(size) = self.max_serialized_size {
                list.put(ParameterId::TYPE_MAX_SIZE_SERIALIZED, |out| out.u32(size));
            }
        })
    }
}

fn take(
    qos: &mut DataWriterQos,
    parameter: Parameter<'_>,
    context: &Context<'_>,
) -> Result<bool, Reject> {
    let mut cursor = parameter.cursor();
    let cursor = &mut cursor;
    match parameter.id {
        ParameterId::USER_DATA => {
            let len_max = context.limits.user_data_bytes_max;
            qos.user_data.value = read_bounded_octets(parameter, len_max)?;
        }
        ParameterId::DURABILITY => qos.durability = Readable::read(cursor)?,
        ParameterId::DURABILITY_SERVICE => qos.durability_service = Readable::read(cursor)?,
        ParameterId::DEADLINE => qos.deadline = Readable::read(cursor)?,
        ParameterId::LATENCY_BUDGET => qos.latency_budget = Readable::read(cursor)?,
        ParameterId::OWNERSHIP => qos.ownership = Readable::read(cursor)?,
        ParameterId::OWNERSHIP_STRENGTH => qos.ownership_strength = Readable::read(cursor)?,
        ParameterId::LIVELINESS => qos.liveliness = Readable::read(cursor)?,
        ParameterId::RELIABILITY => qos.reliability = Readable::read(cursor)?,
        ParameterId::TRANSPORT_PRIORITY => qos.transport_priority = Readable::read(cursor)?,
        ParameterId::LIFESPAN => qos.lifespan = Readable::read(cursor)?,
        ParameterId::DESTINATION_ORDER => qos.destination_order = Readable::read(cursor)?,
        ParameterId::HISTORY => qos.history = Readable::read(cursor)?,
        ParameterId::RESOURCE_LIMITS => qos.resource_limits = Readable::read(cursor)?,
        ParameterId::DATA_REPRESENTATION => {
            read_data_representation(cursor, &mut qos.data_representation)?;
        }
        ParameterId::WHIMBREL_COMPRESSION if context.vendor == VendorId::WHIMBREL => {
            read_own_codecs(cursor, &mut qos.data_representation)?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn write(list: &mut ParameterListWriter<'_>, qos: &DataWriterQos) {
    let DataWriterQos {
        user_data,
        durability,
        durability_service,
        deadline,
        latency_budget,
        ownership,
        ownership_strength,
        liveliness,
        reliability,
        transport_priority,
        lifespan,
        destination_order,
        history,
        resource_limits,
        writer_data_lifecycle: _,
        data_representation,
        bundling: _,
        batch: _,
        publish_mode: _,
    } = qos;
    put(list, reliability);
    put(list, durability);
    put_changed(list, user_data);
    put_changed(list, durability_service);
    put_changed(list, deadline);
    put_changed(list, latency_budget);
    put_changed(list, ownership);
    put_changed(list, ownership_strength);
    put_changed(list, liveliness);
    put_changed(list, transport_priority);
    put_changed(list, lifespan);
    put_changed(list, destination_order);
    put_changed(list, history);
    put_changed(list, resource_limits);
    let offered = data_representation.compression.offered();
    let codecs = (!offered.is_empty()).then_some(offered);
    put_data_representation(list, data_representation, codecs);
}
