//! The message receiver: what the INFO submessages of a message mean for the others.
//! RTPS 2.5 §8.3.4.

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::guid::{EntityId, Guid, GuidPrefix};
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::time::Timestamp;
use whimbrel_base::vendor::{ProtocolVersion, VendorId};
use whimbrel_wire::inline_qos::{InlineQos, StatusInfo};
use whimbrel_wire::message::{RawSubmessage, Submessage, Submessages};
use whimbrel_wire::packed_message;
use whimbrel_wire::parameter::ParameterList;
use whimbrel_wire::submessage::{
    Content, Data, DataBatch, DataFrag, InfoTimestamp, SubmessageKind, TimedData,
};

use crate::change::ChangeKind;
use crate::reader::{FragmentRun, Incoming, IncomingBatch, IncomingFragments};

/// A submessage with what the message around it says.
#[derive(Clone, Debug)]
pub struct Inbound<'a> {
    /// Which participant sent it.
    pub source: GuidPrefix,
    /// Whose implementation that is.
    pub vendor: VendorId,
    /// Which participant it is for; unknown means every one.
    pub destination: GuidPrefix,
    /// Its sender said that it is for one participant, but named none.
    pub unnamed: bool,
    /// Source timestamp; invalid where none was given.
    pub timestamp: Timestamp,
    /// The submessage; never one of the INFO kinds.
    pub submessage: Submessage<'a>,
}

/// Iterates over the submessages of a message that are meant for one participant.
///
/// A malformed submessage ends the message, as the standard demands. RTPS 2.5 §8.3.4.1.
#[derive(Debug)]
pub struct MessageReceiver<'a> {
    submessages: Submessages<'a>,
    own: GuidPrefix,
    source: GuidPrefix,
    vendor: VendorId,
    destination: GuidPrefix,
    unnamed: bool,
    timestamp: Timestamp,
    ended: bool,
}

impl<'a> MessageReceiver<'a> {
    /// Reads the header of `datagram` for the participant `own`.
    ///
    /// # Errors
    /// What is not an RTPS 2.x message.
    pub fn new(datagram: &'a [u8], own: GuidPrefix) -> Result<Self, Reject> {
        let (header, submessages) = Submessages::new(datagram)?;
        if header.version.major != ProtocolVersion::V2_5.major {
            return Err(Reject::new(RejectKind::ProtocolVersion, 4));
        }
        Ok(Self {
            submessages,
            own,
            source: header.prefix,
            vendor: header.vendor,
            destination: GuidPrefix::UNKNOWN,
            unnamed: false,
            timestamp: Timestamp::INVALID,
            ended: false,
        })
    }

    /// Which participant sent the message, by its header.
    pub fn source(&self) -> GuidPrefix {
        self.source
    }

    /// True when no submessage is left.
    #[inline]
    pub fn is_at_end(&self) -> bool {
        self.ended || self.submessages.is_at_end()
    }

