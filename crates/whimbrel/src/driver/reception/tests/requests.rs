//! Threads that want the seat which the `whimbrel-io` thread has.

use std::mem;

use super::*;
use crate::driver::reception::desk::BATCH;

#[test]
fn the_turn_ends_where_somebody_asks_and_none_begins() {
    let (socket, sender) = (Arc::new(open()), open());
    let to = socket.local_addr();
    let place: Arc<Mutex<Weak<Reception>>> = Arc::default();
    let heard = Arc::new(AtomicU64::new(0));
    // Somebody asks from the first datagram on.
    let (asked_at, counted) = (Arc::clone(&place), Arc::clone(&heard));
    let asked = Arc::new(AtEach(move || {
        if counted.fetch_add(1, Ordering::SeqCst) == 0 {
            let reception = lock(&asked_at).upgrade().unwrap();
            mem::forget(reception.request.ask());
        }
    }));
    let watches = Arc::new(Watches::default());
    let watcher: Weak<Watches> = Arc::downgrade(&watches);
    let participant = Arc::downgrade(&asked);
    let manner = (Waiting::Receive, true);
    let reception = Reception::new(watcher, socket, participant, Token(0), manner);
    *lock(&place) = Arc::downgrade(&reception);
    for _ in 0..3 * BATCH {
        let _ = sender.send(to, &[b"a"]).unwrap();
    }
    assert!(reception.socket.wait_readable(PATIENCE).unwrap());
    for _ in 0..2 {
        reception.receive();
        assert_eq!(heard.load(Ordering::SeqCst), BATCH as u64);
    }
    // Whoever asked has the rest.
    let mut seat = Arc::clone(&reception).sit().unwrap();
    seat.receive_now();
    assert_eq!(heard.load(Ordering::SeqCst), 2 * BATCH as u64);
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

#[test]
fn a_thread_that_runs_a_task_waits_for_nobody_else() {
    let _turn = turn();
    let scene = scene(Waiting::Receive);
    let waits = scene.spawn("waiter", |scene| {
        let bell = Arc::clone(&scene.inbox.bell);
        block_on(until(bell, || scene.handler_of("end")))
    });
    let deadline = StdInstant::now() + PATIENCE;
    let (mut sent, mut by_itself) = (0, 0);
    while by_itself < 6 {
        assert!(StdInstant::now() < deadline, "{by_itself} of {sent}");
        let soon = StdInstant::now() + StdDuration::from_millis(20);
        while scene.reception.is_waited_at(0) && StdInstant::now() < soon {
            thread::yield_now();
        }
        if scene.reception.is_waited_at(0) {
            // On a busy machine the seat is taken for a moment, and who finds it so sleeps.
            scene.send("look again");
            continue;
        }
        let text = format!("silent {sent}");
        sent += 1;
        scene.send(&text);
        by_itself += usize::from(scene.watch_for(&text) == "waiter");
    }
    scene.send("end");
    assert_eq!(waits.join().unwrap(), "waiter");
}
