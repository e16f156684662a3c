//! What arrives from writers.

use whimbrel_base::buffer::{Compactor, SharedBytes};
use whimbrel_base::guid::{EntityId, Guid};
use whimbrel_base::reject::Reject;
use whimbrel_base::time::{Instant, Timestamp};
use whimbrel_proto::reader::Incoming;
use whimbrel_proto::receive::{Alike, Inbound, MessageReceiver, Plain, Target};
use whimbrel_wire::message::Submessage;

use super::{ReaderCore, ReaderState};
use crate::driver::heard;
use crate::driver::packing::InflatedBundle;
use crate::driver::sync::MutexGuard;

/// When a datagram arrived, and what it is.
#[derive(Clone, Copy)]
pub(crate) struct Arrival<'a> {
    pub(crate) now: Instant,
    pub(crate) wall: Timestamp,
    pub(crate) datagram: &'a SharedBytes,
    /// The bundle that it was, where it came as one block.
    pub(crate) bundle: Option<&'a InflatedBundle>,
    /// It may stay for a sample that came alone, though most of its slab is empty.
    pub(crate) may_stay: bool,
}

/// What is in a datagram beside the only sample at most, in octets: about as in RTPS 2.5 §9.4 the
/// heads of message, INFO_DST, INFO_TS, DATA and a HEARTBEAT.
const HEADS_BYTES_MAX: usize = 192;

impl Arrival<'_> {
    /// `change`, which came so, without the datagram where it is small and that is not to stay.
    fn kept(&self, compactor: &mut Compactor, mut change: Incoming) -> Incoming {
        let is_alone = self.datagram.len() <= change.payload.len().saturating_add(HEADS_BYTES_MAX);
        if !(self.may_stay && is_alone) {
            compactor.compact(&mut change.payload);
        }
        change
    }
}

impl ReaderCore {
    /// The lock, after `arrival` that has something for this reader was counted.
    #[inline(always)]
    fn lock_for(&self, arrival: Arrival<'_>) -> MutexGuard<'_, ReaderState> {
        heard::note();
        let mut state = self.lock();
        if let Some(bundle) = arrival.bundle {
            bundle.count_at(self.guid.entity, &mut state.bundles);
        }
        state
    }

    /// A submessage of the matched writer `from`.
    pub(crate) fn receive(
        &self,
        arrival: Arrival<'_>,
        from: Guid,
        inbound: &Inbound<'_>,
    ) -> Result<(), Reject> {
        let mut state = self.lock_for(arrival);
        let outcome = state.receive(arrival, from, inbound);
        self.drain(state, arrival.now);
        outcome
    }

    /// The submessage `first` of the matched writer `from`, and those that follow it in its message
    /// and have the same target; what is refused goes to `refuse`. The first that has another, if
    /// there is one.
    pub(crate) fn receive_all<'a>(
        &self,
        arrival: Arrival<'_>,
        from: Guid,
        first: Inbound<'a>,
        rest: &mut MessageReceiver<'a>,
        mut refuse: impl FnMut(Reject),
    ) -> Option<Result<Inbound<'a>, Reject>> {
        let target = first.target();
        let mut state = self.lock_for(arrival);
        let next = state.receive_rest(arrival, (from, target), Some(Ok(first)), rest, &mut refuse);
        self.drain(state, arrival.now);
        next
    }

    /// The sample `alone` of the matched writer `from`, which is all of its message.
    #[inline(always)]
    pub(crate) fn receive_alone(
        &self,
        arrival: Arrival<'_>,
        from: Guid,
        alone: &Alike<'_>,
    ) -> Result<(), Reject> {
        let mut state = self.lock_for(arrival);
        let said = state.take_in(arrival, from, alone);
        self.drain(state, arrival.now);
        said
    }

    /// As [`ReaderCore::receive_all`], where the first is `first`, of `from`.
    pub(crate) fn receive_plain<'a>(
        &self,
        arrival: Arrival<'_>,
        (from, readers): (Guid, EntityId),
        first: &Plain<'_>,
        rest: &mut MessageReceiver<'a>,
        mut refuse: impl FnMut(Reject),
    ) -> Option<Result<Inbound<'a>, Reject>> {
        let mut state = self.lock_for(arrival);
        let said = match first {
            Plain::Sample(alike) => state.take_in(arrival, from, alike).map(|()| true),
            Plain::Part(part) => {
                let fragments = part.fragments(from, arrival.wall);
                state.machine.handle_data_frag(arrival.now, fragments)
            }
        };
        if said == Ok(false) && rest.is_at_end() {
            // Nothing has changed for anybody else.
            return None;
        }
        if let Err(reject) = said {
            refuse(reject);
        }
        let mut next = None;
        if !rest.is_at_end() {
            next = state.receive_more(arrival, (from, readers), rest, &mut refuse);
        }
        self.drain(state, arrival.now);
        next
    }
}

