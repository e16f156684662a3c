//! The way of a datagram that arrived.

use std::io;
use std::net::SocketAddr;

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::guid::{EntityId, Guid};
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::time::Instant;
use whimbrel_net::interfaces::Interface;
use whimbrel_net::socket::Datagram;
use whimbrel_proto::Heard;
use whimbrel_proto::receive::{Inbound, MessageReceiver, Target};
use whimbrel_wire::packed_message::PackedMessage;
use whimbrel_wire::submessage::TimedData;

use super::ParticipantCore;
use crate::driver::clock;
use crate::driver::packing::InflatedBundle;
use crate::driver::reader::{Arrival, ReaderCore};
use crate::driver::reception::Receive;
use crate::driver::routing::{Peer, Routing};
use crate::driver::sync::atomic::Ordering;
use crate::driver::sync::{Arc, lock};

/// So many slabs that still fit the budget are plenty.
const PLENTY: usize = 64;

impl ParticipantCore {
    /// Gives `inbound` to the endpoints that it is for, and with it what follows it in `rest` for
    /// the same one; gives back the first that is for another.
    fn route<'a>(
        &self,
        routing: &Routing,
        arrival: Arrival<'_>,
        inbound: Inbound<'a>,
        rest: &mut MessageReceiver<'a>,
    ) -> Option<Result<Inbound<'a>, Reject>> {
        let refuse = |reject| self.reject(reject);
        let stranger = Reject::new(RejectKind::Stranger, 0);
        let (writer, reader) = match inbound.target() {
            Target::Reader {
                writer,
                reader: EntityId::UNKNOWN,
            } => match routing.readers_of(writer) {
                [reader] => (writer, Some(reader)),
                readers => {
                    let receive = |it: &Arc<ReaderCore>| it.receive(arrival, writer, &inbound);
                    let said = readers.iter().map(receive).reduce(Result::and);
                    said.unwrap_or(Err(stranger)).unwrap_or_else(refuse);
                    return rest.next();
                }
            },
            Target::Reader { writer, reader } => (writer, routing.readers().get(&reader)),
            Target::Writer { reader, writer } => {
                let writer = routing.writers().get(&writer).ok_or(stranger);
                let said = writer.and_then(|it| it.receive(arrival.now, reader, &inbound));
                said.unwrap_or_else(refuse);
                return rest.next();
            }
            Target::Nobody => return rest.next(),
        };
        let Some(reader) = reader else {
            refuse(stranger);
            return rest.next();
        };
        reader.receive_all(arrival, writer, inbound, rest, refuse)
    }

    /// `next` and what follows it in `rest`, which came from `from`; notes in `heard` that their
    /// participant was heard.
    #[inline(never)]
    fn receive_rest<'a>(
        &self,
        (routing, heard): (&Routing, Option<&Arc<Heard>>),
        (arrival, from): (Arrival<'_>, SocketAddr),
        next: Result<Inbound<'a>, Reject>,
        rest: &mut MessageReceiver<'a>,
    ) {
        let mut newer = None;
        let mut next = Some(next);
        while let Some(inbound) = next {
            let inbound = match inbound {
                Ok(inbound) => inbound,
                Err(reject) => {
                    self.reject(reject);
                    next = rest.next();
                    continue;
                }
            };
            if let Some(heard) = heard {
                // Any valid packet renews a lease, a damaged one does not.
                heard.note(arrival.now);
            }
            if is_discovery(&inbound) {
                self.discover(arrival, from, &inbound);
                next = rest.next();
                continue;
            }
            if self.unsettled.load(Ordering::Relaxed) {
                // What discovery learned before may decide where this goes.
                self.settle();
                newer = Some(self.routing.load());
            }
            let routing = newer.as_deref().map_or(routing, |it| it);
            next = self.route(routing, arrival, inbound, rest);
        }
    }

    /// As [`ParticipantCore::route`] for the sample that comes next in `rest`, where that is plain
    /// and for one reader of ours that is matched with a writer of `peer`; `None` where it is
    /// anything else, which is still to come then.
    fn route_plain<'a>(
        &self,
        (routing, peer): (&Routing, &Peer),
        arrival: Arrival<'_>,
        rest: &mut MessageReceiver<'a>,
    ) -> Option<Option<Result<Inbound<'a>, Reject>>> {
        let source = rest.source();
        let pick = |(writer, reader)| {
            let core = only_reader((routing, peer), writer, reader)?;
            Some((core, (Guid::new(source, writer), reader)))
        };
        let ((core, ids), first) = rest.next_plain(pick)?;
        Some(core.receive_plain(arrival, ids, &first, rest, |reject| self.reject(reject)))
    }

    /// `datagram` as it arrived at `now`, and the `bundle` that it was, where it came as one block.
    #[inline(always)]
    fn arrival<'a>(
        &self,
        now: Instant,
        datagram: &'a Datagram,
        bundle: Option<&'a InflatedBundle>,
    ) -> Arrival<'a> {
        let payload = bundle.map_or(&datagram.payload, |it| &it.message);
        Arrival {
            now,
            wall: clock::wall_at(now),
            datagram: payload,
            bundle,
            may_stay: bundle.is_none() && !datagram.is_held_up && self.has_plenty_for(payload),
        }
    }

    /// True where it does not matter to the budget that a sample keeps all of `datagram`.
    fn has_plenty_for(&self, datagram: &SharedBytes) -> bool {
        let plenty = datagram.slab_len().saturating_mul(PLENTY);
        self.budget.has_room(plenty)
    }

    /// The plain message, where `datagram` is one that is compressed as a whole.
    fn inflate(&self, datagram: &SharedBytes) -> Result<Option<InflatedBundle>, Reject> {
        let packed = PackedMessage::parse(datagram)?;
        packed.map(|it| self.inflate_packed(&it)).transpose()
    }

    #[inline(never)]
    fn inflate_packed(&self, packed: &PackedMessage<'_>) -> Result<InflatedBundle, Reject> {
        lock(&self.inflater).inflate(packed)
    }

    /// Tells the control machine; what follows from that waits for [`Receive::settle`], so that
    /// many packets are answered at once.
    fn discover(&self, arrival: Arrival<'_>, from: SocketAddr, inbound: &Inbound<'_>) {
        let Arrival {
            now,
            wall,
            datagram,
            ..
        } = arrival;
        let mut control = lock(&self.control);
        // The machine counts what it refuses itself.
        let said = control.handle_inbound(now, wall, from.into(), datagram, inbound);
        drop(control);
        // Our own announcement, by multicast, is no news.
        if inbound.source != self.prefix || said.is_err() {
            self.unsettled.store(true, Ordering::Relaxed);
        }
    }
}

