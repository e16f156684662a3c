//! Ctrl-C and SIGTERM: the test ends as by its timer, so that what was measured is printed.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::failure::Failure;

static CAME: AtomicBool = AtomicBool::new(false);
static NUMBER: AtomicUsize = AtomicUsize::new(0);

/// Has the first signal set a flag and the second end the process.
pub(crate) fn install() -> Result<(), Failure> {
    for number in [SIGINT, SIGTERM] {
        let register = || {
            // They run in this order: the first signal finds no flag yet.
            flag::register_conditional_shutdown(number, 128 + number, &CAME)?;
            flag::register_usize(number, &NUMBER, number.unsigned_abs() as usize)?;
            flag::register(number, &CAME).map(drop)
        };
        register().map_err(Failure::run::<std::io::Error>("handling signals"))?;
    }
    Ok(())
}

/// The signal that came, if one did.
pub(crate) fn signal() -> Option<u8> {
    let number = NUMBER.load(Ordering::SeqCst);
    u8::try_from(number).ok().filter(|it| *it > 0)
}
