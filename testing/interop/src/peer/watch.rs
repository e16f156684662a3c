//! Watching matches, and staying for a while.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::options::Options;

/// Time between two looks at what changed.
pub(super) const POLL: Duration = Duration::from_millis(2);

/// How long to stay after the work.
pub(super) struct Linger {
    end: Instant,
}

/// Standard input has ended, and the options say that this ends the lingering.
static STOPPED: AtomicBool = AtomicBool::new(false);

impl Linger {
    /// Begins now.
    pub(super) fn begin(options: &Options) -> Self {
        if options.until_eof {
            thread::spawn(|| {
                let _ = std::io::stdin().read_to_end(&mut Vec::new());
                STOPPED.store(true, Ordering::Relaxed);
            });
        }
        let span = Duration::from_millis(options.linger_ms.into());
        Self {
            end: Instant::now() + span,
        }
    }

    /// True when it is time to go.
    pub(super) fn is_over(&self) -> bool {
        STOPPED.load(Ordering::Relaxed) || Instant::now() >= self.end
    }
}

/// Prints every change of the number of matched endpoints.
#[derive(Debug, Default)]
pub(super) struct Matched(usize);

impl Matched {
    /// Takes note of the current number and gives it back.
    pub(super) fn note(&mut self, current: usize) -> usize {
        if current > self.0 {
            println!("matched {current}");
        } else if current < self.0 {
            println!("unmatched {current}");
        }
        self.0 = current;
        current
    }
}
