//! Who streams, and how.

use crate::contestant::Product;

/// How a stream is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// BEST_EFFORT; the raw socket is nothing else.
    BestEffort,
    /// RELIABLE.
    Reliable,
    /// RELIABLE with the product's bundling of samples.
    Batched,
    /// RELIABLE with each sample in a message of its own.
    Unbundled,
    /// RELIABLE with the settings of the product that are known to be quicker here.
    Tuned,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::BestEffort => "best-effort",
            Self::Reliable => "reliable",
            Self::Batched => "batched",
            Self::Unbundled => "unbundled",
            Self::Tuned => "tuned",
        }
    }
}

/// A product and a kind of stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flow {
    pub(super) product: Product,
    pub(super) kind: Kind,
}

pub(super) const FLOWS: &[Flow] = &[
    flow(Product::Raw, Kind::BestEffort),
    flow(Product::Whimbrel, Kind::BestEffort),
    flow(Product::Whimbrel, Kind::Reliable),
    flow(Product::Whimbrel, Kind::Batched),
    flow(Product::Whimbrel, Kind::Unbundled),
    flow(Product::Cyclone, Kind::BestEffort),
    flow(Product::Cyclone, Kind::Reliable),
    flow(Product::Cyclone, Kind::Batched),
    flow(Product::Cyclone, Kind::Tuned),
    flow(Product::FastDds, Kind::BestEffort),
    flow(Product::FastDds, Kind::Reliable),
    flow(Product::FastDds, Kind::Tuned),
];

const fn flow(product: Product, kind: Kind) -> Flow {
    Flow { product, kind }
}

/// Octets of payload that fit one datagram beside all headers.
const DATAGRAM_BYTES_MAX: usize = 65_400;

impl Flow {
    pub(super) fn name(self) -> String {
        format!("{} {}", self.product.name(), self.kind.name())
    }

    /// Whether samples of this size can be sent so.
    pub(super) fn fits(self, size: usize) -> bool {
        self.product != Product::Raw || size <= DATAGRAM_BYTES_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn flows_are_named_once() {
        let names: BTreeSet<String> = FLOWS.iter().map(|it| it.name()).collect();
        assert_eq!(names.len(), FLOWS.len());
    }

    #[test]
    fn the_raw_socket_has_no_fragments() {
        let raw = FLOWS[0];
        assert!(raw.fits(63_000) && !raw.fits(1 << 20));
        assert!(FLOWS.iter().skip(1).all(|it| it.fits(1 << 20)));
    }
}
