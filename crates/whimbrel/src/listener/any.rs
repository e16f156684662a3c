//! Writers and readers whose type is not known at the place where they are met.

use std::any::TypeId;
use std::fmt;
use std::sync::Arc;

use whimbrel_base::guid::Guid;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_types::DdsType;

use crate::driver::handle::handle_of;
use crate::publication::{DataWriter, WriterInner};
use crate::subscription::{DataReader, ReaderInner, Subscriber};

/// A writer of whatever type, as listeners of publishers and participants are given it.
///
/// Clones are the same writer and keep it on the bus.
#[derive(Clone)]
pub struct AnyDataWriter {
    pub(super) inner: Arc<WriterInner>,
}

impl AnyDataWriter {
    /// Its identity on the bus.
    pub fn guid(&self) -> Guid {
        self.inner.core.guid
    }

    /// Its identity as an instance handle.
    pub fn instance_handle(&self) -> InstanceHandle {
        handle_of(self.guid())
    }

    /// The name of its topic.
    pub fn topic_name(&self) -> &str {
        &self.inner.topic.name
    }

    /// The name of its type on the bus.
    pub fn type_name(&self) -> &str {
        &self.inner.topic.type_name
    }

    /// The writer with its type; `None` where it writes another one.
    pub fn downcast<T: DdsType>(&self) -> Option<DataWriter<T>> {
        let fits = self.inner.data_type == TypeId::of::<T>();
        fits.then(|| DataWriter::from_inner(Arc::clone(&self.inner)))
    }
}

impl fmt::Debug for AnyDataWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AnyDataWriter({} {})", self.topic_name(), self.guid())
    }
}

/// A reader of whatever type, as listeners of subscribers and participants are given it.
///
/// Clones are the same reader and keep it on the bus.
#[derive(Clone)]
pub struct AnyDataReader {
    pub(super) inner: Arc<ReaderInner>,
}

impl AnyDataReader {
    /// Its identity on the bus.
    pub fn guid(&self) -> Guid {
        self.inner.core.guid
    }

    /// Its identity as an instance handle.
    pub fn instance_handle(&self) -> InstanceHandle {
        handle_of(self.guid())
    }

    /// The name of its topic.
    pub fn topic_name(&self) -> &str {
        &self.inner.topic.name
    }

    /// The name of its type on the bus.
    pub fn type_name(&self) -> &str {
        &self.inner.topic.type_name
    }

    /// The subscriber it belongs to.
    pub fn subscriber(&self) -> Subscriber {
        Subscriber {
            inner: Arc::clone(&self.inner.subscriber),
        }
    }

    /// The reader with its type; `None` where it reads another one, or raw bytes.
    pub fn downcast<T: DdsType>(&self) -> Option<DataReader<T>> {
        let fits = self.inner.data_type == Some(TypeId::of::<T>());
        fits.then(|| DataReader::from_inner(Arc::clone(&self.inner)))
    }
}

impl fmt::Debug for AnyDataReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AnyDataReader({} {})", self.topic_name(), self.guid())
    }
}
