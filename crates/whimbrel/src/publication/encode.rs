//! Encoding what is written, and putting it into history.

use std::time::Duration as StdDuration;

use whimbrel_base::buffer::{BufferMut, GatheredBytes, SharedBytes};
use whimbrel_base::cursor::Endian;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::time::{Duration, Timestamp};
use whimbrel_proto::change::ChangeKind;
use whimbrel_proto::value::SharedValue;
use whimbrel_proto::writer::NewChange;
use whimbrel_types::{Apart, DdsType, key_hash, key_to_payload, to_payload, to_payload_apart};

use super::writer::{DataWriter, Stamp, write_error};
use crate::driver::sync::lock;
use crate::driver::writer::{Draft, WriterState};
use crate::error::Error;

/// Fewer shared octets than these are copied: that is cheaper than one more slice to send.
const APART_BYTES_MIN: usize = 4096;

/// Serialized keys are padded to more octets than a key hash has, or one peer takes them for one.
const KEY_PAYLOAD_BYTES_MIN: usize = 20;

/// A value on its way into history.
pub(super) struct Encoded {
    instance: InstanceHandle,
    buffer: BufferMut,
    /// Octets that the value shares and that belong amid `buffer`.
    apart: Option<Apart>,
    /// The same, compressed, where some reader takes that and it does not leave with others in one
    /// compressed message.
    packed: Option<SharedBytes>,
    /// How long that took.
    packing: Duration,
    /// The serialized key, where it is not known yet.
    key: Option<Box<[u8]>>,
}

impl Encoded {
    /// The change of `kind` that it is, with its payload in a slab of the writer and where the
    /// value has it; beside it the serialized key, where that is not known yet.
    pub(super) fn into_change(
        self,
        kind: ChangeKind,
        timestamp: Timestamp,
        state: &mut WriterState,
    ) -> (NewChange, Option<Box<[u8]>>) {
        state.machine.note_packing(self.packing);
        let own = state.kept(self.buffer);
        let payload = match self.apart {
            Some(Apart { at, bytes }) => GatheredBytes::new(own, at, bytes),
            None => own.into(),
        };
        let change = NewChange {
            kind,
            instance: self.instance,
            timestamp,
            payload,
            packed: self.packed.map(Into::into),
        };
        (change, self.key)
    }
}

impl<T: DdsType> DataWriter<T> {
    pub(super) fn put(
        &self,
        (kind, value): (ChangeKind, &T),
        at: Stamp,
        max_blocking: impl FnOnce() -> Option<StdDuration>,
    ) -> Result<(), Error> {
        let encoded = self.encode(kind, value)?;
        self.put_encoded(kind, encoded, (at, None), max_blocking)
    }

    /// Writes what is encoded, and shares it with readers of this process where it is a value too.
    pub(super) fn put_encoded(
        &self,
        kind: ChangeKind,
        encoded: Encoded,
        (at, value): (Stamp, Option<SharedValue>),
        max_blocking: impl FnOnce() -> Option<StdDuration>,
    ) -> Result<(), Error> {
        let mut state = self.inner.core.lock();
        let (change, key) = encoded.into_change(kind, at.source, &mut state);
        let instance = change.instance;
        let draft = Draft {
            change,
            value,
            at: at.now,
        };
        let outcome = self.inner.core.write(state, &draft, max_blocking);
        outcome.map_err(write_error)?;
        self.note_written(instance, kind, key);
        Ok(())
    }

    /// `value` or its key, encoded into a buffer of the pool.
    ///
    /// The type's own code runs without a lock: it may panic, and call whatever it likes.
    pub(super) fn encode(&self, kind: ChangeKind, value: &T) -> Result<Encoded, Error> {
        let instance = instance_of(value)?;
        let (mut buffer, knows_key, packs_from, shares) = {
            let mut state = self.inner.core.lock();
            let packs = self.inner.packer.is_some() && state.machine.wants_packed();
            let together = || state.machine.packed_together_bytes_max();
            let packs_from = packs.then(together);
            let knows_key = state.keys.contains_key(&instance);
            (state.pool.take(), knows_key, packs_from, state.sends_all())
        };
        let bytes = buffer.bytes();
        let representation = self.inner.representation;
        let mut apart = None;
        if kind == ChangeKind::Alive && shares && packs_from.is_none() {
            let endian = Endian::NATIVE;
            apart = to_payload_apart(value, representation, endian, bytes, APART_BYTES_MIN)?;
        } else if kind == ChangeKind::Alive {
            to_payload(value, representation, Endian::NATIVE, bytes)?;
        } else {
            key_to_payload(value, representation, Endian::NATIVE, bytes)?;
            let padded = bytes.len().max(KEY_PAYLOAD_BYTES_MIN);
            bytes.resize(padded, 0);
        }
        // Serialized keys stay as they are.
        let packs = packs_from.is_some_and(|together| bytes.len() > together);
        let packer = self.inner.packer.as_ref();
        let packer = packer.filter(|_| packs && kind == ChangeKind::Alive);
        let (packed, packing) = packer.map_or((None, Duration::ZERO), |it| lock(it).pack(bytes));
        let wants_key = T::KEYED && !kind.unregisters() && !knows_key;
        Ok(Encoded {
            instance,
            buffer,
            apart,
            packed,
            packing,
            key: wants_key.then(|| self.serialized_key(value)).transpose()?,
        })
    }
}

pub(super) fn instance_of<T: DdsType>(value: &T) -> Result<InstanceHandle, Error> {
    if !T::KEYED {
        return Ok(InstanceHandle::NIL);
    }
    Ok(InstanceHandle::from_key_hash(key_hash(value)?))
}
