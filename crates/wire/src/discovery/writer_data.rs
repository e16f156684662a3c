//! DiscoveredWriterData: what a writer announces. RTPS 2.5 §8.5.4.2, §9.6.3.1.

use alloc::vec::Vec;

use whimbrel_base::qos::{DataWriterQos, DestinationOrder, Durability, Ownership};
use whimbrel_base::reject::Reject;

use super::context::Context;
use super::encapsulation::compose_parameters;
use super::endpoint_data::{EndpointData, put_changed, put_octets};
use super::participant_data::read_bounded_octets;
use super::policy::{
    read_data_representation, read_durability_service, read_history, read_kind, read_liveliness,
    read_reliability, read_resource_limits, write_data_representation, write_durability_service,
    write_history, write_liveliness, write_reliability, write_resource_limits,
};
use crate::field::{read_duration, write_duration};
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
        let endpoint = EndpointData::parse(payload, context, |endpoint, parameter| {
            if parameter.id == ParameterId::TYPE_MAX_SIZE_SERIALIZED {
                max_serialized_size = Some(parameter.cursor().u32()?);
                return Ok(true);
            }
            take(&mut qos, endpoint, parameter, context)
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
            write(list, &self.qos, self.endpoint.compression_mask);
            if let Some(size) = self.max_serialized_size {
                list.put(ParameterId::TYPE_MAX_SIZE_SERIALIZED, |out| out.u32(size));
            }
        })
    }
}

fn take(
    qos: &mut DataWriterQos,
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
        ParameterId::DURABILITY_SERVICE => {
            qos.durability_service = read_durability_service(cursor)?;
        }
        ParameterId::DEADLINE => qos.deadline.period = read_duration(cursor)?,
        ParameterId::LATENCY_BUDGET => qos.latency_budget.duration = read_duration(cursor)?,
        ParameterId::OWNERSHIP => qos.ownership = read_kind(cursor, Ownership::from_wire)?,
        ParameterId::OWNERSHIP_STRENGTH => qos.ownership_strength.value = cursor.i32()?,
        ParameterId::LIVELINESS => qos.liveliness = read_liveliness(cursor)?,
        ParameterId::RELIABILITY => qos.reliability = read_reliability(cursor)?,
        ParameterId::TRANSPORT_PRIORITY => qos.transport_priority.value = cursor.i32()?,
        ParameterId::LIFESPAN => qos.lifespan.duration = read_duration(cursor)?,
        ParameterId::DESTINATION_ORDER => {
            qos.destination_order = read_kind(cursor, DestinationOrder::from_wire)?;
        }
        ParameterId::HISTORY => qos.history = read_history(cursor)?,
        ParameterId::RESOURCE_LIMITS => qos.resource_limits = read_resource_limits(cursor)?,
        ParameterId::DATA_REPRESENTATION => {
            (qos.data_representation, endpoint.compression_mask) =
                read_data_representation(cursor)?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn write(list: &mut ParameterListWriter<'_>, qos: &DataWriterQos, compression_mask: Option<u32>) {
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
    } = qos;
    list.put(ParameterId::RELIABILITY, |out| {
        write_reliability(out, reliability)
    });
    list.put(ParameterId::DURABILITY, |out| out.u32(durability.to_wire()));
    put_octets(list, ParameterId::USER_DATA, &user_data.value);
    put_changed(
        list,
        ParameterId::DURABILITY_SERVICE,
        durability_service,
        |out| {
            write_durability_service(out, durability_service);
        },
    );
    put_changed(list, ParameterId::DEADLINE, deadline, |out| {
        write_duration(out, deadline.period);
    });
    put_changed(list, ParameterId::LATENCY_BUDGET, latency_budget, |out| {
        write_duration(out, latency_budget.duration);
    });
    put_changed(list, ParameterId::OWNERSHIP, ownership, |out| {
        out.u32(ownership.to_wire())
    });
    put_changed(
        list,
        ParameterId::OWNERSHIP_STRENGTH,
        ownership_strength,
        |out| {
            out.i32(ownership_strength.value);
        },
    );
    put_changed(list, ParameterId::LIVELINESS, liveliness, |out| {
        write_liveliness(out, liveliness);
    });
    put_changed(
        list,
        ParameterId::TRANSPORT_PRIORITY,
        transport_priority,
        |out| {
            out.i32(transport_priority.value);
        },
    );
    put_changed(list, ParameterId::LIFESPAN, lifespan, |out| {
        write_duration(out, lifespan.duration);
    });
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
}
