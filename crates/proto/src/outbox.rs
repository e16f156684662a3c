//! Where machines put the messages they want sent.

use alloc::vec::Vec;

use whimbrel_base::locator::Locator;

/// The whole samples of a message that are not compressed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PlainSamples {
    /// All of them.
    pub count: usize,
    /// Those that came out no smaller when they were compressed by themselves.
    pub no_smaller: usize,
}

impl PlainSamples {
    /// Some that have not been compressed by themselves.
    pub const fn untried(count: usize) -> Self {
        Self {
            count,
            no_smaller: 0,
        }
    }

    /// These and `more` of them.
    #[must_use]
    pub const fn plus(self, more: Self) -> Self {
        Self {
            count: self.count.saturating_add(more.count),
            no_smaller: self.no_smaller.saturating_add(more.no_smaller),
        }
    }

    /// True where there is only one, which came out no smaller.
    pub const fn is_one_tried(self) -> bool {
        self.count == 1 && self.no_smaller == 1
    }
}

/// What messages are parts of that may leave together.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PartOf {
    /// Octets of the largest of the large samples; none of a bundle of several messages.
    pub sample_bytes: usize,
    /// Octets of them that may leave together where something else is to pass soon: as many as
    /// arrive within a moment, as far as is known.
    pub together_bytes: usize,
}

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

    /// As [`Outbox::send_bundle`], for `samples`, maybe one or none, that may leave compressed in
    /// one message of at most `bytes_max` octets with those of other writers that compress alike. A
    /// lone one is worth that where it is large and was not tried.
    fn send_shared_bundle(
        &mut self,
        to: &[Locator],
        parts: &[&[u8]],
        (samples, bytes_max): (PlainSamples, usize),
    ) {
        let _ = bytes_max;
        if samples.count > 1 {
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

    /// As [`Outbox::send`], for what may leave with others of its size by one call, and wait behind
    /// everything else: parts of large samples, and bundles of several messages.
    fn send_bulk(&mut self, to: &[Locator], parts: &[&[u8]], of: PartOf) {
        let _ = of;
        self.send(to, parts);
    }
}
