//! How QoS policies travel. RTPS 2.5 §9.6.3, XTypes 1.3 §7.6.3.
//!
//! History, resource limits and durability service of a peer decide nothing about matching, so
//! values there that mean nothing (peers send limits of 0) are read as the nearest that does.

use alloc::vec::Vec;

use whimbrel_base::cursor::{ReadCursor, WriteCursor};
use whimbrel_base::qos::{
    DataRepresentation, DataRepresentationId, DurabilityService, History, Limit, Liveliness,
    LivelinessKind, Presentation, PresentationScope, Reliability, ReliabilityKind, ResourceLimits,
    TypeConsistency, TypeConsistencyKind,
};
use whimbrel_base::reject::{Reject, RejectKind};

use crate::field::{read_duration, write_duration};
use crate::parameter::value::{read_bool, read_count, write_count};

/// Encodings that one endpoint may name.
const REPRESENTATIONS_MAX: usize = 64;

/// A kind that travels as a 32-bit number.
pub(super) fn read_kind<T>(
    cursor: &mut ReadCursor<'_>,
    from_wire: impl Fn(u32) -> Option<T>,
) -> Result<T, Reject> {
    let unknown = cursor.reject(RejectKind::EnumValue);
    from_wire(cursor.u32()?).ok_or(unknown)
}

pub(super) fn read_reliability(cursor: &mut ReadCursor<'_>) -> Result<Reliability, Reject> {
    Ok(Reliability {
        kind: read_kind(cursor, ReliabilityKind::from_wire)?,
        max_blocking_time: read_duration(cursor)?,
    })
}

pub(super) fn write_reliability(out: &mut WriteCursor<'_>, policy: &Reliability) {
    out.u32(policy.kind.to_wire());
    write_duration(out, policy.max_blocking_time);
}

pub(super) fn read_liveliness(cursor: &mut ReadCursor<'_>) -> Result<Liveliness, Reject> {
    Ok(Liveliness {
        kind: read_kind(cursor, LivelinessKind::from_wire)?,
        lease_duration: read_duration(cursor)?,
    })
}

pub(super) fn write_liveliness(out: &mut WriteCursor<'_>, policy: &Liveliness) {
    out.u32(policy.kind.to_wire());
    write_duration(out, policy.lease_duration);
}

pub(super) fn read_history(cursor: &mut ReadCursor<'_>) -> Result<History, Reject> {
    let unknown = cursor.reject(RejectKind::EnumValue);
    let kind = cursor.u32()?;
    let depth = cursor.i32()?.max(1);
    History::from_wire(kind, depth).ok_or(unknown)
}

pub(super) fn write_history(out: &mut WriteCursor<'_>, policy: History) {
    let (kind, depth) = policy.to_wire();
    out.u32(kind);
    out.i32(depth);
}

pub(super) fn read_resource_limits(cursor: &mut ReadCursor<'_>) -> Result<ResourceLimits, Reject> {
    let mut next = || {
        cursor
            .i32()
            .map(|n| Limit::from_wire(n).unwrap_or_default())
    };
    Ok(ResourceLimits {
        max_samples: next()?,
        max_instances: next()?,
        max_samples_per_instance: next()?,
    })
}

pub(super) fn write_resource_limits(out: &mut WriteCursor<'_>, policy: &ResourceLimits) {
    out.i32(policy.max_samples.to_wire());
    out.i32(policy.max_instances.to_wire());
    out.i32(policy.max_samples_per_instance.to_wire());
}

pub(super) fn read_durability_service(
    cursor: &mut ReadCursor<'_>,
) -> Result<DurabilityService, Reject> {
    Ok(DurabilityService {
        service_cleanup_delay: read_duration(cursor)?,
        history: read_history(cursor)?,
        resource_limits: read_resource_limits(cursor)?,
    })
}

pub(super) fn write_durability_service(out: &mut WriteCursor<'_>, policy: &DurabilityService) {
    write_duration(out, policy.service_cleanup_delay);
    write_history(out, policy.history);
    write_resource_limits(out, &policy.resource_limits);
}

pub(super) fn read_presentation(cursor: &mut ReadCursor<'_>) -> Result<Presentation, Reject> {
    Ok(Presentation {
        access_scope: read_kind(cursor, PresentationScope::from_wire)?,
        coherent_access: read_bool(cursor)?,
        ordered_access: read_bool(cursor)?,
    })
}

pub(super) fn write_presentation(out: &mut WriteCursor<'_>, policy: &Presentation) {
    out.u32(policy.access_scope.to_wire());
    out.u8(u8::from(policy.coherent_access));
    out.u8(u8::from(policy.ordered_access));
}

/// Connext 5.1 sends the kind alone; the rest is then as by default.
pub(super) fn read_type_consistency(
    cursor: &mut ReadCursor<'_>,
) -> Result<TypeConsistency, Reject> {
    let short = cursor.remaining() < 7;
    let unknown = cursor.reject(RejectKind::EnumValue);
    let number = cursor.u16()?;
    let kind = TypeConsistencyKind::from_wire(u32::from(number)).ok_or(unknown)?;
    if short {
        return Ok(TypeConsistency {
            kind,
            ..TypeConsistency::default()
        });
    }
    Ok(TypeConsistency {
        kind,
        ignore_sequence_bounds: read_bool(cursor)?,
        ignore_string_bounds: read_bool(cursor)?,
        ignore_member_names: read_bool(cursor)?,
        prevent_type_widening: read_bool(cursor)?,
        force_type_validation: read_bool(cursor)?,
    })
}

