//! Threads that poll.

use std::cell::Cell;

use super::*;

#[test]
fn who_polls_asks_for_one_where_one_comes_and_for_several_where_they_were_there() {
    let _turn = turn();
    let scene = scene(Waiting::Receive);
    let (reception, to) = unwatched(&scene, &Arc::new(Watches::default()));
    let send = || {
        let _ = scene.sender.send(to, &[b"a"]).unwrap();
    };
    // As the thread `whimbrel-io` does.
    reception.receive();
    let mut desk = lock(&reception.seat).take().unwrap();
    let has_sent = Cell::new(false);
    let poll = |desk: &mut Desk| {
        // Asked after each look that finds nothing.
        let is_rung = || {
            assert!(!has_sent.replace(true), "it is there");
            send();
            false
        };
        desk.seen_at = clock::now();
        let deadline = desk.seen_at.after(Duration::from_secs(20));
        reception.poll(desk, deadline, is_rung).unwrap()
    };
    assert!(desk.asks_for_several);
    assert_eq!(poll(&mut desk), 1);
    assert!(!desk.asks_for_several, "it came alone");
    // To ask for several was in vain once, so that it takes twice to do it again.
    for asks_for_several in [false, true] {
        send();
        assert_eq!(poll(&mut desk), 1);
        assert_eq!(desk.asks_for_several, asks_for_several);
    }
}