    /// The sample that comes next, where [`MessageReceiver::next_plain`] finds one from the same
    /// writer to the same readers.
    #[inline]
    pub fn next_alike(&mut self, ids: (EntityId, EntityId)) -> Option<Alike<'a>> {
        let (ahead, timestamp, raw) = self.look_ahead()?;
        let (_, alike) = Alike::parse(&raw, timestamp).filter(|(of, _)| *of == ids)?;
        self.pass(ahead, timestamp);
        Some(alike)
    }

    /// The submessage that comes next, where that is DATA or DATA_FRAG with data and without inline
    /// QoS, with a timestamp before it or without, and `pick` gives something for its writer and
    /// readers; else `None`, and it is still to come.
    #[inline]
    pub fn next_plain<R>(
        &mut self,
        pick: impl FnOnce((EntityId, EntityId)) -> Option<R>,
    ) -> Option<(R, Plain<'a>)> {
        let (ahead, timestamp, raw) = self.look_ahead()?;
        let (ids, plain) = if raw.kind == SubmessageKind::DATA_FRAG {
            let (ids, part) = Part::parse(&raw, timestamp)?;
            (ids, Plain::Part(part))
        } else {
            let (ids, alike) = Alike::parse(&raw, timestamp)?;
            (ids, Plain::Sample(alike))
        };
        let picked = pick(ids)?;
        self.pass(ahead, timestamp);
        Some((picked, plain))
    }

    /// What is behind the submessage that comes next, the timestamp that holds for that, which may
    /// come before it, and itself. `None` where it is not meant for us, or not well formed.
    #[inline]
    fn look_ahead(&self) -> Option<(Submessages<'a>, Timestamp, RawSubmessage<'a>)> {
        let meant = self.destination == GuidPrefix::UNKNOWN || self.destination == self.own;
        if self.ended || !meant {
            return None;
        }
        let mut ahead = self.submessages.clone();
        let mut timestamp = self.timestamp;
        let mut raw = ahead.next()?.ok()?;
        if raw.kind == SubmessageKind::INFO_TS {
            let info = InfoTimestamp::parse(raw.flags, raw.body).ok()?;
            timestamp = info.time.unwrap_or(Timestamp::INVALID);
            raw = ahead.next()?.ok()?;
        }
        Some((ahead, timestamp, raw))
    }

    fn pass(&mut self, ahead: Submessages<'a>, timestamp: Timestamp) {
        self.submessages = ahead;
        self.timestamp = timestamp;
    }

    /// Applies an INFO submessage; gives back any other.
    fn interpret(&mut self, submessage: Submessage<'a>) -> Option<Submessage<'a>> {
        match submessage {
            Submessage::InfoTimestamp(info) => {
                self.timestamp = info.time.unwrap_or(Timestamp::INVALID);
            }
            Submessage::InfoDestination(info) => {
                self.destination = info.prefix;
                self.unnamed = info.prefix == GuidPrefix::UNKNOWN;
            }
            Submessage::InfoSource(info) => {
                self.source = info.prefix;
                self.vendor = info.vendor;
                self.timestamp = Timestamp::INVALID;
            }
            Submessage::HeaderExtension(extension) => {
                if let Some(time) = extension.timestamp {
                    self.timestamp = time;
                }
            }
            // Answers go to the locators from discovery, which the sender also announced.
            Submessage::InfoReply(_) | Submessage::InfoReplyIp4(_) | Submessage::Pad(_) => {}
            Submessage::Unknown { .. } => {}
            other => {
                let meant = self.destination == GuidPrefix::UNKNOWN || self.destination == self.own;
                return meant.then_some(other);
            }
        }
        None
    }
}

impl<'a> Iterator for MessageReceiver<'a> {
    type Item = Result<Inbound<'a>, Reject>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            let vendor = self.vendor;
            let parsed = self.submessages.next()?.and_then(|raw| {
                if raw.kind == packed_message::KIND && vendor == VendorId::WHIMBREL {
                    // It is a whole message, or none.
                    return Err(Reject::new(RejectKind::Compression, raw.offset));
                }
                // To others the number may mean something else.
                let known = !raw.kind.is_batched() || vendor.speaks_of_batches();
                if known {
                    raw.parse()
                } else {
                    Ok(raw.unparsed())
                }
            });
            match parsed {
                Err(reject) => {
                    self.ended = true;
                    return Some(Err(reject));
                }
                Ok(submessage) => {
                    if let Some(submessage) = self.interpret(submessage) {
                        return Some(Ok(Inbound {
                            source: self.source,
                            vendor: self.vendor,
                            destination: self.destination,
                            unnamed: self.unnamed,
                            timestamp: self.timestamp,
                            submessage,
                        }));
                    }
                }
            }
        }
        None
    }
}

/// What [`MessageReceiver::next_plain`] finds.
#[derive(Clone, Copy, Debug)]
pub enum Plain<'a> {
    /// A whole sample.
    Sample(Alike<'a>),
    /// Fragments of one.
    Part(Part<'a>),
}

/// A sample that follows another in a message, as [`MessageReceiver::next_alike`] finds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Alike<'a> {
    /// Its number.
    pub number: SequenceNumber,
    /// Source timestamp; invalid where none was given.
    pub timestamp: Timestamp,
    /// The payload with its encapsulation header.
    pub payload: &'a [u8],
}

/// Fragments of a sample.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// Its number.
    pub number: SequenceNumber,
    /// Source timestamp; invalid where none was given.
    pub timestamp: Timestamp,
    /// The fragments.
    pub run: FragmentRun<'a>,
}

