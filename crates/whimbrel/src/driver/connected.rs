//! Sockets that are connected to the addresses to which most is sent: the way there is looked up
//! once, not with every datagram.
//!
//! They receive nothing, as nobody knows their ports. What they cannot send leaves by the socket of
//! the participant, which is never connected.

use std::io;
use std::net::SocketAddr;

use whimbrel_net::socket::{PortUse, SendOutcome, UdpSocket};

use super::network::Fittings;
use super::opening::open;
use super::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use super::sync::{Arc, Mutex, MutexGuard, Snapshot, lock, try_lock};

/// How many there are at most.
pub(super) const LINES_MAX: usize = 8;

/// Datagrams to an address before it is worth a socket: for about as many one spares what opening
/// it takes.
pub(super) const WORTH: u32 = 32;

/// Counters of datagrams, shared by the addresses that fall to the same one.
const COUNTERS: usize = 32;

/// Sockets of one IP version, each connected to an address.
pub(super) struct Connected {
    fittings: Fittings,
    lines: Snapshot<Vec<Arc<Line>>>,
    counters: [AtomicU32; COUNTERS],
    /// Held while a line is added or taken away.
    changing: Mutex<()>,
}

/// A socket that is connected to an address. Nothing holds it for long but the table of those by
/// which one sends.
pub(crate) struct Line {
    to: SocketAddr,
    socket: UdpSocket,
    /// Something left by it since it was last asked who does without.
    is_used: AtomicBool,
}

impl Line {
    /// Where it goes.
    pub(super) fn to(&self) -> SocketAddr {
        self.to
    }

    /// Sends by it.
    ///
    /// # Errors
    /// As of [`UdpSocket::send_to_peer`].
    #[inline(always)]
    pub(super) fn send(&self, parts: &[&[u8]]) -> io::Result<SendOutcome> {
        self.note_use();
        self.socket.send_to_peer(parts)
    }

    #[inline(always)]
    fn note_use(&self) {
        if !self.is_used.load(Ordering::Relaxed) {
            self.is_used.store(true, Ordering::Relaxed);
        }
    }
}

impl Connected {
    /// None yet; each is to have `fittings`.
    pub(super) fn new(fittings: &Fittings) -> Self {
        Self {
            fittings: fittings.clone(),
            lines: Snapshot::default(),
            counters: std::array::from_fn(|_| AtomicU32::new(0)),
            changing: Mutex::new(()),
        }
    }

    /// Has `send` send by the socket for `to` where there is one; `None` where it is to leave by
    /// `main`.
    #[inline(always)]
    pub(super) fn send(
        &self,
        main: &UdpSocket,
        to: SocketAddr,
        send: impl FnOnce(&UdpSocket) -> io::Result<SendOutcome>,
    ) -> Option<SendOutcome> {
        let lines = self.lines.load();
        let Some(line) = lines.iter().find(|line| line.to == to) else {
            self.count(main, to);
            return None;
        };
        line.note_use();
        match send(&line.socket) {
            Ok(SendOutcome::Refused) | Err(_) => {
                self.give_up(line);
                None
            }
            Ok(outcome) => Some(outcome),
        }
    }

    /// Nobody is there any more, or the way has changed.
    #[cold]
    pub(super) fn give_up(&self, line: &Arc<Line>) {
        self.change(&lock(&self.changing), |lines| {
            lines.retain(|it| !Arc::ptr_eq(it, line));
        });
    }

    /// The socket for `to`, if there is one.
    pub(super) fn with<R>(&self, to: SocketAddr, f: impl FnOnce(&UdpSocket) -> R) -> Option<R> {
        self.line_to(to).map(|line| f(&line.socket))
    }

    /// The one for `to`, if there is one.
    pub(super) fn line_to(&self, to: SocketAddr) -> Option<Arc<Line>> {
        let lines = self.lines.load();
        lines.iter().find(|line| line.to == to).cloned()
    }

    /// How many there are.
    #[cfg(all(test, not(shuttle)))]
    pub(super) fn len(&self) -> usize {
        self.lines.load().len()
    }

    /// Forgets those for `addresses`.
    pub(super) fn forget(&self, addresses: &[SocketAddr]) {
        let lines = self.lines.load();
        if lines.iter().any(|line| addresses.contains(&line.to)) {
            self.change(&lock(&self.changing), |lines| {
                lines.retain(|line| !addresses.contains(&line.to));
            });
        }
    }

    /// Forgets all: ways may have changed.
    pub(super) fn clear(&self) {
        self.change(&lock(&self.changing), Vec::clear);
    }

    fn change(&self, _changing: &MutexGuard<'_, ()>, change: impl FnOnce(&mut Vec<Arc<Line>>)) {
        let mut lines = Vec::clone(&self.lines.load());
        change(&mut lines);
        self.lines.store(Arc::new(lines));
    }

    /// One more leaves for `to` without a socket of its own.
    #[inline(never)]
    fn count(&self, main: &UdpSocket, to: SocketAddr) {
        if to.ip().is_multicast() {
            // Out of which interface it goes is told to the main socket.
            return;
        }
        let Some(counter) = self.counters.get(usize::from(to.port()) % COUNTERS) else {
            return;
        };
        if counter.fetch_add(1, Ordering::Relaxed) >= WORTH {
            counter.store(0, Ordering::Relaxed);
            self.add(main, to);
        }
    }

    fn add(&self, main: &UdpSocket, to: SocketAddr) {
        // Whoever is late finds it there.
        let Some(changing) = try_lock(&self.changing) else {
            return;
        };
        let lines = self.lines.load();
        if lines.iter().any(|line| line.to == to) {
            return;
        }
        let mut spared = None;
        if lines.len() >= LINES_MAX {
            let is_idle = |line: &Arc<Line>| !line.is_used.load(Ordering::Relaxed);
            spared = lines.iter().position(is_idle);
            // The next to come may have the place of who does without until then.
            lines
                .iter()
                .for_each(|it| it.is_used.store(false, Ordering::Relaxed));
            if spared.is_none() {
                return;
            }
        }
        let local = SocketAddr::new(main.local_addr().ip(), 0);
        let opened = open(&self.fittings, local, PortUse::Exclusive);
        let Ok(socket) = opened.and_then(|socket| socket.connected(to)) else {
            return;
        };
        let line = Arc::new(Line {
            to,
            socket,
            is_used: AtomicBool::new(true),
        });
        self.change(&changing, |lines| {
            if let Some(at) = spared {
                lines.remove(at);
            }
            lines.push(line);
        });
    }
}
