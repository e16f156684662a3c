//! Readers of the same process, to which writers hand their samples past the network.
//!
//! The protocol stays the truth: who is matched, what is acknowledged and what is to be sent. A
//! reader that does not take a sample at once gets it as every other (`proto::writer::pass`).
//!
//! The lock of a reader is taken while that of a writer is held, never the other way round, and
//! those of several readers in the order of their GUIDs.

use std::sync::Mutex as StdMutex;

use whimbrel_base::guid::{EntityId, Guid, GuidPrefix};
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::sorted::SortedMap;
use whimbrel_proto::change::ChangeKind;
use whimbrel_proto::parcel::Parcel;
use whimbrel_proto::value::SharedValue;
use whimbrel_proto::writer::Writer;

use super::contain::contain;
use super::manners::Manners;
use super::reader::ReaderCore;
use super::status::AnyEntity;
use super::sync::{Arc, PoisonError, Weak};
use crate::domain::InProcess;

/// Readers that are locked at once at most.
pub(super) const AT_ONCE_MAX: usize = 64;

/// The participants of this process that are to be met past the network. Outlives every model, so
/// it is no part of one.
static HERE: StdMutex<SortedMap<GuidPrefix, Weak<dyn Resident>>> = StdMutex::new(SortedMap::new());

/// A matched reader of this process.
pub(crate) struct Neighbour {
    guid: Guid,
    core: Arc<ReaderCore>,
    /// It takes values as its writer has them.
    takes_values: bool,
}

/// A participant of this process.
pub(super) trait Resident: Send + Sync {
    /// Its reader `entity`.
    fn reader(&self, entity: EntityId) -> Option<Arc<ReaderCore>>;
}

/// Participant `prefix` is here from now on.
pub(super) fn enter(prefix: GuidPrefix, participant: Weak<dyn Resident>) {
    let mut here = HERE.lock().unwrap_or_else(PoisonError::into_inner);
    here.insert(prefix, participant);
}

/// Participant `prefix` is being dropped.
pub(super) fn leave(prefix: GuidPrefix) {
    let mut here = HERE.lock().unwrap_or_else(PoisonError::into_inner);
    here.remove(&prefix);
}

/// The reader `guid` as a neighbour of a writer with these manners, if it is one.
pub(super) fn find(guid: Guid, manners: Manners) -> Option<Neighbour> {
    if manners.in_process == InProcess::Off {
        return None;
    }
    let participant = {
        let here = HERE.lock().unwrap_or_else(PoisonError::into_inner);
        here.get(&guid.prefix)?.upgrade()
    };
    let core = participant?.reader(guid.entity)?;
    let takes_values = core.takes_values(manners);
    Some(Neighbour {
        guid,
        core,
        takes_values,
    })
}

/// Adds `neighbour` to `all` of a writer.
pub(super) fn add(all: &mut Arc<Vec<Neighbour>>, neighbour: Neighbour) {
    let all = Arc::make_mut(all);
    match all.binary_search_by_key(&neighbour.guid, |it| it.guid) {
        Ok(at) => all[at] = neighbour,
        Err(at) => all.insert(at, neighbour),
    }
}

/// Removes the neighbour `guid`, if it is one. Drop it without a lock held.
pub(super) fn remove(all: &mut Arc<Vec<Neighbour>>, guid: Guid) -> Option<Neighbour> {
    let at = all.iter().position(|it| it.guid == guid)?;
    Some(Arc::make_mut(all).remove(at))
}

impl Clone for Neighbour {
    fn clone(&self) -> Self {
        Self {
            core: Arc::clone(&self.core),
            ..*self
        }
    }
}

impl Neighbour {
    /// True where it takes values as its writer has them.
    pub(super) const fn takes_values(&self) -> bool {
        self.takes_values
    }

    /// Tells whoever waits for its data. Call it without a lock.
    pub(super) fn tell(&self) {
        self.core.tell_of_parcel();
    }

    /// Hands `parcel` over; values that gave way go to `discarded`.
    fn take(
        &self,
        of: (SequenceNumber, ChangeKind),
        parcel: &Parcel<'_>,
        discarded: &mut Vec<SharedValue>,
    ) -> Option<bool> {
        let mut state = self.core.lock();
        let change = parcel.change_for(self.takes_values, of)?;
        self.core
            .take_over(&mut state, change, parcel.key, discarded)
    }

