//! Who receives from a socket: the `whimbrel-io` thread, or a thread that waits for something
//! anyway.
//!
//! A thread that waits takes the seat at the socket of its participant and waits in the receive
//! call itself: what arrives is handled right there, no second thread is woken. It keeps the seat
//! between its waits. The `whimbrel-io` thread, which watches all sockets with empty seats, leaves
//! one to whoever asks ([`request`]) and gets one back when nobody has sat there for [`AWAY_MAX`]
//! or the [`Habit::patience`]; at once while others wait, unless seats were empty for moments only
//! lately ([`habit`]): giving back and taking again are two system calls. Whoever holds the seat
//! alone receives, so datagrams keep their order.

mod desk;
mod habit;
mod request;
mod rest;
mod room;
mod seat;
mod spin;
#[cfg(all(test, not(shuttle)))]
mod tests;

use std::io;

use whimbrel_base::time::Instant;
use whimbrel_net::interfaces::Interface;
use whimbrel_net::poll::Token;
use whimbrel_net::socket::{Datagram, RecvBatch, UdpSocket};

use self::desk::{Desk, Proof};
use self::habit::AWAY_MAX;
use self::request::Request;
use super::audience;
use super::clock;
use super::contain::contain;
use super::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use super::sync::{Arc, Mutex, MutexGuard, Weak, lock, lock_after_others};
use super::timers::{Timed, TimerSlot};
use crate::domain::Waiting;

pub(super) use self::seat::{Seat, Waited};

/// Receive calls before timers and other sockets are looked at again.
const ROUNDS_MAX: usize = 32;

/// Takes what arrives on a socket.
pub(crate) trait Receive: Send + Sync {
    /// A datagram was received at `now`.
    fn receive(&self, now: Instant, datagram: &Datagram);

    /// No more datagrams for the moment: answers what is still to be answered.
    fn settle(&self);

    /// These are the interfaces of this host now.
    fn follow_interfaces(&self, existing: &[Interface]);

    /// A receive call failed.
    fn note_receive_error(&self, error: &io::Error);
}

/// Watches the sockets at which nobody sits, and the timers.
pub(super) trait Watch: Send + Sync {
    /// Leaves a socket to a thread that receives from it itself.
    ///
    /// # Errors
    /// The system refuses.
    fn watch_not(&self, reception: &Reception) -> io::Result<()>;

    /// Takes back a socket that was left to somebody else.
    ///
    /// # Errors
    /// The system refuses.
    fn watch_again(&self, reception: &Reception) -> io::Result<()>;

    /// Has `owner` called at `at` at the latest.
    fn arm(&self, slot: &TimerSlot, owner: &Weak<dyn Timed>, at: Instant);

    /// Forgets the owner of `slot`.
    fn disarm(&self, slot: &TimerSlot);

    /// Somebody panicked while receiving.
    fn count_fault(&self);
}

/// A socket and who receives from it.
pub(crate) struct Reception {
    me: Weak<Self>,
    watcher: Weak<dyn Watch>,
    pub(super) socket: Arc<UdpSocket>,
    pub(super) participant: Weak<dyn Receive>,
    pub(super) token: Token,
    waiting: Waiting,
    /// Empty while somebody receives.
    seat: Mutex<Option<Box<Desk>>>,
    /// The `whimbrel-io` thread does not watch the socket.
    is_taken: AtomicBool,
    /// The address of the bell for which a thread is about to wait in the receive call, or does;
    /// zero where none is.
    waiter_at: AtomicUsize,
    is_closed: AtomicBool,
    /// Datagrams received, and octets in them. Only whoever has the desk changes them.
    received: AtomicU64,
    received_bytes: AtomicU64,
    /// When whoever sits wants to wake up at the latest.
    wake_at: AtomicU64,
    left_at: AtomicU64,
    /// When whoever left it is not waited for any more.
    awaited_until: AtomicU64,
    /// Threads want the seat that the `whimbrel-io` thread has.
    request: Request,
    /// How often the seat was left.
    leaves: AtomicU64,
    leaves_seen: AtomicU64,
    timer: TimerSlot,
}

impl Reception {
    /// Nobody receives yet; several datagrams by one call, where they are received `in_batches`.
    pub(super) fn new(
        watcher: Weak<dyn Watch>,
        socket: Arc<UdpSocket>,
        participant: Weak<dyn Receive>,
        token: Token,
        (waiting, in_batches): (Waiting, bool),
    ) -> Arc<Self> {
        let desk = Desk::new(waiting, in_batches);
        Arc::new_cyclic(|me| Self {
            me: me.clone(),
            watcher,
            socket,
            participant,
            token,
            waiting,
            seat: Mutex::new(Some(Box::new(desk))),
            is_taken: AtomicBool::new(false),
            waiter_at: AtomicUsize::new(0),
            is_closed: AtomicBool::new(false),
            received: AtomicU64::new(0),
            received_bytes: AtomicU64::new(0),
            wake_at: AtomicU64::new(u64::MAX),
            left_at: AtomicU64::new(0),
            awaited_until: AtomicU64::new(0),
            request: Request::default(),
            leaves: AtomicU64::new(0),
            leaves_seen: AtomicU64::new(0),
            timer: TimerSlot::default(),
        })
    }

