//! Encapsulation of discovery payloads: parameter lists of CDR values. RTPS 2.5 §10.2.

use alloc::vec::Vec;

use whimbrel_base::cursor::{Endian, ReadCursor};
use whimbrel_base::guid::Guid;
use whimbrel_base::limits::Limits;
use whimbrel_base::reject::{Reject, RejectKind};

use super::context::Context;
use crate::field::read_guid;
use crate::parameter::{Parameter, ParameterId, ParameterList, ParameterListWriter};

/// Octets of an encapsulation header: identifier and options.
const HEADER_LEN: usize = 4;

const CDR_BE: u16 = 0x0000;
const CDR_LE: u16 = 0x0001;
const PL_CDR_BE: u16 = 0x0002;
const PL_CDR_LE: u16 = 0x0003;

/// The parameter list in `payload`, which must be PL_CDR_BE or PL_CDR_LE.
///
/// # Errors
/// `Encapsulation` for any other, and those of [`ParameterList::parse`].
pub fn parameter_list(payload: &[u8]) -> Result<ParameterList<'_>, Reject> {
    let mut cursor = ReadCursor::new(payload, Endian::Big);
    let endian = match cursor.u16()? {
        PL_CDR_BE => Endian::Big,
        PL_CDR_LE => Endian::Little,
        _ => return Err(Reject::new(RejectKind::Encapsulation, 0)),
    };
    cursor.skip(2)?;
    ParameterList::parse(cursor.rest(), endian).map_err(|reject| reject.shifted(HEADER_LEN))
}

/// Hands every parameter in `payload` to `take`, which says whether it knew it. Returns how many
/// it did not know.
///
/// # Errors
/// Those of [`parameter_list`] and of `take`; `MustUnderstand` for an unknown parameter that says
/// so (RTPS 2.5 §9.6.3.2), `Limit` for more parameters than are allowed.
pub(super) fn read_parameters<'a>(
    payload: &'a [u8],
    limits: &Limits,
    mut take: impl FnMut(Parameter<'a>) -> Result<bool, Reject>,
) -> Result<usize, Reject> {
    let mut unknown = 0_usize;
    for (index, parameter) in parameter_list(payload)?.iter().enumerate() {
        let at = parameter.offset.saturating_add(HEADER_LEN);
        if index >= limits.parameters_max {
            return Err(Reject::new(RejectKind::Limit, at));
        }
        if take(parameter).map_err(|reject| reject.shifted(at))? {
            continue;
        }
        if parameter.id.must_be_understood() {
            return Err(Reject::new(RejectKind::MustUnderstand, at));
        }
        unknown = unknown.saturating_add(1);
    }
    Ok(unknown)
}

/// Appends a PL_CDR_LE payload with what `write` puts into the list.
///
/// # Errors
/// `Length` where a parameter was too long to travel; the payload then lacks it.
pub(super) fn compose_parameters(
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut ParameterListWriter<'_>),
) -> Result<(), Reject> {
    out.extend_from_slice(&PL_CDR_LE.to_be_bytes());
    out.extend_from_slice(&[0, 0]);
    let mut list = ParameterListWriter::new(out, Endian::Little);
    write(&mut list);
    list.finish()
}

/// The GUID that an announcement is about, from parameter `id` of its payload (a whole one or a
/// key alone), from a bare GUID in plain CDR, or else from the key hash.
///
/// # Errors
/// `MissingParameter` where neither says it, `Encapsulation`, malformed lists.
pub fn parse_key(payload: &[u8], id: ParameterId, context: &Context<'_>) -> Result<Guid, Reject> {
    if payload.is_empty() {
        return guid_or_key_hash(None, context);
    }
    let mut cursor = ReadCursor::new(payload, Endian::Big);
    if let CDR_BE | CDR_LE = cursor.u16()? {
        cursor.skip(2)?;
        return read_guid(&mut cursor);
    }
    let guid = parameter_list(payload)?
        .find(id)
        .map(|parameter| read_guid(&mut parameter.cursor()))
        .transpose()?;
    guid_or_key_hash(guid, context)
}

/// Appends the payload of a disposed or unregistered announcement: its key, parameter `id`.
pub fn compose_key(guid: Guid, id: ParameterId, out: &mut Vec<u8>) {
    // Sixteen octets always fit.
    let _ = compose_parameters(out, |list| list.put(id, |out| out.bytes(&guid.to_bytes())));
}

/// `guid`, or the one that the key hash is. RTPS 2.5 §9.6.4.8.
pub(super) fn guid_or_key_hash(guid: Option<Guid>, context: &Context<'_>) -> Result<Guid, Reject> {
    guid.or_else(|| context.key_hash.map(Guid::from_bytes))
        .ok_or(Reject::new(RejectKind::MissingParameter, 0))
}

#[cfg(test)]
mod tests {
    use whimbrel_base::vendor::VendorId;

    use super::*;

    const GUID: Guid = Guid {
        prefix: whimbrel_base::guid::GuidPrefix(*b"abcdefghijkl"),
        entity: whimbrel_base::guid::EntityId::PARTICIPANT,
    };

    #[test]
    fn keys_round_trip_and_fall_back_to_the_hash() {
        let context = Context::new(VendorId::WHIMBREL);
        let mut payload = Vec::new();
        compose_key(GUID, ParameterId::PARTICIPANT_GUID, &mut payload);
        let parse = |payload: &[u8], context: &Context<'_>| {
            parse_key(payload, ParameterId::PARTICIPANT_GUID, context).map_err(|r| r.kind)
        };
        assert_eq!(parse(&payload, &context), Ok(GUID));
        let empty = [0, 3, 0, 0, 1, 0, 0, 0];
        assert_eq!(parse(&empty, &context), Err(RejectKind::MissingParameter));
        assert_eq!(parse(&[], &context), Err(RejectKind::MissingParameter));
        let hash = Context {
            key_hash: Some(GUID.to_bytes()),
            ..context
        };
        assert_eq!(parse(&empty, &hash), Ok(GUID));
        assert_eq!(parse(&[], &hash), Ok(GUID));
        let plain = [&[0, 1, 0, 0], GUID.to_bytes().as_slice()].concat();
        assert_eq!(parse(&plain, &context), Ok(GUID));
        assert_eq!(
            parse(&[0, 9, 0, 0], &context),
            Err(RejectKind::Encapsulation)
        );
        for len in 1..payload.len() {
            assert!(parse(&payload[..len], &hash).is_err());
        }
    }

    #[test]
    fn too_many_parameters_are_refused() {
        let mut payload = Vec::from([0, 3, 0, 0]);
        for _ in 0..5000 {
            payload.extend_from_slice(&[0x01, 0x80, 0, 0]);
        }
        payload.extend_from_slice(&[1, 0, 0, 0]);
        let read = |limits| read_parameters(&payload, limits, |_| Ok(false));
        assert_eq!(read(&Limits::DEFAULT).unwrap_err().kind, RejectKind::Limit);
        let more = Limits {
            parameters_max: 5000,
            ..Limits::DEFAULT
        };
        assert_eq!(read(&more), Ok(5000));
    }
}
