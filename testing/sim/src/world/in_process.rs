//! What writers hand to readers of their own node, past the network, in the way of the driver.

use std::sync::Arc;

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_proto::cache::CacheChange;
use whimbrel_proto::reader::Offer;
use whimbrel_proto::value::SharedValue;

use super::*;

/// A change on its way to readers of its node.
struct Parcel<'a> {
    writer: Guid,
    change: NewChange,
    /// The data as the program has it, where it shares that.
    value: Option<SharedValue>,
    /// The serialized key, where it is known.
    key: &'a [u8],
}

/// The readers of a node, and which of them a writer hands to.
struct Neighbours<'a> {
    scenario: &'a Scenario,
    known: &'a BTreeMap<Guid, ReaderId>,
    readers: &'a mut [ReaderSlot],
    now: Instant,
    taken: u64,
    /// A reader did not take what it had said that it would.
    broke_word: bool,
}

impl<'a> Parcel<'a> {
    fn bytes(&self) -> usize {
        let value = self.value.as_ref().map_or(0, SharedValue::bytes);
        value.max(self.change.payload.slab_len())
    }

    /// False where it is a value only, and its reader takes none.
    fn suits(&self, takes_values: bool) -> bool {
        takes_values || self.value.is_none() || !self.change.payload.is_empty()
    }

    /// Not where the key is not known yet and what is encoded tells it.
    fn comes_by_value(&self, takes_values: bool) -> bool {
        let tells_key = self.change.instance.is_nil() || !self.key.is_empty();
        let best = tells_key || self.change.payload.is_empty();
        takes_values && self.value.is_some() && best
    }

    fn offer(&self, takes_values: bool, sequence: SequenceNumber) -> Offer<'a> {
        let by_value = self.comes_by_value(takes_values);
        Offer {
            writer: self.writer,
            sequence,
            instance: self.change.instance,
            bytes: self.bytes(),
            key: by_value.then_some(self.key),
        }
    }

    /// As a reader takes it, which it suits.
    fn change_for(&self, takes_values: bool, sequence: SequenceNumber) -> CacheChange {
        let value = self
            .value
            .clone()
            .filter(|_| self.comes_by_value(takes_values));
        CacheChange {
            writer: self.writer,
            instance: self.change.instance,
            kind: self.change.kind,
            payload: if value.is_some() {
                SharedBytes::default()
            } else {
                self.change.payload.whole()
            },
            value,
            source_timestamp: self.change.timestamp,
            reception_timestamp: self.change.timestamp,
            sequence,
        }
    }
}

impl Neighbours<'_> {
    /// The reader `guid` where it is the one that the writer knows, and whether it takes values.
    fn find(&mut self, guid: Guid) -> Option<(&mut ReaderSlot, bool)> {
        let id = *self.known.get(&guid)?;
        let slot = self.readers.iter_mut().find(|slot| slot.id == id)?;
        let takes_values = forms::takes_values(self.scenario, slot.plan);
        Some((slot, takes_values))
    }

    /// Has the application look, where what `guid` took is news to it.
    fn note_taken(&mut self, guid: Guid, news: Option<bool>) -> bool {
        let (Some(news), now) = (news, self.now) else {
            return false;
        };
        self.taken += 1;
        if let Some((slot, _)) = self.find(guid) {
            slot.machine.cache_mut().take_discarded();
            if news {
                slot.takes_at.get_or_insert(now.after(slot.take_period));
            }
        }
        true
    }

    /// Hands data to all, or to none; whether all took it.
    fn hand_to_all(&mut self, sequence: SequenceNumber, parcel: &Parcel<'_>) -> bool {
        let all: Vec<Guid> = self.known.keys().copied().collect();
        let Some((last, others)) = all.split_last() else {
            return true;
        };
        let would = |them: &mut Self, guid: &Guid| {
            them.find(*guid).is_some_and(|(slot, takes_values)| {
                let offer = parcel.offer(takes_values, sequence);
                parcel.suits(takes_values) && slot.machine.would_take_data(&offer)
            })
        };
        if !others.iter().all(|guid| would(self, guid)) {
            return false;
        }
        let news = self.find(*last).and_then(|(slot, takes_values)| {
            let offer = parcel.offer(takes_values, sequence);
            let change = || parcel.change_for(takes_values, sequence);
            parcel
                .suits(takes_values)
                .then(|| slot.machine.take_data(&offer, change))?
        });
        let mut all_took = self.note_taken(*last, news);
        for guid in others.iter().rev().filter(|_| news.is_some()) {
            let took = self.take(*guid, sequence, parcel);
            self.broke_word |= !took;
            all_took &= took;
        }
        all_took
    }

    /// Hands a change to one reader; whether it took it.
    fn take(&mut self, guid: Guid, sequence: SequenceNumber, parcel: &Parcel<'_>) -> bool {
        let Some((slot, takes_values)) = self.find(guid) else {
            return false;
        };
        if !parcel.suits(takes_values) {
            return false;
        }
        let change = parcel.change_for(takes_values, sequence);
        let news = slot.machine.take_over(change, parcel.key);
        self.note_taken(guid, news)
    }
}

