//! Who streams, and how.

use crate::contestant::Product;

/// How a stream is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// BEST_EFFORT; the raw socket is nothing else.
    BestEffort,
    /// BEST_EFFORT with each sample in a message of its own, but for those that wait until the
    /// reader has taken what is under way.
    BestEffortUnbundled,
    /// The same as `BestEffort`, of KEEP_LAST 1.
    BestEffortLast,
    /// RELIABLE.
    Reliable,
    /// RELIABLE with the product's bundling of samples; datagrams of the raw socket that leave, and
    /// are received, by one call for many.
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
            Self::BestEffortUnbundled => "best-effort+off",
            Self::BestEffortLast => "best-effort-last",
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
    flow(Product::Raw, Kind::Batched),
    flow(Product::Whimbrel, Kind::BestEffort),
    flow(Product::Whimbrel, Kind::BestEffortUnbundled),
    flow(Product::Whimbrel, Kind::BestEffortLast),
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

/// The largest sample of which what KEEP_LAST gives up leaves with others.
const LAST_BYTES_MAX: usize = 1024;

/// Octets of payload that fit one datagram beside all headers.
const DATAGRAM_BYTES_MAX: usize = 65_400;

impl Flow {
    pub(super) fn name(self) -> String {
        format!("{} {}", self.product.name(), self.kind.name())
    }

    /// Whether samples of this size are sent so.
    pub(super) fn fits(self, size: usize) -> bool {
        let is_joined = self.kind == Kind::Batched;
        let most = DATAGRAM_BYTES_MAX / if is_joined { 2 } else { 1 };
        let most = match (self.product, self.kind) {
            (Product::Raw, _) => most,
            (_, Kind::BestEffortLast) => LAST_BYTES_MAX,
            _ => usize::MAX,
        };
        size <= most
    }

    /// Whether what does not arrive at once comes later: no reliable stream gives up.
    pub(super) fn is_reliable(self) -> bool {
        self.product != Product::Raw && !self.is_best_effort()
    }

    /// Whether it is BEST_EFFORT.
    pub(super) fn is_best_effort(self) -> bool {
        matches!(
            self.kind,
            Kind::BestEffort | Kind::BestEffortUnbundled | Kind::BestEffortLast
        )
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
    fn nothing_but_the_raw_socket_loses_what_is_reliable_elsewhere() {
        let reliable = |it: &&Flow| it.is_reliable();
        assert!(
            FLOWS
                .iter()
                .filter(reliable)
                .all(|it| it.product != Product::Raw)
        );
        assert_eq!(FLOWS.iter().filter(reliable).count(), FLOWS.len() - 7);
    }

    #[test]
    fn the_raw_socket_has_no_fragments() {
        let [raw, joined, others @ ..] = FLOWS else {
            panic!("{FLOWS:?}")
        };
        assert!(raw.fits(63_000) && !raw.fits(1 << 20));
        // One alone is no batch.
        assert!(joined.fits(16_384) && !joined.fits(63_000));
        let is_last = |it: &&Flow| it.kind == Kind::BestEffortLast;
        let fitting = others.iter().filter(|it| it.fits(1 << 20));
        assert_eq!(
            fitting.count(),
            others.len() - others.iter().filter(is_last).count()
        );
    }
}
