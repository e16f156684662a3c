//! Watching and disturbing the traffic of a socket.

use std::fmt;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use whimbrel_base::time::Timestamp;

use crate::capture::CaptureWriter;
use crate::datagram::Datagram;

/// Sees every datagram of a socket. Called on the thread that sends or receives: be quick.
pub trait Tap: Send + Sync {
    /// `parts` are about to be sent from `local` to `to` as one datagram.
    fn sent(&self, local: SocketAddr, to: SocketAddr, parts: &[&[u8]]);
    /// `datagram` was received by the socket bound to `local`.
    fn received(&self, local: SocketAddr, datagram: &Datagram);
}

/// A tap that writes a packet capture. Errors of the file end the capture, not the traffic.
pub struct CaptureTap<W: Write + Send> {
    writer: Mutex<Option<CaptureWriter<W>>>,
}

impl<W: Write + Send> CaptureTap<W> {
    /// Writes to `writer`. Share one among all sockets that belong into one file.
    pub fn new(writer: CaptureWriter<W>) -> Self {
        Self {
            writer: Mutex::new(Some(writer)),
        }
    }

    /// Passes on what the file still holds back.
    pub fn flush(&self) {
        let mut writer = self.lock();
        if writer.as_mut().is_some_and(|open| open.flush().is_err()) {
            *writer = None;
        }
    }

    /// True until the file refused a packet.
    pub fn is_alive(&self) -> bool {
        self.lock().is_some()
    }

    fn record(&self, from: SocketAddr, to: SocketAddr, parts: &[&[u8]]) {
        let now = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        let now = Timestamp(i64::try_from(now.as_nanos()).unwrap_or(i64::MAX));
        let mut writer = self.lock();
        if let Some(open) = writer.as_mut()
            && open.write_udp(from, to, parts, now).is_err()
        {
            *writer = None;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<CaptureWriter<W>>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: Write + Send> Tap for CaptureTap<W> {
    fn sent(&self, local: SocketAddr, to: SocketAddr, parts: &[&[u8]]) {
        self.record(local, to, parts);
    }

    fn received(&self, local: SocketAddr, datagram: &Datagram) {
        let to = datagram
            .destination
            .map_or(local, |ip| SocketAddr::new(ip, local.port()));
        self.record(datagram.source, to, &[&datagram.payload]);
    }
}

impl<W: Write + Send> fmt::Debug for CaptureTap<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CaptureTap")
    }
}

/// How to disturb what a socket sends. The same seed gives the same fates in the same order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Faults {
    /// Datagrams in a thousand that are not sent.
    pub drop_per_mille: u16,
    /// Datagrams in a thousand that are sent twice.
    pub duplicate_per_mille: u16,
    /// Where the sequence of fates begins.
    pub seed: u64,
}

/// What happens to one datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    Deliver,
    Drop,
    Duplicate,
}

#[derive(Debug)]
pub(crate) struct FaultInjector {
    faults: Faults,
    state: AtomicU64,
}

impl FaultInjector {
    pub(crate) const fn new(faults: Faults) -> Self {
        Self {
            faults,
            state: AtomicU64::new(faults.seed),
        }
    }

    /// The fate of the next datagram.
    pub(crate) fn next(&self) -> Fate {
        // SplitMix64: a counter and a mixing function, so threads need no lock.
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut mixed = self
            .state
            .fetch_add(STEP, Ordering::Relaxed)
            .wrapping_add(STEP);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        let draw = mixed % 1_000;
        let drop = u64::from(self.faults.drop_per_mille);
        let duplicate = u64::from(self.faults.duplicate_per_mille);
        if draw < drop {
            Fate::Drop
        } else if draw < drop + duplicate {
            Fate::Duplicate
        } else {
            Fate::Deliver
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fates(seed: u64, drop_per_mille: u16, duplicate_per_mille: u16) -> Vec<Fate> {
        let injector = FaultInjector::new(Faults {
            drop_per_mille,
            duplicate_per_mille,
            seed,
        });
        (0..10_000).map(|_| injector.next()).collect()
    }

    fn count(fates: &[Fate], wanted: Fate) -> usize {
        fates.iter().filter(|fate| **fate == wanted).count()
    }

    #[test]
    fn fates_follow_seed_and_rates() {
        let some = fates(7, 300, 100);
        assert_eq!(some, fates(7, 300, 100));
        assert_ne!(some, fates(8, 300, 100));
        assert!((2_800..3_200).contains(&count(&some, Fate::Drop)));
        assert!((850..1_150).contains(&count(&some, Fate::Duplicate)));
        assert_eq!(count(&fates(7, 1_000, 0), Fate::Drop), 10_000);
        assert_eq!(count(&fates(7, 0, 0), Fate::Deliver), 10_000);
    }
}
