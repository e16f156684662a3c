//! DiscoveredReaderData: what a reader announces. RTPS 2.5 §8.5.4.3, §9.6.3.1.

use alloc::vec::Vec;

use whimbrel_base::qos::{DataReaderQos, DestinationOrder, Durability, Ownership};
use whimbrel_base::reject::Reject;

use super::content_filter::ContentFilter;
use super::context::Context;
use super::encapsulation::compose_parameters;
use super::endpoint_data::{EndpointData, put_changed, put_octets};
use super::participant_data::read_bounded_octets;
use super::policy::{
    read_data_representation, read_history, read_kind, read_liveliness, read_reliability,
    read_resource_limits, read_type_consistency, write_data_representation, write_history,
    write_liveliness, write_reliability, write_resource_limits, write_type_consistency,
};
use crate::field::{read_duration, write_duration};
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
        let endpoint = EndpointData::parse(payload, context, |endpoint, parameter| {
            let mut cursor = parameter.cursor();
            match parameter.id {
                ParameterId::EXPECTS_INLINE_QOS => expects_inline_qos = read_bool(&mut cursor)?,
                ParameterId::CONTENT_FILTER_PROPERTY => {
                    content_filter = Some(ContentFilter::parse(&mut cursor, context.limits)?);
                }
                _ => return take(&mut qos, endpoint, parameter, context),
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
            write(list, &self.qos, self.endpoint.compression_mask);
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
    endpoint: &mut EndpointData,
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
        ParameterId::DURABILITY => qos.durability = read_kind(cursor, Durability::from_wire)?,
        ParameterId::DEADLINE => qos.deadline.period = read_duration(cursor)?,
        ParameterId::LATENCY_BUDGET => qos.latency_budget.duration = read_duration(cursor)?,
        ParameterId::OWNERSHIP => qos.ownership = read_kind(cursor, Ownership::from_wire)?,
        ParameterId::LIVELINESS => qos.liveliness = read_liveliness(cursor)?,
        ParameterId::TIME_BASED_FILTER => {
            qos.time_based_filter.minimum_separation = read_duration(cursor)?;
        }
        ParameterId::RELIABILITY => qos.reliability = read_reliability(cursor)?,
        ParameterId::DESTINATION_ORDER => {
            qos.destination_order = read_kind(cursor, DestinationOrder::from_wire)?;
        }
        ParameterId::HISTORY => qos.history = read_history(cursor)?,
        ParameterId::RESOURCE_LIMITS => qos.resource_limits = read_resource_limits(cursor)?,
        ParameterId::DATA_REPRESENTATION => {
            (qos.data_representation, endpoint.compression_mask) =
                read_data_representation(cursor)?;
        }
        ParameterId::TYPE_CONSISTENCY => qos.type_consistency = read_type_consistency(cursor)?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn write(list: &mut ParameterListWriter<'_>, qos: &DataReaderQos, compression_mask: Option<u32>) {
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
    list.put(ParameterId::RELIABILITY, |out| {
        write_reliability(out, reliability)
    });
    list.put(ParameterId::DURABILITY, |out| out.u32(durability.to_wire()));
    put_octets(list, ParameterId::USER_DATA, &user_data.value);
    put_changed(list, ParameterId::DEADLINE, deadline, |out| {
        write_duration(out, deadline.period);
    });
    put_changed(list, ParameterId::LATENCY_BUDGET, latency_budget, |out| {
        write_duration(out, latency_budget.duration);
    });
    put_changed(list, ParameterId::OWNERSHIP, ownership, |out| {
        out.u32(ownership.to_wire())
    });
    put_changed(list, ParameterId::LIVELINESS, liveliness, |out| {
        write_liveliness(out, liveliness);
    });
    put_changed(
        list,
        ParameterId::TIME_BASED_FILTER,
        time_based_filter,
        |out| {
            write_duration(out, time_based_filter.minimum_separation);
        },
    );
    put_changed(
        list,
        ParameterId::DESTINATION_ORDER,
        destination_order,
        |out| {
            out.u32(destination_order.to_wire());
        },
    );
    put_changed(list, ParameterId::HISTORY, history, |out| {
        write_history(out, *history)
    });
    put_changed(list, ParameterId::RESOURCE_LIMITS, resource_limits, |out| {
        write_resource_limits(out, resource_limits);
    });
    if !data_representation.ids.is_empty() || compression_mask.is_some() {
        list.put(ParameterId::DATA_REPRESENTATION, |out| {
            write_data_representation(out, data_representation, compression_mask);
        });
    }
    put_changed(
        list,
        ParameterId::TYPE_CONSISTENCY,
        type_consistency,
        |out| {
            write_type_consistency(out, type_consistency);
        },
    );
}
