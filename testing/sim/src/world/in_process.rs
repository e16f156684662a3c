//! What writers hand to readers of their own process, past the network, in the way of the driver.

use std::sync::Arc;

use whimbrel_base::sequence::SequenceNumber;
use whimbrel_proto::parcel::Parcel;
use whimbrel_proto::value::SharedValue;

use super::*;

/// A reader of the writer's process.
struct Neighbour<'a> {
    guid: Guid,
    slot: &'a mut ReaderSlot,
    takes_values: bool,
    /// It is of another participant than the writer.
    is_across: bool,
}

/// The readers to which a writer hands, and what came of it.
struct Neighbours<'a> {
    /// In the order of their GUIDs.
    all: Vec<Neighbour<'a>>,
    /// There are others, which are gone without the writer having been told of it.
    some_are_gone: bool,
    now: Instant,
    handed: Handed,
    /// A reader did not take what it had said that it would.
    broke_word: bool,
}

impl Neighbour<'_> {
    /// Hands it a change; whether it took it.
    fn take(
        &mut self,
        of: (SequenceNumber, ChangeKind),
        parcel: &Parcel<'_>,
        (now, handed): (Instant, &mut Handed),
    ) -> bool {
        let Some(change) = parcel.change_for(self.takes_values, of) else {
            return false;
        };
        let news = self.slot.machine.take_over(change, parcel.key);
        self.note_taken(news, (now, handed))
    }

    /// Has its application look, where what it took is news to that; whether it took anything.
    fn note_taken(&mut self, news: Option<bool>, (now, handed): (Instant, &mut Handed)) -> bool {
        let Some(news) = news else {
            return false;
        };
        handed.taken += 1;
        handed.across += u64::from(self.is_across);
        self.slot.machine.cache_mut().take_discarded();
        if news {
            let takes_at = now.after(self.slot.take_period);
            self.slot.takes_at.get_or_insert(takes_at);
        }
        true
    }
}

impl Neighbours<'_> {
    /// Hands data to all, or to none; whether all took it.
    fn hand_to_all(&mut self, sequence: SequenceNumber, parcel: &mut Parcel<'_>) -> bool {
        let notes = (self.now, &mut self.handed, &mut self.broke_word);
        !self.some_are_gone && hand_to_all(&mut self.all, sequence, parcel, notes)
    }

    /// Hands a change to the reader `guid`; whether it took it.
    fn take(&mut self, guid: Guid, of: (SequenceNumber, ChangeKind), parcel: &Parcel<'_>) -> bool {
        let notes = (self.now, &mut self.handed);
        let at = self.all.binary_search_by_key(&guid, |it| it.guid);
        at.is_ok_and(|at| self.all[at].take(of, parcel, notes))
    }

    /// Hands data to all without keeping it, as a value without encoding it where the program
    /// shares that; its number.
    fn pass(&mut self, machine: &mut Writer, parcel: &mut Parcel<'_>) -> Option<SequenceNumber> {
        let instance = parcel.change.instance;
        if parcel.value.is_some() {
            let encoded = std::mem::take(&mut parcel.change.payload);
            let passed = machine.pass(instance, parcel.bytes(), |sequence| {
                self.hand_to_all(sequence, parcel)
            });
            if passed.is_some() {
                self.handed.unencoded = self.handed.taken;
                return passed;
            }
            parcel.change.payload = encoded;
        }
        machine.pass(instance, parcel.bytes(), |sequence| {
            self.hand_to_all(sequence, parcel)
        })
    }

    /// Puts a change into history and hands it to those that take it.
    fn append(
        &mut self,
        machine: &mut Writer,
        parcel: &Parcel<'_>,
    ) -> Result<SequenceNumber, WriteError> {
        let sequence = machine.write(self.now, parcel.change.clone())?;
        machine.hand_over(|guid, change| self.take(guid, (change.sequence, change.kind), parcel));
        Ok(sequence)
    }
}

