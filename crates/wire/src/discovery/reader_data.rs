//! DiscoveredReaderData: what a reader announces. RTPS 2.5 §8.5.4.3, §9.6.3.1.

use alloc::vec::Vec;

use whimbrel_base::qos::DataReaderQos;
use whimbrel_base::reject::Reject;
use whimbrel_base::vendor::VendorId;

use super::content_filter::ContentFilter;
use super::context::Context;
use super::encapsulation::compose_parameters;
use super::endpoint_data::EndpointData;
use super::participant_data::read_bounded_octets;
use super::policy::{
    Readable, put, put_changed, put_data_representation, read_data_representation, read_own_codecs,
};
use crate::parameter::value::read_bool;
use crate::parameter::{Parameter, ParameterId, ParameterListWriter};

/// What a reader announces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReaderData {
    /// What writers announce as well.
    pub endpoint: EndpointData,
    /// QoS of the reader; policies that do not travel are as by default.
    pub qos: DataReaderQos,
    /// It wants the QoS with every sample.
    pub expects_inline_qos: bool,
    /// Which samples it wants; all where there is none.
    pub content_filter: Option<ContentFilter>,
}

impl ReaderData {
    /// Reads an announcement. Policies that are absent are as by default, among them BEST_EFFORT.
    ///
    /// # Errors
    /// `MissingParameter` where GUID, topic name or type name is absent; `MustUnderstand`,
    /// `Encapsulation`, `Limit` and whatever is wrong with a value.
    pub fn parse(payload: &[u8], context: &Context<'_>) -> Result<Self, Reject> {
        let mut qos = DataReaderQos::default();
        let mut expects_inline_qos = false;
        let mut content_filter = None;
        let endpoint = EndpointData::parse(payload, context, |parameter| {
            let mut cursor = parameter.cursor();
            match parameter.id {
                ParameterId::EXPECTS_INLINE_QOS => expects_inline_qos = read_bool(&mut cursor)?,
                ParameterId::CONTENT_FILTER_PROPERTY => {
                    content_filter = Some(ContentFilter::parse(&mut cursor, context.limits)?);
                }
                _ => return take(&mut qos, parameter, context),
            }
            Ok(true)
        })?;
        Ok(Self {
            endpoint,
            qos,
            expects_inline_qos,
            content_filter,
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
            if self.expects_inline_qos {
                list.put(ParameterId::EXPECTS_INLINE_QOS, |out| out.u8(1));
            }
            if let Some(filter) = &self.content_filter {
                list.put(ParameterId::CONTENT_FILTER_PROPERTY, |out| {
                    filter.compose(out)
                });
            }
        })
    }
}

fn take(
    qos: &mut DataReaderQos,
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
        ParameterId::DEADLINE => qos.deadline = Readable::read(cursor)?,
        ParameterId::LATENCY_BUDGET => qos.latency_budget = Readable::read(cursor)?,
        ParameterId::OWNERSHIP => qos.ownership = Readable::read(cursor)?,
        ParameterId::LIVELINESS => qos.liveliness = Readable::read(cursor)?,
        ParameterId::RELIABILITY => qos.reliability = Readable::read(cursor)?,
        ParameterId::DESTINATION_ORDER => qos.destination_order = Readable::read(cursor)?,
        ParameterId::HISTORY => qos.history = Readable::read(cursor)?,
        ParameterId::RESOURCE_LIMITS => qos.resource_limits = Readable::read(cursor)?,
        ParameterId::TIME_BASED_FILTER => qos.time_based_filter = Readable::read(cursor)?,
        ParameterId::TYPE_CONSISTENCY => qos.type_consistency = Readable::read(cursor)?,
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

fn write(list: &mut ParameterListWriter<'_>, qos: &DataReaderQos) {
    let DataReaderQos {
        user_data,
        durability,
        deadline,
        latency_budget,
        ownership,
        liveliness,
        time_based_filter,
        reliability,
        destination_order,
        history,
        resource_limits,
        reader_data_lifecycle: _,
        data_representation,
        type_consistency,
    } = qos;
    put(list, reliability);
    put(list, durability);
    put_changed(list, user_data);
    put_changed(list, deadline);
    put_changed(list, latency_budget);
    put_changed(list, ownership);
    put_changed(list, liveliness);
    put_changed(list, destination_order);
    put_changed(list, history);
    put_changed(list, resource_limits);
    put_changed(list, time_based_filter);
    put_changed(list, type_consistency);
    let codecs = data_representation.compression.compression_ids;
    put_data_representation(list, data_representation, codecs);
}
