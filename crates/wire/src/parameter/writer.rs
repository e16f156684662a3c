//! Composes parameter lists.

use alloc::vec::Vec;

use whimbrel_base::cursor::{Endian, WriteCursor};
use whimbrel_base::reject::{Reject, RejectKind};

use super::id::ParameterId;

/// Appends a parameter list to a buffer, one parameter at a time.
///
/// [`ParameterListWriter::finish`] writes the sentinel; a writer that is dropped before leaves a
/// list without one.
#[derive(Debug)]
pub struct ParameterListWriter<'a> {
    out: &'a mut Vec<u8>,
    endian: Endian,
    overflow: Option<Reject>,
}

impl<'a> ParameterListWriter<'a> {
    /// A list at the end of `out`.
    pub const fn new(out: &'a mut Vec<u8>, endian: Endian) -> Self {
        Self {
            out,
            endian,
            overflow: None,
        }
    }

    /// Appends parameter `id` with what `write` writes, padded to a multiple of four octets.
    /// Alignment in `write` counts from the value's start.
    ///
    /// A value over 65,532 octets cannot travel: it is left out and
    /// [`ParameterListWriter::finish`] says so.
    pub fn put(&mut self, id: ParameterId, write: impl FnOnce(&mut WriteCursor<'_>)) {
        let start = self.out.len();
        let mut cursor = WriteCursor::new(self.out, self.endian);
        cursor.u16(id.0);
        cursor.u16(0);
        cursor.set_origin();
        write(&mut cursor);
        cursor.align(4);
        let len = cursor.position().saturating_sub(start.saturating_add(4));
        match u16::try_from(len) {
            Ok(len) => cursor.patch_u16(start.saturating_add(2), len),
            Err(_) => {
                self.out.truncate(start);
                self.overflow
                    .get_or_insert(Reject::new(RejectKind::Length, start));
            }
        }
    }

    /// Appends the sentinel.
    ///
    /// # Errors
    /// `Length` where a parameter was too long to travel; the list then lacks it.
    pub fn finish(self) -> Result<(), Reject> {
        let mut cursor = WriteCursor::new(self.out, self.endian);
        cursor.u16(ParameterId::SENTINEL.0);
        cursor.u16(0);
        self.overflow.map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::super::list::ParameterList;
    use super::*;

    #[test]
    fn lists_round_trip_in_both_orders() {
        for endian in [Endian::Big, Endian::Little] {
            let mut out = Vec::from([7]);
            let mut writer = ParameterListWriter::new(&mut out, endian);
            writer.put(ParameterId::DOMAIN_ID, |out| out.u32(77));
            writer.put(ParameterId(0x8001), |out| out.bytes(&[1, 2, 3, 4, 5]));
            writer.put(ParameterId(0x8002), |_| {});
            writer.finish().unwrap();
            let list = ParameterList::parse(&out[1..], endian).unwrap();
            assert_eq!(list.encoded_len() + 1, out.len());
            let values: Vec<_> = list.iter().map(|p| (p.id.0, p.value.to_vec())).collect();
            assert_eq!(values[1], (0x8001, Vec::from([1, 2, 3, 4, 5, 0, 0, 0])));
            assert_eq!(values[2], (0x8002, Vec::new()));
            let domain = list.find(ParameterId::DOMAIN_ID).unwrap();
            assert_eq!(domain.cursor().u32(), Ok(77));
        }
    }

    #[test]
    fn what_is_too_long_is_left_out() {
        for (len, fits) in [(65_532, true), (65_533, false), (200_000, false)] {
            let mut out = Vec::new();
            let mut writer = ParameterListWriter::new(&mut out, Endian::Little);
            writer.put(ParameterId::USER_DATA, |out| out.zeros(len));
            assert_eq!(writer.finish().is_ok(), fits);
            let list = ParameterList::parse(&out, Endian::Little).unwrap();
            assert_eq!(list.iter().count(), usize::from(fits));
        }
    }
}
