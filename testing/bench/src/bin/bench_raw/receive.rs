//! The ways in which a socket is waited on.

use std::io::{Error, ErrorKind, Result};
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use whimbrel_net::poll::{Events, Interest, Poller, Token, Trigger};

use crate::end::{End, Received};

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

    /// Makes `end` ready for this way.
    pub(crate) fn begin(&self, end: &End) -> Result<()> {
        end.socket.set_nonblocking(!matches!(self, Self::Blocking))
    }

    /// Receives one datagram, within `patience` or the timeout of the socket, as [`End::receive`].
    pub(crate) fn receive(&self, end: &End, room: &mut [u8], patience: Duration) -> Received {
        match self {
            Self::Blocking => end.receive(room),
            Self::Spinning => spin(end, room, patience),
            Self::Polling(poller, events) => {
                let mut events = events.lock().unwrap_or_else(|it| it.into_inner());
                // A deadline to the nanosecond, as timers have it.
                let patience = patience + Duration::from_nanos(1);
                poller.wait(Some(patience), &mut events)?;
                if events.is_empty() {
                    return Err(Error::from(ErrorKind::TimedOut));
                }
                end.receive(room)
            }
        }
    }
}

fn spin(end: &End, room: &mut [u8], patience: Duration) -> Received {
    let begun = Instant::now();
    let mut tries = 0_u32;
    loop {
        match end.receive(room) {
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
