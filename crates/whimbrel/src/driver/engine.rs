//! The driver's threads: who receives, when timers fire, and how both end.

use std::io;
use std::ops::Deref;
use std::sync::Mutex as StdMutex;
use std::time::Duration as StdDuration;

use whimbrel_base::sorted::SortedMap;
use whimbrel_base::time::{Duration, Instant};
use whimbrel_net::interfaces::{self, InterfaceWatch};
use whimbrel_net::poll::{Events, Interest, Poller, Token, Trigger, Waker};
use whimbrel_net::socket::UdpSocket;

use super::callbacks::Callbacks;
use super::clock::{self, CounterWatch};
use super::contain::contain;
use super::reception::{Receive, Reception, Watch};
use super::role;
use super::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use super::sync::{Arc, Mutex, PoisonError, Weak, lock, thread};
use super::timers::{Timed, TimerSlot, Timers};
use super::worker::Worker;
use crate::domain::Waiting;

const WAKE: Token = Token(0);

/// Reports about interfaces.
const WATCH: Token = Token(1);

/// How long changes of interfaces are collected: they come in crowds.
const LOOK_DELAY: Duration = Duration::from_millis(20);

/// How often interfaces are looked at where the system does not report changes.
const LOOK_PERIOD: Duration = Duration::from_secs(2);

/// Pause after the system refused to wait, so that the thread does not spin.
const FAULT_PAUSE: StdDuration = StdDuration::from_millis(10);

/// The process's driver; its threads end when the last participant lets go of it.
pub(crate) struct Driver {
    engine: Arc<Engine>,
    thread: Mutex<Option<Worker>>,
}

/// What the driver's threads work on.
pub(crate) struct Engine {
    poller: Poller,
    waker: Waker,
    timers: Timers,
    receptions: Mutex<SortedMap<Token, Arc<Reception>>>,
    next_token: AtomicU64,
    me: Weak<Self>,
    /// `None` where the system does not report changes.
    watch: Option<InterfaceWatch>,
    /// When interfaces are looked at.
    look: TimerSlot,
    stopping: AtomicBool,
    /// Steps of the io thread that failed or panicked.
    pub(crate) faults: AtomicU64,
    pub(crate) callbacks: Arc<Callbacks>,
}

impl Driver {
    /// The driver of this process, started when there is none.
    ///
    /// # Errors
    /// The system has no descriptors or threads left.
    pub(crate) fn shared() -> io::Result<Arc<Self>> {
        // Outlives every model, so it is no part of one.
        static SHARED: StdMutex<Weak<Driver>> = StdMutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(driver) = shared.upgrade() {
            return Ok(driver);
        }
        let driver = Self::start()?;
        *shared = Arc::downgrade(&driver);
        Ok(driver)
    }

    /// A driver of its own.
    pub(super) fn start() -> io::Result<Arc<Self>> {
        let poller = Poller::new()?;
        let waker = Waker::new(&poller, WAKE)?;
        let watch = InterfaceWatch::open().ok();
        if let Some(watch) = &watch {
            poller.add(watch, WATCH, Interest::Read, Trigger::Level)?;
        }
        let engine = Arc::new_cyclic(|me| Engine {
            me: me.clone(),
            watch,
            look: TimerSlot::default(),
            poller,
            waker,
            timers: Timers::default(),
            receptions: Mutex::new(SortedMap::new()),
            next_token: AtomicU64::new(2),
            stopping: AtomicBool::new(false),
            faults: AtomicU64::new(0),
            callbacks: Arc::new(Callbacks::default()),
        });
        if engine.watch.is_none() {
            engine.look_at_interfaces_in(LOOK_PERIOD);
        }
        let worker = Arc::clone(&engine);
        let thread = Worker::spawn("whimbrel-io", move || worker.run())?;
        Ok(Arc::new(Self {
            engine,
            thread: Mutex::new(Some(thread)),
        }))
    }
}

impl Driver {
    /// What its threads work on.
    pub(crate) fn engine(&self) -> Arc<Engine> {
        Arc::clone(&self.engine)
    }
}

impl Deref for Driver {
    type Target = Engine;

    fn deref(&self) -> &Engine {
        &self.engine
    }
}

