//! Threads that poll.

use std::cell::Cell;

use super::*;
use crate::driver::reception::rest::Rest;

/// A scene whose socket nobody but the test receives from, and the desk there.
fn desk(scene: &Scene) -> (Arc<Reception>, SocketAddr, Box<Desk>) {
    let (reception, to) = unwatched(scene, &Arc::new(Watches::default()));
    let desk = lock(&reception.seat).take().unwrap();
    (reception, to, desk)
}

/// Polls until something comes or `is_rung`; how many datagrams came.
fn poll(reception: &Reception, desk: &mut Desk, is_rung: impl Fn() -> bool) -> usize {
    desk.seen_at = clock::now();
    let deadline = desk.seen_at.after(Duration::from_secs(20));
    reception.poll(desk, deadline, is_rung).unwrap()
}

#[test]
fn who_polls_asks_for_one_where_one_comes_and_for_several_where_they_were_there() {
    let _turn = turn();
    let scene = scene(Waiting::Receive);
    let (reception, to, mut desk) = desk(&scene);
    let send = || {
        let _ = scene.sender.send(to, &[b"a"]).unwrap();
    };
    desk.ask_for_several(true);
    let has_sent = Cell::new(false);
    // Asked after each look that finds nothing.
    let sends_once = || {
        if !has_sent.replace(true) {
            send();
        }
        false
    };
    assert_eq!(poll(&reception, &mut desk, sends_once), 1);
    assert!(!desk.asks_for_several, "it came alone");
    // To ask for several was in vain once, so that it takes twice to do it again.
    for asks_for_several in [false, true] {
        send();
        assert!(reception.socket.wait_readable(PATIENCE).unwrap());
        assert_eq!(poll(&reception, &mut desk, || false), 1);
        assert_eq!(desk.asks_for_several, asks_for_several);
    }
}

#[test]
fn a_ring_tells_a_thread_that_polls_nothing_of_the_socket() {
    let _turn = turn();
    let scene = scene(Waiting::Receive);
    let (reception, _, mut desk) = desk(&scene);
    for asks_for_several in [false, true] {
        desk.ask_for_several(asks_for_several);
        assert_eq!(poll(&reception, &mut desk, || true), 0);
        assert_eq!(desk.asks_for_several, asks_for_several);
    }
}

#[test]
fn who_sits_after_all_was_received_begins_with_one() {
    let _turn = turn();
    let scene = scene(Waiting::Receive);
    let (reception, _) = unwatched(&scene, &Arc::new(Watches::default()));
    // As the thread `whimbrel-io` does.
    reception.receive();
    let asks_for_several = lock(&reception.seat).as_ref().unwrap().asks_for_several;
    assert!(!asks_for_several);
}

#[test]
fn who_polls_a_stream_lets_several_arrive() {
    let _turn = turn();
    let scene = scene(Waiting::Receive);
    let (reception, to, mut desk) = desk(&scene);
    let budget = StdDuration::from_micros(50);
    desk.rest = Rest::new(Waiting::Automatic { budget }, true);
    desk.ask_for_several(false);
    // Ahead of the clock, so that the rest lasts.
    let mut at = clock::now().after(Duration::from_millis(5));
    while desk.rest.until().is_none() {
        at = at.after(Duration::from_micros(1));
        desk.rest.note(at, 1, false);
    }
    for _ in 0..3 {
        let _ = scene.sender.send(to, &[b"a"]).unwrap();
    }
    assert!(reception.socket.wait_readable(PATIENCE).unwrap());
    assert_eq!(poll(&reception, &mut desk, || false), 3);
    assert!(clock::now() > at, "it was not looked before");
}
