//! Encoding what is written, and putting it into history.

use std::cell::Cell;
use std::time::Duration as StdDuration;

use whimbrel_base::buffer::{BufferMut, GatheredBytes, SharedBytes};
use whimbrel_base::cursor::Endian;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::time::{Duration, Timestamp};
use whimbrel_proto::change::ChangeKind;
use whimbrel_proto::value::SharedValue;
use whimbrel_proto::writer::NewChange;
use whimbrel_types::{Apart, DdsType, key_hash, to_payload, to_payload_apart};

use super::writer::{DataWriter, Stamp, write_error};
use crate::driver::sync::lock;
use crate::driver::writer::key::encode_key;
use crate::driver::writer::{Draft, WriterState};
use crate::error::Error;

/// Fewer shared octets than these are copied: that is cheaper than one more slice to send.
const APART_BYTES_MIN: usize = 4096;

thread_local! {
    /// For what this thread writes next, so that encoding takes no lock.
    static SPARE: Cell<Option<BufferMut>> = const { Cell::new(None) };
}

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
}

impl Encoded {
    /// The change of `kind` that it is, with its payload in a slab of the writer and where the
    /// value has it.
    pub(super) fn into_change(
        self,
        kind: ChangeKind,
        timestamp: Timestamp,
        state: &mut WriterState,
    ) -> NewChange {
        state.machine.note_packing(self.packing);
        let own = state.kept(self.buffer);
        let payload = match self.apart {
            Some(Apart { at, bytes }) => GatheredBytes::new(own, at, bytes),
            None => own.into(),
        };
        NewChange {
            kind,
            instance: self.instance,
            timestamp,
            payload,
            packed: self.packed.map(Into::into),
        }
    }
}

impl<T: DdsType> DataWriter<T> {
    pub(super) fn put(
        &self,
        (kind, value): (ChangeKind, &T),
        at: Option<Stamp>,
        max_blocking: impl FnOnce() -> Option<StdDuration>,
    ) -> Result<(), Error> {
        let encoded = self.encode(kind, value)?;
        self.put_encoded((kind, value), encoded, (at, None), max_blocking)
    }

    /// Writes what is encoded, now unless `at` says when, and shares it with readers of this
    /// process where it is a value too.
    pub(super) fn put_encoded(
        &self,
        (kind, data): (ChangeKind, &T),
        encoded: Encoded,
        (at, value): (Option<Stamp>, Option<SharedValue>),
        max_blocking: impl FnOnce() -> Option<StdDuration>,
    ) -> Result<(), Error> {
        let mut state = self.inner.core.lock();
        let (at, began) = match at {
            Some(at) => (at, None),
            None if self.inner.core.sends_all() => Stamp::with_start(),
            // What is handed over needs no other clock.
            None => (Stamp::now(), None),
        };
        let change = encoded.into_change(kind, at.source, &mut state);
        let instance = change.instance;
        let mut draft = Draft {
            change,
            value,
            at: at.now,
            began,
        };
        let spare = state.pool.take();
        // Listeners that write within the write use it. At the end of a thread there may be no
        // place for it any more.
        let _ = SPARE.try_with(|it| it.set(Some(spare)));
        let wants_key = self.wants_key(&state, instance, kind);
        let outcome = self.inner.core.write(state, &mut draft, max_blocking);
        outcome.map_err(write_error)?;
        if wants_key || kind.unregisters() {
            // Its hash was computed from the same octets, so they can be.
            let key = wants_key.then(|| self.serialized_key(data).ok()).flatten();
            self.inner.core.lock().note_key(instance, key);
        }
        Ok(())
    }

    /// `value` or its key, encoded into a buffer of the pool.
    ///
    /// The type's own code runs without a lock: it may panic, and call whatever it likes.
    pub(super) fn encode(&self, kind: ChangeKind, value: &T) -> Result<Encoded, Error> {
        let instance = instance_of(value)?;
        let spare = SPARE.try_with(Cell::take).ok().flatten();
        let (mut buffer, packs_from) = match spare {
            Some(buffer) if self.inner.packer.is_none() => (buffer, None),
            spare => {
                let mut state = self.inner.core.lock();
                let packs = self.inner.packer.is_some() && state.machine.wants_packed();
                if self.inner.packer.is_some()
                    && kind == ChangeKind::Alive
                    && state.machine.is_taken_plain()
                {
                    state.not_taken += 1;
                }
                let together = || state.machine.packed_together_bytes_max();
                let packs_from = packs.then(together);
                (spare.unwrap_or_else(|| state.pool.take()), packs_from)
            }
        };
        let bytes = buffer.bytes();
        let representation = self.inner.representation;
        let mut apart = None;
        let shares = self.inner.core.sends_all();
        if kind == ChangeKind::Alive && shares && packs_from.is_none() {
            let endian = Endian::NATIVE;
            apart = to_payload_apart(value, representation, endian, bytes, APART_BYTES_MIN)?;
        } else if kind == ChangeKind::Alive {
            to_payload(value, representation, Endian::NATIVE, bytes)?;
        } else {
            encode_key(value, representation, bytes)?;
        }
        // Serialized keys stay as they are.
        let packs = packs_from.is_some_and(|together| bytes.len() > together);
        let packer = self.inner.packer.as_ref();
        let packer = packer.filter(|_| packs && kind == ChangeKind::Alive);
        let (packed, packing) = packer.map_or((None, Duration::ZERO), |it| lock(it).pack(bytes));
        Ok(Encoded {
            instance,
            buffer,
            apart,
            packed,
            packing,
        })
    }
}

pub(super) fn instance_of<T: DdsType>(value: &T) -> Result<InstanceHandle, Error> {
    if !T::KEYED {
        return Ok(InstanceHandle::NIL);
    }
    Ok(InstanceHandle::from_key_hash(key_hash(value)?))
}
