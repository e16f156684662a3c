//! When the system was asked to send and when it gave something, for whoever measures where the
//! time of a sample goes. Unless [`watch`] was called, a mark costs one load from memory.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::SystemTime;

static WATCHED: AtomicBool = AtomicBool::new(false);
/// Since [`begin`]; 0 where nothing was sent.
static FIRST_SEND_NS: AtomicU64 = AtomicU64::new(0);
static LAST_SENT_NS: AtomicU64 = AtomicU64::new(0);
static RECEIVED_NS: AtomicU64 = AtomicU64::new(0);

/// All sockets of this process leave marks from now on.
pub fn watch() {
    WATCHED.store(true, Ordering::Relaxed);
}

/// Nanoseconds since 1970 by the clock that all processes of a host share.
pub fn wall_ns() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    u64::try_from(now.unwrap_or_default().as_nanos()).unwrap_or(u64::MAX)
}

/// Forgets what was sent so far.
pub fn begin() {
    FIRST_SEND_NS.store(0, Ordering::Relaxed);
}

/// When the first send call since [`begin`] began and when the last one ended, by [`wall_ns`]; none
/// where nothing was sent.
pub fn sent_ns() -> Option<[u64; 2]> {
    let first = FIRST_SEND_NS.load(Ordering::Relaxed);
    (first > 0).then(|| [first, LAST_SENT_NS.load(Ordering::Relaxed)])
}

/// When a receive call last gave something, by [`wall_ns`]; none where none did.
pub fn received_ns() -> Option<u64> {
    Some(RECEIVED_NS.load(Ordering::Relaxed)).filter(|it| *it > 0)
}

/// Marks the call `send`.
#[inline]
pub(crate) fn sending<R>(send: impl FnOnce() -> R) -> R {
    if !WATCHED.load(Ordering::Relaxed) {
        return send();
    }
    let begun = wall_ns();
    let outcome = send();
    // Only the first one since then.
    let _ = FIRST_SEND_NS.compare_exchange(0, begun, Ordering::Relaxed, Ordering::Relaxed);
    LAST_SENT_NS.store(wall_ns(), Ordering::Relaxed);
    outcome
}

/// Marks that something was received.
#[inline]
pub(crate) fn received() {
    if WATCHED.load(Ordering::Relaxed) {
        RECEIVED_NS.store(wall_ns(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket::{PortUse, RecvBatch, UdpSocket};

    #[test]
    fn a_datagram_leaves_marks_in_order() {
        let bind = || UdpSocket::bind("127.0.0.1:0".parse().unwrap(), PortUse::Exclusive).unwrap();
        let (from, to) = (bind(), bind());
        watch();
        begin();
        let before = wall_ns();
        let _ = from.send(to.local_addr(), &[b"mark"]).unwrap();
        let mut batch = RecvBatch::new(1, 1);
        while to.recv_batch(&mut batch).unwrap() == 0 {
            std::thread::yield_now();
        }
        // Other tests of this process leave marks too, later ones.
        let [first, last] = sent_ns().unwrap();
        assert!(before <= first && first <= last, "{before} {first} {last}");
        assert!(received_ns().unwrap() >= before);
    }
}
