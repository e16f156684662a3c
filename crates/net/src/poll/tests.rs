use std::net::{Ipv4Addr, SocketAddr};
use std::sync::mpsc;
use std::thread;

use super::*;
use crate::socket::{PortUse, RecvBatch, UdpSocket};

const PATIENCE: Duration = Duration::from_secs(5);
const SOCKET: Token = Token(7);
const BELL: Token = Token(u64::MAX);

fn socket() -> UdpSocket {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    UdpSocket::bind(any, PortUse::Exclusive).unwrap()
}

/// The tokens that a wait of at most `timeout` gives.
fn wait(poller: &Poller, timeout: Duration) -> Vec<Token> {
    let mut events = Events::with_capacity(8);
    poller.wait(Some(timeout), &mut events).unwrap();
    events.iter().map(|event| event.token).collect()
}

#[test]
fn a_socket_is_ready_when_something_came() {
    let (poller, receiver) = (Poller::new().unwrap(), socket());
    poller
        .add(&receiver, SOCKET, Interest::Read, Trigger::Level)
        .unwrap();
    assert_eq!(wait(&poller, Duration::ZERO), []);
    let _ = socket().send(receiver.local_addr(), &[b"x"]).unwrap();
    assert_eq!(wait(&poller, PATIENCE), [SOCKET]);
    assert_eq!(wait(&poller, PATIENCE), [SOCKET]);
    receiver.recv_batch(&mut RecvBatch::new(4, 4)).unwrap();
    assert_eq!(wait(&poller, Duration::ZERO), []);
    poller
        .change(&receiver, SOCKET, Interest::ReadWrite, Trigger::Level)
        .unwrap();
    let mut events = Events::with_capacity(1);
    poller.wait(Some(PATIENCE), &mut events).unwrap();
    let event = events.iter().next().unwrap();
    assert!(event.writable && !event.readable);
    poller.remove(&receiver, SOCKET).unwrap();
    assert_eq!(wait(&poller, Duration::ZERO), []);
    assert!(poller.remove(&receiver, SOCKET).is_err());
}

#[cfg(all(target_os = "linux", not(whimbrel_portable)))]
#[test]
fn edges_are_reported_once_each() {
    let (poller, sender, receiver) = (Poller::new().unwrap(), socket(), socket());
    poller
        .add(&receiver, SOCKET, Interest::Read, Trigger::Edge)
        .unwrap();
    for _ in 0..3 {
        let _ = sender.send(receiver.local_addr(), &[b"x"]).unwrap();
        assert_eq!(wait(&poller, PATIENCE), [SOCKET]);
        assert_eq!(wait(&poller, Duration::ZERO), []);
    }
}

#[cfg(all(target_os = "linux", not(whimbrel_portable)))]
#[test]
fn sets_nest_in_other_sets() {
    let (inner, outer) = (Poller::new().unwrap(), Poller::new().unwrap());
    let bell = Waker::new(&inner, BELL).unwrap();
    outer
        .add(&inner.as_fd(), SOCKET, Interest::Read, Trigger::Level)
        .unwrap();
    assert_eq!(wait(&outer, Duration::ZERO), []);
    bell.wake();
    assert_eq!(wait(&outer, PATIENCE), [SOCKET]);
    assert_eq!(wait(&inner, PATIENCE), [BELL]);
    assert_eq!(wait(&outer, Duration::ZERO), []);
}

#[test]
fn a_bell_ends_the_wait_of_another_thread() {
    let poller = Arc::new(Poller::new().unwrap());
    let bell = Waker::new(&poller, BELL).unwrap();
    let (report, reports) = mpsc::channel();
    let waiting = Arc::clone(&poller);
    let thread = thread::spawn(move || {
        for _ in 0..3 {
            let mut events = Events::with_capacity(1);
            waiting.wait(None, &mut events).unwrap();
            report.send(events.iter().next().unwrap().token).unwrap();
        }
    });
    for _ in 0..3 {
        bell.clone().wake();
        assert_eq!(reports.recv_timeout(PATIENCE), Ok(BELL));
    }
    thread.join().unwrap();
    bell.wake();
    assert_eq!(
        wait(&poller, PATIENCE),
        [BELL],
        "a ring that nobody heard is kept"
    );
    assert_eq!(wait(&poller, Duration::ZERO), []);
}

#[test]
fn waits_are_never_early() {
    let poller = Poller::new().unwrap();
    for micros in [1, 150, 2_500] {
        let span = Duration::from_micros(micros);
        let started = Instant::now();
        assert_eq!(wait(&poller, span), []);
        assert!(started.elapsed() >= span);
    }
}

#[test]
fn a_signal_is_a_level() {
    let (poller, signal) = (Poller::new().unwrap(), Signal::new().unwrap());
    poller
        .add(&signal, SOCKET, Interest::Read, Trigger::Level)
        .unwrap();
    for _ in 0..3 {
        assert!(!signal.wait(Some(Duration::from_micros(100))).unwrap());
        assert_eq!(wait(&poller, Duration::ZERO), []);
        signal.set();
        signal.set();
        assert!(signal.is_set() && signal.wait(None).unwrap());
        assert_eq!(wait(&poller, PATIENCE), [SOCKET]);
        signal.clear();
        signal.clear();
    }
}

#[test]
fn a_signal_wakes_all_who_wait() {
    let signal = Arc::new(Signal::new().unwrap());
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let signal = Arc::clone(&signal);
            thread::spawn(move || signal.wait(Some(PATIENCE)).unwrap())
        })
        .collect();
    signal.set();
    assert!(threads.into_iter().all(|thread| thread.join().unwrap()));
}

#[test]
fn flag_and_descriptor_agree_after_a_race() {
    let (poller, signal) = (Poller::new().unwrap(), Arc::new(Signal::new().unwrap()));
    poller
        .add(&*signal, SOCKET, Interest::Read, Trigger::Level)
        .unwrap();
    for _ in 0..50 {
        let other = Arc::clone(&signal);
        let thread = thread::spawn(move || (0..200).for_each(|_| other.set()));
        (0..200).for_each(|_| signal.clear());
        thread.join().unwrap();
        let shown = !wait(&poller, Duration::ZERO).is_empty();
        assert_eq!(shown, signal.is_set());
    }
}
