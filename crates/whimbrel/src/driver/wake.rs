//! How threads and tasks learn of changes.
//!
//! This is the only module that knows task wakers. A [`Bell`] belongs to an entity; whoever waits
//! for the entity listens to its bell. Ringing costs one atomic read when nobody listens.
//!
//! A thread that waits receives from its participant's socket meanwhile ([`super::reception`]);
//! where it cannot, it sleeps.
//!
//! A task's waker is the user's code: cloned, woken and dropped without a lock of ours, it may call
//! whatever does not wait, and drop the last handle of anything.

use std::cell::{Cell, RefCell};
use std::task::Waker;

use whimbrel_base::time::Instant;

use super::audience;
use super::clock;
use super::contain::contain;
use super::few::Few;
use super::reception::{Reception, Seat, Waited};
use super::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
use super::sync::{Arc, Condvar, Mutex, PoisonError, Weak, fence_after_change, lock, thread_local};

thread_local! {
    /// The address of the bell at which this thread waits while it receives; zero where it does
    /// not.
    static RECEIVES_AT: Cell<usize> = const { Cell::new(0) };
}

std::thread_local! {
    /// The bell at which this thread waits for the tasks that it polls.
    static WAITED_AT: RefCell<Option<Arc<Bell>>> = const { RefCell::new(None) };
}

/// Polls tasks for which this thread waits at `bell`: it receives there where they would.
pub(super) fn tasks_wait_at<R>(bell: &Arc<Bell>, poll: impl FnOnce() -> R) -> R {
    /// Puts back what was there, also when a task panics.
    struct Before(Option<Arc<Bell>>);
    impl Drop for Before {
        fn drop(&mut self) {
            WAITED_AT.set(self.0.take());
        }
    }
    let _before = Before(WAITED_AT.replace(Some(Arc::clone(bell))));
    poll()
}

/// A task that is to be woken.
struct Task {
    key: u64,
    waker: Waker,
    /// It is not waited for by the thread that polled it, which would count already.
    is_counted: bool,
}

#[derive(Default)]
struct Listeners {
    tasks: Vec<Task>,
    last_task: u64,
    bells: Vec<Weak<Bell>>,
    /// Threads that sleep.
    sleepers: usize,
    /// Where threads that wait receive, or did.
    seats: Vec<Weak<Reception>>,
    /// Where threads that wait may receive.
    reception: Weak<Reception>,
}

impl Listeners {
    /// True when whoever listens will see by himself that there was a ring: as a thread does that
    /// handles what it has received.
    fn is_awake(&self, bell_at: usize) -> bool {
        self.sleepers == 0
            && self.tasks.is_empty()
            && self.bells.is_empty()
            && self.waited_at(bell_at).next().is_none()
    }

    /// Where threads receive now that wait at the bell at the address `bell_at`, ours.
    fn waited_at(&self, bell_at: usize) -> impl Iterator<Item = Arc<Reception>> {
        let seats = self.seats.iter().filter_map(Weak::upgrade);
        seats.filter(move |seat| seat.is_waited_at(bell_at))
    }

    /// Notes that a thread that waits may receive at `reception` from now on.
    #[inline(always)]
    fn note_seat(&mut self, reception: &Arc<Reception>) {
        let at = Arc::as_ptr(reception);
        if !self.seats.iter().any(|seat| seat.as_ptr() == at) {
            self.add_seat(reception);
        }
    }

    #[cold]
    fn add_seat(&mut self, reception: &Arc<Reception>) {
        self.seats.retain(|seat| seat.strong_count() > 0);
        self.seats.push(Arc::downgrade(reception));
    }
}

/// Where a future remembers its place at a [`Bell`]; zero where it has none.
#[derive(Default, Debug)]
pub(crate) struct TaskKey(u64);

