//! Lempel-Ziv alone: octets as they are, or what was there before by distance and length.
//!
//! A flag octet, its lowest bit first, says of each of the next eight items whether it is an octet
//! (0) or a match (1): distance in two octets, the lower first, and length less 4 in one, 255
//! meaning that another such octet is added.

use crate::chains::{Chains, MATCH_MIN, Match};
use crate::codec::{Codec, Damaged, Level, NoRoom};

/// See the module.
#[derive(Debug)]
pub(crate) struct Lz {
    depth: usize,
    chains: Chains,
}

impl Lz {
    pub(crate) fn new(level: Level) -> Self {
        Self {
            depth: 1 << level.get().min(9),
            chains: Chains::default(),
        }
    }
}

impl Codec for Lz {
    fn compress(&mut self, plain: &[u8], out: &mut [u8]) -> Result<usize, NoRoom> {
        let mut items = Items {
            out,
            length: 0,
            flags: 0,
            count: 0,
        };
        self.chains.begin(plain.len());
        let mut at = 0;
        while at < plain.len() {
            let found = self.chains.lazy(plain, at, plain.len(), self.depth);
            let next = found.map_or(at + 1, |it| it.at);
            for octet in &plain[at..next] {
                items.literal(*octet)?;
            }
            at = next;
            if let Some(found) = found {
                items.repeat(&found)?;
                at += found.length;
            }
        }
        Ok(items.length)
    }

    fn decompress(&mut self, packed: &[u8], out: &mut [u8]) -> Result<(), Damaged> {
        let mut input = packed.iter().copied();
        let mut next = || input.next().ok_or(Damaged);
        let mut written = 0;
        while written < out.len() {
            let mut flags = u16::from(next()?) | 0x100;
            while flags > 1 && written < out.len() {
                if flags & 1 == 0 {
                    out[written] = next()?;
                    written += 1;
                } else {
                    let distance = usize::from(u16::from_le_bytes([next()?, next()?]));
                    let mut length = MATCH_MIN;
                    loop {
                        let more = next()?;
                        length = length.checked_add(usize::from(more)).ok_or(Damaged)?;
                        if more < 255 {
                            break;
                        }
                    }
                    written = repeat(out, written, distance, length)?;
                }
                flags >>= 1;
            }
            if flags > 1 && flags != 1 << (flags.ilog2()) {
                return Err(Damaged);
            }
        }
        input.next().map_or(Ok(()), |_| Err(Damaged))
    }
}

/// Writes again what stands `distance` before; where what is written ends.
fn repeat(out: &mut [u8], at: usize, distance: usize, length: usize) -> Result<usize, Damaged> {
    let end = at.checked_add(length).filter(|end| *end <= out.len());
    let (end, from) = end.zip(at.checked_sub(distance)).ok_or(Damaged)?;
    if distance == 0 {
        return Err(Damaged);
    }
    if distance >= length {
        out.copy_within(from..from + length, at);
    } else {
        for place in at..end {
            out[place] = out[place - distance];
        }
    }
    Ok(end)
}

/// Items that are being written.
struct Items<'a> {
    out: &'a mut [u8],
    length: usize,
    /// Where the flags stand that say what the next items are.
    flags: usize,
    count: usize,
}

impl Items<'_> {
    fn octet(&mut self, octet: u8) -> Result<(), NoRoom> {
        *self.out.get_mut(self.length).ok_or(NoRoom)? = octet;
        self.length += 1;
        Ok(())
    }

    fn item(&mut self, is_match: bool) -> Result<(), NoRoom> {
        if self.count.is_multiple_of(8) {
            self.flags = self.length;
            self.octet(0)?;
        }
        self.out[self.flags] |= u8::from(is_match) << (self.count % 8);
        self.count += 1;
        Ok(())
    }

    fn literal(&mut self, octet: u8) -> Result<(), NoRoom> {
        self.item(false)?;
        self.octet(octet)
    }

    fn repeat(&mut self, found: &Match) -> Result<(), NoRoom> {
        self.item(true)?;
        for octet in (found.distance as u16).to_le_bytes() {
            self.octet(octet)?;
        }
        let mut more = found.length - MATCH_MIN;
        while more >= 255 {
            self.octet(255)?;
            more -= 255;
        }
        self.octet(more as u8)
    }
}
