//! DATA_BATCH: many changes of one writer under one head. Not of the standard: RTI Connext sends
//! it, and Whimbrel where it is told to, to readers that understand it.
//!
//! ```text
//! head, list of what each sample is, encapsulation header of all, samples back to back
//! ```
//!
//! What follows the encapsulation header may be one compressed block
//! ([`crate::compressed::Compressed`]); the list never is.

use alloc::vec::Vec;
use core::fmt;

use whimbrel_base::cursor::{Endian, ReadCursor, WriteCursor, padding};
use whimbrel_base::guid::EntityId;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::time::Timestamp;

use super::data::{Content, read_inline_qos, skip_to_known, write_inline_qos};
use super::frame::{SubmessageKind, body_cursor, compose_head, flag};
use crate::field::{
    read_entity_id, read_timestamp, read_valid_sequence_number, write_sequence_number,
    write_timestamp,
};
use crate::parameter::ParameterList;

const FLAG_INLINE_QOS: u8 = 0x02;

/// Octets from behind the field octetsToInlineQos to the inline QoS.
const TO_INLINE_QOS: u16 = 32;

const SAMPLE_TIMESTAMP: u16 = 0x01;
const SAMPLE_INLINE_QOS: u16 = 0x02;
const SAMPLE_OFFSET: u16 = 0x04;
const SAMPLE_DATA: u16 = 0x08;
const SAMPLE_INVALID: u16 = 0x10;
const SAMPLE_KEY: u16 = 0x20;

/// Many changes of one writer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DataBatch<'a> {
    /// Reader it is meant for; unknown means every matched one.
    pub reader: EntityId,
    /// Writer it comes from.
    pub writer: EntityId,
    /// Number of the batch: by these the writer and its readers agree on what has arrived.
    pub batch: SequenceNumber,
    /// The last number that a change of this batch may have.
    pub last: SequenceNumber,
    /// QoS that goes with all changes, in the byte order of the submessage.
    pub inline_qos: Option<ParameterList<'a>>,
    /// What the changes are.
    pub samples: BatchedSamples<'a>,
    /// Encapsulation header and data of all changes, compressed or not, with up to three octets of
    /// padding.
    pub payload: &'a [u8],
}

/// What the changes of a [`DataBatch`] are: a list that was checked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct BatchedSamples<'a> {
    bytes: &'a [u8],
    endian: Endian,
    first: SequenceNumber,
    count: u32,
}

/// One change of a [`DataBatch`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BatchedSample<'a> {
    /// Its number.
    pub number: SequenceNumber,
    /// What its data is; it may have none and only inline QoS.
    pub content: Content,
    /// The change is not there: it was written, but is of no interest any more.
    pub is_invalid: bool,
    /// When it was written, where that differs from the rest of the message.
    pub timestamp: Option<Timestamp>,
    /// QoS, status and key hash that go with it.
    pub inline_qos: Option<ParameterList<'a>>,
    /// Octets of its data, which has no encapsulation header of its own.
    pub data_len: u32,
}

impl<'a> DataBatch<'a> {
    /// Reads the body of a DATA_BATCH.
    ///
    /// # Errors
    /// `SequenceNumber` for numbers below 1, over the last one stated or not rising, `Integrity`
    /// where there are not as many changes as stated, `EnumValue` for contents that exclude each
    /// other, `Length` where fields are too short for what they hold, malformed inline QoS (see
    /// [`ParameterList::parse`]), `Truncated`.
    pub fn parse(flags: u8, body: &'a [u8]) -> Result<Self, Reject> {
        let mut cursor = body_cursor(flags, body);
        let past_known = skip_to_known(&mut cursor, TO_INLINE_QOS)?;
        let reader = read_entity_id(&mut cursor)?;
        let writer = read_entity_id(&mut cursor)?;
        let batch = read_valid_sequence_number(&mut cursor)?;
        let at = cursor.position();
        let first = read_valid_sequence_number(&mut cursor)?;
        let last = first.plus(u64::from(cursor.u32()?));
        if last == SequenceNumber::MAX {
            return Err(Reject::new(RejectKind::SequenceNumber, at));
        }
        let count = cursor.u32()?;
        cursor.skip(past_known)?;
        let inline_qos = read_inline_qos(&mut cursor, flags & FLAG_INLINE_QOS != 0)?;
        let list_len = usize::try_from(cursor.u32()?).unwrap_or(usize::MAX);
        let list_at = cursor.position();
        let samples = BatchedSamples {
            bytes: cursor.bytes(list_len)?,
            endian: cursor.endian(),
            first,
            count,
        };
        samples.check(last).map_err(|it| it.shifted(list_at))?;
        Ok(Self {
            reader,
            writer,
            batch,
            last,
            inline_qos,
            samples,
            payload: cursor.rest(),
        })
    }

