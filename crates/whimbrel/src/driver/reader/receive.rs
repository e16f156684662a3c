//! What arrives from writers.

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::guid::Guid;
use whimbrel_base::reject::Reject;
use whimbrel_base::time::{Instant, Timestamp};
use whimbrel_proto::receive::{Inbound, MessageReceiver};
use whimbrel_wire::message::Submessage;
use whimbrel_wire::submessage::Data;

use super::{ReaderCore, ReaderState};

/// When a datagram arrived, and what it is.
#[derive(Clone, Copy)]
pub(crate) struct Arrival<'a> {
    pub(crate) now: Instant,
    pub(crate) wall: Timestamp,
    pub(crate) datagram: &'a SharedBytes,
}

impl ReaderCore {
    /// A submessage of the matched writer `from`.
    pub(crate) fn receive(
        &self,
        arrival: Arrival<'_>,
        from: Guid,
        inbound: &Inbound<'_>,
    ) -> Result<(), Reject> {
        let mut state = self.lock();
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
        let mut inbound = first;
        let mut state = self.lock();
        let next = loop {
            if let Err(reject) = state.receive(arrival, from, &inbound) {
                refuse(reject);
            }
            if let Submessage::Data(data) = &inbound.submessage {
                state.receive_alike(arrival, from, data, rest, &mut refuse);
            }
            match rest.next() {
                Some(Ok(next)) if next.target() == target => inbound = next,
                other => break other,
            }
        };
        self.drain(state, arrival.now);
        next
    }
}

impl ReaderState {
    /// The samples that follow `data` in `rest` and are like it.
    fn receive_alike(
        &mut self,
        arrival: Arrival<'_>,
        from: Guid,
        data: &Data<'_>,
        rest: &mut MessageReceiver<'_>,
        refuse: impl FnMut(Reject),
    ) {
        let Self {
            machine, compactor, ..
        } = self;
        let next = || {
            let alike = rest.next_alike(data)?;
            let mut change = alike.change(from, arrival.datagram, arrival.wall);
            change.payload = compactor.compact(change.payload);
            Some(change)
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
        } = arrival;
        let Self {
            machine, compactor, ..
        } = self;
        machine.handle_inbound(now, wall, from, datagram, inbound, |mut change| {
            change.payload = compactor.compact(change.payload);
            change
        })
    }
}
