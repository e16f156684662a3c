//! Ctrl-C and SIGTERM: the command leaves the bus and ends.
//!
//! The handlers only set a flag. Every wait here is made of short ones, and looks at the flag
//! between them; nothing of a command may wait for long by other means.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::flag;

use crate::failure::Failure;
use crate::signal::Signal;

/// Longest wait between looks at the flag.
const SLICE: Duration = Duration::from_millis(100);

/// Whether any signal came: a second one ends the process at once.
static CAME: AtomicBool = AtomicBool::new(false);

/// The signal that came; 0 while none has.
static NUMBER: AtomicUsize = AtomicUsize::new(0);

/// Whether standard input has ended, where that means to stop.
static INPUT_ENDED: AtomicBool = AtomicBool::new(false);

/// Has the signals set the flag from now on, instead of ending the process.
pub(crate) fn install() -> Result<(), Failure> {
    let register = |signal: Signal| {
        let number = i32::from(signal.number());
        // They run in this order: the first signal finds no flag yet.
        flag::register_conditional_shutdown(number, i32::from(signal.exit_code()), &CAME)?;
        flag::register_usize(number, &NUMBER, usize::from(signal.number()))?;
        flag::register(number, &CAME).map(drop)
    };
    Signal::ALL
        .into_iter()
        .try_for_each(register)
        .map_err(Failure::setup::<io::Error>("handling signals"))
}

/// Has the end of standard input stop this process like a signal: its parent has let it go.
pub(crate) fn with_input() -> Result<(), Failure> {
    let drain = || {
        // An input that cannot be read has ended too.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        INPUT_ENDED.store(true, Ordering::SeqCst);
    };
    thread::Builder::new()
        .name("parent".into())
        .spawn(drain)
        .map(drop)
        .map_err(Failure::setup("starting a thread"))
}

/// Whether to go on; the error is how the command ends.
pub(crate) fn check() -> Result<(), Failure> {
    let number = NUMBER.load(Ordering::SeqCst);
    let is_it = |it: &Signal| usize::from(it.number()) == number;
    match Signal::ALL.into_iter().find(is_it) {
        Some(signal) => Err(Failure::Stopped(signal)),
        None if INPUT_ENDED.load(Ordering::SeqCst) => Err(Failure::Unread),
        None => Ok(()),
    }
}

/// How long the next wait may take, in a loop that waits until `deadline`.
pub(crate) fn slice(deadline: Option<Instant>) -> Result<Duration, Failure> {
    check()?;
    let left = |it: Instant| it.saturating_duration_since(Instant::now());
    Ok(deadline.map_or(SLICE, left).min(SLICE))
}

/// Calls `wait` with short times until it is true, or `timeout` is over: then false.
pub(crate) fn within(
    timeout: Duration,
    mut wait: impl FnMut(Duration) -> bool,
) -> Result<bool, Failure> {
    let deadline = Instant::now() + timeout;
    loop {
        if wait(slice(Some(deadline))?) {
            return Ok(true);
        }
        if Instant::now() >= deadline {
            return Ok(false);
        }
    }
}

/// Sleeps until `deadline`.
pub(crate) fn sleep_until(deadline: Instant) -> Result<(), Failure> {
    loop {
        let slice = slice(Some(deadline))?;
        if slice.is_zero() {
            return Ok(());
        }
        thread::sleep(slice);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_made_of_short_ones() {
        let mut waits = vec![];
        let done = within(Duration::from_secs(3600), |wait| {
            waits.push(wait);
            waits.len() == 3
        });
        assert!(done.unwrap());
        assert_eq!(waits, [SLICE; 3]);
        // A wait of no time looks once.
        let mut looks = 0;
        let done = within(Duration::ZERO, |wait| {
            looks += 1;
            !wait.is_zero()
        });
        assert!(!done.unwrap());
        assert_eq!(looks, 1);
    }
}
