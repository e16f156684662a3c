//! What arrives from writers.

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::guid::Guid;
use whimbrel_base::reject::Reject;
use whimbrel_base::time::{Instant, Timestamp};
use whimbrel_proto::receive::{Inbound, MessageReceiver};

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
