//! How QoS policies travel. RTPS 2.5 §9.6.3, XTypes 1.3 §7.6.3.
//!
//! History, resource limits and durability service of a peer decide nothing about matching, so
//! values there that mean nothing (peers send limits of 0) are read as the nearest that does.

use alloc::vec::Vec;

use whimbrel_base::cursor::{ReadCursor, WriteCursor};
use whimbrel_base::qos::{
    CompressionIds, DataRepresentation, DataRepresentationId, Deadline, DestinationOrder,
    Durability, DurabilityService, GroupData, History, LatencyBudget, Lifespan, Limit, Liveliness,
    LivelinessKind, Ownership, OwnershipStrength, Presentation, PresentationScope, Reliability,
    ReliabilityKind, ResourceLimits, TimeBasedFilter, TopicData, TransportPriority,
    TypeConsistency, TypeConsistencyKind, UserData,
};
use whimbrel_base::reject::{Reject, RejectKind};

use crate::field::{read_duration, write_duration};
use crate::parameter::value::{read_bool, read_count, write_count, write_octets};
use crate::parameter::{ParameterId, ParameterListWriter};

/// Encodings that one endpoint may name.
const REPRESENTATIONS_MAX: usize = 64;

/// A policy that is a parameter.
pub(super) trait Announced: Default + PartialEq {
    /// The parameter.
    const ID: ParameterId;

    /// Appends the parameter's value.
    fn write(&self, out: &mut WriteCursor<'_>);
}

/// A policy whose value is read without knowing limits.
pub(super) trait Readable: Announced {
    /// Reads the parameter's value.
    fn read(cursor: &mut ReadCursor<'_>) -> Result<Self, Reject>;
}

/// Puts a policy.
pub(super) fn put<P: Announced>(list: &mut ParameterListWriter<'_>, policy: &P) {
    list.put(P::ID, |out| policy.write(out));
}

/// Puts a policy unless it is as by default.
pub(super) fn put_changed<P: Announced>(list: &mut ParameterListWriter<'_>, policy: &P) {
    if *policy != P::default() {
        put(list, policy);
    }
}

macro_rules! kinds {
    ($($policy:ident $id:ident,)+) => {$(
        impl Announced for $policy {
            const ID: ParameterId = ParameterId::$id;

            fn write(&self, out: &mut WriteCursor<'_>) {
                out.u32(self.to_wire());
            }
        }

        impl Readable for $policy {
            fn read(cursor: &mut ReadCursor<'_>) -> Result<Self, Reject> {
                read_kind(cursor, Self::from_wire)
            }
        }
    )+};
}

kinds! {
    Durability DURABILITY,
    Ownership OWNERSHIP,
    DestinationOrder DESTINATION_ORDER,
}

macro_rules! durations {
    ($($policy:ident $id:ident $field:ident,)+) => {$(
        impl Announced for $policy {
            const ID: ParameterId = ParameterId::$id;

            fn write(&self, out: &mut WriteCursor<'_>) {
                write_duration(out, self.$field);
            }
        }

        impl Readable for $policy {
            fn read(cursor: &mut ReadCursor<'_>) -> Result<Self, Reject> {
                let $field = read_duration(cursor)?;
                Ok(Self { $field })
            }
        }
    )+};
}

durations! {
    Deadline DEADLINE period,
    LatencyBudget LATENCY_BUDGET duration,
    Lifespan LIFESPAN duration,
    TimeBasedFilter TIME_BASED_FILTER minimum_separation,
}

macro_rules! numbers {
    ($($policy:ident $id:ident,)+) => {$(
        impl Announced for $policy {
            const ID: ParameterId = ParameterId::$id;

            fn write(&self, out: &mut WriteCursor<'_>) {
                out.i32(self.value);
            }
        }

        impl Readable for $policy {
            fn read(cursor: &mut ReadCursor<'_>) -> Result<Self, Reject> {
                let value = cursor.i32()?;
                Ok(Self { value })
            }
        }
    )+};
}

numbers! {
    OwnershipStrength OWNERSHIP_STRENGTH,
    TransportPriority TRANSPORT_PRIORITY,
}

macro_rules! octets {
    ($($policy:ident $id:ident,)+) => {$(
        impl Announced for $policy {
            const ID: ParameterId = ParameterId::$id;

            fn write(&self, out: &mut WriteCursor<'_>) {
                write_octets(out, &self.value);
            }
        }
    )+};
}

octets! {
    UserData USER_DATA,
    GroupData GROUP_DATA,
    TopicData TOPIC_DATA,
}

/// A kind that travels as a 32-bit number.
fn read_kind<T>(
    cursor: &mut ReadCursor<'_>,
    from_wire: impl Fn(u32) -> Option<T>,
) -> Result<T, Reject> {
    let unknown = cursor.reject(RejectKind::EnumValue);
    from_wire(cursor.u32()?).ok_or(unknown)
}

impl Announced for Reliability {
    const ID: ParameterId = ParameterId::RELIABILITY;

