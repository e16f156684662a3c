//! Wait sets: blocking until some of many conditions are true.

use crate::driver::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::driver::sync::{Arc, Mutex, lock};
use std::future::Future;
use std::time::Duration as StdDuration;

use super::guard::GuardCondition;
use super::read::ReadCondition;
use super::status::StatusCondition;
use crate::driver::clock;
use crate::driver::task::until;
use crate::driver::wake::Bell;
use crate::error::Error;

/// Something to wait for. DDS 1.4 §2.2.2.1.7.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Condition {
    /// A status of an entity changed.
    Status(StatusCondition),
    /// A reader has samples with certain states.
    Read(ReadCondition),
    /// The program says so itself.
    Guard(GuardCondition),
}

impl Condition {
    /// Whether it is true. DDS 1.4 §2.2.2.1.7.1.
    pub fn trigger_value(&self) -> bool {
        match self {
            Self::Status(condition) => condition.trigger_value(),
            Self::Read(condition) => condition.trigger_value(),
            Self::Guard(condition) => condition.trigger_value(),
        }
    }

    fn bell(&self) -> &Arc<Bell> {
        match self {
            Self::Status(condition) => condition.bell(),
            Self::Read(condition) => condition.bell(),
            Self::Guard(condition) => condition.bell(),
        }
    }
}

impl From<StatusCondition> for Condition {
    fn from(condition: StatusCondition) -> Self {
        Self::Status(condition)
    }
}

impl From<ReadCondition> for Condition {
    fn from(condition: ReadCondition) -> Self {
        Self::Read(condition)
    }
}

impl From<GuardCondition> for Condition {
    fn from(condition: GuardCondition) -> Self {
        Self::Guard(condition)
    }
}

/// Waits for any of the conditions attached to it. DDS 1.4 §2.2.2.1.6.
///
/// ```
/// use std::time::Duration;
/// use whimbrel::{GuardCondition, WaitSet};
///
/// # fn main() -> Result<(), whimbrel::Error> {
/// let stop = GuardCondition::new();
/// let wait_set = WaitSet::new();
/// wait_set.attach(stop.clone());
/// std::thread::spawn({
///     let stop = stop.clone();
///     move || stop.set_trigger_value(true)
/// });
/// let met = wait_set.wait(Duration::from_secs(10))?;
/// assert_eq!(met, [stop.into()]);
/// # Ok(())
/// # }
/// ```
///
/// Clones are the same wait set. One thread at a time waits, as the standard has it; attaching and
/// detaching are allowed meanwhile and count at once. A condition may be in many wait sets.
#[derive(Clone, Debug, Default)]
pub struct WaitSet {
    inner: Arc<WaitSetInner>,
}

#[derive(Debug, Default)]
struct WaitSetInner {
    bell: Arc<Bell>,
    /// Looked at without the lock; replaced as a whole.
    conditions: Mutex<Arc<[Condition]>>,
    /// How often they were replaced.
    replaced: AtomicU64,
    waiting: AtomicBool,
}

impl WaitSet {
    /// A wait set without conditions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a condition; one that is there already is not added again.
    /// DDS 1.4 §2.2.2.1.6.1.
    pub fn attach(&self, condition: impl Into<Condition>) {
        let condition = condition.into();
        {
            let mut conditions = lock(&self.inner.conditions);
            if conditions.contains(&condition) {
                return;
            }
            condition.bell().attach(&self.inner.bell);
            *conditions = conditions.iter().cloned().chain([condition]).collect();
            self.inner.note_replaced();
        }
        // A thread that waits already looks at it now.
        self.inner.bell.ring();
    }

