//! How the small shared types travel: identities, numbers, times, addresses, strings.

use alloc::vec::Vec;

use whimbrel_base::cursor::{Endian, ReadCursor, WriteCursor};
use whimbrel_base::guid::{EntityId, Guid, GuidPrefix};
use whimbrel_base::locator::{Locator, LocatorKind};
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::time::{Duration, Timestamp};

/// Locators that one list may hold.
pub(crate) const LOCATORS_MAX: usize = 256;

pub(crate) fn read_entity_id(cursor: &mut ReadCursor<'_>) -> Result<EntityId, Reject> {
    cursor.array().map(EntityId)
}

pub(crate) fn read_guid_prefix(cursor: &mut ReadCursor<'_>) -> Result<GuidPrefix, Reject> {
    cursor.array().map(GuidPrefix)
}

pub(crate) fn read_guid(cursor: &mut ReadCursor<'_>) -> Result<Guid, Reject> {
    cursor.array().map(Guid::from_bytes)
}

/// RTPS 2.5 §9.4.2.5: high word first, each word in the byte order of the submessage.
pub(crate) fn read_sequence_number(cursor: &mut ReadCursor<'_>) -> Result<SequenceNumber, Reject> {
    let high = cursor.i32()?;
    let low = cursor.u32()?;
    Ok(SequenceNumber((i64::from(high) << 32) | i64::from(low)))
}

/// A sequence number that a writer may give: 1 and up.
pub(crate) fn read_valid_sequence_number(
    cursor: &mut ReadCursor<'_>,
) -> Result<SequenceNumber, Reject> {
    let at = cursor.position();
    let number = read_sequence_number(cursor)?;
    if number.is_valid() {
        Ok(number)
    } else {
        Err(Reject::new(RejectKind::SequenceNumber, at))
    }
}

pub(crate) fn write_sequence_number(out: &mut WriteCursor<'_>, number: SequenceNumber) {
    out.bytes(sequence_number_words(out.endian(), number).as_flattened());
}

/// A sequence number as it travels, high part first. RTPS 2.5 §9.3.2.1.
pub(crate) const fn sequence_number_words(endian: Endian, number: SequenceNumber) -> [[u8; 4]; 2] {
    let raw = number.0.cast_unsigned();
    [
        endian.u32_bytes((raw >> 32) as u32),
        endian.u32_bytes((raw & 0xffff_ffff) as u32),
    ]
}

/// RTPS 2.5 §9.3.2.1.
pub(crate) fn read_timestamp(cursor: &mut ReadCursor<'_>) -> Result<Timestamp, Reject> {
    let seconds = cursor.i32()?;
    let fraction = cursor.u32()?;
    Ok(Timestamp::from_wire(seconds, fraction))
}

pub(crate) fn write_timestamp(out: &mut WriteCursor<'_>, time: Timestamp) {
    out.bytes(timestamp_words(out.endian(), time).as_flattened());
}

/// A time as it travels, seconds first. RTPS 2.5 §9.3.2.1.
pub(crate) const fn timestamp_words(endian: Endian, time: Timestamp) -> [[u8; 4]; 2] {
    let (seconds, fraction) = time.to_wire();
    [
        endian.u32_bytes(seconds.cast_unsigned()),
        endian.u32_bytes(fraction),
    ]
}

/// RTPS 2.5 §9.3.2.3; negative spans are refused.
pub(crate) fn read_duration(cursor: &mut ReadCursor<'_>) -> Result<Duration, Reject> {
    let at = cursor.position();
    let seconds = cursor.i32()?;
    let fraction = cursor.u32()?;
    Duration::from_wire(seconds, fraction).ok_or(Reject::new(RejectKind::Time, at))
}

pub(crate) fn write_duration(out: &mut WriteCursor<'_>, span: Duration) {
    let (seconds, fraction) = span.to_wire();
    out.i32(seconds);
    out.u32(fraction);
}

/// RTPS 2.5 §9.3.2.2. Any kind and port is read; whether it can be used is for the user to say.
pub(crate) fn read_locator(cursor: &mut ReadCursor<'_>) -> Result<Locator, Reject> {
    Ok(Locator {
        kind: LocatorKind(cursor.i32()?),
        port: cursor.u32()?,
        address: cursor.array()?,
    })
}

pub(crate) fn write_locator(out: &mut WriteCursor<'_>, locator: Locator) {
    out.i32(locator.kind.0);
    out.u32(locator.port);
    out.bytes(&locator.address);
}

/// RTPS 2.5 §9.4.2.11: a count and that many locators, at most [`LOCATORS_MAX`].
pub(crate) fn read_locator_list(cursor: &mut ReadCursor<'_>) -> Result<Vec<Locator>, Reject> {
    let at = cursor.position();
    let count = cursor.u32()? as usize;
    if count > LOCATORS_MAX {
        return Err(Reject::new(RejectKind::Limit, at));
    }
    let mut list = Vec::new();
    for _ in 0..count {
        list.push(read_locator(cursor)?);
    }
    Ok(list)
}

pub(crate) fn write_locator_list(out: &mut WriteCursor<'_>, list: &[Locator]) {
    let list = list.get(..LOCATORS_MAX).unwrap_or(list);
    out.u32(u32::try_from(list.len()).unwrap_or(0));
    for locator in list {
        write_locator(out, *locator);
    }
}