fn hand_to_all(
    all: &mut [Neighbour<'_>],
    sequence: SequenceNumber,
    parcel: &mut Parcel<'_>,
    (now, handed, broke_word): (Instant, &mut Handed, &mut bool),
) -> bool {
    match all {
        [] => true,
        [last] => {
            if !parcel.suits(last.takes_values) {
                return false;
            }
            let offer = parcel.offer(last.takes_values, sequence);
            let change = || parcel.moved(last.takes_values, sequence);
            let news = last.slot.machine.take_data(&offer, change);
            last.note_taken(news, (now, handed))
        }
        [first, rest @ ..] => {
            let of = (sequence, ChangeKind::Alive);
            // First, as the last one leaves nothing of it.
            let Some(change) = parcel.change_for(first.takes_values, of) else {
                return false;
            };
            let (key, offer) = (parcel.key, parcel.offer(first.takes_values, sequence));
            let notes = (now, &mut *handed, &mut *broke_word);
            if !first.slot.machine.would_take_data(&offer)
                || !hand_to_all(rest, sequence, parcel, notes)
            {
                return false;
            }
            let news = first.slot.machine.take_over(change, key);
            *broke_word |= news.is_none();
            first.note_taken(news, (now, handed))
        }
    }
}

impl World {
    /// Has the writer `at` of `node` write `change`, the `number`th: past its history where all its
    /// readers are in its process and take it at once, otherwise as usual, and then it is handed to
    /// those that take it. The number it got, and how many took it.
    ///
    /// # Errors
    /// What the machine refuses.
    pub(super) fn put(
        &mut self,
        (node, at): (NodeIndex, usize),
        numbered: (usize, Option<u32>),
        change: NewChange,
    ) -> Result<(SequenceNumber, u64), WriteError> {
        let mut slot = self.nodes[node].writers.remove(at);
        let put = self.put_by(&mut slot, node, numbered, change);
        self.nodes[node].writers.insert(at, slot);
        put
    }

    fn put_by(
        &mut self,
        slot: &mut WriterSlot,
        node: NodeIndex,
        (number, key): (usize, Option<u32>),
        mut change: NewChange,
    ) -> Result<(SequenceNumber, u64), WriteError> {
        let alive = change.kind == ChangeKind::Alive;
        let encoded = change.payload.whole();
        let value = || SharedValue::new(Arc::new(encoded.clone()), encoded.len());
        // What is encoded is never empty, so that is told from what is not.
        let shares =
            alive && !encoded.is_empty() && forms::shares_values(&self.scenario, slot.plan);
        let known = key.filter(|_| shares && slot.machine.is_registered(change.instance));
        let known = known.map(payload::key).unwrap_or_default();
        let mut parcel = Parcel {
            writer: slot.machine.guid(),
            reception: change.timestamp,
            change: &mut change,
            value: &mut shares.then(value),
            key: &known,
        };
        let mut them = self.neighbours_of(slot, node);
        let passed = if alive && !slot.neighbours.is_empty() {
            them.pass(&mut slot.machine, &mut parcel)
        } else {
            None
        };
        if passed.is_some() {
            them.handed.passed = them.handed.taken;
        }
        let (mut handed, mut broke_word) = (them.handed, them.broke_word);
        let written = match passed {
            Some(sequence) => Ok(sequence),
            None => {
                if alive {
                    let sample = (number, &encoded[..]);
                    let (plan, machine) = (slot.plan, slot.change());
                    parcel.change.packed = forms::prepare(&self.scenario, plan, machine, sample);
                }
                let mut them = self.neighbours_of(slot, node);
                let written = them.append(slot.change(), &parcel);
                (handed, broke_word) = (them.handed, broke_word | them.broke_word);
                written
            }
        };
        self.handed.add(handed);
        if broke_word {
            let text = format!("{:?} handed over what was not taken", slot.id);
            self.model.fault(text);
        }
        written.map(|sequence| (sequence, handed.taken))
    }

    /// The readers to which the writer in `slot`, of `node`, hands.
    fn neighbours_of(&mut self, slot: &WriterSlot, node: NodeIndex) -> Neighbours<'_> {
        let now = self.here(node);
        let scenario = &self.scenario;
        let nodes = self.nodes.iter_mut().enumerate();
        let process = nodes.filter(|(other, _)| scenario.share_process(node, *other));
        let readers = process.flat_map(|(other, it)| {
            let slots = it.readers.iter_mut();
            slots.map(move |slot| (other != node, slot))
        });
        let known = |id: &ReaderId, guid: &Guid| slot.neighbours.get(guid) == Some(id);
        let found = readers.filter_map(|(is_across, slot)| {
            let guid = slot.machine.guid();
            known(&slot.id, &guid).then(|| Neighbour {
                guid,
                takes_values: forms::takes_values(scenario, slot.plan),
                slot,
                is_across,
            })
        });
        let mut all: Vec<_> = found.collect();
        all.sort_by_key(|it| it.guid);
        Neighbours {
            some_are_gone: all.len() < slot.neighbours.len(),
            all,
            now,
            handed: Handed::default(),
            broke_word: false,
        }
    }

    /// Applications of the process take what was handed over; then it counts as acknowledged.
    pub(super) fn take_handed(&mut self, node: NodeIndex) {
        for it in self.scenario.process_of(node) {
            self.take_due(it);
        }
        for slot in &self.nodes[node].writers {
            if !slot.neighbours.is_empty() {
                let acked = slot.machine.acknowledged_through().0;
                let acked = usize::try_from(acked).unwrap_or(0);
                self.model.acknowledged(slot.id, acked);
            }
        }
    }

    /// The writer has been told of the reader: hands to it from now on, where it is in its process.
    pub(super) fn note_neighbour(&mut self, (writer, id): (Guid, WriterId), reader: Guid) {
        let node = self.node_of(writer);
        let hands_over = |plan| {
            // Batches are for the network.
            self.scenario.in_process && forms::of_writer(&self.scenario, plan).batch.is_none()
        };
        let process = self.scenario.process_of(node);
        let mut readers = process.iter().flat_map(|it| &self.nodes[*it].readers);
        let neighbour = readers.find(|it| it.machine.guid() == reader);
        let neighbour = neighbour.map(|it| it.id);
        let writer = self.nodes[node].writers.iter_mut().find(|it| it.id == id);
        let writer = writer.filter(|slot| hands_over(slot.plan));
        if let (Some(writer), Some(neighbour)) = (writer, neighbour) {
            writer.machine.note_in_process(reader);
            writer.neighbours.insert(reader, neighbour);
        }
    }
}
