//! A participant that comes back with the GUID it had, before it was taken for lost: a program with
//! a fixed prefix that crashed and started again.
//!
//! Its numbers and counts start over, so it would be taken for an echo of itself. Most products
//! announce in which process they run: where that changes, the participant is another. Where it is
//! not said, or is the same as in a container, two signs within [`WINDOW`] of each other, from
//! where it is known to be, show it: a built-in reader asks from the start again though it had
//! acknowledged, and a built-in writer that was quiet says less than it had. One alone shows less:
//! whoever has only lost us for a while asks from the start too, but its writers go on. Of who
//! names its process the next announcement decides. The participant is then forgotten and met
//! anew.

use whimbrel_base::guid::{EntityId, Guid, GuidPrefix};
use whimbrel_base::locator::Locator;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::time::{Duration, Instant};
use whimbrel_wire::discovery::ParticipantData;
use whimbrel_wire::message::Submessage;

use super::Participant;
use super::event::ParticipantEvent;
use super::remote::{Rebirth, RemoteParticipant};

/// Datagrams are no later than this.
const QUIET: Duration = Duration::from_secs(1);

/// How far the two signs may lie apart.
const WINDOW: Duration = Duration::from_secs(5);

impl Rebirth {
    /// From where the reader asked, when both signs were seen lately. What a writer says may be
    /// meant for everybody: nobody need have heard us who says it.
    fn completed_from(&self, now: Instant) -> Option<Locator> {
        let lately = |at: Instant| now.since(at) <= WINDOW;
        let (_, from) = self.reader_at.filter(|(at, _)| lately(*at))?;
        self.writer_at.is_some_and(lately).then_some(from)
    }
}

impl Participant {
    /// Looks whether what the built-in `writer` of another says is less than it has said.
    pub(super) fn note_writer_runs_back(
        &mut self,
        now: Instant,
        writer: Guid,
        submessage: &Submessage<'_>,
    ) {
        let Submessage::Heartbeat(heartbeat) = submessage else {
            return;
        };
        let reader = self.builtin.reader_of(writer.entity);
        if !reader.is_some_and(|it| it.runs_back(now, writer, heartbeat, QUIET)) {
            return;
        }
        let mut first = false;
        self.note_sign(now, writer.prefix, |rebirth| {
            let before = rebirth.writer_at.replace(now);
            first = before.is_none_or(|at| now.since(at) >= QUIET);
        });
        if first {
            // Who hears that we are there asks.
            self.replies.insert(writer.prefix);
        }
    }

    /// Looks whether the built-in `reader` of another asks from the start again.
    pub(super) fn note_reader_runs_back(
        &mut self,
        now: Instant,
        from: Locator,
        reader: Guid,
        writer: EntityId,
        submessage: &Submessage<'_>,
    ) {
        let Submessage::AckNack(acknack) = submessage else {
            return;
        };
        let Some(remote) = self.remotes.get(&reader.prefix) else {
            return;
        };
        let from_the_start = acknack.state.base() <= SequenceNumber::FIRST;
        // Who has heard nothing of one writer yet has forgotten what it had of the other too.
        let by_any = remote.publications_acked.max(remote.subscriptions_acked);
        let had = if starts_over(submessage) {
            by_any
        } else {
            acknowledged(remote, writer)
        };
        if !from_the_start || had == SequenceNumber::ZERO {
            return;
        }
        self.note_sign(now, reader.prefix, |rebirth| {
            rebirth.reader_at = Some((now, from));
        });
    }

    fn note_sign(&mut self, now: Instant, prefix: GuidPrefix, note: impl FnOnce(&mut Rebirth)) {
        let Some(remote) = self.remotes.get_mut(&prefix) else {
            return;
        };
        // What belongs to its first words may still be on its way.
        if now.since(remote.discovered_at) < QUIET {
            return;
        }
        note(&mut remote.rebirth);
        let Some(from) = remote.rebirth.completed_from(now) else {
            return;
        };
        if remote.data.process_id().is_none() {
            let (address, data) = (remote.address, remote.data.clone());
            self.meet_anew(now, from, address, data);
        } else {
            // Its next announcement says which life it is.
            remote.rebirth.shown_from = Some(from);
            self.replies.insert(prefix);
        }
    }

    /// Takes in the announcement `data` of a known participant that names the process that it
    /// named before, where the signs are that it started over all the same. False where they are
    /// not.
    pub(super) fn handle_same_process(
        &mut self,
        now: Instant,
        address: Locator,
        data: &ParticipantData,
    ) -> bool {
        let remote = self.remotes.get_mut(&data.guid.prefix);
        let Some(from) = remote.and_then(|it| it.rebirth.shown_from.take()) else {
            return false;
        };
        self.meet_anew(now, from, address, data.clone());
        true
    }

    /// The participant of `data` is another with the same GUID, and hears us at `from`.
    fn meet_anew(&mut self, now: Instant, from: Locator, address: Locator, data: ParticipantData) {
        let prefix = data.guid.prefix;
        match self.begin_life(now, address, data) {
            Ok(()) => self.handle_answered(now, prefix, from),
            Err(reject) => self.rejects.count(reject.kind),
        }
    }

    /// Takes in the announcement `data` of a known participant that names another process.
    ///
    /// # Errors
    /// `Duplicate` so soon after it was met that it may be an echo of its former life.
    pub(super) fn handle_other_life(
        &mut self,
        now: Instant,
        from: Locator,
        data: ParticipantData,
    ) -> Result<(), Reject> {
        let met_at = self
            .remotes
            .get(&data.guid.prefix)
            .map(|it| it.discovered_at);
        if met_at.is_some_and(|at| now.since(at) < QUIET) {
            return Err(Reject::new(RejectKind::Duplicate, 0));
        }
        self.begin_life(now, from, data)
    }

    /// Forgets what was known of the participant of `data` and meets it.
    fn begin_life(
        &mut self,
        now: Instant,
        address: Locator,
        data: ParticipantData,
    ) -> Result<(), Reject> {
        let prefix = data.guid.prefix;
        let Some(former) = self.drop_participant(now, prefix, false) else {
            return Ok(());
        };
        self.statistics.reborn = self.statistics.reborn.saturating_add(1);
        if former.confirmed {
            let departed = false;
            self.report(ParticipantEvent::ParticipantLost { prefix, departed });
        }
        self.admit_participant(now, address, data)
    }
}

/// True when `data` is of another life of `remote`: it runs in another process.
pub(super) fn is_other_life(remote: &RemoteParticipant, data: &ParticipantData) -> bool {
    match (remote.data.process_id(), data.process_id()) {
        (Some(former), Some(process)) => former != process,
        _ => false,
    }
}

/// How far the participant has acknowledged our announcements by `writer`.
pub(super) fn acknowledged(remote: &RemoteParticipant, writer: EntityId) -> SequenceNumber {
    match writer {
        EntityId::SEDP_PUBLICATIONS_WRITER => remote.publications_acked,
        EntityId::SEDP_SUBSCRIPTIONS_WRITER => remote.subscriptions_acked,
        _ => SequenceNumber::ZERO,
    }
}

/// True for the answer of a reader that has heard nothing yet. Implementations whose counts begin
/// anew with it have it refused as a repetition.
pub(super) fn starts_over(submessage: &Submessage<'_>) -> bool {
    let Submessage::AckNack(acknack) = submessage else {
        return false;
    };
    acknack.state.base() <= SequenceNumber::FIRST && acknack.state.is_empty() && !acknack.is_final
}
