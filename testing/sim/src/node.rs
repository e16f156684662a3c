//! A participant on the virtual network: machines and the loop that drives them, in the way of the
//! real driver: route a datagram, change a machine, drain it.

use std::collections::{BTreeMap, VecDeque};
use std::convert::identity;

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::guid::{Guid, GuidPrefix};
use whimbrel_base::qos::CompressionIds;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::time::{Duration, Instant, Timestamp};
use whimbrel_proto::participant::{Participant, ParticipantEvent};
use whimbrel_proto::receive::{Inbound, MessageReceiver, Target};
use whimbrel_proto::{Reader, ReaderEvent, Reason, Writer, WriterEvent};
use whimbrel_wire::message::Submessage;

use crate::forms;
use crate::model::{ReaderId, WriterId};
use crate::network::Arrived;
use crate::scenario::Action;
use crate::sent::Sent;

/// How often a machine may ask to be called again at the same instant.
const ROUNDS_MAX: usize = 64;

/// A writer and what its application is about to write.
#[derive(Debug)]
pub struct WriterSlot {
    /// Which plan it follows.
    pub plan: usize,
    /// Who it is to the model.
    pub id: WriterId,
    /// The machine.
    pub machine: Writer,
    /// Writes that wait for the first one, which found no room.
    pub pending: VecDeque<Action>,
    /// There was no room for the first of them; not to be tried again before there is progress.
    pub blocked: bool,
    /// By which whole messages leave compressed.
    pub codec: CompressionIds,
    /// Matched readers of its process, to which it hands what they take.
    pub neighbours: BTreeMap<Guid, ReaderId>,
    changed: bool,
}

/// A reader and how its application takes.
#[derive(Debug)]
pub struct ReaderSlot {
    /// Which plan it follows.
    pub plan: usize,
    /// Who it is to the model.
    pub id: ReaderId,
    /// The machine.
    pub machine: Reader,
    /// Its application waits so long before it takes.
    pub take_period: Duration,
    /// When its application takes next.
    pub takes_at: Option<Instant>,
    changed: bool,
}

impl WriterSlot {
    /// A writer that has written nothing.
    pub fn new(plan: usize, id: WriterId, machine: Writer, codec: CompressionIds) -> Self {
        Self {
            plan,
            id,
            machine,
            pending: VecDeque::new(),
            blocked: false,
            codec,
            neighbours: BTreeMap::new(),
            changed: true,
        }
    }

    /// The machine, to be changed and then drained.
    pub fn change(&mut self) -> &mut Writer {
        self.changed = true;
        &mut self.machine
    }

    fn is_due(&self, now: Instant) -> bool {
        self.machine.poll_timeout().is_some_and(|(at, _)| at <= now)
    }

    fn drain(
        &mut self,
        now: Instant,
        sent: &mut Sent,
        reports: &mut Vec<Report>,
    ) -> Result<(), Reason> {
        let mut rounds = 0;
        let mut changed = std::mem::take(&mut self.changed);
        (sent.codec, sent.writer) = (self.codec, self.plan);
        // Changes take the usual way and the general one in turns.
        let may_be_usual = self.machine.last_sequence().0 % 2 == 1 && !self.is_due(now);
        if changed && may_be_usual && self.machine.transmit_alone(now, sent) {
            changed = false;
        }
        while changed || self.is_due(now) {
            self.machine.handle_timeout(now);
            self.machine.poll_transmit(now, sent);
            changed = false;
            rounds += 1;
            match self.machine.poll_timeout() {
                Some((at, reason)) if at <= now && rounds > ROUNDS_MAX => return Err(reason),
                _ => {}
            }
        }
        while let Some(event) = self.machine.poll_event() {
            reports.push(Report::Writer(self.id, event));
        }
        Ok(())
    }
}

impl ReaderSlot {
    /// A reader that has read nothing.
    pub fn new(plan: usize, id: ReaderId, machine: Reader, take_period: Duration) -> Self {
        Self {
            plan,
            id,
            machine,
            take_period,
            takes_at: None,
            changed: true,
        }
    }

    /// The machine, to be changed and then drained.
    pub fn change(&mut self) -> &mut Reader {
        self.changed = true;
        &mut self.machine
    }
}