    /// Appends everything, with the payload padded to a multiple of four, in the byte order of the
    /// list of samples, whatever `endian` is.
    pub fn compose(&self, out: &mut Vec<u8>, endian: Endian) {
        let padding = self.compose_head(out, endian, self.payload.len());
        out.extend_from_slice(self.payload);
        out.resize(out.len().saturating_add(padding), 0);
    }

    /// Appends everything up to the payload, for one of `payload_len` octets that the caller sends
    /// behind it ([`DataBatch::payload`] is not looked at). Returns how many octets of padding must
    /// follow that payload. Byte order as for [`DataBatch::compose`].
    pub fn compose_head(&self, out: &mut Vec<u8>, _endian: Endian, payload_len: usize) -> usize {
        let padding = padding(payload_len, 4);
        let flags = flag(FLAG_INLINE_QOS, self.inline_qos.is_some());
        let follows = payload_len.saturating_add(padding);
        let samples = self.samples;
        let kind = SubmessageKind::DATA_BATCH;
        compose_head(out, samples.endian, kind, flags, follows, |out| {
            out.u16(0);
            out.u16(TO_INLINE_QOS);
            out.bytes(&self.reader.0);
            out.bytes(&self.writer.0);
            write_sequence_number(out, self.batch);
            write_sequence_number(out, samples.first);
            let span = self.last.since(samples.first);
            out.u32(u32::try_from(span).unwrap_or(u32::MAX));
            out.u32(samples.count);
            write_inline_qos(out, self.inline_qos);
            out.u32(u32::try_from(samples.bytes.len()).unwrap_or(u32::MAX));
            out.bytes(samples.bytes);
        });
        padding
    }
}

impl<'a> BatchedSamples<'a> {
    /// The first number that a change may have.
    pub const fn first(&self) -> SequenceNumber {
        self.first
    }

    /// How many changes there are.
    pub const fn len(&self) -> u32 {
        self.count
    }

    /// True where there is none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Octets of data of all changes.
    pub fn data_len(&self) -> usize {
        let lengths = self.iter().map(|it| it.data_len as usize);
        lengths.fold(0, usize::saturating_add)
    }

    /// The changes in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = BatchedSample<'a>> + use<'a> {
        let mut cursor = ReadCursor::new(self.bytes, self.endian);
        let (first, mut next) = (self.first, self.first);
        core::iter::from_fn(move || {
            let sample = BatchedSample::parse(&mut cursor, first, next).ok()??;
            next = sample.number.next();
            Some(sample)
        })
    }

    /// The changes with the data of each, as it stands in the plain `data` of all.
    ///
    /// # Errors
    /// `Integrity` where that is not as long as all of them together, up to three octets of
    /// padding aside.
    pub fn with_data<'d>(
        &self,
        mut data: &'d [u8],
    ) -> Result<impl Iterator<Item = (BatchedSample<'a>, &'d [u8])>, Reject> {
        let spare = data.len().checked_sub(self.data_len());
        if spare.is_none_or(|spare| spare > 3) {
            return Err(Reject::new(RejectKind::Integrity, 0));
        }
        Ok(self.iter().map(move |sample| {
            let own = data.split_at_checked(sample.data_len as usize);
            let (own, rest) = own.unwrap_or_default();
            data = rest;
            (sample, own)
        }))
    }

    fn check(&self, last: SequenceNumber) -> Result<(), Reject> {
        let mut cursor = ReadCursor::new(self.bytes, self.endian);
        let (mut next, mut found) = (self.first, 0u32);
        while let Some(sample) = BatchedSample::parse(&mut cursor, self.first, next)? {
            if sample.number < next || sample.number > last {
                return Err(cursor.reject(RejectKind::SequenceNumber));
            }
            next = sample.number.next();
            found = found.saturating_add(1);
        }
        match found == self.count {
            true => Ok(()),
            false => Err(cursor.reject(RejectKind::Integrity)),
        }
    }
}

