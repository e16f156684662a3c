mod answers;
mod late;
mod polls;
mod requests;

use std::net::SocketAddr;
use std::task::Waker;
use std::time::{Duration as StdDuration, Instant as StdInstant};

use whimbrel_base::time::Duration;
use whimbrel_net::socket::{PortUse, UdpSocket};

use super::*;
use crate::driver::block::block_on;
use crate::driver::engine::Driver;
use crate::driver::sync::thread;
use crate::driver::task::until;
use crate::driver::wake::{Bell, TaskKey};

/// Longer than anything here takes.
const PATIENCE: StdDuration = StdDuration::from_secs(20);

const IO: &str = "whimbrel-io";

/// Notes what arrives and which thread handles it.
#[derive(Default)]
struct Inbox {
    heard: Mutex<Vec<(String, String)>>,
    bell: Arc<Bell>,
}

impl Receive for Inbox {
    fn receive(&self, _now: Instant, datagram: &Datagram) {
        let text = String::from_utf8_lossy(&datagram.payload).into_owned();
        let name = thread::current().name().unwrap_or_default().to_owned();
        lock(&self.heard).push((text, name));
        if datagram.payload.starts_with(b"panic") {
            panic!("as asked");
        }
        if !datagram.payload.starts_with(b"silent") {
            self.bell.ring();
        }
    }

    fn settle(&self) {}

    fn follow_interfaces(&self, _existing: &[Interface]) {}

    fn note_receive_error(&self, error: &io::Error) {
        panic!("{error}");
    }
}

/// A socket of this host.
fn open() -> UdpSocket {
    let local = SocketAddr::from(([127, 0, 0, 1], 0));
    UdpSocket::bind(local, PortUse::Exclusive).unwrap()
}

struct Scene {
    driver: Arc<Driver>,
    inbox: Arc<Inbox>,
    reception: Arc<Reception>,
    sender: UdpSocket,
    to: SocketAddr,
}

impl Scene {
    fn new(waiting: Waiting) -> Self {
        let driver = Driver::start().unwrap();
        let inbox = Arc::new(Inbox::default());
        let participant: Weak<Inbox> = Arc::downgrade(&inbox);
        let socket = Arc::new(open());
        let to = socket.local_addr();
        let reception = driver.add(&socket, participant, (waiting, true)).unwrap();
        inbox.bell.receive_at(Arc::downgrade(&reception));
        Self {
            driver,
            inbox,
            reception,
            sender: open(),
            to,
        }
    }

    fn send(&self, text: &str) {
        let _ = self.sender.send(self.to, &[text.as_bytes()]).unwrap();
    }

    /// Which thread handled `text`, once one has.
    fn handler_of(&self, text: &str) -> Option<String> {
        let heard = lock(&self.inbox.heard);
        let mut heard = heard.iter();
        heard.find(|it| it.0 == text).map(|it| it.1.clone())
    }

    /// Waits in this thread until `text` was handled; by which thread.
    fn wait_for(&self, text: &str) -> String {
        let handler = || self.handler_of(text);
        let deadline = clock::deadline(PATIENCE);
        self.inbox.bell.wait_until(deadline, handler).unwrap()
    }

    /// Sees, without waiting at the bell, which thread handles `text`.
    fn watch_for(&self, text: &str) -> String {
        let deadline = StdInstant::now() + PATIENCE;
        loop {
            if let Some(handler) = self.handler_of(text) {
                return handler;
            }
            assert!(StdInstant::now() < deadline, "nobody received {text}");
            thread::sleep(StdDuration::from_micros(100));
        }
    }

    /// Runs `wait` in a thread of that name.
    fn spawn(
        self: &Arc<Self>,
        name: &str,
        wait: impl FnOnce(&Self) -> String + Send + 'static,
    ) -> thread::JoinHandle<String> {
        let scene = Arc::clone(self);
        let builder = thread::Builder::new().name(name.into());
        builder.spawn(move || wait(&scene)).unwrap()
    }

    /// Lets a thread take the seat.
    fn until_somebody_sits(&self) {
        let deadline = StdInstant::now() + PATIENCE;
        while self.reception.is_waited_at(0) {
            assert!(StdInstant::now() < deadline, "nobody sits down");
            thread::yield_now();
        }
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.driver.remove(&self.reception);
    }
}