pub(super) fn write_type_consistency(out: &mut WriteCursor<'_>, policy: &TypeConsistency) {
    out.u16((policy.kind.to_wire() & 0xffff) as u16);
    for flag in [
        policy.ignore_sequence_bounds,
        policy.ignore_string_bounds,
        policy.ignore_member_names,
        policy.prevent_type_widening,
        policy.force_type_validation,
    ] {
        out.u8(u8::from(flag));
    }
}

/// The encodings, and the mask of compression algorithms that Connext puts behind them.
pub(super) fn read_data_representation(
    cursor: &mut ReadCursor<'_>,
) -> Result<(DataRepresentation, Option<u32>), Reject> {
    let mut ids = Vec::new();
    for _ in 0..read_count(cursor, REPRESENTATIONS_MAX)? {
        ids.push(DataRepresentationId(cursor.i16()?));
    }
    let mask = match cursor.align(4) {
        Ok(()) if cursor.remaining() >= 4 => Some(cursor.u32()?),
        _ => None,
    };
    Ok((DataRepresentation { ids }, mask))
}

pub(super) fn write_data_representation(
    out: &mut WriteCursor<'_>,
    policy: &DataRepresentation,
    compression_mask: Option<u32>,
) {
    // A mask cannot travel without a list in front of it.
    let ids = match compression_mask {
        Some(_) => policy.effective(),
        None => &policy.ids,
    };
    write_count(out, ids.len());
    for id in ids {
        out.u16(id.0.cast_unsigned());
    }
    if let Some(mask) = compression_mask {
        out.align(4);
        out.u32(mask);
    }
}

#[cfg(test)]
mod tests {
    use whimbrel_base::cursor::Endian;
    use whimbrel_base::time::Duration;

    use super::*;

    fn cursor(bytes: &[u8]) -> ReadCursor<'_> {
        ReadCursor::new(bytes, Endian::Little)
    }

    #[test]
    fn representations_with_and_without_mask() {
        let xcdr = |ids: &[i16]| DataRepresentation {
            ids: ids.iter().copied().map(DataRepresentationId).collect(),
        };
        // Connext's reader: XCDR1, all three algorithms.
        let connext = [1, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0];
        let read = |bytes: &[u8]| read_data_representation(&mut cursor(bytes));
        assert_eq!(read(&connext), Ok((xcdr(&[0]), Some(7))));
        assert_eq!(read(&connext[..8]), Ok((xcdr(&[0]), None)));
        assert_eq!(
            read(&[1, 0, 0, 0, 2, 0, 0xee, 0xee]),
            Ok((xcdr(&[2]), None))
        );
        assert_eq!(read(&[2, 0, 0, 0, 2, 0, 0, 0]), Ok((xcdr(&[2, 0]), None)));
        assert_eq!(read(&[0, 0, 0, 0]), Ok((xcdr(&[]), None)));
        assert!(read(&[9, 0, 0, 0, 2, 0, 0, 0]).is_err());
        assert!(read(&[0xff; 8]).is_err());
        let mut out = Vec::new();
        let mut write = WriteCursor::new(&mut out, Endian::Little);
        write_data_representation(&mut write, &xcdr(&[]), Some(7));
        assert_eq!(out, connext);
    }

    #[test]
    fn type_consistency_in_both_lengths() {
        let golden = [1, 0, 1, 1, 0, 0, 0, 0];
        let parsed = read_type_consistency(&mut cursor(&golden)).unwrap();
        assert_eq!(parsed, TypeConsistency::default());
        let old = read_type_consistency(&mut cursor(&[0, 0, 0, 0])).unwrap();
        assert_eq!(old.kind, TypeConsistencyKind::DisallowTypeCoercion);
        assert!(old.ignore_sequence_bounds);
        let strict = read_type_consistency(&mut cursor(&[1, 0, 0, 0, 1, 1, 1, 0xee])).unwrap();
        let mut out = Vec::new();
        write_type_consistency(&mut WriteCursor::new(&mut out, Endian::Little), &strict);
        assert_eq!(out, [1, 0, 0, 0, 1, 1, 1]);
        assert!(read_type_consistency(&mut cursor(&[2, 0, 0, 0])).is_err());
        assert!(read_type_consistency(&mut cursor(&[1, 0, 2, 0, 0, 0, 0, 0])).is_err());
    }

    #[test]
    fn what_means_nothing() {
        let refused = |bytes: &[u8]| read_reliability(&mut cursor(bytes)).unwrap_err().kind;
        assert_eq!(
            refused(&[3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            RejectKind::EnumValue
        );
        assert_eq!(
            refused(&[2, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]),
            RejectKind::Time
        );
        assert_eq!(refused(&[2, 0, 0, 0, 0, 0, 0, 0]), RejectKind::Truncated);
        let history = |bytes: &[u8]| read_history(&mut cursor(bytes)).map_err(|r| r.kind);
        assert_eq!(history(&[0; 8]), Ok(History::KeepLast(1)));
        assert_eq!(
            history(&[2, 0, 0, 0, 1, 0, 0, 0]),
            Err(RejectKind::EnumValue)
        );
        let limits = read_resource_limits(&mut cursor(&[0; 12])).unwrap();
        assert_eq!(limits, ResourceLimits::UNLIMITED);
        let forever = [1, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff];
        let liveliness = read_liveliness(&mut cursor(&forever)).unwrap();
        assert_eq!(liveliness.lease_duration, Duration::INFINITE);
    }
}
