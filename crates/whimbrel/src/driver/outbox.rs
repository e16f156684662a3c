//! What machines send, on its way to the sockets.

use whimbrel_base::locator::Locator;
use whimbrel_net::ports::udp_ports;
use whimbrel_proto::{Outbox, PartOf, PlainSamples};

use super::joined::Joined;
use super::outgoing::{Oversize, Way};
use super::packing::BundlePacker;
use super::sharing::Shared;
use super::sockets::Sockets;

/// How often room in a full send buffer is waited for, in all that leaves at once, before nothing
/// is waited for any more: a link that takes nothing must not hold up whoever writes or leaves.
const FULL_WAITS_MAX: usize = 5;

/// Parts of samples of no more octets leave like everything else: they are out of the way before it
/// would help that others may pass them.
const SHORT_SAMPLE_BYTES_MAX: usize = 9_000;

/// Sends messages at once, and parts of large samples many at a time.
pub(crate) struct SocketOutbox<'a> {
    sockets: &'a Sockets,
    way: Way,
    /// What leaves many by one call, where there was any.
    joined: Option<Box<Joined>>,
    packer: Option<&'a mut BundlePacker>,
    /// What leaves together with what other writers send.
    shared: Option<&'a mut Shared>,
}

impl<'a> SocketOutbox<'a> {
    fn new(sockets: &'a Sockets, oversize: Oversize) -> Self {
        let waits_left = FULL_WAITS_MAX;
        Self {
            sockets,
            way: Way {
                oversize,
                waits_left,
                was_full: false,
            },
            joined: None,
            packer: None,
            shared: None,
        }
    }

    /// For the samples of a writer and the answers of a reader.
    pub(crate) fn user(sockets: &'a Sockets) -> Self {
        Self::new(sockets, Oversize::Drop)
    }

    /// For the samples of a writer, whose bundles `packer` makes smaller and which leave with those
    /// of others in `shared`.
    pub(crate) fn of_writer(
        sockets: &'a Sockets,
        packer: Option<&'a mut BundlePacker>,
        shared: Option<&'a mut Shared>,
    ) -> Self {
        let mut outbox = Self::new(sockets, Oversize::Drop);
        outbox.packer = packer;
        outbox.shared = shared;
        outbox
    }

    /// Lets the system divide what is larger than a packet: a batch is one submessage, and there
    /// are no fragments of it.
    pub(crate) fn in_pieces(mut self) -> Self {
        self.way.oversize = Oversize::InPieces;
        self
    }

    /// For discovery.
    pub(crate) fn control(sockets: &'a Sockets) -> Self {
        Self::new(sockets, Oversize::InPieces)
    }

    /// Sends what is still to leave by one call; true where something found no room in a send
    /// buffer.
    #[inline(always)]
    pub(crate) fn was_full(&mut self) -> bool {
        if self.joined.is_some() {
            self.send_last_joined();
        }
        self.way.was_full
    }

    /// Sends what was put together plain.
    pub(crate) fn send_together(&mut self, shared: &mut Shared) {
        if let Some((to, message, _)) = shared.plain.take() {
            self.send(&to, &[&message]);
        }
    }

    /// Sends what was put together to be compressed.
    pub(crate) fn send_packed(&mut self, shared: &mut Shared) {
        if let Some((to, message, samples)) = shared.packed.take() {
            self.send_worth(&to, &[&message], samples);
        }
    }

    /// Sends a message with `samples` that are not compressed yet, compressed where that is worth
    /// it.
    fn send_worth(&mut self, to: &[Locator], parts: &[&[u8]], samples: PlainSamples) {
        let mut packer = self.packer.take();
        let packed = packer.as_mut().and_then(|it| it.pack(parts, samples));
        match packed {
            Some(packed) => self.send(to, &[packed]),
            None => self.send(to, parts),
        }
        self.packer = packer;
    }

