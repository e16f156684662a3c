//! The instances of a writer: registering them, giving them up, and naming them.

use whimbrel_base::cursor::Endian;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::time::Timestamp;
use whimbrel_proto::change::ChangeKind;
use whimbrel_types::{DdsType, key_from_payload, key_to_payload};

use super::stamp::Stamp;
use super::writer::{DataWriter, needs_key, write_error};
use crate::driver::handle::instance_of;
use crate::driver::sync::lock;
use crate::driver::writer::WriterState;
use crate::error::Error;

impl<T: DdsType> DataWriter<T> {
    /// Announces that the instance of `value` will be written, and names it.
    /// DDS 1.4 §2.2.2.4.2.5.
    ///
    /// # Errors
    /// [`Error::PreconditionNotMet`] for a type without key, [`Error::OutOfResources`] over the
    /// limit of instances, or a key that cannot be encoded.
    pub fn register_instance(&self, value: &T) -> Result<InstanceHandle, Error> {
        needs_key::<T>()?;
        let instance = instance_of(value)?;
        let key = self.serialized_key(value)?;
        let mut state = self.inner.core.lock();
        let outcome = state.machine.register_instance(instance);
        outcome.map_err(write_error)?;
        state.note_key(instance, Some(key));
        Ok(instance)
    }

    /// Gives up the instance of `value`; it is disposed too where
    /// `autodispose_unregistered_instances` says so. DDS 1.4 §2.2.2.4.2.7.
    ///
    /// # Errors
    /// [`Error::PreconditionNotMet`] for a type without key or an instance not registered; else as
    /// [`DataWriter::write`]. Of disposed instances only the newest 1,024 stay registered, so that
    /// keys that come and go cost nothing.
    pub fn unregister_instance(&self, value: &T) -> Result<(), Error> {
        self.give_up(value, None)
    }

    /// As [`DataWriter::unregister_instance`], with a timestamp. DDS 1.4 §2.2.2.4.2.8.
    ///
    /// # Errors
    /// As [`DataWriter::unregister_instance`].
    pub fn unregister_instance_with_timestamp(
        &self,
        value: &T,
        timestamp: Timestamp,
    ) -> Result<(), Error> {
        self.give_up(value, Some(Stamp::of(timestamp)))
    }

    fn give_up(&self, value: &T, at: Option<Stamp>) -> Result<(), Error> {
        needs_key::<T>()?;
        let instance = instance_of(value)?;
        if !self.inner.core.lock().machine.is_registered(instance) {
            return Err(Error::PreconditionNotMet(
                "the instance was never registered or written here".into(),
            ));
        }
        let lifecycle = lock(&self.inner.qos).writer_data_lifecycle;
        let kind = if lifecycle.autodispose_unregistered_instances {
            ChangeKind::DisposedUnregistered
        } else {
            ChangeKind::Unregistered
        };
        self.put((kind, value), at, || self.max_blocking())
    }

    /// Names the instance of `value` where this writer knows it. DDS 1.4 §2.2.2.4.2.10.
    ///
    /// # Errors
    /// A key that cannot be encoded.
    pub fn lookup_instance(&self, value: &T) -> Result<Option<InstanceHandle>, Error> {
        let instance = instance_of(value)?;
        let known = self.inner.core.lock().machine.is_registered(instance);
        Ok(known.then_some(instance))
    }

    /// The key of the instance named `instance`, in a value whose other fields are defaults.
    /// DDS 1.4 §2.2.2.4.2.9.
    ///
    /// # Errors
    /// [`Error::BadParameter`] for an instance that is not registered here: it was never written
    /// nor registered, or unregistered since.
    pub fn key_value(&self, instance: InstanceHandle) -> Result<T, Error> {
        let key = self.inner.core.lock().keys.get(&instance).cloned();
        let value = key.map(|key| key_from_payload(&key));
        value.and_then(Result::ok).ok_or_else(|| {
            Error::BadParameter(format!(
                "instance {instance:?} is not registered with this writer"
            ))
        })
    }

    /// True where a change of `kind` registers an instance the key of which is not known.
    pub(super) fn wants_key(
        &self,
        state: &WriterState,
        instance: InstanceHandle,
        kind: ChangeKind,
    ) -> bool {
        T::KEYED && !kind.unregisters() && !state.keys.contains_key(&instance)
    }

    /// The key of `value`, encapsulated.
    pub(super) fn serialized_key(&self, value: &T) -> Result<Box<[u8]>, Error> {
        let mut key = Vec::new();
        key_to_payload(value, self.inner.representation, Endian::NATIVE, &mut key)?;
        Ok(key.into_boxed_slice())
    }
}
