//! The place of a thread that receives while it waits.

use std::io;
use std::time::Duration as StdDuration;

use whimbrel_base::time::{Duration, Instant};
use whimbrel_net::socket::{RecvBatch, UdpSocket};

use super::desk::{Desk, Proof};
use super::room::Room;
use super::{ROUNDS_MAX, Reception};
use crate::driver::audience;
use crate::driver::clock;
use crate::driver::contain::contain;
use crate::driver::sync::Arc;
use crate::driver::sync::atomic::{Ordering, fence};
#[cfg(shuttle)]
use crate::driver::sync::thread;

/// Waits that end sooner are waited out with a time limit; the others are ended by a timer.
const SHORT_WAIT: StdDuration = StdDuration::from_millis(5);

/// How long the proof that a wait in the receive call can be ended may take.
const PROOF_MAX: StdDuration = StdDuration::from_millis(20);

/// How often that proof is tried at a time.
const PROOF_TRIES: usize = 5;

/// How long a proof that failed stands.
const FAILURE_STANDS: Duration = Duration::from_secs(10);

/// Waits in a row that end with news for others only before a thread leaves the seat to them.
const FOR_OTHERS_MAX: usize = 2;

/// The right to receive from a socket; given up when dropped.
pub(in crate::driver) struct Seat {
    reception: Arc<Reception>,
    desk: Option<Box<Desk>>,
    /// When the first wait began.
    sat_at: Option<Instant>,
    /// Waits in a row that ended with news for others only.
    for_others: usize,
    /// It is of no use to whoever sits.
    has_moved: bool,
}

/// How a wait ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::driver) enum Waited {
    /// Something happened.
    Woken,
    /// The deadline has passed.
    TimedOut,
    /// No use waiting here: somebody else should.
    Moved,
}

impl Seat {
    /// Sits down at `desk`, taken from `reception`.
    pub(super) const fn new(reception: Arc<Reception>, desk: Box<Desk>) -> Self {
        Self {
            reception,
            desk: Some(desk),
            sat_at: None,
            for_others: 0,
            has_moved: false,
        }
    }

    /// Receives what is there, without waiting.
    pub(in crate::driver) fn receive_now(&mut self) {
        let Some(mut desk) = self.desk.take() else {
            return;
        };
        desk.seen_at = clock::now();
        self.reception.note_sitting(&mut desk, &mut self.sat_at);
        self.reception.receive_at(&mut desk);
        self.desk = Some(desk);
    }

    /// Receives for whoever waits at the bell at the address `waiter_at`, until `is_rung` or
    /// `deadline` has passed.
    pub(in crate::driver) fn wait(
        &mut self,
        waiter_at: usize,
        deadline: Option<Instant>,
        is_rung: impl Fn() -> bool,
    ) -> Waited {
        let Some(mut desk) = self.desk.take() else {
            return Waited::Moved;
        };
        desk.waiter_at = waiter_at;
        let reception = &*self.reception;
        let waited = loop {
            if is_rung() {
                break Waited::Woken;
            }
            if reception.is_closed.load(Ordering::SeqCst) {
                break Waited::Moved;
            }
            desk.seen_at = clock::now();
            reception.note_sitting(&mut desk, &mut self.sat_at);
            if deadline.is_some_and(|at| at <= desk.seen_at) {
                desk.spin.note_timed_out(desk.seen_at);
                break Waited::TimedOut;
            }
            let started = desk.seen_at;
            let Ok(received) = contain(|| reception.wait_once(&mut desk, deadline, &is_rung))
            else {
                reception.count_fault();
                continue;
            };
            if desk.proof != Proof::Given {
                break Waited::Moved;
            }
            if self.for_others > 0 && Room::found_at_once(desk.seen_at.since(started)) {
                // Nobody has sent since the last one came, which was not enough for anybody.
                desk.batch.note_waited();
            }
            if is_rung() {
                self.for_others = 0;
            } else if received > 0 {
                self.for_others += 1;
                if self.for_others >= FOR_OTHERS_MAX && desk.others_waited {
                    break Waited::Moved;
                }
            }
        };
        self.desk = Some(desk);
        self.has_moved = waited == Waited::Moved;
        waited
    }
}