    fn write(&self, out: &mut WriteCursor<'_>) {
        out.u32(self.kind.to_wire());
        write_duration(out, self.max_blocking_time);
    }
}

impl Readable for Reliability {
    fn read(cursor: &mut ReadCursor<'_>) -> Result<Self, Reject> {
        Ok(Self {
            kind: read_kind(cursor, ReliabilityKind::from_wire)?,
            max_blocking_time: read_duration(cursor)?,
        })
    }
}

impl Announced for Liveliness {
    const ID: ParameterId = ParameterId::LIVELINESS;

    fn write(&self, out: &mut WriteCursor<'_>) {
        out.u32(self.kind.to_wire());
        write_duration(out, self.lease_duration);
    }
}

impl Readable for Liveliness {
    fn read(cursor: &mut ReadCursor<'_>) -> Result<Self, Reject> {
        Ok(Self {
            kind: read_kind(cursor, LivelinessKind::from_wire)?,
            lease_duration: read_duration(cursor)?,
        })
    }
}

impl Announced for History {
    const ID: ParameterId = ParameterId::HISTORY;

    fn write(&self, out: &mut WriteCursor<'_>) {
        let (kind, depth) = self.to_wire();
        out.u32(kind);
        out.i32(depth);
    }
}

impl Readable for History {
    fn read(cursor: &mut ReadCursor<'_>) -> Result<Self, Reject> {
        let unknown = cursor.reject(RejectKind::EnumValue);
        let kind = cursor.u32()?;
        let depth = cursor.i32()?.max(1);
        Self::from_wire(kind, depth).ok_or(unknown)
    }
}

impl Announced for ResourceLimits {
    const ID: ParameterId = ParameterId::RESOURCE_LIMITS;

    fn write(&self, out: &mut WriteCursor<'_>) {
        out.i32(self.max_samples.to_wire());
        out.i32(self.max_instances.to_wire());
        out.i32(self.max_samples_per_instance.to_wire());
    }
}

impl Readable for ResourceLimits {
    fn read(cursor: &mut ReadCursor<'_>) -> Result<Self, Reject> {
        let mut next = || {
            cursor
                .i32()
                .map(|n| Limit::from_wire(n).unwrap_or_default())
        };
        Ok(Self {
            max_samples: next()?,
            max_instances: next()?,
            max_samples_per_instance: next()?,
        })
    }
}

impl Announced for DurabilityService {
    const ID: ParameterId = ParameterId::DURABILITY_SERVICE;

    fn write(&self, out: &mut WriteCursor<'_>) {
        write_duration(out, self.service_cleanup_delay);
        self.history.write(out);
        self.resource_limits.write(out);
    }
}

impl Readable for DurabilityService {
    fn read(cursor: &mut ReadCursor<'_>) -> Result<Self, Reject> {
        Ok(Self {
            service_cleanup_delay: read_duration(cursor)?,
            history: History::read(cursor)?,
            resource_limits: ResourceLimits::read(cursor)?,
        })
    }
}

impl Announced for Presentation {
    const ID: ParameterId = ParameterId::PRESENTATION;

    fn write(&self, out: &mut WriteCursor<'_>) {
        out.u32(self.access_scope.to_wire());
        out.u8(u8::from(self.coherent_access));
        out.u8(u8::from(self.ordered_access));
    }
}

impl Readable for Presentation {
    fn read(cursor: &mut ReadCursor<'_>) -> Result<Self, Reject> {
        Ok(Self {
            access_scope: read_kind(cursor, PresentationScope::from_wire)?,
            coherent_access: read_bool(cursor)?,
            ordered_access: read_bool(cursor)?,
        })
    }
}

impl Announced for TypeConsistency {
    const ID: ParameterId = ParameterId::TYPE_CONSISTENCY;

