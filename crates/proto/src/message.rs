//! Puts RTPS messages together without copying payloads that are more than small.
//!
//! Headers go into one scratch buffer that is used again and again; payloads stay where they are.
//! A message leaves as a list of slices.

mod submessages;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::hint::cold_path;
use core::ops::Range;

use whimbrel_base::buffer::{GatheredBytes, SharedBytes};
use whimbrel_base::copying;
use whimbrel_base::cursor::{Endian, padding};
use whimbrel_base::guid::{EntityId, GuidPrefix};
use whimbrel_base::locator::Locator;
use whimbrel_base::sequence::{Count, SequenceNumber};
use whimbrel_base::time::Timestamp;
use whimbrel_base::vendor::{ProtocolVersion, VendorId};
use whimbrel_wire::header::Header;
use whimbrel_wire::submessage::timed_head;

use crate::outbox::{Outbox, PartOf, PlainSamples};
use crate::packing::Packing;
use crate::writer::Change;

/// Byte order of what we send.
pub(crate) const ENDIAN: Endian = Endian::Little;

/// Slices a message may consist of.
const PARTS_MAX: usize = 64;

/// Payloads of so many octets and fewer are copied: that is cheaper than one more slice, for which
/// the system takes as long as for copying 8 KiB.
const COPIED_BYTES_MAX: usize = 4352;

/// Slices kept free for what one submessage adds.
const PARTS_PER_SUBMESSAGE: usize = 6;

#[derive(Debug)]
enum Part {
    Scratch(Range<usize>),
    Payload(SharedBytes),
}

/// What a heartbeat says.
#[derive(Clone, Copy, Debug)]
pub struct HeartbeatFields {
    /// Oldest number available; one past `last` when nothing is.
    pub first: SequenceNumber,
    /// Newest number written.
    pub last: SequenceNumber,
    /// Its count.
    pub count: Count,
    /// No answer is wanted unless something is missing.
    pub is_final: bool,
}

/// Builds one message at a time.
#[derive(Debug, Default)]
pub struct MessageBuilder {
    prefix: GuidPrefix,
    scratch: Vec<u8>,
    parts: Vec<Part>,
    inline_qos: Vec<u8>,
    len: usize,
    bytes_max: usize,
    timestamp: Option<Timestamp>,
    destination: GuidPrefix,
    /// What messages are parts of, where those are large samples or bundles of several messages.
    bulk: Option<PartOf>,
    packing: Packing,
    shares: bool,
    /// Whole changes in the message that are not compressed.
    plain: PlainSamples,
}

impl MessageBuilder {
    /// A builder of messages from `prefix`.
    pub fn new(prefix: GuidPrefix) -> Self {
        Self {
            prefix,
            ..Self::default()
        }
    }

    /// The builder in `place`, which is empty until it is put back, or a new one of messages from
    /// `prefix`. Only its address moves.
    pub(crate) fn lent_by(place: &mut Option<Box<Self>>, prefix: GuidPrefix) -> Box<Self> {
        let known = place.take();
        known.unwrap_or_else(|| Self::boxed(prefix))
    }

    #[cold]
    fn boxed(prefix: GuidPrefix) -> Box<Self> {
        Box::new(Self::new(prefix))
    }

    /// Starts over with messages of at most `bytes_max` octets.
    pub fn begin(&mut self, bytes_max: usize) {
        self.bytes_max = bytes_max;
        if self.len != Header::LEN {
            self.clear();
        }
    }

    /// Whether [`MessageBuilder::send_large`] is the way of a payload: most of it is not copied,
    /// and the rest is little.
    #[inline(always)]
    pub(crate) fn is_large(payload: &GatheredBytes) -> bool {
        let [before, most, after] = payload.in_order();
        let others = before.len().saturating_add(after.len());
        most.len() > COPIED_BYTES_MAX && others <= COPIED_BYTES_MAX
    }

    /// Sends a message with nothing but the data of `change`, which is [large], to `to`, where none
    /// was begun.
    ///
    /// [large]: MessageBuilder::is_large
    #[inline(never)]
    pub(crate) fn send_large(
        &mut self,
        writer: EntityId,
        change: &Change,
        to: &[Locator],
        outbox: &mut impl Outbox,
    ) {
        let len = change.payload.len();
        let head = timed_head(change.timestamp, writer, change.sequence, len);
        let [before, most, after] = change.payload.in_order();
        self.scratch.extend_from_slice(head.as_flattened());
        self.scratch.extend_from_slice(before);
        let end = self.scratch.len();
        append_padded(&mut self.scratch, after, padding(len, 4));
        let (head, tail) = self.scratch.split_at_checked(end).unwrap_or_default();
        if tail.is_empty() {
            outbox.send(to, &[head, most]);
        } else {
            outbox.send(to, &[head, most, tail]);
        }
        self.scratch.truncate(Header::LEN);
    }

