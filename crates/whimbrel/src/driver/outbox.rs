//! What machines send, on its way to the sockets.

use std::net::SocketAddr;

use whimbrel_base::locator::Locator;
use whimbrel_proto::Outbox;

use super::outgoing::Oversize;
use super::sockets::Sockets;

/// How often room in a full send buffer is waited for, in all that leaves at once, before nothing
/// is waited for any more: a link that takes nothing must not hold up whoever writes or leaves.
const FULL_WAITS_MAX: usize = 5;

/// Octets that leave by one call at most; the system takes no more.
const JOINED_BYTES_MAX: usize = 63_000;

/// Datagrams that leave by one call at most; the system takes no more.
const JOINED_MAX: usize = 64;

/// Sends messages at once, and parts of large samples many at a time.
pub(crate) struct SocketOutbox<'a> {
    sockets: &'a Sockets,
    way: Way,
    joined: Joined,
    /// The destinations of a datagram that goes with others, to be used again.
    apart: Vec<SocketAddr>,
}

/// How all that leaves at once is sent.
pub(super) struct Way {
    pub(super) oversize: Oversize,
    pub(super) waits_left: usize,
}

/// Datagrams of one size, the last of which may be shorter, to the same destinations.
#[derive(Default)]
pub(super) struct Joined {
    to: Vec<SocketAddr>,
    pub(super) bytes: Vec<u8>,
    pub(super) segment_bytes: u16,
    count: usize,
}

impl Joined {
    /// Adds a datagram of `parts` to `to`; false where it does not go with those that are there.
    fn add(&mut self, to: &[SocketAddr], parts: &[&[u8]]) -> bool {
        let len: usize = parts.iter().map(|part| part.len()).sum();
        let Ok(len) = u16::try_from(len) else {
            return false;
        };
        if self.count == 0 {
            self.to.clear();
            self.to.extend_from_slice(to);
            self.segment_bytes = len;
        }
        let whole = self.bytes.len() == self.count * usize::from(self.segment_bytes);
        let room = JOINED_BYTES_MAX.saturating_sub(self.bytes.len());
        let goes = whole
            && self.to == to
            && len <= self.segment_bytes
            && (self.count == 0 || (self.count < JOINED_MAX && usize::from(len) <= room));
        if goes {
            parts
                .iter()
                .for_each(|part| self.bytes.extend_from_slice(part));
            self.count += 1;
        }
        goes
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.count = 0;
    }
}

impl<'a> SocketOutbox<'a> {
    fn new(sockets: &'a Sockets, oversize: Oversize) -> Self {
        let waits_left = FULL_WAITS_MAX;
        Self {
            sockets,
            way: Way {
                oversize,
                waits_left,
            },
            joined: Joined::default(),
            apart: Vec::new(),
        }
    }

    /// For the samples of a writer and the answers of a reader.
    pub(crate) fn user(sockets: &'a Sockets) -> Self {
        Self::new(sockets, Oversize::Drop)
    }

    /// For discovery.
    pub(crate) fn control(sockets: &'a Sockets) -> Self {
        Self::new(sockets, Oversize::InPieces)
    }

    fn send_joined(&mut self) {
        for to in &self.joined.to {
            if self.joined.count > 0 {
                self.sockets.send_joined(*to, &self.joined, &mut self.way);
            }
        }
        self.joined.clear();
    }
}

impl Outbox for SocketOutbox<'_> {
    fn send(&mut self, to: &[Locator], parts: &[&[u8]]) {
        for locator in to {
            if let Some(addr) = locator.to_socket_addr() {
                self.sockets.send_one(addr, parts, &mut self.way);
            }
        }
    }

    fn send_bulk(&mut self, to: &[Locator], parts: &[&[u8]]) {
        let mut apart = std::mem::take(&mut self.apart);
        apart.clear();
        for to in to.iter().filter_map(|to| to.to_socket_addr()) {
            if self.sockets.joins && self.sockets.bulk_beside(to).is_some() {
                apart.push(to);
            } else {
                self.sockets.send_bulk(to, parts, &mut self.way);
            }
        }
        if !apart.is_empty() && !self.joined.add(&apart, parts) {
            self.send_joined();
            // Alone it always goes.
            let _ = self.joined.add(&apart, parts);
        }
        self.apart = apart;
    }
}

impl Drop for SocketOutbox<'_> {
    fn drop(&mut self) {
        self.send_joined();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_datagrams_of_one_size_and_destination_go_together() {
        let (a, b) = (
            SocketAddr::from(([10, 0, 0, 1], 1)),
            SocketAddr::from(([10, 0, 0, 2], 1)),
        );
        let mut joined = Joined::default();
        assert!(joined.add(&[a], &[&[1; 60], &[2; 40]]));
        assert!(!joined.add(&[b], &[&[3; 100]]));
        assert!(!joined.add(&[a, b], &[&[3; 100]]));
        assert!(!joined.add(&[a], &[&[3; 101]]));
        assert!(joined.add(&[a], &[&[3; 100]]));
        assert!(joined.add(&[a], &[&[4; 99]]));
        // A shorter one is the last.
        assert!(!joined.add(&[a], &[&[5; 99]]));
        assert!(!joined.add(&[a], &[&[5; 100]]));
        assert_eq!((joined.bytes.len(), joined.segment_bytes), (299, 100));
        joined.clear();
        let large = [0; 1400];
        let count = (0..100).take_while(|_| joined.add(&[b], &[&large])).count();
        assert_eq!(count, JOINED_BYTES_MAX / 1400);
        joined.clear();
        let count = (0..100)
            .take_while(|_| joined.add(&[b], &[&[0; 8]]))
            .count();
        assert_eq!(count, JOINED_MAX);
    }
}