impl World {
    /// Has the writer `at` of `node` write `change`, the `number`th: past its history where all its
    /// readers are on the node and take it at once, otherwise as usual, and then it is handed to
    /// those that take it. The number it got, and how many took it.
    ///
    /// # Errors
    /// What the machine refuses.
    pub(super) fn put(
        &mut self,
        (node, at): (NodeIndex, usize),
        (number, key): (usize, Option<u32>),
        change: NewChange,
    ) -> Result<(SequenceNumber, u64), WriteError> {
        let (now, scenario) = (self.here(node), &self.scenario);
        let Node {
            writers, readers, ..
        } = &mut self.nodes[node];
        let slot = &mut writers[at];
        let (plan, alive) = (slot.plan, change.kind == ChangeKind::Alive);
        let encoded = change.payload.whole();
        let value = || SharedValue::new(Arc::new(encoded.clone()), encoded.len());
        // What is encoded is never empty, so that is told from what is not.
        let shares = alive && !encoded.is_empty() && forms::shares_values(scenario, plan);
        let known = key.filter(|_| shares && slot.machine.is_registered(change.instance));
        let known = known.map(payload::key).unwrap_or_default();
        let mut parcel = Parcel {
            writer: slot.machine.guid(),
            change,
            value: shares.then(value),
            key: &known,
        };
        let neighbours = std::mem::take(&mut slot.neighbours);
        let mut them = Neighbours {
            scenario,
            known: &neighbours,
            readers,
            now,
            taken: 0,
            broke_word: false,
        };
        let passed = if alive && !neighbours.is_empty() {
            pass(&mut slot.machine, &mut parcel, &mut them)
        } else {
            None
        };
        let written = match passed {
            Some((sequence, encoded)) => {
                self.handed.passed += them.taken;
                self.handed.unencoded += if encoded { 0 } else { them.taken };
                Ok(sequence)
            }
            None => {
                if alive {
                    let sample = (number, &encoded[..]);
                    let machine = slot.change();
                    parcel.change.packed = forms::prepare(scenario, plan, machine, sample);
                }
                append(slot.change(), &parcel, &mut them)
            }
        };
        let (taken, broke_word) = (them.taken, them.broke_word);
        self.handed.taken += taken;
        slot.neighbours = neighbours;
        if broke_word {
            let text = format!("{:?} handed over what was not taken", slot.id);
            self.model.fault(text);
        }
        written.map(|sequence| (sequence, taken))
    }

    /// Applications take what was handed over; then it counts as acknowledged.
    pub(super) fn take_handed(&mut self, node: NodeIndex) {
        self.take_due(node);
        for slot in &self.nodes[node].writers {
            if !slot.neighbours.is_empty() {
                let acked = slot.machine.acknowledged_through().0;
                let acked = usize::try_from(acked).unwrap_or(0);
                self.model.acknowledged(slot.id, acked);
            }
        }
    }

    /// The writer has been told of the reader: hands to it from now on, where it is on its node.
    pub(super) fn note_neighbour(&mut self, (writer, id): (Guid, WriterId), reader: Guid) {
        let node = self.node_of(writer);
        let hands_over = |plan| {
            // Batches are for the network.
            self.scenario.in_process && forms::of_writer(&self.scenario, plan).batch.is_none()
        };
        let Node {
            writers, readers, ..
        } = &mut self.nodes[node];
        let neighbour = readers.iter().find(|it| it.machine.guid() == reader);
        let writer = writers.iter_mut().find(|slot| slot.id == id);
        let writer = writer.filter(|slot| hands_over(slot.plan));
        if let (Some(writer), Some(neighbour)) = (writer, neighbour) {
            writer.machine.note_in_process(reader);
            writer.neighbours.insert(reader, neighbour.id);
        }
    }
}

/// Puts a change into history and hands it to those neighbours that take it.
fn append(
    machine: &mut Writer,
    parcel: &Parcel<'_>,
    them: &mut Neighbours<'_>,
) -> Result<SequenceNumber, WriteError> {
    let sequence = machine.write(them.now, parcel.change.clone())?;
    if !them.known.is_empty() {
        machine.hand_over(|guid, change| them.take(guid, change.sequence, parcel));
    }
    Ok(sequence)
}

/// Hands data to all neighbours without keeping it, as a value without encoding it where the
/// program shares that; its number, and whether it was encoded.
fn pass(
    machine: &mut Writer,
    parcel: &mut Parcel<'_>,
    them: &mut Neighbours<'_>,
) -> Option<(SequenceNumber, bool)> {
    let instance = parcel.change.instance;
    if parcel.value.is_some() {
        let encoded = std::mem::take(&mut parcel.change.payload);
        let passed = machine.pass(instance, parcel.bytes(), |sequence| {
            them.hand_to_all(sequence, parcel)
        });
        parcel.change.payload = encoded;
        if let Some(sequence) = passed {
            return Some((sequence, false));
        }
    }
    let passed = machine.pass(instance, parcel.bytes(), |sequence| {
        them.hand_to_all(sequence, parcel)
    });
    passed.map(|sequence| (sequence, true))
}