    /// Takes a condition out. DDS 1.4 §2.2.2.1.6.2.
    ///
    /// # Errors
    /// [`Error::PreconditionNotMet`] for a condition that is not attached.
    pub fn detach(&self, condition: impl Into<Condition>) -> Result<(), Error> {
        let condition = condition.into();
        let mut conditions = lock(&self.inner.conditions);
        if !conditions.contains(&condition) {
            return Err(Error::PreconditionNotMet(
                "the condition is not attached to this wait set".into(),
            ));
        }
        let others = conditions.iter().filter(|known| **known != condition);
        let others: Arc<[Condition]> = others.cloned().collect();
        let old = std::mem::replace(&mut *conditions, others);
        self.inner.note_replaced();
        drop(conditions);
        drop(old);
        condition.bell().detach(&self.inner.bell);
        Ok(())
    }

    /// The conditions attached. DDS 1.4 §2.2.2.1.6.4.
    pub fn conditions(&self) -> Vec<Condition> {
        lock(&self.inner.conditions).to_vec()
    }

    /// Blocks until at least one condition is true and returns all that are, in the order they
    /// were attached; at once where some are true already. DDS 1.4 §2.2.2.1.6.3.
    ///
    /// # Errors
    /// [`Error::Timeout`] when none became true within `timeout`,
    /// [`Error::PreconditionNotMet`] while another thread waits on this wait set.
    pub fn wait(&self, timeout: StdDuration) -> Result<Vec<Condition>, Error> {
        let mut met = Vec::with_capacity(1);
        self.wait_into(timeout, &mut met)?;
        Ok(met)
    }

    /// As [`WaitSet::wait`], but puts the conditions where `met` holds others, and allocates
    /// nothing where that has room.
    ///
    /// # Errors
    /// As [`WaitSet::wait`]; `met` is empty then.
    pub fn wait_into(&self, timeout: StdDuration, met: &mut Vec<Condition>) -> Result<(), Error> {
        met.clear();
        let _turn = Turn::take(&self.inner)?;
        let mut known = self.inner.known();
        let triggered = || {
            if self.inner.replaced.load(Ordering::SeqCst) != known.replaced {
                known = self.inner.known();
            }
            met.extend(known.triggered().cloned());
            (!met.is_empty()).then_some(())
        };
        self.inner
            .bell
            .wait_on(clock::deadline(timeout), triggered)
            .ok_or(Error::Timeout)
    }

    /// As [`WaitSet::wait`], without blocking a thread and without end: for any executor. May be
    /// dropped at any time.
    ///
    /// Any number of tasks may wait.
    pub fn wait_async(&self) -> impl Future<Output = Vec<Condition>> + Send + use<> {
        let inner = Arc::clone(&self.inner);
        until(Arc::clone(&self.inner.bell), move || {
            let met: Vec<Condition> = inner.known().triggered().cloned().collect();
            (!met.is_empty()).then_some(met)
        })
    }
}

/// The conditions of a wait set after so many were replaced.
struct Known {
    conditions: Arc<[Condition]>,
    replaced: u64,
}

impl Known {
    fn triggered(&self) -> impl Iterator<Item = &Condition> {
        self.conditions.iter().filter(|it| it.trigger_value())
    }
}

impl WaitSetInner {
    fn known(&self) -> Known {
        let conditions = lock(&self.conditions);
        Known {
            conditions: Arc::clone(&conditions),
            replaced: self.replaced.load(Ordering::SeqCst),
        }
    }

    /// The conditions were just replaced, under their lock.
    fn note_replaced(&self) {
        self.replaced.fetch_add(1, Ordering::SeqCst);
    }
}

impl Drop for WaitSetInner {
    fn drop(&mut self) {
        for condition in lock(&self.conditions).iter() {
            condition.bell().detach(&self.bell);
        }
    }
}

/// The right to wait on a wait set.
struct Turn<'a>(&'a AtomicBool);

impl<'a> Turn<'a> {
    fn take(inner: &'a WaitSetInner) -> Result<Self, Error> {
        if inner.waiting.swap(true, Ordering::SeqCst) {
            return Err(Error::PreconditionNotMet(
                "another thread waits on this wait set; give each thread its own".into(),
            ));
        }
        Ok(Self(&inner.waiting))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}
