//! What went wrong besides slow drops.

use std::sync::Mutex;

static FAULTS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Notes it.
pub(super) fn fault(what: String) {
    FAULTS.lock().expect("nobody panics here").push(what);
}

/// All of it.
pub(super) fn faults() -> Vec<String> {
    FAULTS.lock().expect("nobody panics here").clone()
}