    /// As [`Neighbour::take`] of data that nobody else needs where it is taken.
    fn take_last(
        &self,
        sequence: SequenceNumber,
        parcel: &mut Parcel<'_>,
        discarded: &mut Vec<SharedValue>,
    ) -> bool {
        if !parcel.suits(self.takes_values) {
            return false;
        }
        let offer = parcel.offer(self.takes_values, sequence);
        let mut state = self.core.lock();
        let change = || parcel.moved(self.takes_values, sequence);
        let news = state.machine.take_data(&offer, change);
        self.core.note_taken(&mut state, news, discarded).is_some()
    }
}

/// Hands the data of `parcel` to all `neighbours`, or to none; whether all took it.
pub(super) fn hand_to_all(
    neighbours: &[Neighbour],
    sequence: SequenceNumber,
    parcel: &mut Parcel<'_>,
    discarded: &mut Vec<SharedValue>,
) -> bool {
    match neighbours {
        [] => true,
        [last] => last.take_last(sequence, parcel, discarded),
        [first, rest @ ..] => {
            let mut state = first.core.lock();
            // First, as the last one leaves nothing of it.
            let of = (sequence, ChangeKind::Alive);
            let Some(change) = parcel.change_for(first.takes_values, of) else {
                return false;
            };
            let key = parcel.key;
            let offer = parcel.offer(first.takes_values, sequence);
            state.machine.would_take_data(&offer)
                && hand_to_all(rest, sequence, parcel, discarded)
                && first
                    .core
                    .take_over(&mut state, change, key, discarded)
                    .is_some()
        }
    }
}

/// Who is to be told of what was passed on to all.
pub(super) enum Told {
    /// Nobody any more: the listener of the only reader is called after the one under way.
    Nobody,
    /// The only reader, which hears of it on this thread where it can.
    Here(Arc<dyn AnyEntity>),
    All(Arc<Vec<Neighbour>>),
}

impl Told {
    /// All of `neighbours`, of which a single one may be seen to at once. Call it when they are
    /// unlocked and the writer still is locked.
    pub(super) fn all(neighbours: &Arc<Vec<Neighbour>>) -> Self {
        let here = match neighbours.as_slice() {
            [only] if only.core.status.hears_after() => return Self::Nobody,
            [only] => only.core.told_here(),
            _ => None,
        };
        here.map_or_else(|| Self::All(Arc::clone(neighbours)), Self::Here)
    }

    /// Tells them. Call it without a lock.
    pub(super) fn tell(self) {
        match self {
            Self::Nobody => {}
            Self::Here(reader) => reader.tell_data_here(),
            Self::All(neighbours) => neighbours.iter().for_each(Neighbour::tell),
        }
    }
}

/// What was handed over, and who is still to be told.
#[derive(Default)]
pub(super) struct Handed {
    pub(super) to: Vec<Neighbour>,
    /// Values that gave way to others.
    pub(super) discarded: Vec<SharedValue>,
}

impl Handed {
    /// True where nobody is to be told of anything.
    pub(super) fn is_empty(&self) -> bool {
        self.to.is_empty() && self.discarded.is_empty()
    }

    /// Tells them. Call it without a lock.
    pub(super) fn tell(self) {
        self.to.iter().for_each(Neighbour::tell);
        discard(self.discarded);
    }
}

/// Drops values of the program, whose destructors are its own. Call it without a lock.
#[inline(always)]
pub(super) fn discard(values: Vec<SharedValue>) {
    for value in values {
        let _ = contain(|| drop(value));
    }
}

/// Hands the newest change of `machine` to those `neighbours` that are to have it.
pub(super) fn hand_over(
    machine: &mut Writer,
    neighbours: &[Neighbour],
    parcel: &Parcel<'_>,
    handed: &mut Handed,
) {
    machine.hand_over(|guid, change| {
        let Ok(at) = neighbours.binary_search_by_key(&guid, |it| it.guid) else {
            return false;
        };
        let neighbour = &neighbours[at];
        let of = (change.sequence, change.kind);
        let news = neighbour.take(of, parcel, &mut handed.discarded);
        if news == Some(true) {
            handed.to.push(neighbour.clone());
        }
        news.is_some()
    });
}