fn scene(waiting: Waiting) -> Arc<Scene> {
    Arc::new(Scene::new(waiting))
}

/// The tests look at who else waits in this process, so they take turns.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[test]
fn whoever_waits_receives_in_every_way_but_asleep() {
    let _turn = turn();
    for (waiting, handler) in [
        (Waiting::Sleep, IO),
        (Waiting::Receive, "waiter"),
        (Waiting::default(), "waiter"),
        (Waiting::Spin, "waiter"),
    ] {
        let scene = scene(waiting);
        let waits = scene.spawn("waiter", |scene| scene.wait_for("a"));
        if waiting == Waiting::Receive {
            scene.until_somebody_sits();
        } else {
            thread::sleep(StdDuration::from_millis(50));
        }
        scene.send("a");
        assert_eq!(waits.join().unwrap(), handler, "{waiting}");
    }
}

#[test]
fn nobody_is_missed_when_the_seat_is_left() {
    let _turn = turn();
    let scene = scene(Waiting::Receive);
    for round in 0..3 {
        let text = format!("a{round}");
        let waits = scene.spawn("waiter", {
            let text = text.clone();
            move |scene| scene.wait_for(&text)
        });
        scene.until_somebody_sits();
        scene.send(&text);
        assert_eq!(waits.join().unwrap(), "waiter");
        // Nobody waits any more; it may take as long as the seat may be kept.
        let text = format!("b{round}");
        scene.send(&text);
        assert_eq!(scene.watch_for(&text), IO);
    }
}

#[test]
fn rings_from_elsewhere_end_a_wait() {
    let _turn = turn();
    for waiting in [Waiting::Receive, Waiting::default(), Waiting::Spin] {
        let scene = scene(waiting);
        let waits = scene.spawn("waiter", |scene| scene.wait_for("a"));
        thread::sleep(StdDuration::from_millis(20));
        lock(&scene.inbox.heard).push(("a".into(), "elsewhere".into()));
        scene.inbox.bell.ring();
        assert_eq!(waits.join().unwrap(), "elsewhere", "{waiting}");
    }
}

#[test]
fn a_ring_is_for_those_who_wait_at_that_bell_though_others_have_sat_where_they_sit() {
    let _turn = turn();
    let scene = scene(Waiting::Receive);
    let at = |bell: &Bell| std::ptr::from_ref(bell) as usize;
    // Who waits at it has been here, and a task listens to it now.
    let other = Bell::default();
    other.receive_at(Arc::downgrade(&scene.reception));
    let soon = clock::deadline(StdDuration::from_millis(10));
    assert_eq!(other.wait_until(soon, || None::<()>), None);
    other.wake_task(&mut TaskKey::default(), Waker::noop());
    let waits = scene.spawn("waiter", |scene| scene.wait_for("a"));
    scene.until_somebody_sits();
    other.ring();
    assert!(scene.reception.is_waited_at(at(&scene.inbox.bell)));
    assert!(!scene.reception.is_waited_at(at(&other)));
    scene.send("a");
    assert_eq!(waits.join().unwrap(), "waiter");
}

#[test]
fn deadlines_end_waits_and_not_early() {
    let _turn = turn();
    for waiting in [Waiting::Receive, Waiting::default(), Waiting::Spin] {
        let scene = scene(waiting);
        for millis in [0, 1, 4, 5, 30] {
            let span = StdDuration::from_millis(millis);
            let start = StdInstant::now();
            let found = scene
                .inbox
                .bell
                .wait_until(clock::deadline(span), || None::<()>);
            assert_eq!(found, None);
            assert!(start.elapsed() >= span, "{waiting}, {millis} ms");
        }
    }
}