impl<'a> Part<'a> {
    /// Where `raw` is one without inline QoS, with its writer and readers.
    #[inline(always)]
    fn parse(
        raw: &RawSubmessage<'a>,
        timestamp: Timestamp,
    ) -> Option<((EntityId, EntityId), Self)> {
        let frag = DataFrag::parse(raw.flags, raw.body).ok()?;
        if frag.key || frag.inline_qos.is_some() {
            return None;
        }
        let part = Self {
            number: frag.number,
            timestamp,
            run: FragmentRun::of(&frag),
        };
        Some(((frag.writer, frag.reader), part))
    }

    /// The fragments, of a sample of `writer`, which came when the clock on the wall showed `wall`.
    #[inline]
    pub fn fragments(&self, writer: Guid, wall: Timestamp) -> IncomingFragments<'a> {
        let change = plain_change((writer, self.number), [self.timestamp, wall]);
        IncomingFragments {
            change,
            run: self.run,
        }
    }
}

impl<'a> Alike<'a> {
    /// Where `raw` is a sample without inline QoS, with its writer and readers.
    #[inline]
    fn parse(
        raw: &RawSubmessage<'a>,
        timestamp: Timestamp,
    ) -> Option<((EntityId, EntityId), Self)> {
        if raw.kind != SubmessageKind::DATA {
            return None;
        }
        let next = Data::parse(raw.flags, raw.body).ok()?;
        if next.content != Content::Data || next.inline_qos.is_some() {
            return None;
        }
        let alike = Self {
            number: next.number,
            timestamp,
            payload: next.payload,
        };
        Some(((next.writer, next.reader), alike))
    }
}

impl<'a> From<&TimedData<'a>> for Alike<'a> {
    fn from(usual: &TimedData<'a>) -> Self {
        Self {
            number: usual.number,
            timestamp: usual.timestamp,
            payload: usual.payload,
        }
    }
}

impl Alike<'_> {
    /// The change of `writer` that it is, which came in `datagram` when the clock on the wall
    /// showed `wall`.
    #[inline]
    pub fn change(&self, writer: Guid, datagram: &SharedBytes, wall: Timestamp) -> Incoming {
        Incoming {
            payload: part_of(datagram, self.payload),
            ..plain_change((writer, self.number), [self.timestamp, wall])
        }
    }
}

/// Data without inline QoS, whose payload is still to come, of a writer, with its number; written
/// and received at these times.
#[inline]
fn plain_change(
    (writer, sequence): (Guid, SequenceNumber),
    [source_timestamp, reception_timestamp]: [Timestamp; 2],
) -> Incoming {
    Incoming {
        writer,
        sequence,
        kind: ChangeKind::Alive,
        key_hash: None,
        is_key: false,
        payload: SharedBytes::default(),
        source_timestamp,
        reception_timestamp,
    }
}

/// `payload`, which lies in `datagram`, as a slice of it.
#[inline(always)]
fn part_of(datagram: &SharedBytes, payload: &[u8]) -> SharedBytes {
    if payload.is_empty() {
        return SharedBytes::default();
    }
    // One outside its datagram would be a fault of the parser, not of the sender.
    let part = datagram.slice_of(payload);
    part.unwrap_or_else(|| copy_of(payload))
}

#[cold]
fn copy_of(payload: &[u8]) -> SharedBytes {
    SharedBytes::copy_from(payload)
}

/// Which endpoint of ours a submessage is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// Readers: the one named, or every one matched with the writer when unknown.
    Reader {
        /// The remote writer.
        writer: Guid,
        /// Our reader, or unknown.
        reader: EntityId,
    },
    /// A writer.
    Writer {
        /// The remote reader.
        reader: Guid,
        /// Our writer.
        writer: EntityId,
    },
    /// Nobody.
    Nobody,
}

