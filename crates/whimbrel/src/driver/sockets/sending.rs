//! Sending by the sockets of a participant: one message to one address, or parts of samples.

use std::net::SocketAddr;

use whimbrel_base::locator::Locator;
use whimbrel_net::socket::{OversizePolicy, SendOutcome, UdpSocket};

use super::{Group, PATHS_MAX, Sockets};
use crate::driver::connected::Line;
use crate::driver::joined::Joined;
use crate::driver::outgoing::{Outgoing, Oversize, Way};
use crate::driver::sync::atomic::Ordering;
use crate::driver::sync::{Arc, lock};

impl Sockets {
    /// The socket by which one sends to `to`.
    pub(in crate::driver) fn main(&self, to: SocketAddr) -> Option<&Outgoing> {
        let main = if to.is_ipv4() { &self.v4 } else { &self.v6 };
        main.as_ref()
    }

    /// The socket that is connected to `to`, if there is one.
    pub(in crate::driver) fn line_to(&self, to: &Locator) -> Option<Arc<Line>> {
        let to = to.to_socket_addr()?;
        self.main(to)?.line_to(to)
    }

    /// Sends by `line` no more.
    #[cold]
    pub(in crate::driver) fn give_up(&self, line: &Arc<Line>) {
        if let Some(main) = self.main(line.to()) {
            main.give_up(line);
        }
    }

    #[inline(never)]
    pub(in crate::driver) fn send_one(&self, to: SocketAddr, parts: &[&[u8]], way: &mut Way) {
        self.send_to_one(to, parts, way);
    }

    /// As [`Sockets::send_one`], for where it is sent most often.
    #[inline(always)]
    pub(in crate::driver) fn send_to_one(&self, to: SocketAddr, parts: &[&[u8]], way: &mut Way) {
        let Some(by) = self.main(to) else { return };
        if to.ip().is_multicast() {
            self.send_to_group(by, to, parts, way);
        } else if self.send_waiting(by, to, parts, way) == SendOutcome::TooLarge {
            self.send_too_large(by, to, parts, way);
        }
    }

    #[inline(never)]
    fn send_to_group(&self, by: &Outgoing, to: SocketAddr, parts: &[&[u8]], way: &mut Way) {
        let _held = lock(&self.switching);
        let groups = self.groups.load();
        let exact = groups.iter().find(|group| group.at == to);
        let group = exact.or_else(|| groups.iter().find(|group| group.at.ip() == to.ip()));
        for interface in group.into_iter().flat_map(Group::next_interfaces) {
            if by.aim(interface) && self.send_waiting(by, to, parts, way) == SendOutcome::TooLarge {
                self.oversize.fetch_add(1, Ordering::Relaxed);
                if way.oversize == Oversize::InPieces {
                    self.send_in_pieces(by, to, parts, way);
                }
            }
        }
    }

    #[cold]
    fn send_too_large(&self, by: &Outgoing, to: SocketAddr, parts: &[&[u8]], way: &mut Way) {
        self.note_path(to);
        match way.oversize {
            Oversize::Drop => {}
            Oversize::InPieces => {
                let _held = lock(&self.switching);
                self.send_in_pieces(by, to, parts, way);
            }
        }
    }

    /// Sends what may wait behind everything else on its way to `to`.
    pub(in crate::driver) fn send_bulk(&self, to: SocketAddr, parts: &[&[u8]], way: &mut Way) {
        let Some(by) = self.apart(to, true) else {
            return self.send_one(to, parts, way);
        };
        if self.send_waiting(by, to, parts, way) == SendOutcome::TooLarge {
            self.note_path(to);
        }
    }

    /// The socket for parts of samples on their way to `to`, which may wait behind everything else
    /// where they are `bulk`; `None` within this host and to groups, where they leave one by one.
    pub(in crate::driver) fn apart(&self, to: SocketAddr, bulk: bool) -> Option<&Outgoing> {
        let apart = !to.ip().is_loopback() && !to.ip().is_multicast();
        let main = self.main(to).filter(|_| apart);
        main.and_then(|it| if bulk { self.bulk.beside(it) } else { Some(it) })
    }

