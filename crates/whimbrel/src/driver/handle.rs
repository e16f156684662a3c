//! How entities are named.

use whimbrel_base::guid::Guid;
use whimbrel_base::instance::InstanceHandle;

/// How statuses and samples name an entity of the bus.
pub(crate) fn handle_of(guid: Guid) -> InstanceHandle {
    InstanceHandle(guid.to_bytes())
}
