//! One message to several addresses.

use std::net::{Ipv4Addr, SocketAddr};

use whimbrel_base::locator::Locator;
use whimbrel_net::socket::SendOutcome;

use super::Sockets;
use crate::driver::connected::LINES_MAX;
use crate::driver::outgoing::Way;

/// Addresses that are served by one call at most.
const TOGETHER_MAX: usize = 32;

/// From so many addresses on, none is served by a socket of its own: one call for all is quicker.
const MANY: usize = LINES_MAX;

/// Addresses of one IP version that are served by one call.
struct Together {
    to: [SocketAddr; TOGETHER_MAX],
    len: usize,
}

impl Sockets {
    /// Sends `parts` as one message to all of `to`, by one call to those that have no socket of
    /// their own, and to all where they are many.
    #[inline(never)]
    pub(in crate::driver) fn send_to_many(&self, to: &[Locator], parts: &[&[u8]], way: &mut Way) {
        let nowhere = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        let mut together = Together {
            to: [nowhere; TOGETHER_MAX],
            len: 0,
        };
        let are_many = to.len() >= MANY;
        for to in to.iter().filter_map(|it| it.to_socket_addr()) {
            let by = self.main(to).filter(|_| !to.ip().is_multicast());
            let alone = by.filter(|_| !are_many);
            let sent = alone.and_then(|by| by.send_connected(to, parts, way.oversize));
            match sent {
                Some(SendOutcome::Sent(bytes)) => self.note_sent(1, bytes),
                None if by.is_some() => {
                    if !together.has_place(to) {
                        self.send_together(&mut together, parts, way);
                    }
                    together.add(to);
                }
                // Waited for, or otherwise seen to, there.
                _ => self.send_one(to, parts, way),
            }
        }
        self.send_together(&mut together, parts, way);
    }

    fn send_together(&self, together: &mut Together, parts: &[&[u8]], way: &mut Way) {
        let mut rest = together.to.get(..together.len).unwrap_or_default();
        let bytes: usize = parts.iter().map(|part| part.len()).sum();
        while let [first, others @ ..] = rest {
            let by = self.main(*first);
            let sent = by.map_or(0, |by| by.socket.send_to_many(rest, parts));
            if sent == 0 {
                // What is the matter shows there, and is seen to.
                self.send_one(*first, parts, way);
                rest = others;
                continue;
            }
            self.note_sent(sent, bytes.saturating_mul(sent));
            rest = rest.get(sent..).unwrap_or_default();
        }
        together.len = 0;
    }
}

impl Together {
    fn has_place(&self, to: SocketAddr) -> bool {
        let first = self.to.first().filter(|_| self.len > 0);
        let is_alike = first.is_none_or(|first| first.is_ipv4() == to.is_ipv4());
        is_alike && self.len < TOGETHER_MAX
    }

    fn add(&mut self, to: SocketAddr) {
        if let Some(place) = self.to.get_mut(self.len) {
            *place = to;
            self.len = self.len.saturating_add(1);
        }
    }
}