impl Reception {
    /// Notes in `sat_at` when whoever sits at `desk` began to, if he did just now.
    #[inline(always)]
    fn note_sitting(&self, desk: &mut Desk, sat_at: &mut Option<Instant>) {
        if sat_at.is_none() {
            *sat_at = Some(desk.seen_at);
            let left_at = Instant(self.left_at.load(Ordering::Relaxed));
            desk.habit.note(desk.seen_at.since(left_at));
        }
    }

    /// Waits for datagrams once, about until `deadline`, and handles them; how many there were.
    fn wait_once(
        &self,
        desk: &mut Desk,
        deadline: Option<Instant>,
        is_rung: impl Fn() -> bool,
    ) -> usize {
        if desk.proof != Proof::Given && !self.prove(desk) {
            return 0;
        }
        let received = match desk.spin.until(desk.seen_at) {
            Some(until) => {
                let until = deadline.map_or(until, |deadline| until.min(deadline));
                self.poll(desk, until, is_rung)
            }
            None => self.receive_by(desk, deadline, is_rung),
        };
        // Not before: whoever waits must not keep alive what others have let go of.
        let Some(participant) = self.participant.upgrade() else {
            self.is_closed.store(true, Ordering::SeqCst);
            return 0;
        };
        // Not later: whom it is for may be gone with it before this thread goes on.
        desk.others_waited = audience::others_wait_beside_me();
        let count = *received.as_ref().unwrap_or(&0);
        self.deliver(desk.seen_at, received, &mut desk.batch, &*participant);
        if count > 0 {
            participant.settle();
        }
        count
    }

    /// Tries whether a wait in the receive call could be ended.
    fn prove(&self, desk: &mut Desk) -> bool {
        let Some(participant) = self.participant.upgrade() else {
            self.is_closed.store(true, Ordering::SeqCst);
            return false;
        };
        desk.ask_for_several(true);
        for _ in 0..PROOF_TRIES {
            let sent = self.socket.interrupt();
            if sent.is_err() || self.socket.wait_readable(PROOF_MAX).is_err() {
                break;
            }
            for _ in 0..ROUNDS_MAX {
                let received = self.socket.recv_batch(&mut desk.batch);
                let is_last = self.deliver(clock::now(), received, &mut desk.batch, &*participant);
                if desk.batch.interrupts() > 0 {
                    desk.proof = Proof::Given;
                    desk.ask_for_several(false);
                    participant.settle();
                    return true;
                }
                if is_last {
                    break;
                }
            }
        }
        participant.settle();
        desk.proof = Proof::MissingFrom(clock::now().after(FAILURE_STANDS));
        false
    }

    /// Looks for datagrams again and again until there are some, or until `until`; what is there at
    /// the first look says nothing about polling, unless a rest was before it.
    pub(super) fn poll(
        &self,
        desk: &mut Desk,
        until: Instant,
        is_rung: impl Fn() -> bool,
    ) -> io::Result<usize> {
        let started = desk.seen_at;
        let has_rested = rest(desk, until);
        let mut has_looked = false;
        loop {
            let received = self.socket.recv_batch(&mut desk.batch);
            desk.seen_at = clock::now();
            if !matches!(received, Ok(0)) || is_rung() || self.is_closed.load(Ordering::SeqCst) {
                if has_looked || has_rested {
                    desk.spin.note_found(started, desk.seen_at);
                } else {
                    desk.spin.note_there(desk.seen_at);
                }
                desk.habit.note_wait(desk.seen_at.since(started));
                if let Ok(count @ 1..) = received {
                    desk.learn_of_poll(!has_looked, count);
                }
                return received;
            }
            if desk.seen_at >= until {
                desk.spin.note_missed(started, desk.seen_at);
                return Ok(0);
            }
            has_looked = true;
            std::hint::spin_loop();
        }
    }

