//! Waiting at a bell: the place of a thread there, which receives meanwhile.

use std::task::{Context, Poll, Waker};

use whimbrel_base::time::Instant;

use super::{Bell, RECEIVES_AT, WAITED_AT, WaitedAt};
use crate::driver::audience;
use crate::driver::clock;
use crate::driver::reception::{Reception, Seat, Waited};
use crate::driver::sync::atomic::Ordering;
use crate::driver::sync::{Arc, PoisonError, lock};

impl Bell {
    /// Blocks until `ready` gives something or `deadline` has passed.
    pub(crate) fn wait_until<T>(
        &self,
        deadline: Option<Instant>,
        mut ready: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        if !self.will_have_to_wait() {
            if let Some(found) = ready() {
                return Some(found);
            }
            self.note_wait(true);
        }
        let mut looks = 0u32;
        let found = self.wait_on(deadline, || {
            looks = looks.saturating_add(1);
            ready()
        });
        if looks == 1 && found.is_some() {
            self.note_wait(false);
        }
        found
    }

    /// As [`Bell::wait_until`], for whoever most often has to wait.
    pub(crate) fn wait_on<T>(
        &self,
        deadline: Option<Instant>,
        mut ready: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        let mut place = Place::take(self);
        loop {
            // Read before the check, so a ring between check and wait is not lost.
            let seen = self.rings.load(Ordering::SeqCst);
            if let Some(found) = ready() {
                return Some(found);
            }
            if !place.wait_past(seen, deadline) {
                return None;
            }
        }
    }

    /// Receives what is there now where threads that wait at this bell would, and leaves the seat
    /// as they do; unless somebody sits there, or has lately.
    #[inline(never)]
    pub(crate) fn receive_now(&self) {
        let reception = lock(&self.listeners).reception.upgrade();
        let watched = reception.filter(|it| it.is_watched());
        if let Some(mut seat) = watched.and_then(Reception::sit_at_once) {
            seat.receive_now();
        }
    }

    /// Polls by `poll`, with a waker that rings this bell, until that gives something. In between
    /// this thread waits for a ring, and receives where the tasks would that were polled.
    pub(crate) fn poll_until<T>(
        self: &Arc<Self>,
        mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> T {
        let waker = Waker::from(Arc::clone(self));
        let mut context = Context::from_waker(&waker);
        let mut place = Place::take(self);
        loop {
            let seen = self.rings.load(Ordering::SeqCst);
            let at = WaitedAt {
                bell: Arc::clone(self),
                vtable: waker.vtable(),
            };
            if let Poll::Ready(found) = tasks_wait(at, || poll(&mut context)) {
                return found;
            }
            // Who was woken meanwhile takes no seat from whoever would receive there.
            if self.rings.load(Ordering::SeqCst) == seen {
                place.wait_past(seen, None);
                // Whoever is polled may wait itself, for what is to be received there.
                place.stand_up();
            }
        }
    }

    /// Sleeps until there was a ring after `seen`; false when `deadline` has passed.
    #[inline(never)]
    fn sleep_past(&self, seen: u64, deadline: Option<Instant>) -> bool {
        let mut listeners = lock(&self.listeners);
        listeners.sleepers += 1;
        let mut in_time = true;
        while in_time && self.rings.load(Ordering::SeqCst) == seen {
            listeners = match deadline {
                None => self
                    .condvar
                    .wait(listeners)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = clock::span(deadline.since(clock::now()));
                    in_time = !left.is_zero();
                    if !in_time {
                        break;
                    }
                    let woken = self.condvar.wait_timeout(listeners, left);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        listeners.sleepers -= 1;
        in_time
    }
}

/// Polls tasks for which this thread waits `at` a bell: it receives there where they would.
fn tasks_wait<R>(at: WaitedAt, poll: impl FnOnce() -> R) -> R {
    /// Puts back what was there, also when a task panics.
    struct Before(Option<WaitedAt>);
    impl Drop for Before {
        fn drop(&mut self) {
            WAITED_AT.with(|it| it.replace(self.0.take()));
        }
    }
    let _before = Before(WAITED_AT.with(|it| it.replace(Some(at))));
    poll()
}

/// Notes for as long as it lives that this thread receives while it waits at a bell.
pub(in crate::driver) struct Receives {
    before: usize,
}

impl Receives {
    pub(in crate::driver) fn at(bell: &Bell) -> Self {
        let before = RECEIVES_AT.with(|it| it.replace(bell.address()));
        Self { before }
    }
}

impl Drop for Receives {
    fn drop(&mut self) {
        RECEIVES_AT.with(|it| it.set(self.before));
    }
}

/// A thread's place among those who listen, kept also when a check of its panics.
pub(in crate::driver) struct Place<'a> {
    bell: &'a Bell,
    /// Among those who wait.
    is_counted: bool,
    seat: Option<Seat>,
    /// It has given its seat up until it stands up.
    has_moved: bool,
}

impl<'a> Place<'a> {
    pub(in crate::driver) fn take(bell: &'a Bell) -> Self {
        bell.listen();
        Self {
            bell,
            is_counted: false,
            seat: None,
            has_moved: false,
        }
    }

    /// Waits until there was a ring after `seen`; false when `deadline` has passed.
    pub(in crate::driver) fn wait_past(&mut self, seen: u64, deadline: Option<Instant>) -> bool {
        let bell = self.bell;
        if !self.is_counted {
            audience::join();
            self.is_counted = true;
        }
        if self.seat.is_none() && !self.has_moved {
            self.sit();
        }
        if let Some(seat) = &mut self.seat {
            let receives = Receives::at(bell);
            let is_rung = || bell.rings.load(Ordering::SeqCst) != seen;
            let waited = seat.wait(bell.address(), deadline, is_rung);
            drop(receives);
            match waited {
                Waited::Woken => return true,
                Waited::TimedOut => return false,
                Waited::Moved => {
                    self.has_moved = true;
                    self.seat = None;
                }
            }
        }
        bell.sleep_past(seen, deadline)
    }

    /// Waits no more for the moment, but still listens.
    pub(in crate::driver) fn stand_up(&mut self) {
        // First, so that whoever leaves a seat does not take itself for one of the others.
        if std::mem::take(&mut self.is_counted) {
            audience::leave(1);
        }
        self.seat = None;
        self.has_moved = false;
    }

    fn sit(&mut self) {
        let reception = {
            let mut listeners = lock(&self.bell.listeners);
            let reception = listeners.reception.upgrade();
            if let Some(reception) = &reception {
                // Whoever rings later finds it there; who rang before is seen before the wait.
                listeners.note_seat(reception);
            }
            reception
        };
        self.seat = reception.and_then(Reception::sit);
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.bell.listening.fetch_sub(1, Ordering::SeqCst);
        self.stand_up();
    }
}