    fn write(&self, out: &mut WriteCursor<'_>) {
        out.u16((self.kind.to_wire() & 0xffff) as u16);
        for flag in [
            self.ignore_sequence_bounds,
            self.ignore_string_bounds,
            self.ignore_member_names,
            self.prevent_type_widening,
            self.force_type_validation,
        ] {
            out.u8(u8::from(flag));
        }
    }
}

/// Connext 5.1 sends the kind alone; the rest is then as by default.
impl Readable for TypeConsistency {
    fn read(cursor: &mut ReadCursor<'_>) -> Result<Self, Reject> {
        let short = cursor.remaining() < 7;
        let unknown = cursor.reject(RejectKind::EnumValue);
        let number = cursor.u16()?;
        let kind = TypeConsistencyKind::from_wire(u32::from(number)).ok_or(unknown)?;
        if short {
            return Ok(Self {
                kind,
                ..Self::default()
            });
        }
        Ok(Self {
            kind,
            ignore_sequence_bounds: read_bool(cursor)?,
            ignore_string_bounds: read_bool(cursor)?,
            ignore_member_names: read_bool(cursor)?,
            prevent_type_widening: read_bool(cursor)?,
            force_type_validation: read_bool(cursor)?,
        })
    }
}

/// The encodings, and the mask of codecs that Connext puts behind them.
pub(super) fn read_data_representation(
    cursor: &mut ReadCursor<'_>,
    policy: &mut DataRepresentation,
) -> Result<(), Reject> {
    let mut ids = Vec::new();
    for _ in 0..read_count(cursor, REPRESENTATIONS_MAX)? {
        ids.push(DataRepresentationId(cursor.i16()?));
    }
    policy.ids = ids;
    if cursor.align(4).is_ok() && cursor.remaining() >= 4 {
        let shared = CompressionIds(cursor.u32()?).and(CompressionIds::SHARED);
        note_codecs(policy, shared);
    }
    Ok(())
}

/// The codecs of our own.
pub(super) fn read_own_codecs(
    cursor: &mut ReadCursor<'_>,
    policy: &mut DataRepresentation,
) -> Result<(), Reject> {
    let own = CompressionIds(cursor.u32()?.rotate_left(16)).and(CompressionIds::OWN);
    note_codecs(policy, own);
    Ok(())
}

fn note_codecs(policy: &mut DataRepresentation, ids: CompressionIds) {
    let known = policy.compression.compression_ids.unwrap_or_default();
    policy.compression.compression_ids = Some(known | ids);
}

/// Puts the encodings, with the mask of `codecs` where there is one, and those of our own.
pub(super) fn put_data_representation(
    list: &mut ParameterListWriter<'_>,
    policy: &DataRepresentation,
    codecs: Option<CompressionIds>,
) {
    let shared = codecs.map(|it| it.and(CompressionIds::SHARED));
    put_encodings(list, policy, shared);
    let own = codecs.map(|it| it.and(CompressionIds::OWN).0.rotate_right(16));
    if let Some(own) = own.filter(|it| *it != 0) {
        list.put(ParameterId::WHIMBREL_COMPRESSION, |out| out.u32(own));
    }
}

fn put_encodings(
    list: &mut ParameterListWriter<'_>,
    policy: &DataRepresentation,
    shared: Option<CompressionIds>,
) {
    // A mask cannot travel without a list in front of it.
    let ids = match shared {
        Some(_) => policy.effective(),
        None => &policy.ids,
    };
    if ids.is_empty() {
        return;
    }
    list.put(ParameterId::DATA_REPRESENTATION, |out| {
        write_count(out, ids.len());
        for id in ids {
            out.u16(id.0.cast_unsigned());
        }
        if let Some(CompressionIds(mask)) = shared {
            out.align(4);
            out.u32(mask);
        }
    });
}

#[cfg(test)]
mod tests {
    use whimbrel_base::cursor::Endian;
    use whimbrel_base::qos::Compression;
    use whimbrel_base::time::Duration;

    use super::*;

    fn cursor(bytes: &[u8]) -> ReadCursor<'_> {
        ReadCursor::new(bytes, Endian::Little)
    }

