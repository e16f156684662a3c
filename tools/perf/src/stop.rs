//! Ctrl-C, SIGTERM and a terminal that is closed: what was measured is written, namespaces go,
//! then the process ends.

use std::sync::atomic::{AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use whimbrel_rig::process::INTERRUPTED;

use crate::failure::Failure;

static NUMBER: AtomicUsize = AtomicUsize::new(0);

/// Has the signals set a flag instead of ending the process.
pub(crate) fn install() -> Result<(), Failure> {
    let why = |error| Failure::Setup(format!("handling signals: {error}"));
    for number in [SIGHUP, SIGINT, SIGTERM] {
        flag::register_usize(number, &NUMBER, number.unsigned_abs() as usize).map_err(why)?;
        flag::register(number, &INTERRUPTED).map_err(why)?;
    }
    Ok(())
}

/// Whether to go on.
pub(crate) fn check() -> Result<(), Failure> {
    match u8::try_from(NUMBER.load(Ordering::SeqCst)) {
        Ok(0) | Err(_) => Ok(()),
        Ok(number) => Err(Failure::Signal(number)),
    }
}