    /// Whether messages leave by [`Outbox::send_bulk`] from now on, and as parts of what.
    pub fn set_bulk(&mut self, bulk: Option<PartOf>) {
        self.bulk = bulk;
    }

    /// To which addresses messages leave by [`Outbox::send_shared_bundle`] from now on; they must
    /// name no participant.
    #[inline(never)]
    pub(crate) fn set_packing(&mut self, packing: Packing) {
        self.packing = packing;
    }

    /// Whether messages leave by [`Outbox::send_shared`] from now on, where not by that; they must
    /// name no participant.
    pub fn set_shares(&mut self, shares: bool) {
        self.shares = shares;
    }

    fn clear(&mut self) {
        self.plain = PlainSamples::default();
        self.timestamp = None;
        self.destination = GuidPrefix::UNKNOWN;
        // All messages begin alike.
        self.scratch.truncate(Header::LEN);
        if self.parts.len() > 1 {
            self.drop_later_parts();
        }
        if let Some(Part::Scratch(head)) = self.parts.first_mut() {
            head.end = Header::LEN;
        } else {
            self.compose_header();
        }
        self.len = Header::LEN;
    }

    #[inline(never)]
    fn drop_later_parts(&mut self) {
        self.parts.truncate(1);
    }

    #[cold]
    fn compose_header(&mut self) {
        self.scratch.clear();
        self.parts.clear();
        let header = Header {
            version: ProtocolVersion::V2_5,
            vendor: VendorId::WHIMBREL,
            prefix: self.prefix,
        };
        header.compose(&mut self.scratch);
        self.parts.push(Part::Scratch(0..Header::LEN));
    }

    /// Octets of the message so far.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True when the message has no submessages yet.
    pub fn is_empty(&self) -> bool {
        self.len <= Header::LEN
    }

    /// True when submessages of `bytes` octets still fit.
    pub fn has_room(&self, bytes: usize) -> bool {
        self.is_empty()
            || (self.len.saturating_add(bytes) <= self.bytes_max
                && self.parts.len().saturating_add(PARTS_PER_SUBMESSAGE) < PARTS_MAX)
    }

    /// Sends the message to `to` first when `bytes` octets no longer fit.
    pub fn make_room(&mut self, bytes: usize, to: &[Locator], outbox: &mut impl Outbox) {
        if !self.has_room(bytes) {
            self.flush(to, outbox);
        }
    }

    /// Sends the message to `to`, if it has any submessages, and starts the next one.
    #[inline(never)]
    pub fn flush(&mut self, to: &[Locator], outbox: &mut impl Outbox) {
        self.flush_here(to, outbox);
    }

    /// As [`MessageBuilder::flush`], for where that is done most often.
    #[inline(always)]
    pub(crate) fn flush_here(&mut self, to: &[Locator], outbox: &mut impl Outbox) {
        if self.is_empty() {
            return;
        }
        if let [Part::Scratch(only)] = &*self.parts {
            self.leave(
                &[self.scratch.get(only.clone()).unwrap_or_default()],
                to,
                outbox,
            );
        } else {
            self.leave_in_parts(to, outbox);
        }
        self.clear();
    }

    #[inline(never)]
    fn leave_in_parts(&self, to: &[Locator], outbox: &mut impl Outbox) {
        let mut slices: [&[u8]; PARTS_MAX] = [&[]; PARTS_MAX];
        for (slice, part) in slices.iter_mut().zip(&self.parts) {
            *slice = match part {
                Part::Scratch(range) => self.scratch.get(range.clone()).unwrap_or_default(),
                Part::Payload(bytes) => bytes,
            };
        }
        let slices = slices.get(..self.parts.len()).unwrap_or(&slices);
        self.leave(slices, to, outbox);
    }

