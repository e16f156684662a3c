//! What whoever receives from a socket works with.

use whimbrel_base::time::{Duration, Instant};
use whimbrel_net::socket::RecvBatch;

use super::habit::Habit;
use super::rest::Rest;
use super::room::Room;
use super::spin::Spin;
use crate::domain::Waiting;
use crate::driver::clock;

/// Datagrams received per call.
pub(super) const BATCH: usize = 8;

/// Slabs that samples may hold before new ones are allocated.
const SLABS: usize = 256;

/// How often at most slabs that a burst left behind are given back; nobody is woken for it.
const TRIM_PERIOD: Duration = Duration::from_secs(1);

/// Whether waits in the receive call can be ended from elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Proof {
    /// Not known, or to be tried again from then on.
    MissingFrom(Instant),
    Given,
}

/// What whoever receives works with.
pub(super) struct Desk {
    pub(super) batch: RecvBatch,
    trim_at: Instant,
    /// When the clock was last looked at here.
    pub(super) seen_at: Instant,
    pub(super) proof: Proof,
    pub(super) spin: Spin,
    pub(super) rest: Rest,
    room: Room,
    /// The next call is for several datagrams.
    pub(super) asks_for_several: bool,
    pub(super) habit: Habit,
    /// Others waited when something arrived last.
    pub(super) others_waited: bool,
    /// The address of the bell for which whoever sits waits.
    pub(super) waiter_at: usize,
}

impl Desk {
    /// For a thread that waits as `waiting` says; several datagrams by one call, where they are
    /// received `in_batches`.
    pub(super) fn new(waiting: Waiting, in_batches: bool) -> Self {
        Self {
            batch: RecvBatch::new(if in_batches { BATCH } else { 1 }, SLABS),
            trim_at: Instant::ZERO,
            seen_at: Instant::ZERO,
            proof: Proof::MissingFrom(Instant::ZERO),
            spin: Spin::new(waiting),
            rest: Rest::new(waiting, in_batches),
            room: Room::new(),
            asks_for_several: true,
            habit: Habit::new(),
            others_waited: false,
            waiter_at: 0,
        }
    }

    pub(super) fn ask_for_several(&mut self, several: bool) {
        self.asks_for_several = several;
        self.batch.set_room(if several { BATCH } else { 1 });
    }

    /// A poll found something there `at_once` or later, and gave `count`.
    #[inline(always)]
    pub(super) fn learn_of_poll(&mut self, at_once: bool, count: usize) {
        let is_full = self.asks_for_several && count >= BATCH;
        self.rest.note(self.seen_at, count, is_full);
        self.learn_of_room(at_once, count);
    }

    /// A receive found something there `at_once` or later, and gave `count`.
    #[inline(always)]
    pub(super) fn learn_of_room(&mut self, at_once: bool, count: usize) {
        let asked = self.asks_for_several;
        let wanted = self.room.wants_several(asked, at_once, count);
        if wanted != asked {
            self.ask_for_several(wanted);
        }
    }

    pub(super) fn trim(&mut self) {
        if self.batch.wants_trim() {
            self.trim_at(clock::now());
        }
    }

    pub(super) fn trim_at(&mut self, now: Instant) {
        if self.batch.wants_trim() && now >= self.trim_at {
            self.batch.trim();
            self.trim_at = now.after(TRIM_PERIOD);
        }
    }
}
