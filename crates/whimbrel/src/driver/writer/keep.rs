//! In what history keeps encoded samples.

use whimbrel_base::buffer::{BufferMut, SharedBytes};
use whimbrel_base::time::{Duration, Instant};

use super::{SLAB_BYTES, WriterState};

/// Samples of so many octets and fewer are copied into smaller slabs where history has many: those
/// with a member of 1 KiB and a few numbers beside it too.
const COMPACT_BYTES_MAX: usize = 1024 + 64;

/// That is so many.
const COMPACT_FROM: usize = 16;

/// How often at most slabs that a burst left behind are given back.
const TRIM_PERIOD: Duration = Duration::from_secs(1);

impl WriterState {
    /// An encoded sample as it enters history: where that has many, one that is small takes no more
    /// room than it must, so that all of them stay near. Then there is also a buffer of that size
    /// for the next one, of which no copy need be made.
    #[inline(always)]
    pub(crate) fn kept(&mut self, encoded: BufferMut) -> (SharedBytes, Option<BufferMut>) {
        if self.machine.history_len() < COMPACT_FROM && encoded.capacity() >= SLAB_BYTES {
            return (self.pool.share(encoded), None);
        }
        self.kept_compact(encoded)
    }

    #[inline(never)]
    fn kept_compact(&mut self, mut encoded: BufferMut) -> (SharedBytes, Option<BufferMut>) {
        let len = encoded.filled().len();
        let compact = len <= COMPACT_BYTES_MAX && self.machine.history_len() >= COMPACT_FROM;
        if compact || encoded.capacity() < SLAB_BYTES {
            encoded = match self.compactor.share(encoded) {
                Ok(payload) => {
                    let next = compact.then(|| self.compactor.take(len));
                    return (payload, next.flatten());
                }
                Err(encoded) => encoded,
            };
        }
        if !compact {
            return (self.pool.share(encoded), None);
        }
        let payload = self.compactor.copy(encoded.filled());
        drop(self.pool.share(encoded));
        (payload, self.compactor.take(len))
    }

    /// Gives back slabs that a burst left behind; when to be called again for that.
    pub(super) fn trim(&mut self, now: Instant) -> Option<Instant> {
        if now >= self.trim_at && self.wants_trim() {
            self.pool.trim();
            self.compactor.trim();
            self.trim_at = now.after(TRIM_PERIOD);
        }
        self.wants_trim().then_some(self.trim_at)
    }

    /// True where slabs need not be given back at `now`, and whoever looks next, at `due_at`, is
    /// early enough for that.
    #[inline(always)]
    pub(super) fn trims_later(&self, now: Instant, due_at: Instant) -> bool {
        !self.wants_trim() || (now < self.trim_at && due_at <= self.trim_at)
    }

    /// True where there are slabs to be given back.
    fn wants_trim(&self) -> bool {
        self.pool.wants_trim() || self.compactor.wants_trim()
    }
}
