//! Messages of changes made into messages of batches, for those who understand them: what the
//! machine says of changes to everybody is said of batches to them.

use alloc::boxed::Box;
use alloc::vec::Vec;

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::cursor::Endian;
use whimbrel_base::guid::EntityId;
use whimbrel_base::locator::Locator;
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::time::Timestamp;
use whimbrel_wire::header::Header;
use whimbrel_wire::message::{Submessage, Submessages};
use whimbrel_wire::number_set::SequenceNumberSet;
use whimbrel_wire::submessage::{
    Data, DataBatch, Gap, Heartbeat, HeartbeatBatch, InfoDestination, InfoTimestamp,
};

use super::records::{BatchLimits, BlockPacker, Item, Record, Records, cut};
use crate::outbox::{Outbox, PartOf};

/// Byte order of what we send.
const ENDIAN: Endian = Endian::Little;

/// Where whose messages go.
#[derive(Debug, Default)]
pub(crate) struct Addresses {
    /// Of readers that take batches.
    pub(crate) batched: Vec<Locator>,
    /// Of the others.
    pub(crate) plain: Vec<Locator>,
}

/// Stands between the machine and the network.
pub(crate) struct Rewriting<'a, O> {
    pub(crate) outbox: &'a mut O,
    /// What reaches every reader, in octets: only a lone batch may be larger.
    pub(crate) message_bytes_max: usize,
    pub(crate) addresses: &'a Addresses,
    pub(crate) records: &'a mut Records,
    pub(crate) limits: BatchLimits,
    pub(crate) packer: Option<&'a mut Box<dyn BlockPacker>>,
    /// Batches sent to whom by now.
    pub(crate) sent: Vec<(SequenceNumber, EntityId)>,
    pub(crate) batches: &'a mut u64,
}

impl<O: Outbox> Rewriting<'_, O> {
    fn pass(&mut self, to: &[Locator], parts: &[&[u8]], bulk: Option<PartOf>) {
        let batched = |it: &&Locator| self.addresses.batched.contains(it);
        let batched: Vec<Locator> = to.iter().filter(batched).copied().collect();
        let plain = |it: &&Locator| !batched.contains(it) || self.addresses.plain.contains(it);
        let plain: Vec<Locator> = to.iter().filter(plain).copied().collect();
        let mut give = |to: &[Locator], parts: &[&[u8]]| {
            if to.is_empty() {
                return;
            }
            match bulk {
                Some(bulk) => self.outbox.send_bulk(to, parts, bulk),
                None => self.outbox.send(to, parts),
            }
        };
        give(&plain, parts);
        if batched.is_empty() {
            return;
        }
        let message = parts.concat();
        for message in self.rewrite(&message) {
            self.outbox.send(&batched, &[&message]);
        }
    }

    /// What `message` says, said of batches; nothing where nothing is left of it.
    fn rewrite(&mut self, message: &[u8]) -> Vec<Vec<u8>> {
        let Ok((_, submessages)) = Submessages::new(message) else {
            return Vec::new();
        };
        let head = message.get(..Header::LEN).unwrap_or_default();
        let mut sink = Sink::new(head, self.message_bytes_max);
        let mut fresh: Vec<Item> = Vec::new();
        let (mut timestamp, mut reader) = (Timestamp::INVALID, EntityId::UNKNOWN);
        let mut writer = EntityId::UNKNOWN;
        for submessage in submessages.filter_map(|raw| raw.ok()?.parse().ok()) {
            match submessage {
                Submessage::InfoTimestamp(info) => {
                    timestamp = info.time.unwrap_or(Timestamp::INVALID);
                }
                Submessage::Data(data) => {
                    (reader, writer) = (data.reader, data.writer);
                    if data.number >= self.records.next_change() {
                        fresh.push(item_of(&data, timestamp));
                    } else {
                        self.again(&mut sink, &data);
                    }
                }
                other => {
                    self.form(&mut sink, &mut fresh, (reader, writer));
                    self.say(&mut sink, other);
                }
            }
        }
        self.form(&mut sink, &mut fresh, (reader, writer));
        sink.done()
    }

    /// Makes batches of new changes, and sends them.
    fn form(&mut self, sink: &mut Sink, fresh: &mut Vec<Item>, ids: (EntityId, EntityId)) {
        for items in cut(fresh, self.limits) {
            if let Some(record) = self.records.form(items, self.packer.as_deref_mut()) {
                sink.put_batch(record, ids);
                *self.batches = self.batches.saturating_add(1);
            }
        }
        fresh.clear();
    }

    /// Sends the batch of a change that was sent before, once.
    fn again(&mut self, sink: &mut Sink, data: &Data<'_>) {
        let Some(record) = self.records.at_change(data.number) else {
            return;
        };
        let key = (record.number, data.reader);
        if !self.sent.contains(&key) {
            self.sent.push(key);
            sink.put_batch(record, (data.reader, data.writer));
        }
    }

    fn say(&mut self, sink: &mut Sink, submessage: Submessage<'_>) {
        match submessage {
            Submessage::InfoDestination(info) => {
                sink.address(&info);
            }
            Submessage::Heartbeat(heartbeat) => {
                let said = self.of_batches(&heartbeat);
                sink.put(|out| said.compose(out, ENDIAN));
            }
            Submessage::Gap(gap) => {
                if let Some(gap) = self.gap_of_batches(&gap) {
                    sink.put(|out| gap.compose(out, ENDIAN));
                }
            }
            _ => {}
        }
    }

    fn of_batches(&mut self, heartbeat: &Heartbeat) -> HeartbeatBatch {
        self.records.cover(heartbeat.last);
        let (first, last) = (heartbeat.first, heartbeat.last);
        let first_batch = self.records.batch_of(first);
        let last_batch = match heartbeat.is_empty() {
            true => first_batch.previous(),
            false => self.records.batch_of(last),
        };
        HeartbeatBatch {
            batches: Heartbeat {
                first: first_batch,
                last: last_batch,
                ..*heartbeat
            },
            first,
            last,
        }
    }

    /// The batches of which every change is in the gap.
    fn gap_of_batches(&self, gap: &Gap) -> Option<Gap> {
        let end = gap.list.base();
        let mut start = self.records.batch_of(gap.start);
        if self.records.first_of(start) < gap.start {
            start = start.next();
        }
        let base = self.records.batch_of(end);
        (start < base).then(|| Gap {
            start,
            list: SequenceNumberSet::new(base),
            ..*gap
        })
    }
}

