//! Encoding what is written, and putting it into history.

use std::cell::Cell;
use std::hint::cold_path;
use std::time::Duration as StdDuration;

use whimbrel_base::buffer::{BufferMut, GatheredBytes};
use whimbrel_base::cursor::Endian;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::time::{Duration, Timestamp};
use whimbrel_proto::change::ChangeKind;
use whimbrel_proto::value::SharedValue;
use whimbrel_proto::writer::{NewChange, Packed};
use whimbrel_types::{Apart, DdsType, EncodeError, to_payload, to_payload_apart};

use super::settings::WriterPacker;
use super::spares;
use super::stamp::Stamp;
use super::writer::{DataWriter, write_error};
use crate::driver::handle::instance_of;
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
    packed: Packed,
    /// How long that took.
    packing: Duration,
    /// It is a key, or no larger than what the writer's codec leaves as it is.
    is_small: bool,
}

impl Encoded {
    /// Its octets, wherever they are.
    fn len(&self) -> usize {
        let apart = self.apart.as_ref().map_or(0, |it| it.bytes.len());
        self.buffer.filled().len().saturating_add(apart)
    }

    #[inline(never)]
    fn count_small(&self, state: &mut WriterState) {
        state.plain.count_small(&state.machine, self.len());
    }

    /// The change of `kind` that it is, with its payload in a slab of the writer and where the
    /// value has it. A buffer that is free then is kept for what this thread writes next.
    #[inline(always)]
    pub(super) fn into_change(
        self,
        kind: ChangeKind,
        timestamp: Timestamp,
        state: &mut WriterState,
    ) -> NewChange {
        state.machine.note_packing(self.packing);
        if self.is_small {
            self.count_small(state);
        }
        let (own, free) = state.kept(self.buffer);
        keep_spare(match free {
            Some(free) => free,
            None => state.pool.take(),
        });
        let payload = match self.apart {
            Some(Apart { at, bytes }) => GatheredBytes::new(own, at, bytes),
            None => own.into(),
        };
        NewChange {
            kind,
            instance: self.instance,
            timestamp,
            payload,
            packed: self.packed,
        }
    }
}

/// Keeps `buffer` for what this thread writes next, also within this write.
fn keep_spare(buffer: BufferMut) {
    // At the end of a thread there may be no place for it any more.
    let before = SPARE.try_with(|it| it.replace(Some(buffer)));
    if let Ok(Some(before)) = before {
        cold_path();
        drop(before);
    }
}

impl<T: DdsType> DataWriter<T> {
    /// Writes `value`, or what is told of its instance: a copy where readers of this process take
    /// that, else encoded.
    pub(super) fn put(
        &self,
        (kind, value): (ChangeKind, &T),
        at: Option<Stamp>,
        max_blocking: impl FnOnce() -> Option<StdDuration>,
    ) -> Result<(), Error> {
        if kind == ChangeKind::Alive && self.inner.core.passes_values() {
            // First, so that reading the clock goes on while the copy is made.
            let stamp = at.unwrap_or_else(Stamp::now);
            let bytes = spares::kept_bytes(value);
            if let Some(own) = spares::duplicate(value, bytes) {
                return self.share((own, bytes), stamp, max_blocking);
            }
        }
        let encoded = self.encode(kind, value)?;
        self.put_encoded((kind, value), encoded, (at, None), max_blocking)
    }

    /// Writes what is encoded, now unless `at` says when, and shares it with readers of this
    /// process where it is a value too.
    #[inline(always)]
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
        let instance = encoded.instance;
        let mut draft = Draft {
            change: encoded.into_change(kind, at.source, &mut state),
            value,
            at: at.now,
            is_dated: at.is_dated,
            began,
        };
        let wants_key = self.wants_key(&state, instance, kind);
        let outcome = self.inner.core.write(state, &mut draft, max_blocking);
        outcome.map_err(write_error)?;
        if wants_key || kind.unregisters() {
            self.tell_key(data, instance, wants_key);
        }
        Ok(())
    }

    #[cold]
    fn tell_key(&self, data: &T, instance: InstanceHandle, wants_key: bool) {
        // Its hash was computed from the same octets, so they can be.
        let key = wants_key.then(|| self.serialized_key(data).ok()).flatten();
        self.inner.core.lock().note_key(instance, key);
    }

    /// `value` or its key, encoded into a buffer of the pool.
    ///
    /// The type's own code runs without a lock: it may panic, and call whatever it likes.
    #[inline(always)]
    pub(super) fn encode(&self, kind: ChangeKind, value: &T) -> Result<Encoded, Error> {
        let instance = instance_of(value)?;
        let spare = SPARE.try_with(Cell::take).ok().flatten();
        let mut buffer = spare.unwrap_or_else(|| self.inner.core.lock().pool.take());
        let bytes = buffer.bytes();
        let (representation, endian) = (self.inner.representation, Endian::NATIVE);
        let mut apart = None;
        if kind != ChangeKind::Alive {
            encode_key(value, representation, bytes)?;
        } else if self.inner.core.sends_all() {
            apart = to_payload_apart(value, representation, endian, bytes, APART_BYTES_MIN)?;
        } else {
            to_payload(value, representation, endian, bytes)?;
        }
        let mut encoded = Encoded {
            instance,
            buffer,
            apart,
            packed: Packed::Untried,
            packing: Duration::ZERO,
            is_small: false,
        };
        if let Some(packer) = &self.inner.packer {
            self.pack_large((kind, value), packer, &mut encoded)?;
        }
        Ok(encoded)
    }

    #[inline(never)]
    fn pack_large(
        &self,
        (kind, value): (ChangeKind, &T),
        packer: &WriterPacker,
        encoded: &mut Encoded,
    ) -> Result<(), EncodeError> {
        // Serialized keys stay as they are.
        encoded.is_small = kind != ChangeKind::Alive || encoded.len() <= packer.threshold;
        if encoded.is_small {
            return Ok(());
        }
        self.pack(value, packer, encoded)
    }

    /// Compresses what is encoded, which is large enough, where some reader takes that.
    #[cold]
    fn pack(
        &self,
        value: &T,
        packer: &WriterPacker,
        encoded: &mut Encoded,
    ) -> Result<(), EncodeError> {
        let len = encoded.len();
        let (wanted, is_counted) = {
            let mut state = self.inner.core.lock();
            let counts_later = state.machine.leaves_in_packed_message(len);
            let not_taken = !counts_later && state.machine.is_taken_plain();
            state.plain.not_taken += u64::from(not_taken);
            let alone = len > state.machine.packed_together_bytes_max();
            let wanted = state.machine.wants_packed() && alone;
            (wanted, counts_later || not_taken)
        };
        if !wanted {
            return Ok(());
        }
        let bytes = encoded.buffer.bytes();
        if encoded.apart.take().is_some() {
            // The codec wants all of it in one place.
            bytes.clear();
            to_payload(value, self.inner.representation, Endian::NATIVE, bytes)?;
        }
        let mut codec = lock(&packer.packer);
        let (packed, took) = codec.try_pack(bytes, 1);
        if packed.is_none() && !is_counted {
            codec.count_incompressible(1);
        }
        encoded.packing = took;
        encoded.packed = match packed {
            Some(packed) => Packed::Smaller(Box::new(packed.into())),
            None => Packed::NoSmaller,
        };
        Ok(())
    }
}
