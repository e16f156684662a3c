//! Writing values that readers of the same process share.

use std::sync::Arc;
use std::time::Duration as StdDuration;

use whimbrel_base::buffer::GatheredBytes;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::time::Timestamp;
use whimbrel_proto::change::ChangeKind;
use whimbrel_proto::value::SharedValue;
use whimbrel_proto::writer::{NewChange, Packed};
use whimbrel_types::DdsType;

use super::spares::kept_bytes;
use super::stamp::Stamp;
use super::writer::DataWriter;
use crate::driver::handle::instance_of;
use crate::driver::writer::Draft;
use crate::error::Error;

impl<T: DdsType> DataWriter<T> {
    /// As [`DataWriter::write`], but readers of this process get the value itself, not a copy:
    /// whatever its size, that costs the same. It is encoded only where somebody needs its octets:
    /// a reader elsewhere, one that reads raw bytes or another Rust type, or history that is kept.
    ///
    /// Where nobody does, a value that cannot be encoded is not noticed. Readers count what the
    /// value keeps ([`DdsValue::held_bytes`]) towards their limits. Its destructor runs wherever
    /// the last reference goes.
    ///
    /// [`DdsValue::held_bytes`]: whimbrel_types::DdsValue::held_bytes
    ///
    /// # Errors
    /// As [`DataWriter::write`].
    pub fn write_shared(&self, value: Arc<T>) -> Result<(), Error> {
        let bytes = kept_bytes(&*value);
        self.share((value, bytes), Stamp::now(), || self.max_blocking())
    }

    /// As [`DataWriter::write_shared`], with a timestamp. DDS 1.4 §2.2.2.4.2.12.
    ///
    /// # Errors
    /// As [`DataWriter::write`].
    pub fn write_shared_with_timestamp(
        &self,
        value: Arc<T>,
        timestamp: Timestamp,
    ) -> Result<(), Error> {
        let bytes = kept_bytes(&*value);
        self.share((value, bytes), Stamp::of(timestamp), || self.max_blocking())
    }

    /// Writes `value`, which keeps so many octets, to readers of this process as it is.
    #[inline(never)]
    pub(super) fn share(
        &self,
        (value, bytes): (Arc<T>, usize),
        at: Stamp,
        max_blocking: impl FnOnce() -> Option<StdDuration>,
    ) -> Result<(), Error> {
        let instance = instance_of(&*value)?;
        let shared = SharedValue::new(value, bytes);
        self.pass(instance, shared, at, max_blocking)
    }

    /// Hands `value` to readers of this process as it is, and encodes it where that is not enough.
    fn pass(
        &self,
        instance: InstanceHandle,
        value: SharedValue,
        at: Stamp,
        max_blocking: impl FnOnce() -> Option<StdDuration>,
    ) -> Result<(), Error> {
        let mut draft = Draft {
            change: NewChange {
                kind: ChangeKind::Alive,
                instance,
                timestamp: at.source,
                payload: GatheredBytes::default(),
                packed: Packed::Untried,
            },
            value: Some(value),
            at: at.now,
            is_dated: at.is_dated,
            began: None,
        };
        if self.inner.core.write_value(&mut draft) {
            return Ok(());
        }
        // Nobody took it, so it is where it was.
        let shared = draft.value.take();
        let Some(Ok(value)) = shared.clone().map(SharedValue::into_shared::<T>) else {
            return Ok(());
        };
        let encoded = self.encode(ChangeKind::Alive, &value)?;
        let alive = (ChangeKind::Alive, &*value);
        self.put_encoded(alive, encoded, (Some(at), shared), max_blocking)
    }
}