impl<O: Outbox> Outbox for Rewriting<'_, O> {
    fn send(&mut self, to: &[Locator], parts: &[&[u8]]) {
        self.pass(to, parts, None);
    }

    fn send_bulk(&mut self, to: &[Locator], parts: &[&[u8]], of: PartOf) {
        self.pass(to, parts, Some(of));
    }
}

fn item_of(data: &Data<'_>, timestamp: Timestamp) -> Item {
    Item {
        number: data.number,
        content: data.content,
        inline_qos: data.inline_qos.map(|it| it.as_bytes().to_vec()),
        payload: SharedBytes::copy_from(data.payload),
        timestamp,
    }
}

/// Messages as they grow.
struct Sink {
    done: Vec<Vec<u8>>,
    message: Vec<u8>,
    /// What each of them begins with, the receiver included.
    head: Vec<u8>,
    says_something: bool,
    bytes_max: usize,
}

impl Sink {
    fn new(head: &[u8], bytes_max: usize) -> Self {
        Self {
            done: Vec::new(),
            message: head.to_vec(),
            head: head.to_vec(),
            says_something: false,
            bytes_max,
        }
    }

    /// Adds what says to whom all that follows is.
    fn address(&mut self, receiver: &InfoDestination) {
        self.head.truncate(Header::LEN);
        receiver.compose(&mut self.head, ENDIAN);
        receiver.compose(&mut self.message, ENDIAN);
    }

    /// Adds a submessage.
    fn put(&mut self, compose: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = Vec::new();
        compose(&mut bytes);
        // What is larger by one batch alone is divided on its way anyhow.
        if self.message.len() <= self.bytes_max {
            self.make_room(bytes.len());
        }
        self.message.extend_from_slice(&bytes);
        self.says_something = true;
    }

    /// Begins another message where so many octets do not fit this one.
    fn make_room(&mut self, bytes: usize) {
        let len = self.message.len().saturating_add(bytes);
        if self.says_something && len > self.bytes_max {
            let next = self.head.clone();
            self.done.push(core::mem::replace(&mut self.message, next));
            self.says_something = false;
        }
    }

    fn put_batch(&mut self, record: &Record, (reader, writer): (EntityId, EntityId)) {
        let Some(block) = &record.block else {
            return;
        };
        let batch = DataBatch {
            reader,
            writer,
            batch: record.number,
            last: record.last,
            inline_qos: None,
            samples: block.samples.list(),
            payload: &block.payload,
        };
        let mut bytes = Vec::new();
        let time = (!block.timestamp.is_invalid()).then_some(block.timestamp);
        InfoTimestamp { time }.compose(&mut bytes, ENDIAN);
        batch.compose(&mut bytes, ENDIAN);
        self.make_room(bytes.len());
        self.message.extend_from_slice(&bytes);
        self.says_something = true;
    }

    fn done(mut self) -> Vec<Vec<u8>> {
        if self.says_something {
            self.done.push(self.message);
        }
        self.done
    }
}