impl ReaderState {
    /// What follows a plain submessage of `from` to `readers` in `rest`. The first that has another
    /// target, if there is one.
    #[inline(never)]
    fn receive_more<'a>(
        &mut self,
        arrival: Arrival<'_>,
        (from, readers): (Guid, EntityId),
        rest: &mut MessageReceiver<'a>,
        refuse: &mut impl FnMut(Reject),
    ) -> Option<Result<Inbound<'a>, Reject>> {
        let target = Target::Reader {
            writer: from,
            reader: readers,
        };
        self.receive_alike(arrival, (from, readers), rest, &mut *refuse);
        let next = rest.next();
        next.as_ref()?;
        self.receive_rest(arrival, (from, target), next, rest, refuse)
    }

    /// `next` and what follows it in `rest`, as long as it is from `from` and has the same
    /// `target`. The first that has another, if there is one.
    fn receive_rest<'a>(
        &mut self,
        arrival: Arrival<'_>,
        (from, target): (Guid, Target),
        next: Option<Result<Inbound<'a>, Reject>>,
        rest: &mut MessageReceiver<'a>,
        mut refuse: impl FnMut(Reject),
    ) -> Option<Result<Inbound<'a>, Reject>> {
        let mut next = next;
        while let Some(Ok(inbound)) = &next
            && inbound.target() == target
        {
            if let Err(reject) = self.receive(arrival, from, inbound) {
                refuse(reject);
            }
            if let Submessage::Data(data) = &inbound.submessage {
                self.receive_alike(arrival, (from, data.reader), rest, &mut refuse);
            }
            next = rest.next();
        }
        next
    }

    /// The sample `alike` of `from`.
    fn take_in(
        &mut self,
        arrival: Arrival<'_>,
        from: Guid,
        alike: &Alike<'_>,
    ) -> Result<(), Reject> {
        let change = alike.change(from, arrival.datagram, arrival.wall);
        let change = arrival.kept(&mut self.compactor, change);
        self.machine.handle_data(arrival.now, change)
    }

    /// The samples of `from` to `readers` that come next in `rest`.
    fn receive_alike(
        &mut self,
        arrival: Arrival<'_>,
        (from, readers): (Guid, EntityId),
        rest: &mut MessageReceiver<'_>,
        refuse: impl FnMut(Reject),
    ) {
        let Self {
            machine, compactor, ..
        } = self;
        let next = || {
            let alike = rest.next_alike((from.entity, readers))?;
            let change = alike.change(from, arrival.datagram, arrival.wall);
            Some(arrival.kept(compactor, change))
        };
        machine.handle_alike(arrival.now, from, next, refuse);
    }

    fn receive(
        &mut self,
        arrival: Arrival<'_>,
        from: Guid,
        inbound: &Inbound<'_>,
    ) -> Result<(), Reject> {
        let Arrival {
            now,
            wall,
            datagram,
            ..
        } = arrival;
        let Self {
            machine, compactor, ..
        } = self;
        machine.handle_inbound(now, wall, from, datagram, inbound, |change| {
            arrival.kept(compactor, change)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whimbrel_base::sequence::SequenceNumber;
    use whimbrel_proto::change::ChangeKind;

    /// Octets that a sample of so many keeps of a datagram with so many others.
    fn kept_bytes(sample_bytes: usize, others_bytes: usize, may_stay: bool) -> usize {
        let mut slab = Vec::with_capacity(65_536);
        slab.resize(sample_bytes + others_bytes, 7);
        let datagram = SharedBytes::from_vec(slab);
        let arrival = Arrival {
            now: Instant::ZERO,
            wall: Timestamp::INVALID,
            datagram: &datagram,
            bundle: None,
            may_stay,
        };
        let change = Incoming {
            writer: Guid::UNKNOWN,
            sequence: SequenceNumber::FIRST,
            kind: ChangeKind::Alive,
            key_hash: None,
            is_key: false,
            payload: datagram.slice(0..sample_bytes).unwrap(),
            source_timestamp: Timestamp::INVALID,
            reception_timestamp: Timestamp::INVALID,
        };
        let kept = arrival.kept(&mut Compactor::default(), change);
        assert_eq!(kept.payload, vec![7; sample_bytes].into());
        kept.payload.slab_len()
    }

    #[test]
    fn a_sample_that_came_alone_is_not_copied_unless_datagrams_are_scarce() {
        assert_eq!(kept_bytes(20, 100, true), 65_536);
        assert_eq!(kept_bytes(15_000, 100, true), 65_536);
        assert!(kept_bytes(20, 100, false) < 1000);
        assert!(kept_bytes(20, 1000, true) < 1000, "it came with others");
        assert!(kept_bytes(5000, 1000, true) < 10_000);
    }
}
