//! Writing pcapng.

use std::io::{self, Write};
use std::net::SocketAddr;

use whimbrel_base::cursor::{Endian, WriteCursor};
use whimbrel_base::time::Timestamp;

use super::{block, link_type, packet};

/// Nanoseconds: 10 to the power of minus this.
const RESOLUTION: u8 = 9;

/// Writes datagrams as a pcapng file: one section, one interface of raw IP.
#[derive(Debug)]
pub struct CaptureWriter<W: Write> {
    output: W,
    /// The block being made, used again for the next.
    scratch: Vec<u8>,
}

impl<W: Write> CaptureWriter<W> {
    /// Begins a file in `output`. Give a buffered writer where speed matters.
    ///
    /// # Errors
    /// `output` refuses.
    pub fn new(mut output: W) -> io::Result<Self> {
        let mut scratch = Vec::with_capacity(2048);
        block_into(&mut scratch, block::SECTION, |cursor| {
            cursor.u32(block::BYTE_ORDER_MAGIC);
            cursor.u16(1);
            cursor.u16(0);
            // Length of the section: not stated.
            cursor.u64(u64::MAX);
        });
        block_into(&mut scratch, block::INTERFACE, |cursor| {
            cursor.u16(link_type::RAW as u16);
            cursor.u16(0);
            // Snapshot length: no limit.
            cursor.u32(0);
            cursor.u16(block::OPTION_RESOLUTION);
            cursor.u16(1);
            cursor.bytes(&[RESOLUTION, 0, 0, 0]);
            cursor.u16(block::OPTION_END);
            cursor.u16(0);
        });
        output.write_all(&scratch)?;
        Ok(Self { output, scratch })
    }

    /// Writes one datagram whose payload is `parts`, one after the other, in one call to the
    /// output. Times before 1970 are written as 1970.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] where the addresses are of different families or the
    /// payload is larger than UDP carries; whatever the output says.
    pub fn write_udp(
        &mut self,
        source: SocketAddr,
        destination: SocketAddr,
        parts: &[&[u8]],
        at: Timestamp,
    ) -> io::Result<()> {
        let header =
            packet::header(source, destination, parts).ok_or(io::ErrorKind::InvalidInput)?;
        let len = parts
            .iter()
            .fold(header.as_ref().len(), |sum, part| sum + part.len());
        let len = u32::try_from(len).map_err(|_| io::ErrorKind::InvalidInput)?;
        let nanos = u64::try_from(at.0).unwrap_or(0);
        self.scratch.clear();
        block_into(&mut self.scratch, block::ENHANCED_PACKET, |cursor| {
            // The interface's number.
            cursor.u32(0);
            cursor.u32((nanos >> 32) as u32);
            cursor.u32(nanos as u32);
            cursor.u32(len);
            cursor.u32(len);
            cursor.bytes(header.as_ref());
            for part in parts {
                cursor.bytes(part);
            }
            cursor.align(4);
        });
        self.output.write_all(&self.scratch)
    }

    /// Passes on what the output holds back.
    ///
    /// # Errors
    /// Whatever the output says.
    pub fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }

    /// The output, with everything written that was given to it.
    ///
    /// # Errors
    /// Whatever the output says.
    pub fn into_inner(mut self) -> io::Result<W> {
        self.output.flush()?;
        Ok(self.output)
    }
}

/// Appends a block: type, length, body, length again.
fn block_into(bytes: &mut Vec<u8>, kind: u32, body: impl FnOnce(&mut WriteCursor<'_>)) {
    let mut cursor = WriteCursor::new(bytes, Endian::NATIVE);
    let start = cursor.position();
    cursor.u32(kind);
    cursor.u32(0);
    body(&mut cursor);
    let len = u32::try_from(cursor.position() - start + 4).unwrap_or(u32::MAX);
    cursor.patch_u32(start + 4, len);
    cursor.u32(len);
}