impl fmt::Debug for BatchedSamples<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'a> BatchedSample<'a> {
    /// The next of a list; `None` at its end.
    fn parse(
        cursor: &mut ReadCursor<'a>,
        first: SequenceNumber,
        next: SequenceNumber,
    ) -> Result<Option<Self>, Reject> {
        if cursor.is_empty() {
            return Ok(None);
        }
        let flags = u16::from_be_bytes(cursor.array()?);
        let has = |flag: u16| flags & flag != 0;
        let content = match (has(SAMPLE_DATA), has(SAMPLE_KEY)) {
            (false, false) => Content::None,
            (true, false) => Content::Data,
            (false, true) => Content::Key,
            (true, true) => return Err(cursor.reject(RejectKind::EnumValue)),
        };
        let to_qos = cursor.u16()?;
        let known = known_len(has(SAMPLE_TIMESTAMP), has(SAMPLE_OFFSET));
        let too_short = cursor.reject(RejectKind::Length);
        let past_known = to_qos.checked_sub(known).ok_or(too_short)?;
        let data_len = cursor.u32()?;
        if content == Content::None && data_len != 0 {
            return Err(cursor.reject(RejectKind::Length));
        }
        let timestamp = match has(SAMPLE_TIMESTAMP) {
            true => Some(read_timestamp(cursor)?),
            false => None,
        };
        let number = match has(SAMPLE_OFFSET) {
            true => first.plus(u64::from(cursor.u32()?)),
            false => next,
        };
        cursor.skip(usize::from(past_known))?;
        Ok(Some(Self {
            number,
            content,
            is_invalid: has(SAMPLE_INVALID),
            timestamp,
            inline_qos: read_inline_qos(cursor, has(SAMPLE_INLINE_QOS))?,
            data_len,
        }))
    }

    /// Appends it to a list that begins with number `first` and goes on with `next`.
    fn compose(&self, out: &mut WriteCursor<'_>, first: SequenceNumber, next: SequenceNumber) {
        let (timestamp, offset) = (self.timestamp, self.number != next);
        let mut flags = match self.content {
            Content::None => 0,
            Content::Data => SAMPLE_DATA,
            Content::Key => SAMPLE_KEY,
        };
        for (flag, set) in [
            (SAMPLE_TIMESTAMP, timestamp.is_some()),
            (SAMPLE_INLINE_QOS, self.inline_qos.is_some()),
            (SAMPLE_OFFSET, offset),
            (SAMPLE_INVALID, self.is_invalid),
        ] {
            flags |= if set { flag } else { 0 };
        }
        out.bytes(&flags.to_be_bytes());
        out.u16(known_len(timestamp.is_some(), offset));
        out.u32(self.data_len);
        if let Some(timestamp) = timestamp {
            write_timestamp(out, timestamp);
        }
        if offset {
            let offset = self.number.since(first);
            out.u32(u32::try_from(offset).unwrap_or(u32::MAX));
        }
        write_inline_qos(out, self.inline_qos);
    }
}

/// Octets from behind the field octetsToInlineQos to the inline QoS.
const fn known_len(timestamp: bool, offset: bool) -> u16 {
    match (timestamp, offset) {
        (false, false) => 4,
        (false, true) => 8,
        (true, false) => 12,
        (true, true) => 16,
    }
}

/// Puts together what a [`DataBatch`] says of its changes.
#[derive(Clone, Debug)]
pub struct BatchedSamplesWriter {
    bytes: Vec<u8>,
    endian: Endian,
    first: Option<SequenceNumber>,
    next: SequenceNumber,
    count: u32,
}

impl BatchedSamplesWriter {
    /// An empty list.
    pub const fn new(endian: Endian) -> Self {
        Self {
            bytes: Vec::new(),
            endian,
            first: None,
            next: SequenceNumber::FIRST,
            count: 0,
        }
    }

    /// Appends a change, whose number is greater than those before and whose inline QoS is in the
    /// byte order of the list.
    pub fn push(&mut self, sample: &BatchedSample<'_>) {
        let first = *self.first.get_or_insert(sample.number);
        let next = if self.count == 0 { first } else { self.next };
        let mut cursor = WriteCursor::new(&mut self.bytes, self.endian);
        sample.compose(&mut cursor, first, next);
        self.next = sample.number.next();
        self.count = self.count.saturating_add(1);
    }

    /// The list so far.
    pub fn list(&self) -> BatchedSamples<'_> {
        BatchedSamples {
            bytes: &self.bytes,
            endian: self.endian,
            first: self.first.unwrap_or(SequenceNumber::FIRST),
            count: self.count,
        }
    }

    /// The number of the last change; the first number there is where there is none.
    pub fn last(&self) -> SequenceNumber {
        self.next.previous().max(SequenceNumber::FIRST)
    }

    /// Octets of the list.
    pub const fn encoded_len(&self) -> usize {
        self.bytes.len()
    }

    /// Empties it, for the next batch.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.first = None;
        self.next = SequenceNumber::FIRST;
        self.count = 0;
    }
}

impl fmt::Display for DataBatch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "DATA_BATCH {} -> {} batch #{} of #{}..#{}, {} samples in {} octets",
            self.writer,
            self.reader,
            self.batch,
            self.samples.first,
            self.last,
            self.samples.count,
            self.payload.len()
        )
    }
}

#[cfg(test)]
mod tests;