impl Engine {
    fn run(&self) {
        role::note_driver();
        let mut events = Events::with_capacity(16);
        let mut counter_watch = CounterWatch::new(clock::now());
        while !self.stopping.load(Ordering::SeqCst) {
            // A user's type may panic on this thread; the bus goes on without that step.
            match contain(|| self.turn(&mut events)) {
                Ok(Ok(now)) => counter_watch.look(now),
                Ok(Err(_)) => {
                    self.faults.fetch_add(1, Ordering::Relaxed);
                    thread::sleep(FAULT_PAUSE);
                }
                Err(_) => {
                    self.faults.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    }

    /// Receives from `socket` for `participant` until [`Engine::remove`].
    pub(crate) fn add(
        &self,
        socket: &Arc<UdpSocket>,
        participant: Weak<dyn Receive>,
        (waiting, in_batches): (Waiting, bool),
    ) -> io::Result<Arc<Reception>> {
        let token = Token(self.next_token.fetch_add(1, Ordering::Relaxed));
        let socket = Arc::clone(socket);
        let me: Weak<dyn Watch> = self.me.clone();
        let reception = Reception::new(me, socket, participant, token, (waiting, in_batches));
        lock(&self.receptions).insert(token, Arc::clone(&reception));
        self.poller
            .add(&*reception.socket, token, Interest::Read, Trigger::Level)?;
        Ok(reception)
    }

    /// Receives no more there.
    pub(crate) fn remove(&self, reception: &Reception) {
        reception.close();
        if lock(&self.receptions).remove(&reception.token).is_some() {
            // A socket that was never added needs no removal.
            let _ = self.poller.remove(&*reception.socket, reception.token);
        }
    }

    /// Has `owner` called at `at` at the latest.
    pub(crate) fn arm(&self, slot: &TimerSlot, owner: &Weak<dyn Timed>, at: Instant) {
        if self.timers.arm(slot, owner, at) {
            self.waker.wake();
        }
    }

    /// Forgets the owner of `slot`, which is being dropped.
    pub(crate) fn disarm(&self, slot: &TimerSlot) {
        self.timers.disarm(slot);
    }

    /// Waits once for datagrams or a deadline and handles what there is; when it had.
    fn turn(&self, events: &mut Events) -> io::Result<Instant> {
        let next = self.timers.fall_asleep();
        let waited = self.poller.wait(patience(next), events);
        self.timers.wake_up();
        waited?;
        for event in events.iter().filter(|event| event.token != WAKE) {
            if event.token == WATCH {
                self.note_interfaces();
                continue;
            }
            let reception = lock(&self.receptions).get(&event.token).cloned();
            if let Some(reception) = reception {
                reception.receive();
            }
        }
        let now = clock::now();
        self.timers.fire(now);
        Ok(now)
    }

    fn note_interfaces(&self) {
        if self.watch.as_ref().is_some_and(InterfaceWatch::drain) {
            self.look_at_interfaces_in(LOOK_DELAY);
        }
    }

    /// Looks for what has changed on the network `wait` from now.
    pub(crate) fn look_at_interfaces_in(&self, wait: Duration) {
        let me: Weak<dyn Timed> = self.me.clone();
        self.arm(&self.look, &me, clock::now().after(wait));
    }
}

/// How long to sleep for the next deadline.
#[cfg(not(shuttle))]
fn patience(next: Option<Instant>) -> Option<StdDuration> {
    next.and_then(clock::until)
}

/// Not at all: the model checker's threads are one of the system's, and all would sleep.
#[cfg(shuttle)]
fn patience(_next: Option<Instant>) -> Option<StdDuration> {
    thread::yield_now();
    Some(StdDuration::ZERO)
}

impl Watch for Engine {
    fn watch_not(&self, reception: &Reception) -> io::Result<()> {
        // Watched for nothing it would still be looked at with every datagram.
        self.poller.remove(&*reception.socket, reception.token)
    }

    fn watch_again(&self, reception: &Reception) -> io::Result<()> {
        self.poller.add(
            &*reception.socket,
            reception.token,
            Interest::Read,
            Trigger::Level,
        )
    }

    fn arm(&self, slot: &TimerSlot, owner: &Weak<dyn Timed>, at: Instant) {
        Self::arm(self, slot, owner, at);
    }

    fn disarm(&self, slot: &TimerSlot) {
        Self::disarm(self, slot);
    }

    fn count_fault(&self) {
        self.faults.fetch_add(1, Ordering::Relaxed);
    }
}

impl Timed for Engine {
    fn on_timer(&self, _now: Instant) {
        if let Ok(existing) = interfaces::list() {
            let receptions: Vec<_> = lock(&self.receptions).values().cloned().collect();
            let mut told: Vec<Weak<dyn Receive>> = Vec::new();
            for reception in receptions {
                // A participant has several sockets.
                if !told.iter().any(|it| it.ptr_eq(&reception.participant)) {
                    told.push(Weak::clone(&reception.participant));
                    if let Some(participant) = reception.participant.upgrade() {
                        participant.follow_interfaces(&existing);
                    }
                }
            }
        }
        if self.watch.is_none() {
            self.look_at_interfaces_in(LOOK_PERIOD);
        }
    }

    fn timer(&self) -> &TimerSlot {
        &self.look
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        self.waker.wake();
        let callbacks = self.callbacks.stop();
        let io = lock(&self.thread).take();
        callbacks.into_iter().chain(io).for_each(Worker::join);
    }
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Driver").finish_non_exhaustive()
    }
}
