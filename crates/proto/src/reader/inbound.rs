//! What a submessage says to a reader. RTPS 2.5 §8.3.8.

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::guid::Guid;
use whimbrel_base::reject::Reject;
use whimbrel_base::time::{Instant, Timestamp};
use whimbrel_wire::message::Submessage;

use super::{Incoming, Reader};
use crate::receive::Inbound;

impl Reader {
    /// Takes in a submessage of the writer `from`, which came in `datagram` when the clock on the
    /// wall showed `wall`. A change that came whole passes through `keep` first. Submessages that
    /// are not for readers say nothing.
    ///
    /// # Errors
    /// Those of the handler of that submessage; inline QoS that is malformed or not understood.
    #[inline]
    pub fn handle_inbound(
        &mut self,
        now: Instant,
        wall: Timestamp,
        from: Guid,
        datagram: &SharedBytes,
        inbound: &Inbound<'_>,
        keep: impl FnOnce(Incoming) -> Incoming,
    ) -> Result<(), Reject> {
        match &inbound.submessage {
            Submessage::Data(it) => {
                let change = inbound.change(it, datagram, wall)?;
                self.handle_data(now, keep(change))
            }
            Submessage::DataBatch(it) => self.handle_data_batch(now, &inbound.batch(it, wall)),
            Submessage::DataFrag(it) => {
                let fragments = inbound.fragments(it, wall)?;
                self.handle_data_frag(now, fragments).map(|_| ())
            }
            Submessage::Heartbeat(it) => self.handle_heartbeat(now, from, it),
            Submessage::HeartbeatBatch(it) => self.handle_heartbeat_batch(now, from, it),
            Submessage::HeartbeatFrag(it) => {
                self.handle_heartbeat_frag(now, from, it.number, it.last, it.count)
            }
            Submessage::Gap(it) => self.handle_gap(now, from, it),
            _ => Ok(()),
        }
    }
}