    /// Receives what is there, unless somebody else does or wants to.
    pub(super) fn receive(&self) {
        if self.request.lets_others_run() {
            return;
        }
        let Some(mut desk) = lock_after_others(&self.seat).take() else {
            return;
        };
        self.receive_at(&mut desk);
        desk.trim();
        *lock(&self.seat) = Some(desk);
    }

    /// Receives what is there, or some of it where somebody wants to receive the rest.
    fn receive_at(&self, desk: &mut Desk) {
        // A user's waker may panic here; the desk stays.
        if contain(|| self.receive_all(desk)).is_err() {
            self.count_fault();
        }
    }

    fn receive_all(&self, desk: &mut Desk) {
        let Some(participant) = self.participant.upgrade() else {
            return;
        };
        desk.ask_for_several(true);
        for _ in 0..ROUNDS_MAX {
            let received = self.socket.recv_batch(&mut desk.batch);
            let is_last = self.deliver(clock::now(), received, &mut desk.batch, &*participant);
            if is_last || self.request.is_there() {
                break;
            }
        }
        // Whoever sits here next finds out himself whether several wait.
        desk.ask_for_several(false);
        participant.settle();
    }

    /// Hands over what was received at `now`; true when there was no more.
    #[inline(always)]
    fn deliver(
        &self,
        now: Instant,
        received: io::Result<usize>,
        batch: &mut RecvBatch,
        participant: &dyn Receive,
    ) -> bool {
        if let Err(error) = received {
            participant.note_receive_error(&error);
            return true;
        }
        match batch.take_only() {
            Some(datagram) => self.hand_over(now, &datagram, participant),
            None => self.hand_over_all(now, batch, participant),
        }
        batch.is_drained()
    }

    #[inline(never)]
    fn hand_over_all(&self, now: Instant, batch: &mut RecvBatch, participant: &dyn Receive) {
        for datagram in batch.drain() {
            self.hand_over(now, &datagram, participant);
        }
    }

    #[inline(always)]
    fn hand_over(&self, now: Instant, datagram: &Datagram, participant: &dyn Receive) {
        self.count_received(datagram.payload.len());
        // A user's type may panic here, which is no reason to lose what others sent.
        if contain(|| participant.receive(now, datagram)).is_err() {
            self.count_fault();
        }
    }

    /// Counts a datagram of `bytes`, for whoever has the desk.
    #[inline(always)]
    fn count_received(&self, bytes: usize) {
        let add = |to: &AtomicU64, more: u64| {
            let before = to.load(Ordering::Relaxed);
            to.store(before.wrapping_add(more), Ordering::Relaxed);
        };
        add(&self.received, 1);
        add(&self.received_bytes, bytes as u64);
    }

    /// Datagrams received, and octets in them.
    pub(super) fn received(&self) -> (u64, u64) {
        let read = |of: &AtomicU64| of.load(Ordering::Relaxed);
        (read(&self.received), read(&self.received_bytes))
    }

    #[cold]
    fn count_fault(&self) {
        if let Some(watcher) = self.watcher.upgrade() {
            watcher.count_fault();
        }
    }

    /// Ends the wait of whoever sits here; false where nobody waits.
    pub(super) fn interrupt(&self) -> bool {
        let waits = self.waiter_at.swap(0, Ordering::SeqCst) != 0;
        if waits {
            // Where this fails now, the proof would have failed before.
            let _ = self.socket.interrupt();
        }
        waits
    }

    /// True while [`Reception::interrupt`] would end a wait for the bell at the address
    /// `waiter_at`.
    pub(super) fn is_waited_at(&self, waiter_at: usize) -> bool {
        self.waiter_at.load(Ordering::SeqCst) == waiter_at
    }

