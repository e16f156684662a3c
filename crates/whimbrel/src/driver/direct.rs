//! The way of messages that leave one by one to one address, by a socket that is connected to it
//! and known from the time before.

use whimbrel_base::locator::Locator;
use whimbrel_net::socket::SendOutcome;
use whimbrel_proto::Outbox;

use super::connected::Line;
use super::outbox::SocketOutbox;
use super::sockets::Sockets;
use super::sync::{Arc, Weak};

/// The socket by which a writer sent last, where it had one address and a socket connected to it.
/// It does not keep the socket open: a writer may be silent for long.
#[derive(Default)]
pub(super) struct KnownLine(Option<(Locator, Weak<Line>)>);

impl KnownLine {
    /// The one for `to`, while there is one.
    #[inline(always)]
    fn to(&self, to: &[Locator]) -> Option<Arc<Line>> {
        match (&self.0, to) {
            (Some((known, line)), [to]) if known == to => line.upgrade(),
            _ => None,
        }
    }
}

/// Sends messages by the socket that is known, and by any other way where it cannot.
pub(super) struct DirectOutbox<'a> {
    sockets: &'a Sockets,
    known: &'a mut KnownLine,
    was_full: bool,
}

impl<'a> DirectOutbox<'a> {
    /// For the samples of a writer which sent by `known` last.
    #[inline(always)]
    pub(super) fn new(sockets: &'a Sockets, known: &'a mut KnownLine) -> Self {
        Self {
            sockets,
            known,
            was_full: false,
        }
    }

    /// True where something found no room in a send buffer.
    pub(super) fn was_full(&self) -> bool {
        self.was_full
    }

    /// Sends as messages usually leave, and learns by which socket.
    #[inline(never)]
    fn send_and_learn(&mut self, to: &[Locator], parts: &[&[u8]]) {
        let mut outbox = SocketOutbox::user(self.sockets);
        outbox.send(to, parts);
        self.was_full |= outbox.was_full();
        self.known.0 = match to {
            [only] => {
                let line = self.sockets.line_to(only);
                line.map(|it| (*only, Arc::downgrade(&it)))
            }
            _ => None,
        };
    }
}

impl Outbox for DirectOutbox<'_> {
    #[inline(always)]
    fn send(&mut self, to: &[Locator], parts: &[&[u8]]) {
        if let Some(line) = self.known.to(to) {
            match line.send(parts) {
                Ok(SendOutcome::Sent(bytes)) => return self.sockets.note_sent(1, bytes),
                Ok(SendOutcome::Full | SendOutcome::TooLarge) => {}
                Ok(SendOutcome::Refused) | Err(_) => self.sockets.give_up(&line),
            }
        }
        self.send_and_learn(to, parts);
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use std::net::UdpSocket;
    use std::time::Duration;

    use whimbrel_net::interfaces::{self, InterfaceFilter};

    use super::*;
    use crate::domain::{InProcess, Waiting};
    use crate::driver::connected::WORTH;
    use crate::driver::network::{DataGroup, Families, Fittings, Network};

    /// Sockets on the loopback interface, with others for addresses to which much is sent.
    fn sockets() -> Sockets {
        let network = Network {
            domain: 0,
            filter: InterfaceFilter::default(),
            loopback_only: true,
            multicast: false,
            data_group: DataGroup::Off,
            probing: false,
            families: Families {
                v4: true,
                v6: false,
            },
            packet_bytes_max: 1500,
            waiting: Waiting::Sleep,
            peers: Vec::new(),
            in_process: InProcess::default(),
            bundles: false,
            fittings: Fittings {
                connects: true,
                ..Fittings::default()
            },
        };
        let loopback: Vec<_> = interfaces::list().unwrap();
        let loopback: Vec<_> = loopback.into_iter().filter(|it| it.is_loopback).collect();
        Sockets::open(&network, &loopback).unwrap()
    }

    fn receiver() -> (UdpSocket, Locator) {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let wait = Some(Duration::from_secs(60));
        socket.set_read_timeout(wait).unwrap();
        let at = socket.local_addr().unwrap().into();
        (socket, at)
    }

    /// Sends one message to `to` by what is `known`, and gives back the port from which it came.
    fn port(sockets: &Sockets, known: &mut KnownLine, to: &(UdpSocket, Locator)) -> u16 {
        let mut outbox = DirectOutbox::new(sockets, known);
        outbox.send(&[to.1], &[b"da", b"ta"]);
        assert!(!outbox.was_full());
        let mut room = [0; 8];
        let (len, from) = to.0.recv_from(&mut room).unwrap();
        assert_eq!(&room[..len], b"data");
        from.port()
    }

    #[test]
    fn what_is_known_is_used_as_long_as_it_is_there_and_counted_as_any_other() {
        let (sockets, to, other) = (sockets(), receiver(), receiver());
        let main = sockets.unicast_port().unwrap();
        let mut known = KnownLine::default();
        let mut ports = |to| {
            let first = port(&sockets, &mut known, to);
            let rest = (0..WORTH + 4).map(|_| port(&sockets, &mut known, to));
            (first, rest.last().unwrap(), known.to(&[to.1]).is_some())
        };
        let (first, own, is_known) = ports(&to);
        assert!(first == main && own != main && is_known);
        let (first, others, is_known) = ports(&other);
        assert!(first == main && others != main && others != own && is_known);
        assert_eq!(port(&sockets, &mut known, &to), own);
        sockets.forget_ways_to(&[to.0.local_addr().unwrap()]);
        assert!(known.to(&[to.1]).is_none());
        assert_eq!(port(&sockets, &mut known, &to), main);
        let sent = sockets.sent.load(std::sync::atomic::Ordering::Relaxed);
        assert_eq!(sent, 2 * (u64::from(WORTH) + 5) + 2);
    }

    #[test]
    fn what_is_given_up_is_used_no_more_by_anybody() {
        let (sockets, to) = (sockets(), receiver());
        let mut known = [KnownLine::default(), KnownLine::default()];
        for it in &mut known {
            let own = (0..WORTH + 4).map(|_| port(&sockets, it, &to)).last();
            assert!(own.is_some());
        }
        let [one, other] = &mut known;
        sockets.give_up(&one.to(&[to.1]).unwrap());
        assert!(other.to(&[to.1]).is_none());
        let (_, line) = other.0.as_ref().unwrap();
        assert_eq!(line.strong_count(), 0, "it is closed");
        let main = sockets.unicast_port().unwrap();
        assert_eq!(port(&sockets, other, &to), main);
    }
}