/// What a node's machines reported while they were drained.
#[derive(Debug)]
pub enum Report {
    /// A writer's.
    Writer(WriterId, WriterEvent),
    /// A reader's.
    Reader(ReaderId, ReaderEvent),
    /// The participant's.
    Participant(ParticipantEvent),
}

/// A node.
#[derive(Debug)]
pub struct Node {
    /// Its participant's GUID prefix.
    pub prefix: GuidPrefix,
    /// Its writers.
    pub writers: Vec<WriterSlot>,
    /// Its readers.
    pub readers: Vec<ReaderSlot>,
    /// Its participant, where there is discovery.
    pub participant: Option<Participant>,
    participant_changed: bool,
    /// Codecs by which it said that it takes whole messages.
    takes: CompressionIds,
}

impl Node {
    /// A node without endpoints, to which whole messages may come compressed as `takes` says.
    pub fn new(prefix: GuidPrefix, takes: CompressionIds) -> Self {
        Self {
            prefix,
            takes,
            writers: Vec::new(),
            readers: Vec::new(),
            participant: None,
            participant_changed: false,
        }
    }

    /// Handles a datagram.
    ///
    /// # Errors
    /// What a machine refused although nobody on this network sends nonsense.
    pub fn handle(
        &mut self,
        now: Instant,
        wall: Timestamp,
        arrived: &Arrived,
    ) -> Result<(), Reject> {
        let plain = forms::plain_message(&arrived.bytes, self.takes)?;
        let bytes = plain.as_ref().unwrap_or(&arrived.bytes);
        for inbound in MessageReceiver::new(bytes, self.prefix)? {
            let inbound = inbound?;
            let for_participant = match inbound.target() {
                Target::Reader { writer, .. } => writer.entity.is_builtin(),
                Target::Writer { writer, .. } => writer.is_builtin(),
                Target::Nobody => false,
            };
            match &mut self.participant {
                Some(participant) if for_participant => {
                    self.participant_changed = true;
                    let from = arrived.from;
                    tolerate(participant.handle_inbound(now, wall, from, bytes, &inbound))?;
                }
                other => {
                    let heard = other.as_ref().and_then(|it| it.heard(inbound.source));
                    if let Some(heard) = heard {
                        heard.note(now);
                    }
                    self.dispatch(now, wall, bytes, &inbound)?;
                }
            }
        }
        Ok(())
    }

    fn dispatch(
        &mut self,
        now: Instant,
        wall: Timestamp,
        datagram: &SharedBytes,
        inbound: &Inbound<'_>,
    ) -> Result<(), Reject> {
        match inbound.target() {
            Target::Reader { writer, reader } => {
                for slot in &mut self.readers {
                    let entity = slot.machine.guid().entity;
                    let named = reader == entity || reader == Default::default();
                    if named && slot.machine.is_matched(writer) {
                        slot.changed = true;
                        let machine = &mut slot.machine;
                        let result =
                            machine.handle_inbound(now, wall, writer, datagram, inbound, identity);
                        tolerate(result)?;
                    }
                }
            }
            Target::Writer { reader, writer } => {
                let mut named = self.writers.iter_mut();
                let slot = named.find(|slot| slot.machine.guid().entity == writer);
                if let Some(slot) = slot {
                    slot.changed = true;
                    let machine = &mut slot.machine;
                    tolerate(match &inbound.submessage {
                        Submessage::AckNack(it) => machine.handle_acknack(now, reader, it),
                        Submessage::NackFrag(it) => machine.handle_nack_frag(now, reader, it),
                        _ => Ok(()),
                    })?;
                }
            }
            Target::Nobody => {}
        }
        Ok(())
    }

    /// Drains machines that changed or whose deadline has passed.
    ///
    /// # Errors
    /// Why a machine asks to be called again and again at the same instant.
    pub fn drain(
        &mut self,
        now: Instant,
        sent: &mut Sent,
        reports: &mut Vec<Report>,
    ) -> Result<(), Reason> {
        self.drain_participant(now, sent, reports)?;
        for at in 0..self.writers.len() {
            self.drain_writer(at, now, sent, reports)?;
        }
        for slot in &mut self.readers {
            let machine = &mut slot.machine;
            let due = |machine: &Reader| machine.poll_timeout().filter(|(at, _)| *at <= now);
            let mut rounds = 0;
            let mut changed = std::mem::take(&mut slot.changed);
            while changed || due(machine).is_some() {
                machine.handle_timeout(now);
                machine.poll_transmit(now, sent);
                changed = false;
                rounds += 1;
                match due(machine) {
                    Some((_, reason)) if rounds > ROUNDS_MAX => return Err(reason),
                    _ => {}
                }
            }
            while let Some(event) = machine.poll_event() {
                reports.push(Report::Reader(slot.id, event));
            }
        }
        Ok(())
    }