/// Tells whoever listens that something changed.
///
/// Ring it after the change and without any lock. Checks run without a lock of the bell, so they
/// may ring it.
#[derive(Default)]
pub(crate) struct Bell {
    listening: AtomicUsize,
    /// Moves with every ring that somebody could have missed.
    rings: AtomicU64,
    /// Whoever waited last had to, as the next one will.
    has_waited: AtomicBool,
    /// The address of `listeners.reception`.
    reception_at: AtomicUsize,
    listeners: Mutex<Listeners>,
    condvar: Condvar,
}

impl Bell {
    /// Wakes everybody who listens.
    pub(crate) fn ring(&self) {
        // Orders the change before the look at who listens; the other half is in `listen`.
        fence(Ordering::SeqCst);
        self.ring_after_lock();
    }

    /// True when somebody may listen.
    pub(crate) fn is_listened_to(&self) -> bool {
        self.listening.load(Ordering::SeqCst) > 0
    }

    /// As [`Bell::ring`], after a change that whoever listens finds under the same lock under which
    /// it was made: who looked before it was listening by then. The same holds where a fence is
    /// between the change and this.
    pub(crate) fn ring_after_lock(&self) {
        let listening = self.listening.load(Ordering::SeqCst);
        if listening == 0 {
            return;
        }
        if listening == 1 && RECEIVES_AT.with(Cell::get) == self.address() {
            // Nobody but this thread, which looks before it waits on.
            self.rings.fetch_add(1, Ordering::SeqCst);
            return;
        }
        self.wake();
    }

    #[cold]
    fn wake(&self) {
        let (tasks, bells, seats) = {
            let mut listeners = lock(&self.listeners);
            self.rings.fetch_add(1, Ordering::SeqCst);
            if listeners.is_awake(self.address()) {
                return;
            }
            if listeners.sleepers > 0 {
                self.condvar.notify_all();
            }
            self.leave(&listeners.tasks);
            let tasks: Few<_> = listeners.tasks.drain(..).collect();
            let bells: Few<_> = listeners.bells.iter().filter_map(Weak::upgrade).collect();
            let seats: Few<_> = listeners.waited_at(self.address()).collect();
            (tasks, bells, seats)
        };
        for seat in seats.iter() {
            seat.interrupt();
        }
        tasks.for_each(|task| {
            // One that panics keeps no other from being woken, nor us from what we were doing.
            let _ = contain(|| task.waker.wake());
        });
        // As `ring` does, after the rings were counted.
        fence_after_change();
        bells.iter().for_each(|bell| bell.ring_after_lock());
    }

    /// Has threads that wait for this bell receive at `reception` meanwhile.
    pub(crate) fn receive_at(&self, reception: Weak<Reception>) {
        let mut listeners = lock(&self.listeners);
        let at = reception.as_ptr() as usize;
        listeners.reception = reception;
        self.reception_at.store(at, Ordering::SeqCst);
    }

    /// Has threads that wait for this bell receive where those receive who wait for `other`.
    pub(crate) fn receive_with(&self, other: &Self) {
        // No other has that address while one of the bells leads there.
        let at = other.reception_at.load(Ordering::SeqCst);
        if at == self.reception_at.load(Ordering::SeqCst) {
            return;
        }
        let reception = Weak::clone(&lock(&other.listeners).reception);
        if reception.strong_count() > 0 {
            self.receive_at(reception);
        }
    }

