//! The way of a datagram that arrived.

use std::io;

use whimbrel_base::guid::EntityId;
use whimbrel_base::locator::Locator;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::time::{Instant, Timestamp};
use whimbrel_net::interfaces::Interface;
use whimbrel_net::socket::Datagram;
use whimbrel_proto::receive::{Inbound, MessageReceiver, Target};

use super::ParticipantCore;
use crate::driver::clock;
use crate::driver::reception::Receive;
use crate::driver::routing::Routing;
use crate::driver::sync::atomic::Ordering;
use crate::driver::sync::lock;

impl ParticipantCore {
    fn route(
        &self,
        routing: &Routing,
        now: Instant,
        wall: Timestamp,
        datagram: &Datagram,
        inbound: &Inbound<'_>,
    ) -> Result<(), Reject> {
        let payload = &datagram.payload;
        let stranger = Reject::new(RejectKind::Stranger, 0);
        match inbound.target() {
            Target::Reader {
                writer,
                reader: EntityId::UNKNOWN,
            } => {
                let mut outcome = None;
                for reader in routing.readers_of(writer) {
                    let said = reader.receive(now, wall, writer, payload, inbound);
                    outcome = Some(outcome.unwrap_or(Ok(())).and(said));
                }
                outcome.unwrap_or(Err(stranger))
            }
            Target::Reader { writer, reader } => routing
                .readers()
                .get(&reader)
                .ok_or(stranger)?
                .receive(now, wall, writer, payload, inbound),
            Target::Writer { reader, writer } => routing
                .writers()
                .get(&writer)
                .ok_or(stranger)?
                .receive(now, reader, inbound),
            Target::Nobody => Ok(()),
        }
    }

    /// Tells the control machine; what follows from that waits for [`Receive::settle`], so that
    /// many packets are answered at once.
    fn discover(&self, now: Instant, wall: Timestamp, datagram: &Datagram, inbound: &Inbound<'_>) {
        let from = Locator::from(datagram.source);
        let mut control = lock(&self.control);
        // The machine counts what it refuses itself.
        let _ = control.handle_inbound(now, wall, from, &datagram.payload, inbound);
        drop(control);
        self.unsettled.store(true, Ordering::Relaxed);
    }
}

impl Receive for ParticipantCore {
    fn receive(&self, datagram: &Datagram) {
        self.received.fetch_add(1, Ordering::Relaxed);
        self.received_bytes
            .fetch_add(datagram.payload.len() as u64, Ordering::Relaxed);
        if datagram.truncated {
            self.reject(Reject::new(RejectKind::Length, 0));
            return;
        }
        let (now, wall) = (clock::now(), clock::wall());
        let receiver = match MessageReceiver::new(&datagram.payload, self.prefix) {
            Ok(receiver) => receiver,
            Err(reject) => return self.reject(reject),
        };
        let mut routing = self.routing.load();
        let peer = routing.peer(receiver.source());
        let heard = peer.and_then(|peer| peer.heard.clone());
        for inbound in receiver {
            if let Some(heard) = heard.as_ref().filter(|_| inbound.is_ok()) {
                // Any valid packet renews a lease, a damaged one does not.
                heard.note(now);
            }
            let outcome = inbound.and_then(|inbound| {
                if is_discovery(&inbound) {
                    self.discover(now, wall, datagram, &inbound);
                    return Ok(());
                }
                if self.unsettled.load(Ordering::Relaxed) {
                    // What discovery learned before may decide where this goes.
                    self.settle();
                    routing = self.routing.load();
                }
                self.route(&routing, now, wall, datagram, &inbound)
            });
            if let Err(reject) = outcome {
                self.reject(reject);
            }
        }
    }

    fn settle(&self) {
        if self.unsettled.swap(false, Ordering::Relaxed) {
            self.change(|_, _| ());
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

    fn note_receive_error(&self, _error: &io::Error) {
        self.receive_errors.fetch_add(1, Ordering::Relaxed);
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
