//! Reading pcap and pcapng.
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::unreachable
)]

use std::net::SocketAddr;

use whimbrel_base::cursor::{Endian, ReadCursor};
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::time::Timestamp;

use super::{block, packet};

/// Interfaces that one section may describe.
const INTERFACES_MAX: usize = 1_024;
/// Options of one interface that are looked at.
const OPTIONS_MAX: usize = 64;

/// A UDP datagram from a capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CapturedUdp<'a> {
    /// Who sent it.
    pub source: SocketAddr,
    /// To whom.
    pub destination: SocketAddr,
    /// Its payload.
    pub payload: &'a [u8],
    /// When it was seen; invalid where the capture does not tell.
    pub at: Timestamp,
}

/// Iterates over the whole UDP datagrams of a capture in memory.
///
/// Packets that carry something else, fragments, and packets cut or broken by whoever captured
/// them are passed over and counted in [`CaptureReader::skipped`]. A broken file gives one error
/// and ends.
#[derive(Debug)]
pub struct CaptureReader<'a> {
    /// The rest of the file; `None` after its end or an error.
    cursor: Option<ReadCursor<'a>>,
    format: Format,
    skipped: u64,
}

#[derive(Debug)]
enum Format {
    Classic {
        link: u32,
        nanos_per_tick: u32,
    },
    Blocks {
        interfaces: Vec<InterfaceDescription>,
    },
}

#[derive(Clone, Copy, Debug)]
struct InterfaceDescription {
    link: u32,
    /// if_tsresol: 10 to the power of minus this, or 2 where the top bit is set.
    resolution: u8,
}

impl<'a> CaptureReader<'a> {
    /// A reader of `file`.
    ///
    /// # Errors
    /// Neither pcap nor pcapng.
    pub fn new(file: &'a [u8]) -> Result<Self, Reject> {
        let mut cursor = ReadCursor::new(file, Endian::Big);
        let format = match cursor.clone().u32()? {
            block::SECTION => Format::Blocks {
                interfaces: Vec::new(),
            },
            magic => classic(&mut cursor, magic)?,
        };
        Ok(Self {
            cursor: Some(cursor),
            format,
            skipped: 0,
        })
    }

    /// Packets passed over so far.
    pub const fn skipped(&self) -> u64 {
        self.skipped
    }

    /// The next packet of the file: link type, bytes, time; `None` at its end.
    fn next_packet(&mut self) -> Result<Option<Packet<'a>>, Reject> {
        let Some(cursor) = &mut self.cursor else {
            return Ok(None);
        };
        match &mut self.format {
            Format::Classic {
                link,
                nanos_per_tick,
            } => next_classic(cursor, *link, *nanos_per_tick),
            Format::Blocks { interfaces } => next_block(cursor, interfaces),
        }
    }
}

impl<'a> Iterator for CaptureReader<'a> {
    type Item = Result<CapturedUdp<'a>, Reject>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.next_packet() {
                Ok(Some(packet)) => match packet::find_udp(packet.link, packet.bytes) {
                    Ok(Some(udp)) => {
                        return Some(Ok(CapturedUdp {
                            source: udp.source,
                            destination: udp.destination,
                            payload: udp.payload,
                            at: packet.at,
                        }));
                    }
                    Ok(None) | Err(_) => self.skipped += 1,
                },
                Ok(None) => {
                    self.cursor = None;
                    return None;
                }
                Err(reject) => {
                    self.cursor = None;
                    return Some(Err(reject));
                }
            }
        }
    }
}

struct Packet<'a> {
    link: u32,
    bytes: &'a [u8],
    at: Timestamp,
}

/// The file header of classic pcap. IETF draft-ietf-opsawg-pcap §4.
fn classic(cursor: &mut ReadCursor<'_>, magic: u32) -> Result<Format, Reject> {
    let (endian, nanos_per_tick) = match magic {
        0xa1b2_c3d4 => (Endian::Big, 1_000),
        0xa1b2_3c4d => (Endian::Big, 1),
        0xd4c3_b2a1 => (Endian::Little, 1_000),
        0x4d3c_b2a1 => (Endian::Little, 1),
        _ => return Err(cursor.reject(RejectKind::Unexpected)),
    };
    cursor.set_endian(endian);
    // Magic number, version, two reserved words, snapshot length.
    cursor.skip(20)?;
    Ok(Format::Classic {
        // The upper bits tell about checksums at the frames' end.
        link: cursor.u32()? & 0x0fff_ffff,
        nanos_per_tick,
    })
}

