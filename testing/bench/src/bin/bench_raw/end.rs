//! One end of a ping-pong.

use std::io::Result;
use std::net::{SocketAddr, UdpSocket};

/// The octets of a datagram, and from whom it came where that can be anybody.
pub(crate) type Received = Result<(usize, Option<SocketAddr>)>;

/// A socket. Where it is connected its calls name no address, and the system looks up no way.
pub(crate) struct End {
    pub(crate) socket: UdpSocket,
    is_connected: bool,
}

impl End {
    /// An end that is not connected.
    pub(crate) fn new(socket: UdpSocket) -> Self {
        let is_connected = false;
        Self {
            socket,
            is_connected,
        }
    }

    /// Whatever is sent goes to `peer` from now on, and only what comes from it is received.
    pub(crate) fn connect(&mut self, peer: SocketAddr) -> Result<()> {
        self.socket.connect(peer)?;
        self.is_connected = true;
        Ok(())
    }

    /// Sends to `to`; without it to whom this end is connected.
    pub(crate) fn send(&self, sent: &[u8], to: Option<SocketAddr>) -> Result<()> {
        let sent = match to {
            Some(to) => self.socket.send_to(sent, to),
            None => self.socket.send(sent),
        };
        sent.map(drop)
    }

    /// Receives one datagram by one call.
    pub(crate) fn receive(&self, room: &mut [u8]) -> Received {
        if self.is_connected {
            return Ok((self.socket.recv(room)?, None));
        }
        let (len, from) = self.socket.recv_from(room)?;
        Ok((len, Some(from)))
    }
}
