use std::net::{IpAddr, Ipv4Addr, UdpSocket as StdSocket};

use super::*;
use crate::driver::connected::{LINES_MAX, WORTH};

const ANY: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// What sends.
fn outgoing(connects: bool) -> Outgoing {
    let fittings = Fittings {
        connects,
        send_buffer_bytes: Some(crate::driver::network::SEND_BUFFER_BYTES),
        ..Fittings::default()
    };
    let main = bind(&fittings, ANY, PortUse::Exclusive).unwrap();
    Outgoing::new(main, &fittings)
}

fn receiver() -> StdSocket {
    let socket = StdSocket::bind(ANY).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    socket
}

/// Sends one datagram to `to` and gives back from where it came.
fn source(by: &Outgoing, to: &StdSocket, oversize: Oversize) -> SocketAddr {
    let sent = by.send(to.local_addr().unwrap(), &[b"da", b"ta"], oversize);
    assert_eq!(sent.unwrap(), SendOutcome::Sent(4));
    let mut room = [0; 16];
    let (len, from) = to.recv_from(&mut room).unwrap();
    assert_eq!(&room[..len], b"data");
    from
}

/// The sources of as many datagrams as make an address worth a socket, and a few more.
fn sources(by: &Outgoing, to: &StdSocket, oversize: Oversize) -> Vec<SocketAddr> {
    let count = WORTH + 4;
    (0..count).map(|_| source(by, to, oversize)).collect()
}

#[test]
fn bulk_leaves_by_a_socket_beside_the_main_one_unless_that_is_off() {
    for sets_bulk_apart in [true, false] {
        let fittings = Fittings {
            sets_bulk_apart,
            ..Fittings::default()
        };
        let (main, bulk) = (outgoing(false), Bulk::new(&fittings));
        let beside = bulk.beside(&main).unwrap();
        let is_apart = beside.local_addr() != main.local_addr();
        assert_eq!(is_apart, sets_bulk_apart);
        let to = receiver();
        assert_eq!(source(beside, &to, Oversize::Drop), beside.local_addr());
    }
}

#[test]
fn what_is_sent_often_leaves_by_a_socket_of_its_own_and_all_arrives() {
    let by = outgoing(true);
    let to = receiver();
    let seen = sources(&by, &to, Oversize::Drop);
    let main = by.local_addr();
    assert_eq!(seen[0], main);
    let own = *seen.last().unwrap();
    assert_ne!(own, main);
    // What may have to leave in pieces does not, and neither does what goes elsewhere.
    assert_eq!(source(&by, &to, Oversize::InPieces), main);
    assert_eq!(source(&by, &receiver(), Oversize::Drop), main);
    assert_eq!(source(&by, &to, Oversize::Drop), own);
    by.wait_for_room(to.local_addr().unwrap());
    by.forget_ways_to(&[main, own]);
    assert_eq!(source(&by, &to, Oversize::Drop), own);
    by.forget_ways_to(&[to.local_addr().unwrap()]);
    assert_eq!(source(&by, &to, Oversize::Drop), main);
    let again = *sources(&by, &to, Oversize::Drop).last().unwrap();
    assert_ne!(again, main);
    by.forget_ways();
    assert_eq!(source(&by, &to, Oversize::Drop), main);
}

#[test]
fn what_leaves_many_by_one_call_leaves_by_the_same_socket() {
    let by = outgoing(true);
    let to = receiver();
    let own = *sources(&by, &to, Oversize::Drop).last().unwrap();
    let at = to.local_addr().unwrap();
    let mut seen = Vec::new();
    for oversize in [Oversize::Drop, Oversize::InPieces] {
        let sent = by.send_segments(at, (&[7; 250], 100), oversize);
        assert_eq!(sent.unwrap(), SendOutcome::Sent(250));
        let mut room = [0; 256];
        seen.extend((0..3).map(|_| to.recv_from(&mut room).unwrap()));
    }
    let main = by.local_addr();
    let wanted = [own, main].map(|from| [(100, from), (100, from), (50, from)]);
    assert_eq!(seen, wanted.concat());
    assert_ne!(own, main);
}

#[test]
fn none_is_opened_where_that_is_not_wanted_or_in_pieces() {
    let to = receiver();
    let by = outgoing(false);
    let main = by.local_addr();
    assert!(
        sources(&by, &to, Oversize::Drop)
            .iter()
            .all(|it| *it == main)
    );
    let by = outgoing(true);
    let main = by.local_addr();
    assert!(
        sources(&by, &to, Oversize::InPieces)
            .iter()
            .all(|it| *it == main)
    );
}

#[test]
fn groups_get_none() {
    let by = outgoing(true);
    let group = SocketAddr::from(([239, 255, 7, 7], 7400));
    for _ in 0..=2 * WORTH {
        // Without a route for it nothing leaves.
        let _ = by.send(group, &[b"data"], Oversize::Drop);
    }
    assert_eq!(by.connected.as_ref().unwrap().len(), 0);
}

#[test]
fn who_comes_back_after_silence_still_gets_all() {
    let by = outgoing(true);
    let to = receiver();
    let own = *sources(&by, &to, Oversize::Drop).last().unwrap();
    assert_ne!(own, by.local_addr());
    let at = to.local_addr().unwrap();
    drop(to);
    for _ in 0..10 {
        // The system tells of each that nobody listens.
        let _ = by.send(at, &[b"data"], Oversize::Drop).unwrap();
    }
    let Ok(back) = StdSocket::bind(at) else {
        // Somebody else has the port by now.
        return;
    };
    back.set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    for _ in 0..10 {
        source(&by, &back, Oversize::Drop);
    }
}

#[test]
fn there_are_few_and_who_sends_no_more_makes_place() {
    let by = outgoing(true);
    let receivers: Vec<StdSocket> = (0..LINES_MAX + 4).map(|_| receiver()).collect();
    for to in &receivers {
        sources(&by, to, Oversize::Drop);
    }
    let lines = || by.connected.as_ref().unwrap().len();
    assert_eq!(lines(), LINES_MAX);
    // Nobody else sends any more, which is known after as many datagrams twice.
    let newcomer = receiver();
    sources(&by, &newcomer, Oversize::Drop);
    let last = *sources(&by, &newcomer, Oversize::Drop).last().unwrap();
    assert_ne!(last, by.local_addr());
    assert_eq!(lines(), LINES_MAX);
}
