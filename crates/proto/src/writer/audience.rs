//! What all readers of a writer have in common, so that no change needs a look at each of them.

use alloc::vec::Vec;

use whimbrel_base::locator::Locator;
use whimbrel_base::qos::CompressionIds;
use whimbrel_base::sorted::SortedMap;

use super::reader_proxy::ReaderProxy;

/// Who listens to a writer, in sum.
#[derive(Debug)]
pub(super) struct Audience {
    /// Every address of a reader once, in the order in which they came.
    destinations: Vec<Locator>,
    /// How many readers have the address.
    uses: SortedMap<Locator, usize>,
    /// Stands for the destinations, in their order.
    mark: u64,
    message_bytes_max: usize,
    inline_qos: bool,
    holds_history: bool,
    packed_messages: CompressionIds,
}

impl Default for Audience {
    fn default() -> Self {
        Self {
            destinations: Vec::new(),
            uses: SortedMap::new(),
            mark: mark_of(&[]),
            message_bytes_max: usize::MAX,
            inline_qos: false,
            holds_history: false,
            packed_messages: CompressionIds::ALL,
        }
    }
}

/// A number for `destinations` that others hardly have. FNV-1a.
fn mark_of(destinations: &[Locator]) -> u64 {
    let octets = destinations.iter().flat_map(|to| {
        let port = to.port.to_be_bytes();
        to.address.into_iter().chain(port)
    });
    octets.fold(0xcbf2_9ce4_8422_2325, |mark, octet| {
        (mark ^ u64::from(octet)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

impl Audience {
    /// Somebody listens at `locators`.
    pub(super) fn add(&mut self, locators: &[Locator]) {
        for locator in locators {
            let destinations = &mut self.destinations;
            self.uses.change(*locator, usize::default, |uses| {
                if *uses == 0 {
                    destinations.push(*locator);
                }
                *uses = uses.saturating_add(1);
            });
        }
        self.mark = mark_of(&self.destinations);
    }

    /// Takes back one [`Audience::add`].
    pub(super) fn remove(&mut self, locators: &[Locator]) {
        for locator in locators {
            let Some(uses) = self.uses.get_mut(locator) else {
                continue;
            };
            *uses = uses.saturating_sub(1);
            if *uses == 0 {
                self.uses.remove(locator);
                self.destinations.retain(|known| known != locator);
            }
        }
        self.mark = mark_of(&self.destinations);
    }

    /// Looks at all `readers` of a writer that is `reliable` or not.
    pub(super) fn survey<'a>(
        &mut self,
        reliable: bool,
        readers: impl Iterator<Item = &'a ReaderProxy>,
    ) {
        self.message_bytes_max = usize::MAX;
        self.inline_qos = false;
        self.holds_history = false;
        self.packed_messages = CompressionIds::ALL;
        for reader in readers {
            self.join(reliable, reader);
        }
    }

    /// One more reader of a writer that is `reliable` or not.
    pub(super) fn join(&mut self, reliable: bool, reader: &ReaderProxy) {
        self.message_bytes_max = self.message_bytes_max.min(reader.info.message_bytes_max);
        self.inline_qos |= reader.info.expects_inline_qos;
        self.packed_messages = self.packed_messages.and(reader.info.packed_messages);
        self.holds_history |= reliable && reader.holds_history();
    }

    /// Where new changes go.
    pub(super) fn destinations(&self) -> &[Locator] {
        &self.destinations
    }

    /// Stands for [`Audience::destinations`].
    pub(super) fn mark(&self) -> u64 {
        self.mark
    }

    /// Largest message that every reader takes, in octets.
    pub(super) fn message_bytes_max(&self) -> usize {
        self.message_bytes_max
    }

    /// Some reader wants inline QoS.
    pub(super) fn wants_inline_qos(&self) -> bool {
        self.inline_qos
    }

    /// Codecs by which every reader's participant takes whole messages.
    pub(super) fn packed_messages(&self) -> CompressionIds {
        self.packed_messages
    }

    /// Some reader needs what it has not acknowledged to be kept.
    pub(super) fn holds_history(&self) -> bool {
        self.holds_history
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::SocketAddr;

    #[test]
    fn an_address_is_served_as_long_as_somebody_listens_there() {
        let at = |port| Locator::from(SocketAddr::from(([127, 0, 0, 1], port)));
        let mut audience = Audience::default();
        audience.add(&[at(1), at(2)]);
        audience.add(&[at(2), at(3)]);
        assert_eq!(audience.destinations(), [at(1), at(2), at(3)]);
        let mark = audience.mark();
        audience.remove(&[at(1), at(2)]);
        assert_ne!(audience.mark(), mark);
        audience.add(&[at(1)]);
        audience.remove(&[at(1)]);
        let mut same = Audience::default();
        same.add(&[at(2), at(3)]);
        assert_eq!(audience.mark(), same.mark());
        assert_eq!(audience.destinations(), [at(2), at(3)]);
        audience.remove(&[at(9)]);
        audience.remove(&[at(2), at(3)]);
        assert!(audience.destinations().is_empty() && audience.uses.is_empty());
    }
}