    /// Has what leaves plain leave with what other writers send.
    #[inline(never)]
    fn share(&mut self, to: &[Locator], parts: &[&[u8]], bytes_max: usize) {
        let Some(shared) = self.shared.take() else {
            return;
        };
        let none_packed = PlainSamples::default();
        if let Some((to, message, _)) = shared.plain.put(to, parts, (none_packed, bytes_max)) {
            self.send(&to, &[&message]);
        }
        self.shared = Some(shared);
    }

    #[inline(never)]
    fn send_last_joined(&mut self) {
        if let Some(mut joined) = self.joined.take() {
            self.send_joined(&mut joined);
            joined.put_back();
        }
    }

    fn send_joined(&mut self, joined: &mut Joined) {
        for to in &joined.to {
            if joined.count > 0 {
                self.sockets.send_joined(*to, joined, &mut self.way);
            }
        }
        joined.clear();
    }
}

impl Outbox for SocketOutbox<'_> {
    fn send(&mut self, to: &[Locator], parts: &[&[u8]]) {
        if to.len() > 1 && self.sockets.sends_batches {
            return self.sockets.send_to_many(to, parts, &mut self.way);
        }
        for to in to.iter().filter_map(|it| it.to_socket_addr()) {
            self.sockets.send_to_one(to, parts, &mut self.way);
        }
    }

    fn retain_listened(&mut self, to: &mut Vec<Locator>) {
        // Another network's table, of another thread's namespace, would not have our own port.
        let own = self.sockets.unicast_port();
        if let Ok(ports) = udp_ports()
            && own.is_some_and(|own| ports.contains(&own))
        {
            to.retain(|it| u16::try_from(it.port).is_ok_and(|port| ports.contains(&port)));
        }
    }

    fn send_shared_bundle(
        &mut self,
        to: &[Locator],
        parts: &[&[u8]],
        (samples, bytes_max): (PlainSamples, usize),
    ) {
        let packing = self.packer.as_ref().map(|packer| packer.packing());
        let alike = packing.filter(|it| self.shared.as_ref().is_some_and(|all| all.packs(*it)));
        let shared = self.shared.take_if(|_| alike.is_some());
        let Some(shared) = shared else {
            return self.send_worth(to, parts, samples);
        };
        if let Some((to, message, samples)) = shared.packed.put(to, parts, (samples, bytes_max)) {
            self.send_worth(&to, &[&message], samples);
        }
        self.shared = Some(shared);
    }

    fn send_shared(&mut self, to: &[Locator], parts: &[&[u8]], bytes_max: usize) {
        if self.shared.is_none() {
            return self.send(to, parts);
        }
        self.share(to, parts, bytes_max);
    }

    fn send_bulk(&mut self, to: &[Locator], parts: &[&[u8]], of: PartOf) {
        let mut joined = self.joined.take().unwrap_or_else(Joined::spare);
        let is_bulk = of.sample_bytes > SHORT_SAMPLE_BYTES_MAX;
        let bytes_max = self.sockets.offload.joined_bytes_max(of);
        let joins = Joined::is_worth(parts, bytes_max);
        if !joins {
            // Nothing overtakes what waits.
            self.send_joined(&mut joined);
        }
        joined.next_to.clear();
        for to in to.iter().filter_map(|to| to.to_socket_addr()) {
            if joins && self.sockets.apart(to, is_bulk).is_some() {
                joined.next_to.push(to);
            } else if is_bulk {
                self.sockets.send_bulk(to, parts, &mut self.way);
            } else {
                self.sockets.send_one(to, parts, &mut self.way);
            }
        }
        if !joined.next_to.is_empty() && !joined.add_next(parts, bytes_max, is_bulk) {
            self.send_joined(&mut joined);
            // Alone it always goes.
            let _ = joined.add_next(parts, bytes_max, is_bulk);
        }
        self.joined = Some(joined);
    }
}

impl Drop for SocketOutbox<'_> {
    fn drop(&mut self) {
        if self.joined.is_some() {
            self.send_last_joined();
        }
    }
}
