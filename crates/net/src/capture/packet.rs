//! IP and UDP headers: made for the writer, taken apart for the reader.
//! RFC 768, RFC 791, RFC 8200.
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::unreachable
)]

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use whimbrel_base::cursor::{Endian, ReadCursor};
use whimbrel_base::reject::{Reject, RejectKind};

use super::link_type;

const UDP: u8 = 17;
const UDP_HEADER_BYTES: usize = 8;
const V4_HEADER_BYTES: usize = 20;
const V6_HEADER_BYTES: usize = 40;
/// IPv6 extension headers that are passed over in one packet.
const EXTENSIONS_MAX: usize = 8;
/// VLAN tags that are passed over in one frame.
const TAGS_MAX: usize = 4;

/// Made-up IP and UDP headers.
pub(super) struct Headers {
    bytes: [u8; V6_HEADER_BYTES + UDP_HEADER_BYTES],
    len: usize,
}

impl AsRef<[u8]> for Headers {
    fn as_ref(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

impl Headers {
    fn push(&mut self, bytes: &[u8]) {
        if let Some(place) = self.bytes.get_mut(self.len..self.len + bytes.len()) {
            place.copy_from_slice(bytes);
            self.len += bytes.len();
        }
    }

    fn patch(&mut self, at: usize, value: u16) {
        if let Some(place) = self.bytes.get_mut(at..at + 2) {
            place.copy_from_slice(&value.to_be_bytes());
        }
    }
}

/// The headers of a datagram; `None` where the families differ or it is too long.
pub(super) fn header(
    source: SocketAddr,
    destination: SocketAddr,
    parts: &[&[u8]],
) -> Option<Headers> {
    let payload = parts
        .iter()
        .try_fold(0_usize, |sum, part| sum.checked_add(part.len()))?;
    let udp_len = u16::try_from(payload.checked_add(UDP_HEADER_BYTES)?).ok()?;
    let mut made = Headers {
        bytes: [0; V6_HEADER_BYTES + UDP_HEADER_BYTES],
        len: 0,
    };
    let mut sum = Checksum::default();
    match (source.ip(), destination.ip()) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            let total = udp_len.checked_add(V4_HEADER_BYTES as u16)?;
            // Version 4, five words, no service; identification 0, not to be fragmented; TTL 64.
            made.push(&[0x45, 0]);
            made.push(&total.to_be_bytes());
            made.push(&[0, 0, 0x40, 0, 64, UDP, 0, 0]);
            made.push(&from.octets());
            made.push(&to.octets());
            let mut own = Checksum::default();
            own.add(made.as_ref());
            made.patch(10, own.finish());
            sum.add(&from.octets());
            sum.add(&to.octets());
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            made.push(&[0x60, 0, 0, 0]);
            made.push(&udp_len.to_be_bytes());
            made.push(&[UDP, 64]);
            made.push(&from.octets());
            made.push(&to.octets());
            sum.add(&from.octets());
            sum.add(&to.octets());
        }
        _ => return None,
    }
    let udp_at = made.len;
    made.push(&source.port().to_be_bytes());
    made.push(&destination.port().to_be_bytes());
    made.push(&udp_len.to_be_bytes());
    made.push(&[0, 0]);
    sum.add(&[0, UDP]);
    sum.add(&udp_len.to_be_bytes());
    sum.add(made.bytes.get(udp_at..made.len).unwrap_or_default());
    parts.iter().for_each(|part| sum.add(part));
    // 0 would say that there is no checksum.
    let value = Some(sum.finish())
        .filter(|value| *value != 0)
        .unwrap_or(u16::MAX);
    made.patch(udp_at + 6, value);
    Some(made)
}

/// The Internet checksum over pieces of any length. RFC 1071.
#[derive(Default)]
struct Checksum {
    sum: u64,
    is_odd: bool,
}

impl Checksum {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let shift = if self.is_odd { 0 } else { 8 };
            self.sum += u64::from(*byte) << shift;
            self.is_odd = !self.is_odd;
        }
    }

    const fn finish(&self) -> u16 {
        let mut sum = self.sum;
        while sum > 0xffff {
            sum = (sum >> 16) + (sum & 0xffff);
        }
        !(sum as u16)
    }
}

/// A UDP datagram found in a packet.
pub(super) struct Udp<'a> {
    pub(super) source: SocketAddr,
    pub(super) destination: SocketAddr,
    pub(super) payload: &'a [u8],
}