    /// Sends datagrams of one size, and a shorter last one.
    pub(in crate::driver) fn send_joined(&self, to: SocketAddr, joined: &Joined, way: &mut Way) {
        let (mut rest, each) = (joined.bytes.as_slice(), joined.segment_bytes);
        let Some(by) = self.apart(to, joined.is_bulk) else {
            let each = usize::from(each).max(1);
            return rest
                .chunks(each)
                .for_each(|it| self.send_one(to, &[it], way));
        };
        let mut has_waited = false;
        while !rest.is_empty() {
            match by.send_segments(to, (rest, each), way.oversize) {
                Ok(SendOutcome::Sent(bytes)) => {
                    let count = bytes.div_ceil(usize::from(each).max(1));
                    self.note_sent(count, bytes);
                    rest = rest.get(bytes..).unwrap_or_default();
                }
                Ok(SendOutcome::Full) if way.waits_left > 0 => {
                    way.wait_for_room(by, to, &mut has_waited);
                }
                Ok(SendOutcome::Full) => {
                    let count = rest.len().div_ceil(usize::from(each).max(1));
                    self.dropped.fetch_add(count as u64, Ordering::Relaxed);
                    return;
                }
                Ok(SendOutcome::TooLarge) => return self.note_path(to),
                Ok(SendOutcome::Refused) | Err(_) => return,
            }
        }
    }

    /// Sends what RTPS cannot divide as IP fragments.
    fn send_in_pieces(&self, by: &Outgoing, to: SocketAddr, parts: &[&[u8]], way: &mut Way) {
        let socket = &by.socket;
        if socket.set_oversize_policy(OversizePolicy::System).is_ok() {
            let _ = self.send_waiting(by, to, parts, way);
            // It was in force before, so the system knows it.
            let _ = socket.set_oversize_policy(OversizePolicy::Refuse);
        }
    }

    /// So many datagrams have left, of so many octets together.
    pub(in crate::driver) fn note_sent(&self, count: usize, bytes: usize) {
        self.sent.fetch_add(count as u64, Ordering::Relaxed);
        self.sent_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Something did not fit on the way to `to`: remembers how much does.
    fn note_path(&self, to: SocketAddr) {
        self.oversize.fetch_add(1, Ordering::Relaxed);
        let Ok(bytes) = UdpSocket::path_payload_bytes(to) else {
            return;
        };
        let mut paths = lock(&self.paths);
        let full = paths.len() >= PATHS_MAX && !paths.contains_key(&to.ip());
        if !full && paths.insert(to.ip(), bytes) != Some(bytes) {
            self.paths_changed.store(true, Ordering::SeqCst);
        }
    }

    /// Sends, waiting a little for room in the send buffer.
    #[inline(always)]
    fn send_waiting(
        &self,
        by: &Outgoing,
        to: SocketAddr,
        parts: &[&[u8]],
        way: &mut Way,
    ) -> SendOutcome {
        let mut has_waited = false;
        loop {
            match by.send(to, parts, way.oversize) {
                Ok(SendOutcome::Sent(bytes)) => {
                    self.note_sent(1, bytes);
                    return SendOutcome::Sent(bytes);
                }
                Ok(SendOutcome::Full) if way.waits_left > 0 => {
                    way.wait_for_room(by, to, &mut has_waited);
                }
                Ok(SendOutcome::Full) => break,
                Ok(SendOutcome::TooLarge) => return SendOutcome::TooLarge,
                // Nobody listens there, or there is no way: discovery will find out.
                Ok(SendOutcome::Refused) | Err(_) => return SendOutcome::Refused,
            }
        }
        self.dropped.fetch_add(1, Ordering::Relaxed);
        SendOutcome::Full
    }
}
