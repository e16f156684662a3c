//! Threads that want the seat which the `whimbrel-io` thread has.

use std::mem;

use super::*;

/// Has somebody ask for the seat from the first datagram on.
struct Asked {
    reception: Mutex<Weak<Reception>>,
    heard: AtomicU64,
}

impl Receive for Asked {
    fn receive(&self, _now: Instant, _datagram: &Datagram) {
        if self.heard.fetch_add(1, Ordering::SeqCst) == 0 {
            let reception = lock(&self.reception).upgrade().unwrap();
            mem::forget(reception.request.ask());
        }
    }

    fn settle(&self) {}

    fn follow_interfaces(&self, _existing: &[Interface]) {}

    fn note_receive_error(&self, error: &io::Error) {
        panic!("{error}");
    }
}

#[test]
fn the_turn_ends_where_somebody_asks_and_none_begins() {
    let local = SocketAddr::from(([127, 0, 0, 1], 0));
    let open = || UdpSocket::bind(local, PortUse::Exclusive).unwrap();
    let (socket, sender) = (Arc::new(open()), open());
    let to = socket.local_addr();
    let asked = Arc::new(Asked {
        reception: Mutex::default(),
        heard: AtomicU64::new(0),
    });
    let watches = Arc::new(Watches::default());
    let (watcher, participant): (Weak<Watches>, Weak<Asked>) =
        (Arc::downgrade(&watches), Arc::downgrade(&asked));
    let manner = (Waiting::Receive, true);
    let reception = Reception::new(watcher, socket, participant, Token(0), manner);
    *lock(&asked.reception) = Arc::downgrade(&reception);
    for _ in 0..3 * BATCH {
        let _ = sender.send(to, &[b"a"]).unwrap();
    }
    assert!(reception.socket.wait_readable(PATIENCE).unwrap());
    for _ in 0..2 {
        reception.receive();
        assert_eq!(asked.heard.load(Ordering::SeqCst), BATCH as u64);
    }
    // Whoever asked has the rest.
    let mut seat = Arc::clone(&reception).sit().unwrap();
    seat.receive_now();
    assert_eq!(asked.heard.load(Ordering::SeqCst), 2 * BATCH as u64);
}

#[test]
fn who_asks_sits_once_there_is_room() {
    let _turn = turn();
    let scene = scene(Waiting::Receive);
    let watches = Arc::new(Watches::default());
    let (reception, _) = unwatched(&scene, &watches);
    // As the `whimbrel-io` thread does.
    let desk = lock(&reception.seat).take();
    assert!(Arc::clone(&reception).sit().is_none(), "not in time");
    assert!(Arc::clone(&reception).sit_at_once().is_none());
    assert!(!reception.request.is_there());
    let asks = Arc::clone(&reception);
    let asking = thread::spawn(move || {
        let deadline = StdInstant::now() + PATIENCE;
        loop {
            if let Some(seat) = Arc::clone(&asks).sit() {
                return drop(seat);
            }
            assert!(StdInstant::now() < deadline, "there was room");
        }
    });
    let deadline = StdInstant::now() + PATIENCE;
    while !reception.request.is_there() {
        assert!(StdInstant::now() < deadline, "nobody asked");
    }
    *lock(&reception.seat) = desk;
    asking.join().unwrap();
    assert!(!reception.request.is_there() && !reception.is_watched());
}