    #[inline(always)]
    fn leave(&self, slices: &[&[u8]], to: &[Locator], outbox: &mut impl Outbox) {
        if let Some(bulk) = self.bulk {
            return outbox.send_bulk(to, slices, bulk);
        }
        match &self.packing {
            Packing::Nowhere => self.leave_plain(slices, to, outbox),
            packing => self.leave_packed(packing, slices, to, outbox),
        }
    }

    #[inline(never)]
    fn leave_packed(
        &self,
        packing: &Packing,
        slices: &[&[u8]],
        to: &[Locator],
        outbox: &mut impl Outbox,
    ) {
        let limits = (self.plain, self.bytes_max);
        match packing {
            Packing::Nowhere => self.leave_plain(slices, to, outbox),
            Packing::Everywhere => outbox.send_shared_bundle(to, slices, limits),
            Packing::Some(sides) => {
                let (taking, others) = sides.of(to);
                if !taking.is_empty() {
                    outbox.send_shared_bundle(&taking, slices, limits);
                }
                if !others.is_empty() {
                    self.leave_plain(slices, &others, outbox);
                }
            }
        }
    }

    fn leave_plain(&self, slices: &[&[u8]], to: &[Locator], outbox: &mut impl Outbox) {
        if self.shares {
            outbox.send_shared(to, slices, self.bytes_max);
        } else {
            outbox.send(to, slices);
        }
    }

    /// Lets `compose` add octets to the scratch buffer.
    fn compose(&mut self, compose: impl FnOnce(&mut Vec<u8>)) {
        let start = self.scratch.len();
        compose(&mut self.scratch);
        let end = self.scratch.len();
        self.len = self.len.saturating_add(end.saturating_sub(start));
        match self.parts.last_mut() {
            Some(Part::Scratch(range)) if range.end == start => range.end = end,
            _ => {
                cold_path();
                self.parts.push(Part::Scratch(start..end));
            }
        }
    }

    /// As [`MessageBuilder::compose`] with `head`, and then `bytes` and padding, first in the
    /// message.
    #[inline(always)]
    fn extend_first(&mut self, head: &[[u8; 4]], [before, most, after]: [&[u8]; 3]) {
        self.scratch.extend_from_slice(head.as_flattened());
        if before.is_empty() && after.is_empty() {
            append_padded(&mut self.scratch, most, padding(most.len(), 4));
        } else {
            self.append_three(before, most, after);
        }
        self.len = self.scratch.len();
        if let Some(Part::Scratch(range)) = self.parts.first_mut() {
            range.end = self.len;
        }
    }

    #[inline(never)]
    fn append_three(&mut self, before: &[u8], most: &[u8], after: &[u8]) {
        self.scratch.extend_from_slice(before);
        copying::append(&mut self.scratch, most);
        let len = before
            .len()
            .saturating_add(most.len())
            .saturating_add(after.len());
        append_padded(&mut self.scratch, after, padding(len, 4));
    }

    /// The octets of `payload` in `range`, and padding.
    #[inline(always)]
    fn payload(&mut self, payload: &GatheredBytes, range: Range<usize>) {
        if let Some(bytes) = small_part(payload, range.clone()) {
            let pad = padding(range.len(), 4);
            self.compose(|out| append_padded(out, bytes, pad));
            return;
        }
        self.pieces(payload, range);
    }

    #[cold]
    fn pieces(&mut self, payload: &GatheredBytes, range: Range<usize>) {
        let pad = padding(range.len(), 4);
        for piece in payload.pieces(range) {
            self.piece(piece);
        }
        if pad > 0 {
            self.compose(|out| out.resize(out.len().saturating_add(pad), 0));
        }
    }

    fn piece(&mut self, bytes: SharedBytes) {
        if bytes.is_empty() {
            return;
        }
        if bytes.len() <= COPIED_BYTES_MAX {
            self.compose(|out| copying::append(out, &bytes));
            return;
        }
        self.len = self.len.saturating_add(bytes.len());
        self.parts.push(Part::Payload(bytes));
    }
}

/// The octets of `payload` in `range` where they are few enough to be copied.
#[inline(always)]
fn small_part(payload: &GatheredBytes, range: Range<usize>) -> Option<&[u8]> {
    let bytes = payload.get(range)?;
    (bytes.len() <= COPIED_BYTES_MAX).then_some(bytes)
}

#[inline(always)]
fn append_padded(out: &mut Vec<u8>, bytes: &[u8], pad: usize) {
    copying::append(out, bytes);
    if pad > 0 {
        out.resize(out.len().saturating_add(pad), 0);
    }
}