    fn listen(&self) {
        self.listening.fetch_add(1, Ordering::SeqCst);
        fence_after_change();
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    /// These tasks no longer listen.
    fn leave(&self, tasks: &[Task]) {
        if !tasks.is_empty() {
            self.listening.fetch_sub(tasks.len(), Ordering::SeqCst);
            audience::leave(tasks.iter().filter(|task| task.is_counted).count());
        }
    }

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

    /// True when whoever waits here most often has to: he need not look before he listens.
    pub(super) fn will_have_to_wait(&self) -> bool {
        self.has_waited.load(Ordering::Relaxed)
    }

    /// Whoever waited here last had to, or not.
    pub(super) fn note_wait(&self, had_to: bool) {
        if self.has_waited.load(Ordering::Relaxed) != had_to {
            self.has_waited.store(had_to, Ordering::Relaxed);
        }
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

    /// Wakes the task behind `waker` at the next ring. Check for readiness after this call.
    pub(crate) fn wake_task(&self, key: &mut TaskKey, waker: &Waker) {
        let is_counted = WAITED_AT.with_borrow(|bell| {
            if let Some(bell) = bell {
                bell.receive_with(self);
            }
            bell.is_none()
        });
        let task = Task {
            key: key.0,
            waker: waker.clone(),
            is_counted,
        };
        let old = self.replace_task(key, task);
        drop(old);
        fence(Ordering::SeqCst);
    }

    fn replace_task(&self, key: &mut TaskKey, task: Task) -> Option<Task> {
        let mut listeners = lock(&self.listeners);
        if task.is_counted {
            audience::join();
        }
        if let Some(known) = listeners.tasks.iter_mut().find(|it| it.key == key.0) {
            if known.is_counted {
                audience::leave(1);
            }
            return Some(std::mem::replace(known, task));
        }
        listeners.last_task = listeners.last_task.wrapping_add(1);
        key.0 = listeners.last_task;
        listeners.tasks.push(Task { key: key.0, ..task });
        self.listening.fetch_add(1, Ordering::SeqCst);
        None
    }

    /// Takes back a [`Bell::wake_task`], if there was one: its future is done or given up.
    pub(crate) fn forget_task(&self, key: &mut TaskKey) {
        let TaskKey(key) = std::mem::take(key);
        if key == 0 {
            return;
        }
        let forgotten = {
            let mut listeners = lock(&self.listeners);
            let at = listeners.tasks.iter().position(|it| it.key == key);
            at.map(|at| listeners.tasks.swap_remove(at))
        };
        self.leave(forgotten.as_slice());
    }

    /// Rings `bell` too from now on; whoever waits for that receives where our own would, unless it
    /// has a place already.
    pub(crate) fn attach(&self, bell: &Arc<Self>) {
        if lock(&bell.listeners).reception.strong_count() == 0 {
            bell.receive_with(self);
        }
        let mut listeners = lock(&self.listeners);
        listeners.bells.retain(|known| known.strong_count() > 0);
        listeners.bells.push(Arc::downgrade(bell));
        // Dead bells stay counted: ringing once too often is harmless, once too seldom is not.
        self.listen();
    }

    /// Takes back one [`Bell::attach`].
    pub(crate) fn detach(&self, bell: &Arc<Self>) {
        let mut listeners = lock(&self.listeners);
        let at = listeners
            .bells
            .iter()
            .position(|known| known.as_ptr() == Arc::as_ptr(bell));
        if let Some(at) = at {
            listeners.bells.swap_remove(at);
            self.listening.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Notes for as long as it lives that this thread receives while it waits at a bell.
struct Receives {
    before: usize,
}

impl Receives {
    fn at(bell: &Bell) -> Self {
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
struct Place<'a> {
    bell: &'a Bell,
    seat: Option<Seat>,
    /// It has given its seat up for good.
    has_moved: bool,
}

impl<'a> Place<'a> {
    fn take(bell: &'a Bell) -> Self {
        audience::join();
        bell.listen();
        Self {
            bell,
            seat: None,
            has_moved: false,
        }
    }

    /// Waits until there was a ring after `seen`; false when `deadline` has passed.
    fn wait_past(&mut self, seen: u64, deadline: Option<Instant>) -> bool {
        let bell = self.bell;
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
        // First, so that whoever leaves a seat does not take itself for one of the others.
        self.bell.listening.fetch_sub(1, Ordering::SeqCst);
        audience::leave(1);
        self.seat = None;
    }
}

impl std::fmt::Debug for Bell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Bell({} listening)",
            self.listening.load(Ordering::Relaxed)
        )
    }
}

#[cfg(test)]
mod tests;