impl Inbound<'_> {
    /// Whose business the submessage is.
    pub fn target(&self) -> Target {
        let remote = |entity| Guid::new(self.source, entity);
        let to_reader = |writer, reader| Target::Reader {
            writer: remote(writer),
            reader,
        };
        let to_writer = |reader, writer| Target::Writer {
            reader: remote(reader),
            writer,
        };
        match &self.submessage {
            Submessage::Data(it) => to_reader(it.writer, it.reader),
            Submessage::DataBatch(it) => to_reader(it.writer, it.reader),
            Submessage::DataFrag(it) => to_reader(it.writer, it.reader),
            Submessage::Heartbeat(it) => to_reader(it.writer, it.reader),
            Submessage::HeartbeatBatch(it) => to_reader(it.batches.writer, it.batches.reader),
            Submessage::HeartbeatFrag(it) => to_reader(it.writer, it.reader),
            Submessage::Gap(it) => to_reader(it.writer, it.reader),
            Submessage::AckNack(it) => to_writer(it.reader, it.writer),
            Submessage::NackFrag(it) => to_writer(it.reader, it.writer),
            Submessage::InfoTimestamp(_)
            | Submessage::InfoDestination(_)
            | Submessage::InfoSource(_)
            | Submessage::InfoReply(_)
            | Submessage::InfoReplyIp4(_)
            | Submessage::HeaderExtension(_)
            | Submessage::Pad(_)
            | Submessage::Unknown { .. } => Target::Nobody,
        }
    }

    /// The change that a DATA submessage carries; its payload shares `datagram`.
    ///
    /// # Errors
    /// Unknown inline QoS that must be understood, malformed status info.
    pub fn change(
        &self,
        data: &Data<'_>,
        datagram: &SharedBytes,
        wall: Timestamp,
    ) -> Result<Incoming, Reject> {
        let mut change = self.change_head(data.writer, data.inline_qos, data.content, wall)?;
        change.sequence = data.number;
        change.payload = part_of(datagram, data.payload);
        Ok(change)
    }

    /// The changes that a DATA_BATCH submessage carries.
    pub fn batch<'b>(&self, batch: &DataBatch<'b>, wall: Timestamp) -> IncomingBatch<'b> {
        IncomingBatch {
            writer: Guid::new(self.source, batch.writer),
            batch: *batch,
            source_timestamp: self.timestamp,
            reception_timestamp: wall,
        }
    }

    /// The fragments that a DATA_FRAG submessage carries.
    ///
    /// # Errors
    /// Unknown inline QoS that must be understood, malformed status info.
    pub fn fragments<'b>(
        &self,
        frag: &DataFrag<'b>,
        wall: Timestamp,
    ) -> Result<IncomingFragments<'b>, Reject> {
        let content = if frag.key {
            Content::Key
        } else {
            Content::Data
        };
        let mut change = self.change_head(frag.writer, frag.inline_qos, content, wall)?;
        change.sequence = frag.number;
        let run = FragmentRun::of(frag);
        Ok(IncomingFragments { change, run })
    }

    fn change_head(
        &self,
        writer: EntityId,
        inline_qos: Option<ParameterList<'_>>,
        content: Content,
        wall: Timestamp,
    ) -> Result<Incoming, Reject> {
        let inline_qos = inline_qos
            .map(InlineQos::parse)
            .transpose()?
            .unwrap_or_default();
        let status = inline_qos.status;
        let kind = ChangeKind::from_bits(
            status.contains(StatusInfo::DISPOSED),
            status.contains(StatusInfo::UNREGISTERED),
        );
        let key_hash = inline_qos.key_hash.map(InstanceHandle::from_key_hash);
        Ok(Incoming {
            writer: Guid::new(self.source, writer),
            sequence: Default::default(),
            kind,
            key_hash,
            is_key: content == Content::Key,
            payload: SharedBytes::default(),
            source_timestamp: self.timestamp,
            reception_timestamp: wall,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn a_compressed_message_behind_other_submessages_is_refused() {
        let heard = |vendor: VendorId| -> Vec<_> {
            let mut message = [&b"RTPS\x02\x05"[..], &vendor.0, &[2; 12]].concat();
            let acknack = [&[6, 1, 24, 0, 0, 0, 2, 7, 0, 0, 1, 2][..], &[0; 16]].concat();
            message.extend_from_slice(&acknack);
            message.extend([0xc1, 1, 12, 0, 1, 0, 0, 0, 24, 0, 0, 0, 1, 2, 3, 4]);
            message.extend_from_slice(&acknack);
            let receiver = MessageReceiver::new(&message, GuidPrefix([1; 12])).unwrap();
            receiver.map(|it| it.map(|_| ())).collect()
        };
        let refused = Reject::new(RejectKind::Compression, 52);
        assert_eq!(heard(VendorId::WHIMBREL), [Ok(()), Err(refused)]);
        // To others the number may mean something else.
        assert_eq!(heard(VendorId::CONNEXT), [Ok(()), Ok(())]);
    }
}
