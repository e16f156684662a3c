//! Handing changes to readers of the same process.

use std::collections::BTreeMap;

use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::time::Instant;
use whimbrel_proto::change::ChangeKind;
use whimbrel_proto::parcel::Parcel;
use whimbrel_proto::writer::WriteError;

use super::{Draft, WriterCore, WriterState};
use crate::driver::heard;
use crate::driver::neighbours::{self, Told};
use crate::driver::sync::MutexGuard;

impl WriterCore {
    /// As [`WriterCore::pass`], and tells of it; gives the lock back where it is not written so.
    #[inline(never)]
    pub(super) fn pass_or_not<'a>(
        &self,
        mut state: MutexGuard<'a, WriterState>,
        draft: &mut Draft,
    ) -> Result<SequenceNumber, MutexGuard<'a, WriterState>> {
        let Some(told) = self.pass(&mut state, draft) else {
            return Err(state);
        };
        let sequence = state.machine.last_sequence();
        self.tell_of_pass(state, told);
        Ok(sequence)
    }

    /// Hands data to the readers where all are neighbours and take it at once; whether it is
    /// written so.
    #[inline(always)]
    fn pass(&self, state: &mut WriterState, draft: &mut Draft) -> Option<Told> {
        if state.neighbours.is_empty() || draft.change.kind != ChangeKind::Alive {
            return None;
        }
        if state.neighbours.len() > neighbours::AT_ONCE_MAX || self.is_held(state) {
            return None;
        }
        state.last_stamp.order(draft);
        let WriterState {
            machine,
            keys,
            handed,
            neighbours,
            ..
        } = state;
        let instance = draft.change.instance;
        let mut parcel = self.parcel(draft, keys);
        let passed = machine.pass(instance, parcel.bytes(), |sequence| {
            neighbours::hand_to_all(neighbours, sequence, &mut parcel, &mut handed.discarded)
        });
        passed.map(|_| Told::all(neighbours))
    }

    fn parcel<'a>(
        &self,
        draft: &'a mut Draft,
        keys: &'a BTreeMap<InstanceHandle, Box<[u8]>>,
    ) -> Parcel<'a> {
        let known = draft.value.is_some() && !draft.change.instance.is_nil();
        let key = known.then(|| keys.get(&draft.change.instance)).flatten();
        Parcel {
            writer: self.guid,
            change: &mut draft.change,
            value: &mut draft.value,
            key: key.map_or(&[], |key| key),
            reception: draft.at,
        }
    }

    /// Writes the value of `draft` to readers of this process without encoding it, where it finds
    /// all of them and they take it at once; whether it is written so.
    pub(crate) fn write_value(&self, draft: &mut Draft) -> bool {
        self.pass_or_not(self.lock(), draft).is_ok()
    }

    /// Tells those to whom everything was passed on.
    #[inline(always)]
    fn tell_of_pass(&self, mut state: MutexGuard<'_, WriterState>, told: Told) {
        let discarded = std::mem::take(&mut state.handed.discarded);
        // Nothing else is due after a pass, so nothing else would have slabs given back.
        let trim_at = state.pool.wants_trim().then_some(state.trim_at);
        drop(state);
        if let Some(at) = trim_at {
            self.arm(at);
        }
        told.tell();
        if !discarded.is_empty() {
            neighbours::discard(discarded);
        }
    }

    /// Puts the change into history and hands it to neighbours.
    #[inline(always)]
    pub(super) fn append(
        &self,
        state: &mut WriterState,
        now: Instant,
        draft: &mut Draft,
    ) -> Result<SequenceNumber, WriteError> {
        state.last_stamp.order(draft);
        state.machine.note_heard(heard::count());
        if state.neighbours.is_empty() {
            return state.machine.write_from(now, &mut draft.change);
        }
        self.append_for_neighbours(state, now, draft)
    }

    #[inline(never)]
    fn append_for_neighbours(
        &self,
        state: &mut WriterState,
        now: Instant,
        draft: &mut Draft,
    ) -> Result<SequenceNumber, WriteError> {
        let sequence = state.machine.write(now, draft.change.clone())?;
        let WriterState {
            machine,
            keys,
            handed,
            neighbours,
            ..
        } = state;
        neighbours::hand_over(machine, neighbours, &self.parcel(draft, keys), handed);
        Ok(sequence)
    }
}
