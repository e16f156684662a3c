//! What remote readers answer.
//!
//! Whoever receives an answer while somebody writes does not wait for that: the answer is put
//! aside, and seen to by whoever receives the next one or by the thread that fires timers.

use whimbrel_base::guid::Guid;
use whimbrel_base::reject::Reject;
use whimbrel_base::time::Instant;
use whimbrel_proto::receive::Inbound;
use whimbrel_wire::message::Submessage;
use whimbrel_wire::submessage::AckNack;

use super::answers::Answer;
use super::due::PUT_OFF;
use super::{WriterCore, WriterState};
use crate::driver::sync::{MutexGuard, lock, try_lock};

/// So often the lock is tried before an answer is put aside.
const TRIES: usize = 8;

impl WriterCore {
    /// A submessage of a remote reader. Where it is put aside nothing is refused here: what is
    /// refused of it later is counted.
    pub(crate) fn receive(
        &self,
        now: Instant,
        from: Guid,
        inbound: &Inbound<'_>,
    ) -> Result<(), Reject> {
        match &inbound.submessage {
            Submessage::AckNack(acknack) => self.receive_acknack(now, from, acknack),
            Submessage::NackFrag(nack) => {
                let mut state = self.lock();
                self.see_to_answers(&mut state);
                let outcome = state.machine.handle_nack_frag(now, from, nack);
                self.drain(state, now);
                outcome
            }
            _ => Ok(()),
        }
    }

    fn receive_acknack(&self, now: Instant, from: Guid, acknack: &AckNack) -> Result<(), Reject> {
        let Some(mut state) = self.lock_or_put_aside(now, from, acknack) else {
            return Ok(());
        };
        self.see_to_answers(&mut state);
        let outcome = state.machine.handle_acknack(now, from, acknack);
        self.drain(state, now);
        outcome
    }

    /// The lock, or `None` where the answer was put aside.
    fn lock_or_put_aside(
        &self,
        now: Instant,
        from: Guid,
        acknack: &AckNack,
    ) -> Option<MutexGuard<'_, WriterState>> {
        for _ in 0..TRIES {
            if let Some(state) = try_lock(&self.state) {
                return Some(state);
            }
            std::hint::spin_loop();
        }
        let answer = Answer {
            received_at: now,
            from,
            acknack: *acknack,
        };
        if !self.answers.add(answer) {
            return Some(self.lock());
        }
        self.arm(now.after(PUT_OFF));
        None
    }

    /// Tells the machine of answers that were put aside. What follows from them is still to be
    /// drained.
    #[inline(always)]
    pub(super) fn see_to_answers(&self, state: &mut WriterState) {
        if self.answers.are_there() {
            self.see_to_all(state);
        }
    }

    #[cold]
    fn see_to_all(&self, state: &mut WriterState) {
        self.answers.drain(|it| {
            let outcome = state
                .machine
                .handle_acknack(it.received_at, it.from, &it.acknack);
            if let Err(reject) = outcome {
                lock(&self.rejects).count(reject.kind);
            }
        });
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::{self, Receiver};
    use std::thread;
    use std::time::Duration;

    use whimbrel_base::guid::{EntityId, GuidPrefix};
    use whimbrel_base::reject::RejectKind;
    use whimbrel_base::sequence::{Count, SequenceNumber};
    use whimbrel_base::time::Timestamp;
    use whimbrel_base::vendor::VendorId;
    use whimbrel_wire::number_set::NumberSet;

    use super::super::answers::ANSWERS_MAX;
    use super::*;
    use crate::driver::clock;
    use crate::{DataWriterQos, DdsType, DomainParticipant};

    const LONG: Duration = Duration::from_secs(20);

    #[derive(DdsType, Clone, Debug)]
    struct Word {
        word: u32,
    }

    fn writer() -> (DomainParticipant, Arc<WriterCore>) {
        let participant = DomainParticipant::builder(75).interfaces("lo").build();
        let participant = participant.unwrap();
        let topic = participant.create_topic::<Word>("answers").unwrap();
        let writer = participant.create_datawriter(&topic, DataWriterQos::default().reliable());
        let core = Arc::clone(&writer.unwrap().inner.core);
        (participant, core)
    }

    /// Has another thread receive an answer of somebody unknown; tells what came of it.
    fn answer(core: &Arc<WriterCore>) -> Receiver<Result<(), RejectKind>> {
        let (tell, told) = mpsc::channel();
        let core = Arc::clone(core);
        thread::spawn(move || {
            let from = Guid::new(GuidPrefix([9; 12]), EntityId([0, 0, 9, 0x04]));
            let acknack = AckNack {
                reader: from.entity,
                writer: core.guid.entity,
                state: NumberSet::new(SequenceNumber(1)),
                count: Count(1),
                is_final: true,
            };
            let inbound = Inbound {
                source: from.prefix,
                vendor: VendorId::UNKNOWN,
                destination: core.guid.prefix,
                unnamed: false,
                timestamp: Timestamp::INVALID,
                submessage: Submessage::AckNack(acknack),
            };
            let said = core.receive(clock::now(), from, &inbound);
            let _ = tell.send(said.map_err(|it| it.kind));
        });
        told
    }

    fn strangers(participant: &DomainParticipant) -> u64 {
        let rejects = participant.diagnostics().rejects;
        rejects.of(RejectKind::Stranger)
    }

    #[test]
    fn an_answer_waits_for_nobody_and_is_seen_to_by_itself() {
        let (participant, core) = writer();
        let refused = answer(&core).recv_timeout(LONG);
        assert_eq!(refused, Ok(Err(RejectKind::Stranger)), "nobody writes");
        let writing = core.lock();
        let said = answer(&core).recv_timeout(LONG);
        assert_eq!(said, Ok(Ok(())), "it waits for who writes");
        assert!(core.answers.are_there());
        let before = strangers(&participant);
        // It forgets no deadline of the machine's, but that answers wait it does not know.
        core.drain(writing, clock::now());
        let given_up_at = std::time::Instant::now() + LONG;
        while strangers(&participant) == before {
            assert!(std::time::Instant::now() < given_up_at, "nobody does");
            thread::yield_now();
        }
        assert_eq!(strangers(&participant), before + 1);
        assert!(!core.answers.are_there());
    }

    #[test]
    fn more_answers_than_are_kept_wait_for_who_writes() {
        let (participant, core) = writer();
        let mut writing = core.lock();
        for _ in 0..ANSWERS_MAX {
            assert_eq!(answer(&core).recv_timeout(LONG), Ok(Ok(())));
        }
        let before = strangers(&participant);
        let one_more = answer(&core);
        let soon = one_more.recv_timeout(Duration::from_millis(50));
        assert!(soon.is_err(), "there is no end to them");
        core.see_to_answers(&mut writing);
        assert_eq!(strangers(&participant) - before, ANSWERS_MAX as u64);
        drop(writing);
        assert_eq!(one_more.recv_timeout(LONG), Ok(Err(RejectKind::Stranger)));
    }
}
