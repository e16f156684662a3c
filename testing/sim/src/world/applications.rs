//! What the applications on the nodes do: they take what arrived and write what is planned.

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_proto::writer::Packed;

use super::*;
use crate::forms;

impl World {
    pub(super) fn heed(&mut self, node: NodeIndex, report: Report) {
        self.note(|| format!("node {node} {report:?}"));
        let now = self.here(node);
        match report {
            Report::Writer(id, WriterEvent::Progress) => {
                let slot = self.nodes[node]
                    .writers
                    .iter_mut()
                    .find(|slot| slot.id == id);
                if let Some(slot) = slot {
                    slot.blocked = false;
                    let acked = slot.machine.acknowledged_through().0;
                    self.model
                        .acknowledged(id, usize::try_from(acked).unwrap_or(0));
                }
            }
            Report::Writer(id, WriterEvent::ReaderGivenUp(reader)) => {
                if let Some(reader) = self.reader_ids.get(&reader) {
                    self.model.gave_up(id, *reader);
                }
            }
            Report::Reader(id, ReaderEvent::DataAvailable) => {
                let slot = self.nodes[node]
                    .readers
                    .iter_mut()
                    .find(|slot| slot.id == id);
                if let Some(slot) = slot {
                    slot.takes_at.get_or_insert(now.after(slot.take_period));
                }
            }
            Report::Participant(event) => self.heed_participant(node, event),
            Report::Writer(..) | Report::Reader(..) => {}
        }
    }

    pub(super) fn take_due(&mut self, node: NodeIndex) {
        for index in 0..self.nodes[node].readers.len() {
            if self.nodes[node].readers[index]
                .takes_at
                .is_some_and(|at| at <= self.here(node))
            {
                self.take(node, index);
            }
        }
    }

    /// Takes what is there; true when that was anything.
    pub(super) fn take(&mut self, node: NodeIndex, index: usize) -> bool {
        let now = self.here(node);
        let slot = &mut self.nodes[node].readers[index];
        slot.takes_at = None;
        let id = slot.id;
        let mut samples = Vec::new();
        slot.machine.cache_mut().take(&Selector::ALL, &mut samples);
        slot.change().handle_room(now);
        let any = !samples.is_empty();
        for mut sample in samples {
            if let Some(shared) = sample.value.as_ref().and_then(|it| it.get::<SharedBytes>()) {
                sample.payload = shared.clone();
            }
            let guid = Guid::from_bytes(sample.info.publication_handle.0);
            self.note(|| format!("{id:?} takes {:?} {:?}", sample.sequence, sample.info));
            match self.writer_ids.get(&guid) {
                Some(writer) => self.model.took(id, *writer, &sample),
                None => self
                    .model
                    .finding(format!("{id:?} got a sample of nobody: {guid:?}")),
            }
        }
        any
    }

    pub(super) fn check_limits(&mut self, node: NodeIndex) {
        for slot in &self.nodes[node].readers {
            let max = self.scenario.readers[slot.plan].samples_max;
            let held = slot.machine.cache().valid_sample_count();
            if max.is_some_and(|max| held > max as usize) {
                self.model
                    .finding(format!("{:?} holds {held} of {max:?} samples", slot.id));
            }
        }
        for slot in &self.nodes[node].writers {
            let max = self.scenario.writers[slot.plan].samples_max;
            let held = slot.machine.history_len();
            if max.is_some_and(|max| held > max) {
                self.model
                    .finding(format!("{:?} holds {held} of {max:?} changes", slot.id));
            }
        }
    }

    pub(super) fn write(&mut self, node: NodeIndex, action: Action) {
        let Action::Write { writer: plan, .. } = action else {
            return;
        };
        let mut slots = self.nodes[node].writers.iter_mut();
        if let Some(slot) = slots.find(|slot| slot.plan == plan) {
            slot.pending.push_back(action);
        }
    }

    /// Has each application write once, unless it is blocked; whether any did, or tried.
    pub(super) fn write_pending(&mut self, node: NodeIndex) -> bool {
        let mut any = false;
        for at in 0..self.nodes[node].writers.len() {
            any |= self.write_next(node, at);
        }
        any
    }

    fn write_next(&mut self, node: NodeIndex, at: usize) -> bool {
        let timestamp = self.wall(node);
        let slot = &mut self.nodes[node].writers[at];
        let Some(next) = next_write(&self.scenario, slot) else {
            return false;
        };
        let Next {
            kind,
            key,
            bytes,
            instance,
        } = next;
        let (id, ends) = (slot.id, kind != ChangeKind::Alive);
        let readers = slot.machine.reader_count() as u64;
        let number = self.model.written(id) + 1;
        slot.codec = forms::of_sample(&self.scenario, slot.plan, number).codec;
        if ends && (key.is_none() || !slot.machine.is_registered(instance)) {
            slot.pending.pop_front();
            return true;
        }
        let payload = match key {
            Some(key) if ends => payload::key(key),
            _ => payload::sample(id.0 as u64, number as u64, key, bytes),
        };
        let len = payload.len() as u64;
        let change = NewChange {
            packed: Packed::Untried,
            kind,
            instance,
            timestamp,
            payload: payload.into(),
        };
        let put = self.put((node, at), (number, key), change);
        let slot = &mut self.nodes[node].writers[at];
        match put {
            Ok((sequence, handed)) => {
                slot.pending.pop_front();
                self.useful_bytes += (len + SAMPLE_OVERHEAD_BYTES) * (readers - handed);
                let written = Written {
                    kind,
                    key,
                    bytes,
                    timestamp,
                };
                self.model.wrote(id, written);
                if sequence.0 != number as i64 {
                    let text = format!("{id:?} numbers {number} as {sequence:?}");
                    self.model.finding(text);
                }
            }
            Err(WriteError::WouldBlock) => slot.blocked = true,
            Err(error) => {
                let text = format!("{id:?} refuses a write: {error:?}");
                self.model.finding(text);
            }
        }
        true
    }
}

/// What an application writes next.
struct Next {
    kind: ChangeKind,
    key: Option<u32>,
    bytes: usize,
    instance: InstanceHandle,
}

/// What waits to be written, unless it is blocked.
fn next_write(scenario: &Scenario, slot: &WriterSlot) -> Option<Next> {
    let action = slot.pending.front().filter(|_| !slot.blocked)?;
    let Action::Write {
        kind, key, bytes, ..
    } = *action
    else {
        return None;
    };
    let bytes = match forms::of_writer(scenario, slot.plan).batch {
        // What has no whole encapsulation header has none of its own in a batch.
        Some(_) if bytes > 0 => bytes.clamp(payload::ENCAPSULATION.len(), forms::BATCHED_BYTES_MAX),
        Some(_) => 0,
        None => bytes,
    };
    let keyed = scenario
        .keys_of(scenario.writers[slot.plan].topic)
        .is_some();
    Some(Next {
        kind,
        key: keyed.then_some(key),
        bytes,
        instance: if keyed {
            payload::instance(key)
        } else {
            InstanceHandle::NIL
        },
    })
}
