//! The processor time of a thread, which other work on the machine does not touch.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Processor time that the calling thread has used.
pub fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = Duration::from_secs(time.tv_sec.unsigned_abs());
    seconds.saturating_add(Duration::from_nanos(time.tv_nsec.unsigned_abs()))
}
