//! Listeners of single writers and readers.

use std::any::Any;
use std::sync::Arc;

use whimbrel_base::status::{
    LivelinessChanged, LivelinessLost, OfferedDeadlineMissed, OfferedIncompatibleQos,
    PublicationMatched, RequestedDeadlineMissed, RequestedIncompatibleQos, SampleLost,
    SampleRejected, StatusKind, StatusMask, SubscriptionMatched,
};
use whimbrel_types::DdsType;

use crate::driver::callbacks::Callback;
use crate::publication::{DataWriter, WriterInner};
use crate::subscription::{DataReader, ReaderInner};

/// Hears what happens to a writer. DDS 1.4 §2.2.2.4.4.
///
/// The statuses given have been read: their change counts start anew.
pub trait DataWriterListener<T: DdsType>: Send {
    /// Readers came or went.
    fn on_publication_matched(&mut self, writer: &DataWriter<T>, status: PublicationMatched) {
        let _ = (writer, status);
    }

    /// A reader would match but requests more than is offered.
    fn on_offered_incompatible_qos(
        &mut self,
        writer: &DataWriter<T>,
        status: OfferedIncompatibleQos,
    ) {
        let _ = (writer, status);
    }

    /// The writer did not assert its liveliness in time. Not called yet: finite leases are refused.
    fn on_liveliness_lost(&mut self, writer: &DataWriter<T>, status: LivelinessLost) {
        let _ = (writer, status);
    }

    /// The writer missed a deadline. Not called yet: finite periods are refused.
    fn on_offered_deadline_missed(
        &mut self,
        writer: &DataWriter<T>,
        status: OfferedDeadlineMissed,
    ) {
        let _ = (writer, status);
    }
}

/// Hears what happens to a reader. DDS 1.4 §2.2.2.5.7.
///
/// The statuses given have been read: their change counts start anew.
pub trait DataReaderListener<T: DdsType>: Send {
    /// There is data. Take all of it: what is left is told again only when more arrives.
    fn on_data_available(&mut self, reader: &DataReader<T>) {
        let _ = reader;
    }

    /// Writers came or went.
    fn on_subscription_matched(&mut self, reader: &DataReader<T>, status: SubscriptionMatched) {
        let _ = (reader, status);
    }

    /// A writer would match but offers less than is requested.
    fn on_requested_incompatible_qos(
        &mut self,
        reader: &DataReader<T>,
        status: RequestedIncompatibleQos,
    ) {
        let _ = (reader, status);
    }

    /// Samples never arrived.
    fn on_sample_lost(&mut self, reader: &DataReader<T>, status: SampleLost) {
        let _ = (reader, status);
    }

    /// Samples arrived and had no room.
    fn on_sample_rejected(&mut self, reader: &DataReader<T>, status: SampleRejected) {
        let _ = (reader, status);
    }

    /// A matched writer became alive or ceased to be.
    fn on_liveliness_changed(&mut self, reader: &DataReader<T>, status: LivelinessChanged) {
        let _ = (reader, status);
    }

    /// A writer missed a deadline. Not called yet: finite periods are refused.
    fn on_requested_deadline_missed(
        &mut self,
        reader: &DataReader<T>,
        status: RequestedDeadlineMissed,
    ) {
        let _ = (reader, status);
    }
}

impl<T: DdsType> DataWriter<T> {
    /// Has `listener` told of the statuses in `kinds` from now on, and of those that changed
    /// before and were not read; `None` for nobody. DDS 1.4 §2.2.2.1.1.3.
    ///
    /// See [the module](crate::listener) for who is called when.
    pub fn set_listener(
        &self,
        listener: Option<Box<dyn DataWriterListener<T>>>,
        kinds: impl Into<StatusMask>,
    ) {
        let callback = listener.map(writer_callback);
        self.inner.core.status.set_listener(callback, kinds.into());
    }
}

impl<T: DdsType> DataReader<T> {
    /// Has `listener` told of the statuses in `kinds` from now on, and of those that changed
    /// before and were not read, data included; `None` for nobody. DDS 1.4 §2.2.2.1.1.3.
    ///
    /// See [the module](crate::listener) for who is called when.
    pub fn set_listener(
        &self,
        listener: Option<Box<dyn DataReaderListener<T>>>,
        kinds: impl Into<StatusMask>,
    ) {
        let callback = listener.map(reader_callback);
        self.inner.core.status.set_listener(callback, kinds.into());
    }
}

/// What readers hear of most; one kind at a time is told.
const DATA: StatusMask = StatusMask::of(StatusKind::DataAvailable);

/// The entity behind what the driver hands out.
pub(super) fn entity<I: Any>(owner: &dyn Any) -> Option<&Arc<I>> {
    owner.downcast_ref()
}

fn writer_callback<T: DdsType>(mut listener: Box<dyn DataWriterListener<T>>) -> Callback {
    Box::new(move |owner, kinds| {
        let Some(inner) = entity::<WriterInner>(owner) else {
            return;
        };
        let writer = &DataWriter::<T>::from_inner(Arc::clone(inner));
        for kind in kinds.iter() {
            match kind {
                StatusKind::PublicationMatched => {
                    listener.on_publication_matched(writer, writer.publication_matched_status());
                }
                StatusKind::OfferedIncompatibleQos => {
                    let status = writer.offered_incompatible_qos_status();
                    listener.on_offered_incompatible_qos(writer, status);
                }
                StatusKind::LivelinessLost => {
                    listener.on_liveliness_lost(writer, writer.liveliness_lost_status());
                }
                StatusKind::OfferedDeadlineMissed => {
                    let status = writer.offered_deadline_missed_status();
                    listener.on_offered_deadline_missed(writer, status);
                }
                _ => {}
            }
        }
    })
}

fn reader_callback<T: DdsType>(mut listener: Box<dyn DataReaderListener<T>>) -> Callback {
    Box::new(move |owner, kinds| {
        let Some(inner) = entity::<ReaderInner>(owner) else {
            return;
        };
        let reader = DataReader::<T>::of_inner(inner);
        if kinds == DATA {
            // DDS 1.4 §2.2.4.2.2: the call itself resets the status.
            reader.inner.core.status.clear_data();
            return listener.on_data_available(reader);
        }
        for kind in kinds.iter() {
            match kind {
                StatusKind::SubscriptionMatched => {
                    listener.on_subscription_matched(reader, reader.subscription_matched_status());
                }
                StatusKind::RequestedIncompatibleQos => {
                    let status = reader.requested_incompatible_qos_status();
                    listener.on_requested_incompatible_qos(reader, status);
                }
                StatusKind::SampleLost => {
                    listener.on_sample_lost(reader, reader.sample_lost_status());
                }
                StatusKind::SampleRejected => {
                    listener.on_sample_rejected(reader, reader.sample_rejected_status());
                }
                StatusKind::LivelinessChanged => {
                    listener.on_liveliness_changed(reader, reader.liveliness_changed_status());
                }
                StatusKind::RequestedDeadlineMissed => {
                    let status = reader.requested_deadline_missed_status();
                    listener.on_requested_deadline_missed(reader, status);
                }
                _ => {}
            }
        }
    })
}
