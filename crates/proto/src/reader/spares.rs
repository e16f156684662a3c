//! Room in which large samples were put together, kept for the next ones.

use whimbrel_base::budget::Account;
use whimbrel_base::buffer::{BufferMut, LargeSlabs, SharedBytes};
use whimbrel_base::time::{Duration, Instant};

/// How long room is kept for another large sample at first.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long it is kept at most where large samples keep coming.
const PATIENCE_MAX: Duration = Duration::from_secs(10);

/// The room, and until when it is kept: fresh memory takes as long again as the sample itself, so
/// that who gets large samples every few seconds keeps it for twice as long as it was last away.
#[derive(Debug)]
pub(super) struct Spares {
    slabs: LargeSlabs,
    /// When it is given up, unless another large sample comes.
    until: Option<Instant>,
    /// When a large sample came last.
    used_at: Option<Instant>,
    patience: Duration,
}

impl Spares {
    /// No room yet; what there will be is charged to `account`.
    pub(super) const fn new(account: Account) -> Self {
        Self {
            slabs: LargeSlabs::new(account),
            until: None,
            used_at: None,
            patience: PATIENCE,
        }
    }

    /// Room for a sample of `bytes`, where there is such; else nothing.
    pub(super) fn take(&mut self, bytes: usize) -> BufferMut {
        self.slabs.take(bytes)
    }

    /// Freezes a sample that is whole, and keeps its room for when it is used no more.
    pub(super) fn share(&mut self, now: Instant, whole: BufferMut) -> SharedBytes {
        if let (None, Some(used_at)) = (self.until, self.used_at) {
            let wanted = now.since(used_at).times(2);
            let is_worth = wanted <= PATIENCE_MAX;
            self.patience = if is_worth {
                wanted.max(PATIENCE)
            } else {
                PATIENCE
            };
        }
        self.used_at = Some(now);
        self.until = Some(now.after(self.patience));
        self.slabs.share(whole)
    }

    /// When it is given up.
    pub(super) const fn until(&self) -> Option<Instant> {
        self.until
    }

    /// Gives it up when the time has come.
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        if self.until.is_some_and(|at| at <= now) {
            self.until = None;
            self.slabs.give_up();
        }
    }

    /// Octets held.
    pub(super) fn held_bytes(&self) -> usize {
        self.slabs.held_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: usize = 100_000;

    /// Whether a sample `seconds` after the last one finds room.
    fn finds_room(spares: &mut Spares, now: &mut Instant, seconds: i64) -> bool {
        *now = now.after(Duration::from_secs(seconds));
        spares.handle_timeout(*now);
        let mut buffer = spares.take(BYTES);
        let found = buffer.bytes().capacity() >= BYTES;
        buffer.bytes().resize(BYTES, 7);
        drop(spares.share(*now, buffer));
        found
    }

    #[test]
    fn room_is_kept_for_samples_that_keep_coming() {
        let mut spares = Spares::new(Account::unlimited());
        let mut now = Instant(0);
        let mut found = |seconds| finds_room(&mut spares, &mut now, seconds);
        assert!(!found(5));
        // Learned from the first that found none.
        assert_eq!([3, 3, 5, 3].map(&mut found), [false, true, true, true]);
        // Seldom ones are not waited for, nor are others because of them.
        assert_eq!([60, 60, 3].map(&mut found), [false, false, false]);
        assert_eq!([3, 14, 4, 4].map(&mut found), [true, false, false, true]);
    }

    #[test]
    fn it_is_given_up_when_none_comes() {
        let mut spares = Spares::new(Account::unlimited());
        let mut now = Instant(0);
        finds_room(&mut spares, &mut now, 0);
        assert!(spares.held_bytes() >= BYTES);
        let until = spares.until().unwrap();
        assert_eq!(until, now.after(PATIENCE));
        spares.handle_timeout(until);
        assert_eq!((spares.held_bytes(), spares.until()), (0, None));
    }
}