    #[test]
    fn representations_with_and_without_mask() {
        let xcdr = |ids: &[i16]| DataRepresentation {
            ids: ids.iter().copied().map(DataRepresentationId).collect(),
            compression: Compression::default(),
        };
        let with = |ids: &[i16], codecs| {
            let mut policy = xcdr(ids);
            policy.compression.compression_ids = Some(CompressionIds(codecs));
            policy
        };
        // Connext's reader: XCDR1, all three algorithms.
        let connext = [1, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0];
        let read = |bytes: &[u8]| {
            let mut policy = DataRepresentation::default();
            read_data_representation(&mut cursor(bytes), &mut policy).map(|()| policy)
        };
        assert_eq!(read(&connext), Ok(with(&[0], 7)));
        assert_eq!(read(&connext[..8]), Ok(xcdr(&[0])));
        assert_eq!(read(&[1, 0, 0, 0, 2, 0, 0xee, 0xee]), Ok(xcdr(&[2])));
        assert_eq!(read(&[2, 0, 0, 0, 2, 0, 0, 0]), Ok(xcdr(&[2, 0])));
        assert_eq!(read(&[0, 0, 0, 0]), Ok(xcdr(&[])));
        assert!(read(&[9, 0, 0, 0, 2, 0, 0, 0]).is_err());
        assert!(read(&[0xff; 8]).is_err());
        let mut out = Vec::new();
        let mut list = ParameterListWriter::new(&mut out, Endian::Little);
        put_data_representation(&mut list, &xcdr(&[]), Some(CompressionIds(7)));
        assert_eq!(out[..4], [0x73, 0, 12, 0]);
        assert_eq!(out[4..], connext);
        // Codecs of our own travel apart, and come back wherever they stand.
        let mut out = Vec::new();
        let mut list = ParameterListWriter::new(&mut out, Endian::Little);
        put_data_representation(&mut list, &xcdr(&[]), Some(CompressionIds::ALL));
        assert_eq!(out[16..], [1, 0x8c, 4, 0, 15, 0, 0, 0]);
        let mut policy = DataRepresentation::default();
        read_own_codecs(&mut cursor(&out[20..]), &mut policy).unwrap();
        read_data_representation(&mut cursor(&connext), &mut policy).unwrap();
        assert_eq!(policy, with(&[0], CompressionIds::ALL.0));
    }

    #[test]
    fn type_consistency_in_both_lengths() {
        let golden = [1, 0, 1, 1, 0, 0, 0, 0];
        let parsed = TypeConsistency::read(&mut cursor(&golden)).unwrap();
        assert_eq!(parsed, TypeConsistency::default());
        let old = TypeConsistency::read(&mut cursor(&[0, 0, 0, 0])).unwrap();
        assert_eq!(old.kind, TypeConsistencyKind::DisallowTypeCoercion);
        assert!(old.ignore_sequence_bounds);
        let strict = TypeConsistency::read(&mut cursor(&[1, 0, 0, 0, 1, 1, 1, 0xee])).unwrap();
        let mut out = Vec::new();
        strict.write(&mut WriteCursor::new(&mut out, Endian::Little));
        assert_eq!(out, [1, 0, 0, 0, 1, 1, 1]);
        assert!(TypeConsistency::read(&mut cursor(&[2, 0, 0, 0])).is_err());
        assert!(TypeConsistency::read(&mut cursor(&[1, 0, 2, 0, 0, 0, 0, 0])).is_err());
    }

    #[test]
    fn what_means_nothing() {
        let refused = |bytes: &[u8]| Reliability::read(&mut cursor(bytes)).unwrap_err().kind;
        assert_eq!(
            refused(&[3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            RejectKind::EnumValue
        );
        assert_eq!(
            refused(&[2, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]),
            RejectKind::Time
        );
        assert_eq!(refused(&[2, 0, 0, 0, 0, 0, 0, 0]), RejectKind::Truncated);
        let history = |bytes: &[u8]| History::read(&mut cursor(bytes)).map_err(|r| r.kind);
        assert_eq!(history(&[0; 8]), Ok(History::KeepLast(1)));
        assert_eq!(
            history(&[2, 0, 0, 0, 1, 0, 0, 0]),
            Err(RejectKind::EnumValue)
        );
        let limits = ResourceLimits::read(&mut cursor(&[0; 12])).unwrap();
        assert_eq!(limits, ResourceLimits::UNLIMITED);
        let forever = [1, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff];
        let liveliness = Liveliness::read(&mut cursor(&forever)).unwrap();
        assert_eq!(liveliness.lease_duration, Duration::INFINITE);
    }
}
