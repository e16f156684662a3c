//! The ways in which a socket is waited on.

use std::io::{Error, ErrorKind, Result};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use whimbrel_net::poll::{Events, Interest, Poller, Token, Trigger};

pub(crate) enum Way {
    /// A receive call that waits.
    Blocking,
    /// Receive calls that do not wait, over and over.
    Spinning,
    /// Waits in the set that Whimbrel's driver waits in, then receives.
    Polling(Poller, Mutex<Events>),
}

impl Way {
    pub(crate) fn named(name: &str, socket: &UdpSocket) -> std::result::Result<Self, String> {
        match name {
            "blocking" | "calls" => Ok(Self::Blocking),
            "spinning" => Ok(Self::Spinning),
            "polling" => Self::polling(socket).map_err(|error| error.to_string()),
            _ => Err(format!("no mode {name}")),
        }
    }

    fn polling(socket: &UdpSocket) -> Result<Self> {
        let poller = Poller::new()?;
        poller.add(&socket.as_fd(), Token(0), Interest::Read, Trigger::Level)?;
        Ok(Self::Polling(poller, Mutex::new(Events::with_capacity(16))))
    }

    /// Makes `socket` ready for this way.
    pub(crate) fn begin(&self, socket: &UdpSocket) -> Result<()> {
        socket.set_nonblocking(!matches!(self, Self::Blocking))
    }

    /// Receives one datagram, within `patience` or the timeout of the socket.
    pub(crate) fn receive(
        &self,
        socket: &UdpSocket,
        room: &mut [u8],
        patience: Duration,
    ) -> Result<(usize, SocketAddr)> {
        match self {
            Self::Blocking => socket.recv_from(room),
            Self::Spinning => spin(socket, room, patience),
            Self::Polling(poller, events) => {
                let mut events = events.lock().unwrap_or_else(|it| it.into_inner());
                // A deadline to the nanosecond, as timers have it.
                let patience = patience + Duration::from_nanos(1);
                poller.wait(Some(patience), &mut events)?;
                if events.is_empty() {
                    return Err(Error::from(ErrorKind::TimedOut));
                }
                socket.recv_from(room)
            }
        }
    }
}

fn spin(socket: &UdpSocket, room: &mut [u8], patience: Duration) -> Result<(usize, SocketAddr)> {
    let begun = Instant::now();
    let mut tries = 0_u32;
    loop {
        match socket.recv_from(room) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                tries = tries.wrapping_add(1);
                // The clock is not read each time, or it would be measured.
                if tries.is_multiple_of(65_536) && begun.elapsed() > patience {
                    return Err(error);
                }
            }
            other => return other,
        }
    }
}
