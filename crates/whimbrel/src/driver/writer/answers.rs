//! What remote readers have answered while somebody wrote.

use whimbrel_base::guid::Guid;
use whimbrel_base::time::Instant;
use whimbrel_wire::submessage::AckNack;

use crate::driver::sync::atomic::{AtomicBool, Ordering};
use crate::driver::sync::{Mutex, lock};

/// Where more than these wait the lock is waited for.
pub(super) const ANSWERS_MAX: usize = 32;

/// An answer that was put aside.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) received_at: Instant,
    pub(super) from: Guid,
    pub(super) acknack: AckNack,
}

/// Answers that came while somebody else had the lock of their writer.
#[derive(Default)]
pub(super) struct Answers {
    are_there: AtomicBool,
    waiting: Mutex<Vec<Answer>>,
}

impl Answers {
    /// True while there are some.
    #[inline(always)]
    pub(super) fn are_there(&self) -> bool {
        self.are_there.load(Ordering::SeqCst)
    }

    /// Adds one; false where there are too many.
    pub(super) fn add(&self, answer: Answer) -> bool {
        let mut waiting = lock(&self.waiting);
        let has_room = waiting.len() < ANSWERS_MAX;
        if has_room {
            waiting.push(answer);
            self.are_there.store(true, Ordering::SeqCst);
        }
        has_room
    }

    /// Has `see_to` look at each, in the order in which they came.
    pub(super) fn drain(&self, see_to: impl FnMut(Answer)) {
        let mut waiting = lock(&self.waiting);
        self.are_there.store(false, Ordering::SeqCst);
        waiting.drain(..).for_each(see_to);
    }
}
