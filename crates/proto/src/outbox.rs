//! Where machines put the messages they want sent.

use alloc::vec::Vec;

use whimbrel_base::locator::Locator;

/// Takes messages from a machine: a batch of system calls in the driver, a queue in simulation.
pub trait Outbox {
    /// Sends one RTPS message, the concatenation of `parts`, to each of `to`.
    ///
    /// Sending never fails for the machine: what the network loses, reliability repairs.
    fn send(&mut self, to: &[Locator], parts: &[&[u8]]);

    /// Leaves only those of `to`, addresses of this host, at which somebody listens; all of them
    /// where that cannot be told.
    fn retain_listened(&mut self, to: &mut Vec<Locator>) {
        let _ = to;
    }

    /// As [`Outbox::send`], for several samples that all of `to` take compressed as a whole, by the
    /// codec of which their writer was told.
    fn send_bundle(&mut self, to: &[Locator], parts: &[&[u8]]) {
        self.send(to, parts);
    }

    /// As [`Outbox::send_bundle`], for `samples` samples that are not compressed yet, maybe one or
    /// none, and may leave so in one message of at most `bytes_max` octets with those of other
    /// writers that compress alike. A lone one is worth that where it is large.
    fn send_shared_bundle(
        &mut self,
        to: &[Locator],
        parts: &[&[u8]],
        (samples, bytes_max): (usize, usize),
    ) {
        let _ = bytes_max;
        if samples > 1 {
            self.send_bundle(to, parts);
        } else {
            self.send(to, parts);
        }
    }

    /// As [`Outbox::send`], for samples that may leave in one message of at most `bytes_max` octets
    /// with those of other writers.
    fn send_shared(&mut self, to: &[Locator], parts: &[&[u8]], bytes_max: usize) {
        let _ = bytes_max;
        self.send(to, parts);
    }

    /// As [`Outbox::send`], for what may wait behind everything else: parts of large samples, the
    /// largest of which has `sample_bytes` octets.
    fn send_bulk(&mut self, to: &[Locator], parts: &[&[u8]], sample_bytes: usize) {
        let _ = sample_bytes;
        self.send(to, parts);
    }
}
