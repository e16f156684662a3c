//! What arrives from writers.

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::guid::Guid;
use whimbrel_base::reject::Reject;
use whimbrel_base::time::{Instant, Timestamp};
use whimbrel_proto::receive::{Inbound, MessageReceiver};
use whimbrel_wire::message::Submessage;

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
        match &inbound.submessage {
            Submessage::Data(data) => {
                let mut change = inbound.change(data, datagram, wall)?;
                change.payload = compactor.compact(change.payload);
                machine.handle_data(now, change)
            }
            Submessage::DataBatch(it) => machine.handle_data_batch(now, &inbound.batch(it, wall)),
            Submessage::DataFrag(frag) => {
                let fragments = inbound.fragments(frag, wall)?;
                machine.handle_data_frag(now, fragments)
            }
            Submessage::Heartbeat(it) => machine.handle_heartbeat(now, from, it),
            Submessage::HeartbeatBatch(it) => machine.handle_heartbeat_batch(now, from, it),
            Submessage::HeartbeatFrag(it) => {
                machine.handle_heartbeat_frag(now, from, it.number, it.last, it.count)
            }
            Submessage::Gap(it) => machine.handle_gap(now, from, it),
            _ => Ok(()),
        }
    }
}