    /// Drains a writer; where what waits there leaves, what others have waiting does with it.
    fn drain_writer(
        &mut self,
        at: usize,
        now: Instant,
        sent: &mut Sent,
        reports: &mut Vec<Report>,
    ) -> Result<(), Reason> {
        let waits = |slot: &WriterSlot| slot.machine.waiting_bytes();
        let all: usize = self.writers.iter().map(waits).sum();
        let slot = &mut self.writers[at];
        let others = all - waits(slot);
        let waited = slot.machine.is_waiting();
        if waited && others > 0 && slot.machine.is_filled_by(all) {
            slot.machine.leave_along();
            slot.changed = true;
        }
        if slot.is_due(now) {
            slot.machine.handle_timeout(now);
            slot.changed = true;
        }
        if others == 0 || !waited || slot.machine.is_waiting() {
            return slot.drain(now, sent, reports);
        }
        sent.share(slot.codec);
        slot.drain(now, sent, reports)?;
        for other in self.writers.iter_mut().filter(|it| waits(it) > 0) {
            other.machine.leave_along();
            other.changed = true;
            other.drain(now, sent, reports)?;
        }
        sent.leave_together();
        Ok(())
    }

    /// The participant, to be changed and then drained.
    pub fn change_participant(&mut self) -> Option<&mut Participant> {
        self.participant_changed = true;
        self.participant.as_mut()
    }

    fn drain_participant(
        &mut self,
        now: Instant,
        sent: &mut Sent,
        reports: &mut Vec<Report>,
    ) -> Result<(), Reason> {
        let mut changed = std::mem::take(&mut self.participant_changed);
        let Some(machine) = &mut self.participant else {
            return Ok(());
        };
        let due = |machine: &Participant| machine.poll_timeout().filter(|(at, _)| *at <= now);
        let mut rounds = 0;
        while changed || due(machine).is_some() {
            machine.handle_timeout(now);
            machine.poll_transmit(now, sent);
            changed = false;
            rounds += 1;
            match due(machine) {
                Some((_, reason)) if rounds > ROUNDS_MAX => return Err(reason),
                _ => {}
            }
        }
        while let Some(event) = machine.poll_event() {
            reports.push(Report::Participant(event));
        }
        Ok(())
    }

    /// True when some machine changed since it was drained.
    pub fn is_changed(&self) -> bool {
        self.writers.iter().any(|slot| slot.changed) || self.readers.iter().any(|slot| slot.changed)
    }

    /// When the node has something to do next by itself.
    pub fn next_at(&self) -> Option<Instant> {
        let own = self
            .participant
            .as_ref()
            .and_then(Participant::poll_timeout);
        let takes = self.readers.iter().filter_map(|slot| slot.takes_at);
        let endpoints = self.reasons().into_iter().chain(own);
        endpoints.map(|(at, _)| at).chain(takes).min()
    }

    /// What its endpoints will have to do; nothing when they are at rest.
    pub fn reasons(&self) -> Vec<(Instant, Reason)> {
        let writers = self
            .writers
            .iter()
            .filter_map(|slot| slot.machine.poll_timeout());
        let readers = self
            .readers
            .iter()
            .filter_map(|slot| slot.machine.poll_timeout());
        writers.chain(readers).collect()
    }
}

/// Lets through what happens on any network; anything else is a fault of ours.
fn tolerate(result: Result<(), Reject>) -> Result<(), Reject> {
    match result {
        Err(reject)
            if matches!(
                reject.kind,
                RejectKind::Duplicate
                    | RejectKind::Stranger
                    | RejectKind::Limit
                    | RejectKind::SequenceNumber
                    | RejectKind::OwnGuid
            ) =>
        {
            Ok(())
        }
        other => other,
    }
}
