//! Conditions that the program sets itself.

use crate::driver::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use crate::driver::wake::Bell;

/// A condition that is true when the program says so. DDS 1.4 §2.2.2.1.8.
///
/// Clones are the same condition. Stays true until it is set to false.
#[derive(Clone, Debug, Default)]
pub struct GuardCondition {
    inner: Arc<GuardInner>,
}

#[derive(Debug, Default)]
struct GuardInner {
    value: AtomicBool,
    bell: Arc<Bell>,
}

impl GuardCondition {
    /// A condition that is false.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether it is true; wakes who waits for it. DDS 1.4 §2.2.2.1.8.1.
    pub fn set_trigger_value(&self, value: bool) {
        self.inner.value.store(value, Ordering::SeqCst);
        if value {
            self.inner.bell.ring();
        }
    }

    /// Whether it is true. DDS 1.4 §2.2.2.1.7.1.
    pub fn trigger_value(&self) -> bool {
        self.inner.value.load(Ordering::SeqCst)
    }

    pub(super) fn bell(&self) -> &Arc<Bell> {
        &self.inner.bell
    }
}

impl PartialEq for GuardCondition {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl Eq for GuardCondition {}