/// The whole UDP datagram in a captured packet; `None` where it carries something else or a
/// fragment.
pub(super) fn find_udp(link: u32, packet: &[u8]) -> Result<Option<Udp<'_>>, Reject> {
    let mut cursor = ReadCursor::new(packet, Endian::Big);
    if !skip_link(link, &mut cursor)? {
        return Ok(None);
    }
    match cursor.rest().first().map(|first| first >> 4) {
        Some(4) => find_in_v4(cursor),
        Some(6) => find_in_v6(cursor),
        Some(_) => Ok(None),
        None => Err(cursor.reject(RejectKind::Truncated)),
    }
}

/// Passes over the link's header; false where no IP follows.
fn skip_link(link: u32, cursor: &mut ReadCursor<'_>) -> Result<bool, Reject> {
    const TYPE_V4: u16 = 0x0800;
    const TYPE_V6: u16 = 0x86dd;
    let is_ip = |kind: u16| kind == TYPE_V4 || kind == TYPE_V6;
    match link {
        // 12 and 14 are what some BSDs wrote for raw IP.
        link_type::RAW | link_type::IPV4 | link_type::IPV6 | 12 | 14 => Ok(true),
        // The family's number differs between systems; the IP version tells as well.
        link_type::NULL | link_type::LOOP => cursor.skip(4).map(|()| true),
        link_type::ETHERNET => {
            cursor.skip(12)?;
            let mut kind = cursor.u16()?;
            for _ in 0..TAGS_MAX {
                if kind != 0x8100 && kind != 0x88a8 {
                    break;
                }
                cursor.skip(2)?;
                kind = cursor.u16()?;
            }
            Ok(is_ip(kind))
        }
        link_type::LINUX_SLL => {
            cursor.skip(14)?;
            cursor.u16().map(is_ip)
        }
        link_type::LINUX_SLL2 => {
            let kind = cursor.u16()?;
            cursor.skip(18)?;
            Ok(is_ip(kind))
        }
        _ => Ok(false),
    }
}

fn find_in_v4(mut cursor: ReadCursor<'_>) -> Result<Option<Udp<'_>>, Reject> {
    let header_len = usize::from(cursor.u8()? & 0x0f) * 4;
    cursor.skip(1)?;
    let total = usize::from(cursor.u16()?);
    cursor.skip(2)?;
    let fragment = cursor.u16()?;
    cursor.skip(1)?;
    let protocol = cursor.u8()?;
    cursor.skip(2)?;
    let from = Ipv4Addr::from(cursor.array::<4>()?);
    let to = Ipv4Addr::from(cursor.array::<4>()?);
    let options = header_len.checked_sub(V4_HEADER_BYTES);
    let options = options.ok_or_else(|| cursor.reject(RejectKind::Length))?;
    // More fragments, or not the first one.
    if protocol != UDP || fragment & 0x3fff != 0 {
        return Ok(None);
    }
    cursor.skip(options)?;
    let body = total.checked_sub(header_len);
    let body = body.ok_or_else(|| cursor.reject(RejectKind::Length))?;
    find_in_body(cursor.split(body)?, from.into(), to.into()).map(Some)
}

fn find_in_v6(mut cursor: ReadCursor<'_>) -> Result<Option<Udp<'_>>, Reject> {
    cursor.skip(4)?;
    let body = usize::from(cursor.u16()?);
    let mut next = cursor.u8()?;
    cursor.skip(1)?;
    let from = Ipv6Addr::from(cursor.array::<16>()?);
    let to = Ipv6Addr::from(cursor.array::<16>()?);
    let mut body = cursor.split(body)?;
    for _ in 0..EXTENSIONS_MAX {
        match next {
            UDP => return find_in_body(body, from.into(), to.into()).map(Some),
            // Hop-by-hop, routing, destination: next header, length in words of 8 without the
            // first, content.
            0 | 43 | 60 => {
                next = body.u8()?;
                let words = usize::from(body.u8()?);
                body.skip(words * 8 + 6)?;
            }
            _ => return Ok(None),
        }
    }
    Err(body.reject(RejectKind::Depth))
}

fn find_in_body(mut body: ReadCursor<'_>, from: IpAddr, to: IpAddr) -> Result<Udp<'_>, Reject> {
    let source = SocketAddr::new(from, body.u16()?);
    let destination = SocketAddr::new(to, body.u16()?);
    let len = usize::from(body.u16()?).checked_sub(UDP_HEADER_BYTES);
    let len = len.ok_or_else(|| body.reject(RejectKind::Length))?;
    body.skip(2)?;
    Ok(Udp {
        source,
        destination,
        payload: body.bytes(len)?,
    })
}