#[test]
fn a_thread_that_receives_for_others_only_leaves_the_seat_to_them() {
    let _turn = turn();
    let scene = scene(Waiting::Receive);
    let idle = scene.spawn("idle", |scene| {
        let bell = Bell::default();
        bell.receive_at(Arc::downgrade(&scene.reception));
        // Its bell never rings, so it looks now and then.
        loop {
            let slice = clock::deadline(StdDuration::from_millis(500));
            let done = || scene.handler_of("end");
            if let Some(found) = bell.wait_until(slice, done) {
                return found;
            }
        }
    });
    scene.until_somebody_sits();
    let mut handlers = Vec::new();
    for round in 0..6 {
        let text = format!("{round}");
        let waits = scene.spawn("busy", {
            let text = text.clone();
            move |scene| scene.wait_for(&text)
        });
        thread::sleep(StdDuration::from_millis(10));
        scene.send(&text);
        handlers.push(waits.join().unwrap());
    }
    assert_eq!(handlers[0], "idle", "{handlers:?}");
    assert!(handlers[2..].contains(&"busy".to_owned()), "{handlers:?}");
    scene.send("end");
    idle.join().unwrap();
}

/// Somebody waits elsewhere in this process.
struct Another;

impl Another {
    fn waits() -> Self {
        audience::join();
        Self
    }
}

impl Drop for Another {
    fn drop(&mut self) {
        audience::leave(1);
    }
}

/// Counts how often sockets are left to others and taken back: each is a call of the system.
#[derive(Default)]
struct Watches {
    changed: AtomicU64,
}

