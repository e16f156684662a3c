//! Threads that are kept from waiting until their timers have fired.

use std::sync::mpsc;

use super::*;

/// Fires the first timer as soon as it is set, as if whoever set it had been kept from going on
/// until then, and the others when they are due.
#[derive(Default)]
struct Hasty {
    has_fired: AtomicBool,
}

impl Watch for Hasty {
    fn watch_not(&self, _reception: &Reception) -> io::Result<()> {
        Ok(())
    }

    fn watch_again(&self, _reception: &Reception) -> io::Result<()> {
        Ok(())
    }

    fn arm(&self, _slot: &TimerSlot, owner: &Weak<dyn Timed>, at: Instant) {
        let owner = Weak::clone(owner);
        let fire = move |now| owner.upgrade().into_iter().for_each(|it| it.on_timer(now));
        if !self.has_fired.swap(true, Ordering::SeqCst) {
            return fire(at);
        }
        thread::spawn(move || {
            thread::sleep(clock::span(at.since(clock::now())));
            fire(clock::now());
        });
    }

    fn disarm(&self, _slot: &TimerSlot) {}

    fn count_fault(&self) {}
}

#[test]
fn a_wait_ends_though_its_timer_fires_before_the_thread_has_begun_it() {
    let _turn = turn();
    let hasty = Arc::new(Hasty::default());
    let watcher: Weak<Hasty> = Arc::downgrade(&hasty);
    let inbox = Arc::new(Inbox::default());
    let participant: Weak<Inbox> = Arc::downgrade(&inbox);
    let local = SocketAddr::from(([127, 0, 0, 1], 0));
    let socket = Arc::new(UdpSocket::bind(local, PortUse::Exclusive).unwrap());
    let manner = (Waiting::Receive, true);
    let reception = Reception::new(watcher, socket, participant, Token(0), manner);
    let bell = Arc::clone(&inbox.bell);
    bell.receive_at(Arc::downgrade(&reception));
    let (ends, ended) = mpsc::channel();
    let waits = thread::spawn({
        let bell = Arc::clone(&bell);
        move || {
            // So long that a timer is to end it.
            let deadline = clock::deadline(StdDuration::from_millis(50));
            let found = bell.wait_until(deadline, || lock(&inbox.heard).pop());
            ends.send(found).unwrap();
        }
    });
    let found = ended.recv_timeout(PATIENCE);
    assert!(hasty.has_fired.load(Ordering::SeqCst));
    assert_eq!(found, Ok(None), "it waits for ever");
    waits.join().unwrap();
}