fn next_classic<'a>(
    cursor: &mut ReadCursor<'a>,
    link: u32,
    nanos_per_tick: u32,
) -> Result<Option<Packet<'a>>, Reject> {
    if cursor.is_empty() {
        return Ok(None);
    }
    let seconds = i64::from(cursor.u32()?);
    let ticks = i64::from(cursor.u32()?);
    let len = cursor.u32()? as usize;
    cursor.skip(4)?;
    let nanos = ticks.saturating_mul(i64::from(nanos_per_tick));
    Ok(Some(Packet {
        link,
        bytes: cursor.bytes(len)?,
        at: Timestamp(seconds.saturating_mul(1_000_000_000).saturating_add(nanos)),
    }))
}

/// Walks over blocks up to the next packet. Every block takes at least twelve octets of the file.
fn next_block<'a>(
    cursor: &mut ReadCursor<'a>,
    interfaces: &mut Vec<InterfaceDescription>,
) -> Result<Option<Packet<'a>>, Reject> {
    while !cursor.is_empty() {
        let mut body = block_body(cursor, interfaces)?;
        match body.kind {
            block::INTERFACE => {
                if interfaces.len() >= INTERFACES_MAX {
                    return Err(cursor.reject(RejectKind::Limit));
                }
                interfaces.push(describe(&mut body.cursor)?);
            }
            block::ENHANCED_PACKET => return enhanced(&mut body.cursor, interfaces).map(Some),
            block::SIMPLE_PACKET => {
                let body = &mut body.cursor;
                let link = interfaces.first().map(|interface| interface.link);
                let link = link.ok_or_else(|| body.reject(RejectKind::Unexpected))?;
                let len = (body.u32()? as usize).min(body.remaining());
                return Ok(Some(Packet {
                    link,
                    bytes: body.bytes(len)?,
                    at: Timestamp::INVALID,
                }));
            }
            _ => {}
        }
    }
    Ok(None)
}

struct Block<'a> {
    kind: u32,
    cursor: ReadCursor<'a>,
}

/// Takes the next block off the file; a section header sets the byte order and forgets the
/// interfaces.
fn block_body<'a>(
    cursor: &mut ReadCursor<'a>,
    interfaces: &mut Vec<InterfaceDescription>,
) -> Result<Block<'a>, Reject> {
    let kind = cursor.u32()?;
    if kind == block::SECTION {
        let mut ahead = cursor.clone();
        ahead.set_endian(Endian::Big);
        ahead.skip(4)?;
        let endian = match ahead.u32()? {
            block::BYTE_ORDER_MAGIC => Endian::Big,
            magic if magic.swap_bytes() == block::BYTE_ORDER_MAGIC => Endian::Little,
            _ => return Err(ahead.reject(RejectKind::Unexpected)),
        };
        cursor.set_endian(endian);
        interfaces.clear();
    }
    let len = cursor.u32()? as usize;
    let body = len.checked_sub(12).filter(|body| body.is_multiple_of(4));
    let body = body.ok_or_else(|| cursor.reject(RejectKind::Length))?;
    let body = cursor.split(body)?;
    // The length again.
    cursor.skip(4)?;
    Ok(Block { kind, cursor: body })
}

fn describe(body: &mut ReadCursor<'_>) -> Result<InterfaceDescription, Reject> {
    let mut described = InterfaceDescription {
        link: u32::from(body.u16()?),
        resolution: 6,
    };
    body.skip(6)?;
    for _ in 0..OPTIONS_MAX {
        if body.is_empty() {
            break;
        }
        let code = body.u16()?;
        let len = usize::from(body.u16()?);
        let mut value = body.split(len)?;
        body.align(4)?;
        match code {
            block::OPTION_END => break,
            block::OPTION_RESOLUTION => described.resolution = value.u8()?,
            _ => {}
        }
    }
    Ok(described)
}

fn enhanced<'a>(
    body: &mut ReadCursor<'a>,
    interfaces: &[InterfaceDescription],
) -> Result<Packet<'a>, Reject> {
    let index = body.u32()? as usize;
    let interface = interfaces.get(index);
    let interface = *interface.ok_or_else(|| body.reject(RejectKind::Unexpected))?;
    let high = u64::from(body.u32()?);
    let low = u64::from(body.u32()?);
    let len = body.u32()? as usize;
    body.skip(4)?;
    Ok(Packet {
        link: interface.link,
        bytes: body.bytes(len)?,
        at: timestamp(high << 32 | low, interface.resolution),
    })
}

/// Ticks of a resolution as nanoseconds; invalid where they do not fit.
fn timestamp(ticks: u64, resolution: u8) -> Timestamp {
    let power = u32::from(resolution & 0x7f);
    let per_second = if resolution & 0x80 == 0 {
        10_u128.checked_pow(power)
    } else {
        1_u128.checked_shl(power)
    };
    // 2⁶⁴ ticks times 10⁹ stay below 2¹²⁸.
    let nanos = per_second
        .and_then(|per_second| (u128::from(ticks) * 1_000_000_000).checked_div(per_second))
        .and_then(|nanos| i64::try_from(nanos).ok());
    nanos.map_or(Timestamp::INVALID, Timestamp)
}
