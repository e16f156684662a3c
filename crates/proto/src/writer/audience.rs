//! What all readers of a writer have in common, so that no change needs a look at each of them.

use alloc::vec::Vec;

use whimbrel_base::locator::Locator;
use whimbrel_base::qos::CompressionIds;
use whimbrel_base::sorted::SortedMap;

use super::reader_proxy::ReaderProxy;
use crate::packing::Packing;
use crate::peer::MatchedReader;

/// Who has an address.
#[derive(Debug, Default)]
struct Uses {
    readers: usize,
    /// Of these, those whose participant takes no messages compressed by the writer's codec.
    plain: usize,
}

/// Who listens to a writer, in sum.
#[derive(Debug)]
pub(super) struct Audience {
    /// Every address of a reader once, in the order in which they came.
    destinations: Vec<Locator>,
    uses: SortedMap<Locator, Uses>,
    /// Stands for the destinations, in their order.
    mark: u64,
    message_bytes_max: usize,
    inline_qos: bool,
    holds_history: bool,
    /// How messages are compressed as a whole, if they are.
    codec: CompressionIds,
    /// Where they leave so.
    packing: Packing,
    /// Some reader takes changes by that codec, but no messages.
    takes_changes_only: bool,
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
    /// Nobody yet, of a writer whose messages are compressed by `codec`, or by none.
    pub(super) fn new(codec: CompressionIds) -> Self {
        let mut audience = Self {
            destinations: Vec::new(),
            uses: SortedMap::new(),
            mark: 0,
            message_bytes_max: usize::MAX,
            inline_qos: false,
            holds_history: false,
            codec,
            packing: Packing::Nowhere,
            takes_changes_only: false,
        };
        audience.note_destinations();
        audience
    }

    /// `reader` listens where it says.
    pub(super) fn add(&mut self, reader: &MatchedReader) {
        let plain = usize::from(!self.takes_messages(reader));
        for locator in reader.push_to() {
            let destinations = &mut self.destinations;
            self.uses.change(*locator, Uses::default, |uses| {
                if uses.readers == 0 {
                    destinations.push(*locator);
                }
                uses.readers = uses.readers.saturating_add(1);
                uses.plain = uses.plain.saturating_add(plain);
            });
        }
        self.note_destinations();
    }

    /// Takes back one [`Audience::add`].
    pub(super) fn remove(&mut self, reader: &MatchedReader) {
        let plain = usize::from(!self.takes_messages(reader));
        for locator in reader.push_to() {
            let Some(uses) = self.uses.get_mut(locator) else {
                continue;
            };
            uses.readers = uses.readers.saturating_sub(1);
            uses.plain = uses.plain.saturating_sub(plain);
            if uses.readers == 0 {
                self.uses.remove(locator);
                self.destinations.retain(|known| known != locator);
            }
        }
        self.note_destinations();
    }

    fn takes_messages(&self, reader: &MatchedReader) -> bool {
        reader.packed_messages.intersects(self.codec)
    }

    fn note_destinations(&mut self) {
        self.mark = mark_of(&self.destinations);
        self.packing = if self.codec.is_empty() {
            Packing::Nowhere
        } else {
            let everybody = |to: &Locator| self.uses.get(to).is_some_and(|it| it.plain == 0);
            Packing::of(&self.destinations, everybody)
        };
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
        self.takes_changes_only = false;
        for reader in readers {
            self.join(reliable, reader);
        }
    }

    /// One more reader of a writer that is `reliable` or not.
    pub(super) fn join(&mut self, reliable: bool, reader: &ReaderProxy) {
        self.message_bytes_max = self.message_bytes_max.min(reader.info.message_bytes_max);
        self.inline_qos |= reader.info.expects_inline_qos;
        self.takes_changes_only |= reader.info.packed && !self.takes_messages(&reader.info);
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

    /// Where everybody takes messages compressed as a whole, so that new changes leave so.
    pub(super) fn packing(&self) -> &Packing {
        &self.packing
    }

    /// Some reader takes compressed changes, but no messages that are compressed as a whole.
    pub(super) fn takes_changes_only(&self) -> bool {
        self.takes_changes_only
    }

    /// Some reader needs what it has not acknowledged to be kept.
    pub(super) fn holds_history(&self) -> bool {
        self.holds_history
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::matched;
    use super::*;
    use core::net::SocketAddr;

    fn at(port: u16) -> Locator {
        Locator::from(SocketAddr::from(([127, 0, 0, 1], port)))
    }

    fn reader(ports: &[u16], packed_messages: CompressionIds) -> MatchedReader {
        MatchedReader {
            locators: ports.iter().copied().map(at).collect(),
            packed_messages,
            ..matched(true, false)
        }
    }

    #[test]
    fn an_address_is_served_as_long_as_somebody_listens_there() {
        let none = CompressionIds::NONE;
        let of = |ports: &[u16]| reader(ports, none);
        let mut audience = Audience::new(none);
        audience.add(&of(&[1, 2]));
        audience.add(&of(&[2, 3]));
        assert_eq!(audience.destinations(), [at(1), at(2), at(3)]);
        let mark = audience.mark();
        audience.remove(&of(&[1, 2]));
        assert_ne!(audience.mark(), mark);
        audience.add(&of(&[1]));
        audience.remove(&of(&[1]));
        let mut same = Audience::new(none);
        same.add(&of(&[2, 3]));
        assert_eq!(audience.mark(), same.mark());
        assert_eq!(audience.destinations(), [at(2), at(3)]);
        audience.remove(&of(&[9]));
        audience.remove(&of(&[2, 3]));
        assert!(audience.destinations().is_empty() && audience.uses.is_empty());
    }

    #[test]
    fn one_who_takes_no_compressed_messages_decides_for_its_addresses_only() {
        let (none, lz4) = (CompressionIds::NONE, CompressionIds::LZ4);
        let mut audience = Audience::new(lz4);
        audience.add(&reader(&[1, 2], lz4));
        assert!(matches!(audience.packing(), Packing::Everywhere));
        let other = reader(&[2, 3], CompressionIds::ZLIB);
        audience.add(&other);
        let Packing::Some(sides) = audience.packing() else {
            panic!("some take them")
        };
        let (taking, others) = sides.of(audience.destinations());
        assert_eq!((&*taking, &*others), (&[at(1)][..], &[at(2), at(3)][..]));
        audience.remove(&other);
        assert!(matches!(audience.packing(), Packing::Everywhere));
        let mut plain = Audience::new(none);
        plain.add(&reader(&[1], CompressionIds::ALL));
        assert!(!plain.packing().is_somewhere());
        let mut alone = Audience::new(lz4);
        alone.add(&reader(&[1], none));
        assert!(!alone.packing().is_somewhere());
    }
}
