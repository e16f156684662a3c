//! How entities and instances are named.

use std::cell::Cell;

use whimbrel_base::guid::Guid;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::reject::Reject;
use whimbrel_types::{DdsType, EncodeError, KeyHasher, Representation};

/// A hasher with more memory than this is not kept, in octets: a few keys may be large.
const KEPT_BYTES_MAX: usize = 16 * 1024;

thread_local! {
    /// With room for the keys of what this thread writes and receives.
    static HASHER: Cell<Option<KeyHasher>> = const { Cell::new(None) };
}

/// How statuses and samples name an entity of the bus.
pub(crate) fn handle_of(guid: Guid) -> InstanceHandle {
    InstanceHandle(guid.to_bytes())
}

/// The instance that `value` is of; nil for a type without keys.
pub(crate) fn instance_of<T: DdsType>(value: &T) -> Result<InstanceHandle, EncodeError> {
    if !T::KEYED {
        return Ok(InstanceHandle::NIL);
    }
    let hash = hashed(|hasher| hasher.of_value(value))?;
    Ok(InstanceHandle::from_key_hash(hash))
}

/// The instance that an encoded sample is of, or a serialized key where it `is_key`.
pub(crate) fn instance_of_payload<T: DdsType>(
    payload: &[u8],
    is_key: bool,
) -> Result<InstanceHandle, Reject> {
    let hash = hashed(|hasher| hasher.of_payload::<T>(payload, is_key))?;
    Ok(InstanceHandle::from_key_hash(hash))
}

/// The type's own code runs here, which may come here again, or panic: then there is another
/// hasher.
fn hashed<R>(hash: impl FnOnce(&mut KeyHasher) -> R) -> R {
    let known = HASHER.try_with(Cell::take).ok().flatten();
    let mut hasher = known.unwrap_or(KeyHasher::new(Representation::Xcdr2));
    let hashed = hash(&mut hasher);
    if hasher.held_bytes() <= KEPT_BYTES_MAX {
        // At the end of a thread there may be no place for it any more.
        let _ = HASHER.try_with(|it| it.set(Some(hasher)));
    }
    hashed
}

#[cfg(test)]
mod tests {
    use whimbrel_derive::DdsType;
    use whimbrel_types::key_hash;

    use super::*;

    #[derive(DdsType, Clone, Debug)]
    #[dds(crate = "whimbrel_types")]
    struct Named {
        #[dds(key)]
        name: String,
    }

    #[test]
    fn what_a_thread_keeps_changes_no_handle_and_is_never_much() {
        for length in [3, 100_000, 30, 0] {
            let named = Named {
                name: "n".repeat(length),
            };
            let handle = InstanceHandle::from_key_hash(key_hash(&named).unwrap());
            assert_eq!(instance_of(&named).unwrap(), handle);
            let kept = HASHER.take();
            assert!(
                kept.as_ref()
                    .is_none_or(|it| it.held_bytes() <= KEPT_BYTES_MAX)
            );
            assert_eq!(kept.is_some(), length < 1000);
            HASHER.set(kept);
        }
    }
}