    /// Waits for datagrams, blocked, and learns from how long that took.
    fn receive_by(
        &self,
        desk: &mut Desk,
        deadline: Option<Instant>,
        is_rung: impl Fn() -> bool,
    ) -> io::Result<usize> {
        let started = desk.seen_at;
        let received = self.receive_blocked(desk, deadline, is_rung);
        desk.seen_at = clock::now();
        let took = desk.seen_at.since(started);
        desk.habit.note_wait(took);
        let count = *received.as_ref().unwrap_or(&0);
        desk.learn_of_room(Room::found_at_once(took), count);
        desk.spin.note_blocked(started, desk.seen_at);
        received
    }

    fn receive_blocked(
        &self,
        desk: &mut Desk,
        deadline: Option<Instant>,
        is_rung: impl Fn() -> bool,
    ) -> io::Result<usize> {
        let left = deadline.map(|at| clock::span(at.since(desk.seen_at)));
        let limit = left.filter(|left| *left < SHORT_WAIT);
        let timed = deadline.filter(|_| limit.is_none());
        let wake_at = timed.map_or(u64::MAX, |at| at.0);
        if self.wake_at.load(Ordering::Relaxed) != wake_at {
            self.wake_at.store(wake_at, Ordering::Relaxed);
        }
        self.waiter_at.store(desk.waiter_at, Ordering::Relaxed);
        // Orders these before the looks at the timer and at what happened; the other halves are in
        // `TimerSlot::claim` and `Bell::ring`.
        fence(Ordering::SeqCst);
        if let Some(at) = timed {
            self.arm(at);
        }
        let received = if is_rung() || self.is_closed.load(Ordering::SeqCst) {
            Ok(0)
        } else {
            match limit {
                None => recv_waiting(&self.socket, &mut desk.batch),
                Some(limit) => match wait_readable(&self.socket, limit) {
                    Ok(true) => self.socket.recv_batch(&mut desk.batch),
                    Ok(false) => Ok(0),
                    Err(error) => Err(error),
                },
            }
        };
        // Whoever sees this late interrupts in vain.
        self.waiter_at.store(0, Ordering::Release);
        received
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if let Some(desk) = self.desk.take() {
            let sat_at = self.sat_at.unwrap_or(desk.seen_at);
            self.reception.leave(desk, sat_at, self.has_moved);
        }
    }
}

/// Leaves the socket alone first in a stream, at most until `until`; true where it did.
#[inline(always)]
fn rest(desk: &mut Desk, until: Instant) -> bool {
    let end = desk.rest.until().map(|it| it.min(until));
    let end = end.filter(|it| *it > desk.seen_at);
    desk.rest.note_rest(end.is_some());
    let Some(end) = end else {
        return false;
    };
    desk.ask_for_several(true);
    while clock::now() < end {
        std::hint::spin_loop();
    }
    true
}

#[cfg(not(shuttle))]
fn recv_waiting(socket: &UdpSocket, batch: &mut RecvBatch) -> io::Result<usize> {
    socket.recv_waiting(batch)
}

#[cfg(not(shuttle))]
fn wait_readable(socket: &UdpSocket, limit: StdDuration) -> io::Result<bool> {
    socket.wait_readable(limit)
}

/// Without blocking: the model checker's threads are one of the system's, and all would wait. Who
/// is not interrupted as he should be never returns, which the checker notices.
#[cfg(shuttle)]
fn recv_waiting(socket: &UdpSocket, batch: &mut RecvBatch) -> io::Result<usize> {
    loop {
        let count = socket.recv_batch(batch)?;
        if count > 0 || batch.interrupts() > 0 {
            return Ok(count);
        }
        thread::yield_now();
    }
}

#[cfg(shuttle)]
fn wait_readable(_socket: &UdpSocket, _limit: StdDuration) -> io::Result<bool> {
    thread::yield_now();
    Ok(true)
}