    /// Nobody is to wait here any more.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
        self.interrupt();
        if let Some(watcher) = self.watcher.upgrade() {
            watcher.disarm(&self.timer);
        }
    }

    /// Takes the seat, where it is free and threads can wait here; `whimbrel-io` is asked for it.
    pub(super) fn sit(self: Arc<Self>) -> Option<Seat> {
        let desk = self.take_desk().or_else(|| self.take_desk_of_io())?;
        Some(Seat::new(self, desk))
    }

    /// As [`Reception::sit`], without asking.
    pub(super) fn sit_at_once(self: Arc<Self>) -> Option<Seat> {
        let desk = self.take_desk()?;
        Some(Seat::new(self, desk))
    }

    #[cold]
    fn take_desk_of_io(&self) -> Option<Box<Desk>> {
        // It alone receives from a socket that it watches, and not while somebody asks.
        let asked = (self.is_watched() && self.can_sit()).then(|| self.request.ask())?;
        asked.wait_while(|| self.is_watched() && lock(&self.seat).is_none());
        self.take_desk()
    }

    /// True where threads can wait here.
    fn can_sit(&self) -> bool {
        let can = UdpSocket::CAN_WAIT && self.waiting != Waiting::Sleep;
        can && !self.is_closed.load(Ordering::SeqCst)
    }

    #[inline(always)]
    fn take_desk(&self) -> Option<Box<Desk>> {
        if !self.can_sit() {
            return None;
        }
        let mut seat = lock(&self.seat);
        if matches!(seat.as_ref()?.proof, Proof::MissingFrom(at) if at > clock::now()) {
            return None;
        }
        if !self.is_taken.load(Ordering::Relaxed) {
            self.watcher.upgrade()?.watch_not(self).ok()?;
            self.is_taken.store(true, Ordering::Relaxed);
        }
        seat.take()
    }

    /// True while the `whimbrel-io` thread watches the socket.
    pub(super) fn is_watched(&self) -> bool {
        !self.is_taken.load(Ordering::Relaxed)
    }

    /// Lets the `whimbrel-io` thread watch the socket again.
    fn give_back(&self, seat: &MutexGuard<'_, Option<Box<Desk>>>) {
        if seat.is_none() || !self.is_taken.load(Ordering::Relaxed) {
            return;
        }
        if let Some(watcher) = self.watcher.upgrade()
            && !self.is_closed.load(Ordering::SeqCst)
            && watcher.watch_again(self).is_ok()
        {
            self.is_taken.store(false, Ordering::Relaxed);
        }
    }

    #[inline(always)]
    fn arm(&self, at: Instant) {
        if self.timer.fires_by(at) {
            return;
        }
        self.arm_anew(at);
    }

    #[cold]
    fn arm_anew(&self, at: Instant) {
        if let Some(watcher) = self.watcher.upgrade() {
            let me: Weak<dyn Timed> = self.me.clone();
            watcher.arm(&self.timer, &me, at);
        }
    }

    /// Wakes whoever sits where that is due; when to look again.
    fn look_after_sitter(&self, now: Instant) -> Option<Instant> {
        let mut next = None;
        let wake_at = Instant(self.wake_at.load(Ordering::SeqCst));
        if wake_at <= now {
            // Who has not begun to wait may do so yet, long after he looked at the clock.
            next = (!self.interrupt()).then(|| now.after(AWAY_MAX));
        } else if wake_at != Instant(u64::MAX) {
            next = Some(wake_at);
        }
        let leaves = self.leaves.load(Ordering::Relaxed);
        if self.leaves_seen.swap(leaves, Ordering::Relaxed) != leaves {
            // It will be left again soon: sparing whoever leaves it the arming.
            let left_at = Instant(self.left_at.load(Ordering::Relaxed));
            let until = Instant(self.awaited_until.load(Ordering::Relaxed));
            let again = now.after(until.since(left_at).max(AWAY_MAX));
            next = Some(next.map_or(again, |at| at.min(again)));
        }
        next
    }

    /// Somebody stood up and left `desk`, for good where he `has_moved`.
    fn leave(&self, desk: Box<Desk>, sat_at: Instant, has_moved: bool) {
        let mut desk = desk;
        let now = desk.seen_at;
        desk.trim_at(now);
        let was_long = now.since(sat_at) > AWAY_MAX;
        let is_back_soon = desk.habit.is_short() && !has_moved;
        let until = now.after(desk.habit.patience());
        self.left_at.store(now.0, Ordering::Relaxed);
        self.awaited_until.store(until.0, Ordering::Relaxed);
        // Nobody else changes it: whoever has the desk alone does.
        let leaves = self.leaves.load(Ordering::Relaxed).wrapping_add(1);
        self.leaves.store(leaves, Ordering::Relaxed);
        let mut seat = lock(&self.seat);
        *seat = Some(desk);
        if was_long || (!is_back_soon && audience::others_wait()) {
            self.give_back(&seat);
            return;
        }
        drop(seat);
        self.arm(until);
    }
}

impl Timed for Reception {
    /// Wakes whoever sits too long, or takes the seat back from who has left it.
    fn on_timer(&self, now: Instant) {
        let seat = lock(&self.seat);
        let next = if seat.is_none() {
            // Whoever is woken wants it at once.
            drop(seat);
            self.look_after_sitter(now)
        } else if self.is_taken.load(Ordering::Relaxed) {
            let at = Instant(self.awaited_until.load(Ordering::Relaxed));
            if at <= now {
                self.give_back(&seat);
            }
            drop(seat);
            (at > now).then_some(at)
        } else {
            None
        };
        if let Some(at) = next {
            self.arm(at);
        }
    }

    fn timer(&self) -> &TimerSlot {
        &self.timer
    }
}

impl std::fmt::Debug for Reception {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Reception({})", self.socket.local_addr())
    }
}