impl Watch for Watches {
    fn watch_not(&self, _reception: &Reception) -> io::Result<()> {
        self.changed.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn watch_again(&self, _reception: &Reception) -> io::Result<()> {
        self.changed.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn arm(&self, _slot: &TimerSlot, _owner: &Weak<dyn Timed>, _at: Instant) {}

    fn disarm(&self, _slot: &TimerSlot) {}

    fn count_fault(&self) {}
}

/// A reception that nobody but threads of the test receives from, and where to send to.
fn unwatched(scene: &Scene, watches: &Arc<Watches>) -> (Arc<Reception>, SocketAddr) {
    let watcher: Weak<Watches> = Arc::downgrade(watches);
    let inbox: Weak<Inbox> = Arc::downgrade(&scene.inbox);
    let socket = Arc::new(open());
    let to = socket.local_addr();
    let reception = Reception::new(watcher, socket, inbox, Token(0), (Waiting::Receive, true));
    scene.inbox.bell.receive_at(Arc::downgrade(&reception));
    (reception, to)
}

#[test]
fn who_does_not_wait_receives_what_is_there_where_nobody_sat_of_late() {
    let _turn = turn();
    let scene = scene(Waiting::Receive);
    let watches = Arc::new(Watches::default());
    let (reception, to) = unwatched(&scene, &watches);
    let receive = |text: &str| {
        let _ = scene.sender.send(to, &[text.as_bytes()]).unwrap();
        scene.inbox.bell.receive_now();
        scene.handler_of(text).is_some()
    };
    assert!(receive("a"));
    assert!(!receive("b"), "the seat is kept for whoever left it");
    assert_eq!(watches.changed.load(Ordering::Relaxed), 1);
    reception.on_timer(Instant::FAR_FUTURE);
    assert_eq!(watches.changed.load(Ordering::Relaxed), 2);
    assert!(receive("c"));
    assert!(scene.handler_of("b").is_some());
    let seat = Arc::clone(&reception).sit();
    assert!(seat.is_some() && !receive("d"), "somebody sits there");
}

#[test]
fn a_thread_that_is_soon_back_keeps_the_seat_while_others_wait_and_nobody_is_told() {
    const ROUNDS: u64 = 4000;
    let _turn = turn();
    let _another = Another::waits();
    let scene = scene(Waiting::Receive);
    let watches = Arc::new(Watches::default());
    let (_reception, to) = unwatched(&scene, &watches);
    for _ in 0..ROUNDS {
        let _ = scene.sender.send(to, &[b"a"]).unwrap();
        scene.wait_for("a");
        lock(&scene.inbox.heard).clear();
    }
    // Twice a round if it gave the seat back; on a busy machine it is away for long now and then.
    let changed = watches.changed.load(Ordering::Relaxed);
    assert!(changed < ROUNDS, "{changed} in {ROUNDS} waits");
}

#[test]
fn others_are_served_when_a_thread_that_was_soon_back_stays_away() {
    let _turn = turn();
    let _another = Another::waits();
    let scene = scene(Waiting::Receive);
    for _ in 0..200 {
        scene.send("a");
        scene.wait_for("a");
        lock(&scene.inbox.heard).clear();
    }
    scene.send("b");
    assert_eq!(scene.watch_for("b"), IO);
}

#[test]
fn a_panic_while_receiving_ends_neither_the_wait_nor_the_reception() {
    let _turn = turn();
    let scene = scene(Waiting::Receive);
    let waits = scene.spawn("waiter", |scene| scene.wait_for("a"));
    scene.until_somebody_sits();
    scene.send("panic");
    scene.send("a");
    assert_eq!(waits.join().unwrap(), "waiter");
    scene.send("panic again");
    scene.send("b");
    assert_eq!(scene.watch_for("b"), IO);
    assert_eq!(scene.driver.faults.load(Ordering::Relaxed), 2);
}

#[test]
fn whoever_waits_where_a_socket_is_given_up_goes_on_waiting() {
    let _turn = turn();
    let scene = scene(Waiting::Receive);
    let waits = scene.spawn("waiter", |scene| scene.wait_for("a"));
    scene.until_somebody_sits();
    scene.driver.remove(&scene.reception);
    thread::sleep(StdDuration::from_millis(20));
    scene.send("a");
    thread::sleep(StdDuration::from_millis(20));
    assert_eq!(scene.handler_of("a"), None, "nobody is to receive there");
    lock(&scene.inbox.heard).push(("a".into(), "elsewhere".into()));
    scene.inbox.bell.ring();
    assert_eq!(waits.join().unwrap(), "elsewhere");
}

#[test]
fn whoever_waits_at_a_socket_keeps_nothing_alive() {
    let _turn = turn();
    let scene = scene(Waiting::Receive);
    let bell = Arc::clone(&scene.inbox.bell);
    let participant = Arc::downgrade(&scene.inbox);
    let Ok(scene) = Arc::try_unwrap(scene) else {
        panic!("nobody else has it");
    };
    let (done, reception) = (
        Arc::new(AtomicBool::new(false)),
        Arc::clone(&scene.reception),
    );
    let waits = thread::spawn({
        let (bell, done) = (Arc::clone(&bell), Arc::clone(&done));
        move || bell.wait_until(None, || done.load(Ordering::SeqCst).then_some(()))
    });
    scene.until_somebody_sits();
    drop(scene);
    assert!(participant.upgrade().is_none());
    let deadline = StdInstant::now() + PATIENCE;
    while Arc::strong_count(&reception) > 1 {
        assert!(StdInstant::now() < deadline, "somebody stays at the socket");
        thread::sleep(StdDuration::from_micros(100));
    }
    done.store(true, Ordering::SeqCst);
    bell.ring();
    waits.join().unwrap();
}

/// Does this at each datagram.
struct AtEach<F>(F);

impl<F: Fn() + Send + Sync> Receive for AtEach<F> {
    fn receive(&self, _now: Instant, _datagram: &Datagram) {
        (self.0)();
    }

    fn settle(&self) {}

    fn follow_interfaces(&self, _existing: &[Interface]) {}

    fn note_receive_error(&self, error: &io::Error) {
        panic!("{error}");
    }
}

#[test]
fn datagrams_are_taken_from_the_socket_several_at_a_time_only_where_that_is_wanted() {
    for (in_batches, expected) in [(true, [false; 4]), (false, [true, true, true, false])] {
        let socket = Arc::new(open());
        let to = socket.local_addr();
        let (peeked, more) = (Arc::clone(&socket), Arc::new(Mutex::new(Vec::new())));
        // Whether more wait in the socket.
        let seen = Arc::clone(&more);
        let peek = Arc::new(AtEach(move || {
            let more = peeked.wait_readable(StdDuration::ZERO).unwrap();
            lock(&seen).push(more);
        }));
        let watches: Weak<Watches> = Weak::new();
        let participant = Arc::downgrade(&peek);
        let manner = (Waiting::Receive, in_batches);
        let reception = Reception::new(watches, socket, participant, Token(0), manner);
        let sender = open();
        for _ in 0..4 {
            let _ = sender.send(to, &[b"a"]).unwrap();
        }
        assert!(reception.socket.wait_readable(PATIENCE).unwrap());
        reception.receive();
        assert_eq!(*lock(&more), expected, "{in_batches}");
    }
}