/// The one reader of ours that data of `writer` of `peer` for `reader` is for; `None` where it is
/// for several or for discovery.
#[inline(always)]
fn only_reader<'a>(
    (routing, peer): (&'a Routing, &'a Peer),
    writer: EntityId,
    reader: EntityId,
) -> Option<&'a Arc<ReaderCore>> {
    if writer.is_builtin() || reader.is_builtin() {
        return None;
    }
    match (reader, peer.readers_of(writer)) {
        (EntityId::UNKNOWN, [only]) => Some(only),
        (EntityId::UNKNOWN, _) => None,
        (one, _) => routing.readers().get(&one),
    }
}

impl Receive for ParticipantCore {
    fn receive(&self, now: Instant, datagram: &Datagram) {
        let usual = TimedData::parse(&datagram.payload);
        let is_taken = usual.is_some_and(|it| self.receive_usual(now, datagram, &it));
        if !is_taken {
            self.receive_any(now, datagram);
        }
    }

    fn settle(&self) {
        if self.unsettled.load(Ordering::Relaxed) {
            self.settle_now();
        }
    }

    fn follow_interfaces(&self, existing: &[Interface]) {
        let news = self.sockets.take_path_news();
        let selected = self.network.select(existing);
        let moved = {
            let mut interfaces = lock(&self.interfaces);
            let moved = *interfaces != selected;
            interfaces.clone_from(&selected);
            moved
        };
        if moved {
            for socket in self.sockets.follow(&self.network, &selected) {
                // Without descriptors left it stays deaf; peers and probing still work.
                let _ = self.listen(&socket);
            }
        }
        if moved || news {
            let addresses = self.sockets.addresses(&self.network, &selected);
            self.change(|control, now| control.handle_addresses(now, addresses));
        }
    }

    #[cold]
    fn note_receive_error(&self, _error: &io::Error) {
        self.receive_errors.fetch_add(1, Ordering::Relaxed);
    }
}

impl ParticipantCore {
    /// As [`Receive::receive`] of `datagram`, which is a sample, where that is for one reader of
    /// ours that is matched with its writer; false where it is to be looked at part by part.
    #[inline(always)]
    fn receive_usual(&self, now: Instant, datagram: &Datagram, usual: &TimedData<'_>) -> bool {
        if datagram.truncated || self.unsettled.load(Ordering::Relaxed) {
            return false;
        }
        let routing = self.routing.load();
        let Some(peer) = routing.peer(usual.source) else {
            return false;
        };
        let Some(core) = only_reader((&routing, peer), usual.writer, usual.reader) else {
            return false;
        };
        if let Some(heard) = &peer.heard {
            heard.note(now);
        }
        let arrival = self.arrival(now, datagram, None);
        let from = Guid::new(usual.source, usual.writer);
        if let Err(reject) = core.receive_alone(arrival, from, &usual.into()) {
            self.reject(reject);
        }
        true
    }

    /// As [`Receive::receive`], part by part.
    #[inline(never)]
    fn receive_any(&self, now: Instant, datagram: &Datagram) {
        if datagram.truncated {
            self.reject(Reject::new(RejectKind::Length, 0));
            return;
        }
        let inflated = match self.inflate(&datagram.payload) {
            Ok(inflated) => inflated,
            Err(reject) => return self.reject(reject),
        };
        let arrival = self.arrival(now, datagram, inflated.as_ref());
        let mut rest = match MessageReceiver::new(arrival.datagram, self.prefix) {
            Ok(receiver) => receiver,
            Err(reject) => return self.reject(reject),
        };
        let routing = self.routing.load();
        let peer = routing.peer(rest.source());
        let heard = peer.and_then(|peer| peer.heard.as_ref());
        let settled = !self.unsettled.load(Ordering::Relaxed);
        let plain = peer.filter(|_| settled);
        let plain = plain.and_then(|it| self.route_plain((&routing, it), arrival, &mut rest));
        if let (Some(_), Some(heard)) = (&plain, heard) {
            heard.note(now);
        }
        if let Some(next) = plain.unwrap_or_else(|| rest.next()) {
            self.receive_rest(
                (&routing, heard),
                (arrival, datagram.source),
                next,
                &mut rest,
            );
        }
    }

    #[cold]
    fn settle_now(&self) {
        if self.unsettled.swap(false, Ordering::Relaxed) {
            self.change(|_, _| ());
        }
    }
}

/// True for what the control machine is to hear.
fn is_discovery(inbound: &Inbound<'_>) -> bool {
    match inbound.target() {
        Target::Reader { writer, reader } => writer.entity.is_builtin() || reader.is_builtin(),
        Target::Writer { writer, .. } => writer.is_builtin(),
        Target::Nobody => false,
    }
}
