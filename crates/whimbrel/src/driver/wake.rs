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

pub(super) mod wait;

use std::cell::{Cell, RefCell};
use std::task::{RawWakerVTable, Wake, Waker};

use super::audience;
use super::contain::contain;
use super::few::Few;
use super::reception::Reception;
use super::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
use super::sync::{Arc, Condvar, Mutex, Weak, fence_after_change, lock, thread_local};

thread_local! {
    /// The address of the bell at which this thread waits while it receives; zero where it does
    /// not.
    static RECEIVES_AT: Cell<usize> = const { Cell::new(0) };

    /// Where this thread waits for the tasks that it polls.
    static WAITED_AT: RefCell<Option<WaitedAt>> = const { RefCell::new(None) };
}

/// Where a thread waits for the tasks that it polls.
struct WaitedAt {
    bell: Arc<Bell>,
    /// Of wakers that wake by ringing it.
    vtable: &'static RawWakerVTable,
}

impl WaitedAt {
    /// True where `waker` does nothing but ring the bell.
    fn wakes_by(&self, waker: &Waker) -> bool {
        let is_of_bell = waker.data() == Arc::as_ptr(&self.bell).cast();
        is_of_bell && std::ptr::eq(waker.vtable(), self.vtable)
    }
}

/// A task that is to be woken.
struct Task {
    key: u64,
    whom: Whom,
    /// It is not waited for by the thread that polled it, which would count already.
    is_counted: bool,
}

impl Task {
    /// The bell that wakes it, where no code of others need run for that.
    const fn bell(&self) -> Option<&Arc<Bell>> {
        match &self.whom {
            Whom::Waker(_) => None,
            Whom::Thread(bell) => Some(bell),
        }
    }
}

/// A bell that is the only one listed at another.
enum Lone<'a> {
    /// To be rung for a task.
    OfTask(&'a Arc<Bell>),
    Attached(&'a Weak<Bell>),
}

impl Lone<'_> {
    fn address(&self) -> usize {
        match self {
            Self::OfTask(bell) => Arc::as_ptr(bell) as usize,
            Self::Attached(bell) => bell.as_ptr() as usize,
        }
    }

    fn bell(&self) -> Option<Arc<Bell>> {
        match self {
            Self::OfTask(bell) => Some(Arc::clone(bell)),
            Self::Attached(bell) => bell.upgrade(),
        }
    }
}

/// Who is woken for a task.
enum Whom {
    /// Whom the waker wakes, which may be anybody's code.
    Waker(Waker),
    /// The thread that polls it, which waits at this bell.
    Thread(Arc<Bell>),
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

    /// The bell that is the only one listed, where nobody else is.
    fn lone_bell(&self) -> Option<Lone<'_>> {
        match (self.tasks.as_slice(), self.bells.as_slice()) {
            ([task], []) => task.bell().map(Lone::OfTask),
            ([], [bell]) => Some(Lone::Attached(bell)),
            _ => None,
        }
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
    /// The address of the bell that is the only one to be rung with this one; zero where others
    /// are to be woken besides.
    leads_to: AtomicUsize,
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
        let mine_at = RECEIVES_AT.with(Cell::get);
        if listening > 1 || mine_at == 0 {
            self.wake();
        } else if mine_at == self.address() {
            // Nobody but this thread, which looks before it waits on.
            self.rings.fetch_add(1, Ordering::SeqCst);
        } else if mine_at == self.leads_to.load(Ordering::SeqCst) {
            self.ring_mine();
        } else {
            self.wake();
        }
    }

    /// Rings the bell at which this thread waits, which alone listens here.
    fn ring_mine(&self) {
        match self.take_lone() {
            Some(mine) => mine.ring_after_lock(),
            // Who listens beside it may have done so all along.
            None => self.wake(),
        }
    }

    /// The bell that alone listens here; where it does for a task, that is woken by it and listens
    /// no longer.
    fn take_lone(&self) -> Option<Arc<Self>> {
        let mut listeners = lock(&self.listeners);
        // Threads listen without being listed.
        if self.listening.load(Ordering::SeqCst) != 1 {
            return None;
        }
        let bell = listeners.lone_bell()?.bell()?;
        self.leave(&listeners.tasks);
        listeners.tasks.clear();
        self.note_lone(&listeners);
        Some(bell)
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
            self.note_lone(&listeners);
            let bells: Few<_> = listeners.bells.iter().filter_map(Weak::upgrade).collect();
            let seats: Few<_> = listeners.waited_at(self.address()).collect();
            (tasks, bells, seats)
        };
        for seat in seats.iter() {
            seat.interrupt();
        }
        tasks.for_each(|task| match task.whom {
            // One that panics keeps no other from being woken, nor us from what we were doing.
            Whom::Waker(waker) => drop(contain(|| waker.wake())),
            Whom::Thread(bell) => bell.ring(),
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

    /// To be called after each change of who listens.
    fn note_lone(&self, listeners: &Listeners) {
        let at = listeners.lone_bell().map_or(0, |it| it.address());
        if self.leads_to.load(Ordering::Relaxed) != at {
            self.leads_to.store(at, Ordering::SeqCst);
        }
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    /// These tasks no longer listen.
    fn leave(&self, tasks: &[Task]) {
        if !tasks.is_empty() {
            self.listening.fetch_sub(tasks.len(), Ordering::SeqCst);
            let counted = tasks.iter().filter(|task| task.is_counted).count();
            if counted > 0 {
                audience::leave(counted);
            }
        }
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

    /// Wakes the task behind `waker` at the next ring. Check for readiness after this call.
    pub(crate) fn wake_task(&self, key: &mut TaskKey, waker: &Waker) {
        let (thread, is_counted) = WAITED_AT.with(|at| match &*at.borrow() {
            Some(at) => {
                at.bell.receive_with(self);
                (at.wakes_by(waker).then(|| Arc::clone(&at.bell)), false)
            }
            None => (None, true),
        });
        let task = Task {
            key: key.0,
            whom: thread.map_or_else(|| Whom::Waker(waker.clone()), Whom::Thread),
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
            let old = std::mem::replace(known, task);
            self.note_lone(&listeners);
            return Some(old);
        }
        listeners.last_task = listeners.last_task.wrapping_add(1);
        key.0 = listeners.last_task;
        listeners.tasks.push(Task { key: key.0, ..task });
        self.note_lone(&listeners);
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
            let forgotten = at.map(|at| listeners.tasks.swap_remove(at));
            self.note_lone(&listeners);
            forgotten
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
        self.note_lone(&listeners);
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
            self.note_lone(&listeners);
            self.listening.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Rings it.
impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.ring();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ring();
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
