//! A socket as one sends by it: with a place to wait for room in its send buffer.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use whimbrel_net::poll::{Events, Interest, Poller, Token, Trigger};
use whimbrel_net::socket::UdpSocket;

use super::sync::{Arc, Mutex, lock};

/// How long room is waited for at a time.
const FULL_WAIT: Duration = Duration::from_millis(2);

/// What becomes of a message that is too large for the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Oversize {
    /// It is dropped; its writer hears of the path and sends smaller fragments.
    Drop,
    /// It leaves as IP fragments: announcements of participants cannot be divided otherwise.
    InPieces,
}

/// A socket and what tells that it has room.
pub(crate) struct Outgoing {
    pub(crate) socket: Arc<UdpSocket>,
    writable: Mutex<(Poller, Events)>,
}

impl Outgoing {
    /// Sends by `socket`.
    ///
    /// # Errors
    /// The system has no descriptors left.
    pub(crate) fn new(socket: Arc<UdpSocket>) -> io::Result<Self> {
        let poller = Poller::new()?;
        poller.add(&*socket, Token(0), Interest::Write, Trigger::Level)?;
        Ok(Self {
            socket,
            writable: Mutex::new((poller, Events::with_capacity(1))),
        })
    }

    /// Waits for room a little.
    pub(crate) fn wait_for_room(&self) {
        let mut writable = lock(&self.writable);
        let (poller, events) = &mut *writable;
        // A wait that fails only makes the next try come sooner.
        let _ = poller.wait(Some(FULL_WAIT), events);
    }

    /// Where it is bound.
    pub(crate) fn local_addr(&self) -> SocketAddr {
        self.socket.local_addr()
    }
}
