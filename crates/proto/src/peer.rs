//! Values by which the participant tells its endpoints about matched remote ones.

use alloc::vec::Vec;

use whimbrel_base::guid::Guid;
use whimbrel_base::locator::Locator;
use whimbrel_base::qos::CompressionIds;
use whimbrel_base::vendor::VendorId;

/// A remote reader that a local writer serves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MatchedReader {
    /// Who it is.
    pub guid: Guid,
    /// It asked for RELIABLE, so it acknowledges and must be repaired.
    pub reliable: bool,
    /// It asked for data from before the match (DURABILITY other than VOLATILE).
    pub durable: bool,
    /// It wants writer QoS inside each sample.
    pub expects_inline_qos: bool,
    /// Where it listens, already chosen for reachability.
    pub locators: Vec<Locator>,
    /// A group that it and we have joined, to which new changes go for all that have.
    pub group: Option<Locator>,
    /// Largest message, in octets of UDP payload, that reaches it without IP fragmentation.
    pub message_bytes_max: usize,
    /// Octets that its sockets receive at once; zero where it does not say.
    pub receive_buffer_bytes: u32,
    /// Codecs by which its participant takes whole messages.
    pub packed_messages: CompressionIds,
    /// Which implementation it belongs to.
    pub vendor: VendorId,
    /// It takes what the writer compresses: its samples, or its batches where it sends such.
    pub packed: bool,
    /// It understands batches.
    pub batches: bool,
}

impl MatchedReader {
    /// Where new changes go for it: to its group where there is one. Whatever is for it alone goes
    /// to its own addresses.
    pub(crate) fn push_to(&self) -> &[Locator] {
        self.group
            .as_ref()
            .map_or(&self.locators, core::slice::from_ref)
    }

    /// True for readers of this implementation: they answer every question at once.
    pub(crate) fn is_prompt(&self) -> bool {
        self.vendor == VendorId::WHIMBREL
    }
}

/// A remote writer that a local reader listens to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MatchedWriter {
    /// Who it is.
    pub guid: Guid,
    /// It offers RELIABLE: it sends heartbeats and repairs.
    pub reliable: bool,
    /// It keeps data for late joiners (DURABILITY other than VOLATILE).
    pub durable: bool,
    /// Where it wants acknowledgements, already chosen for reachability.
    pub locators: Vec<Locator>,
    /// Which implementation it belongs to.
    pub vendor: VendorId,
    /// It said that it compresses; the payloads of others are never taken for compressed.
    pub packs: bool,
    /// It said that it sends batches.
    pub batches: bool,
}
