//! Listeners of publishers, subscribers and participants: told what the entities within have no
//! listener of their own for.

use std::any::Any;

use whimbrel_base::status::{
    InconsistentTopic, LivelinessChanged, LivelinessLost, OfferedDeadlineMissed,
    OfferedIncompatibleQos, PublicationMatched, RequestedDeadlineMissed, RequestedIncompatibleQos,
    SampleLost, SampleRejected, StatusKind, StatusMask, SubscriptionMatched,
};

use super::any::{AnyDataReader, AnyDataWriter};
use super::endpoint::entity;
use crate::domain::DomainParticipant;
use crate::driver::callbacks::Callback;
use crate::driver::contain;
use crate::driver::topic::TopicCore;
use crate::publication::{Publisher, WriterInner};
use crate::subscription::{ReaderInner, Subscriber};

/// Hears what happens to the writers of a publisher. DDS 1.4 §2.2.2.4.3.
///
/// The statuses given have been read: their change counts start anew.
pub trait PublisherListener: Send {
    /// Readers came or went.
    fn on_publication_matched(&mut self, writer: &AnyDataWriter, status: PublicationMatched) {
        let _ = (writer, status);
    }

    /// A reader would match but requests more than is offered.
    fn on_offered_incompatible_qos(
        &mut self,
        writer: &AnyDataWriter,
        status: OfferedIncompatibleQos,
    ) {
        let _ = (writer, status);
    }

    /// A writer did not assert its liveliness in time. Not called yet: finite leases are refused.
    fn on_liveliness_lost(&mut self, writer: &AnyDataWriter, status: LivelinessLost) {
        let _ = (writer, status);
    }

    /// A writer missed a deadline. Not called yet: finite periods are refused.
    fn on_offered_deadline_missed(
        &mut self,
        writer: &AnyDataWriter,
        status: OfferedDeadlineMissed,
    ) {
        let _ = (writer, status);
    }
}

/// Hears what happens to the readers of a subscriber. DDS 1.4 §2.2.2.5.6.
///
/// The statuses given have been read: their change counts start anew.
pub trait SubscriberListener: Send {
    /// There is data in some reader. Told before, and instead of, DATA_AVAILABLE; this default
    /// passes it on with [`Subscriber::notify_datareaders`].
    fn on_data_on_readers(&mut self, subscriber: &Subscriber) {
        subscriber.notify_datareaders();
    }

    /// There is data. Take all of it: what is left is told again only when more arrives.
    fn on_data_available(&mut self, reader: &AnyDataReader) {
        let _ = reader;
    }

    /// Writers came or went.
    fn on_subscription_matched(&mut self, reader: &AnyDataReader, status: SubscriptionMatched) {
        let _ = (reader, status);
    }

    /// A writer would match but offers less than is requested.
    fn on_requested_incompatible_qos(
        &mut self,
        reader: &AnyDataReader,
        status: RequestedIncompatibleQos,
    ) {
        let _ = (reader, status);
    }

    /// Samples never arrived.
    fn on_sample_lost(&mut self, reader: &AnyDataReader, status: SampleLost) {
        let _ = (reader, status);
    }

    /// Samples arrived and had no room.
    fn on_sample_rejected(&mut self, reader: &AnyDataReader, status: SampleRejected) {
        let _ = (reader, status);
    }

    /// A matched writer became alive or ceased to be.
    fn on_liveliness_changed(&mut self, reader: &AnyDataReader, status: LivelinessChanged) {
        let _ = (reader, status);
    }

    /// A writer missed a deadline. Not called yet: finite periods are refused.
    fn on_requested_deadline_missed(
        &mut self,
        reader: &AnyDataReader,
        status: RequestedDeadlineMissed,
    ) {
        let _ = (reader, status);
    }
}

/// Hears what happens to all entities of a participant. DDS 1.4 §2.2.2.2.3.
pub trait DomainParticipantListener: PublisherListener + SubscriberListener {
    /// Somebody uses the name of a topic for another type. The status given has been read.
    fn on_inconsistent_topic(&mut self, topic_name: &str, status: InconsistentTopic) {
        let _ = (topic_name, status);
    }
}

impl Publisher {
    /// Has `listener` told of the statuses in `kinds` from now on, and of those that changed
    /// before and were not read, where the writer itself has no listener for them; `None` for
    /// nobody. DDS 1.4 §2.2.2.1.1.3.
    ///
    /// See [the module](crate::listener) for who is called when.
    pub fn set_listener(
        &self,
        listener: Option<Box<dyn PublisherListener>>,
        kinds: impl Into<StatusMask>,
    ) {
        let kinds = kinds.into();
        let status = &self.inner.status;
        let callback = listener.map(|mut listener| -> Callback {
            Box::new(move |owner, kinds| tell_of_writer(&mut *listener, owner, kinds))
        });
        status.set_listener(callback, kinds);
        self.inner.participant.core.retell_within(status, kinds);
    }
}

impl Subscriber {
    /// Has `listener` told of the statuses in `kinds` from now on, and of those that changed
    /// before and were not read, where the reader itself has no listener for them; `None` for
    /// nobody. DDS 1.4 §2.2.2.1.1.3.
    ///
    /// See [the module](crate::listener) for who is called when.
    pub fn set_listener(
        &self,
        listener: Option<Box<dyn SubscriberListener>>,
        kinds: impl Into<StatusMask>,
    ) {
        let kinds = kinds.into();
        let status = &self.inner.status;
        let callback = listener.map(|mut listener| -> Callback {
            Box::new(move |owner, kinds| tell_of_reader(&mut *listener, owner, kinds))
        });
        status.set_listener(callback, kinds);
        self.inner.participant.core.retell_within(status, kinds);
    }

    /// Has the listeners for DATA_AVAILABLE told of data not read yet, although a listener for
    /// DATA_ON_READERS was told: to be called by that one. Returns at once; they are called after
    /// it. DDS 1.4 §2.2.2.5.2.11.
    pub fn notify_datareaders(&self) {
        let status = &self.inner.status;
        self.inner.participant.core.forward_data(status);
    }
}

impl DomainParticipant {
    /// Has `listener` told of the statuses in `kinds` from now on, and of those that changed
    /// before and were not read, where no entity within has a listener for them; `None` for
    /// nobody. DDS 1.4 §2.2.2.1.1.3.
    ///
    /// See [the module](crate::listener) for who is called when.
    pub fn set_listener(
        &self,
        listener: Option<Box<dyn DomainParticipantListener>>,
        kinds: impl Into<StatusMask>,
    ) {
        let kinds = kinds.into();
        let core = &self.inner.core;
        let callback = listener.map(|mut listener| -> Callback {
            Box::new(move |owner, kinds| {
                if let Some(topic) = entity::<TopicCore>(owner) {
                    let status = topic.take_inconsistent_topic();
                    listener.on_inconsistent_topic(&topic.name, status);
                }
                tell_of_writer(&mut *listener, owner, kinds);
                tell_of_reader(&mut *listener, owner, kinds);
            })
        });
        core.status.set_listener(callback, kinds);
        core.retell_within(&core.status, kinds);
    }

    /// How often listeners of this process panicked, and task wakers and types where the bus ran
    /// their code.
    pub fn listener_panics(&self) -> u64 {
        contain::panics()
    }
}

fn tell_of_writer<L: PublisherListener + ?Sized>(
    listener: &mut L,
    owner: &dyn Any,
    kinds: StatusMask,
) {
    let Some(inner) = entity::<WriterInner>(owner).cloned() else {
        return;
    };
    let writer = &AnyDataWriter { inner };
    let core = &writer.inner.core;
    for kind in kinds.iter() {
        match kind {
            StatusKind::PublicationMatched => {
                let status = core.take_status(kind, |it| it.publication_matched.take());
                listener.on_publication_matched(writer, status);
            }
            StatusKind::OfferedIncompatibleQos => {
                let status = core.take_status(kind, |it| it.offered_incompatible_qos.take());
                listener.on_offered_incompatible_qos(writer, status);
            }
            StatusKind::LivelinessLost => {
                let status = core.take_status(kind, |it| it.liveliness_lost.take());
                listener.on_liveliness_lost(writer, status);
            }
            StatusKind::OfferedDeadlineMissed => {
                let status = core.take_status(kind, |it| it.offered_deadline_missed.take());
                listener.on_offered_deadline_missed(writer, status);
            }
            _ => {}
        }
    }
}

fn tell_of_reader<L: SubscriberListener + ?Sized>(
    listener: &mut L,
    owner: &dyn Any,
    kinds: StatusMask,
) {
    let Some(inner) = entity::<ReaderInner>(owner).cloned() else {
        return;
    };
    let reader = &AnyDataReader { inner };
    let core = &reader.inner.core;
    for kind in kinds.iter() {
        match kind {
            StatusKind::DataOnReaders => listener.on_data_on_readers(&reader.subscriber()),
            StatusKind::DataAvailable => {
                // DDS 1.4 §2.2.4.2.2: the call itself resets the status.
                core.status.clear(kind);
                listener.on_data_available(reader);
            }
            StatusKind::SubscriptionMatched => {
                let status = core.take_status(kind, |it| it.subscription_matched.take());
                listener.on_subscription_matched(reader, status);
            }
            StatusKind::RequestedIncompatibleQos => {
                let status = core.take_status(kind, |it| it.requested_incompatible_qos.take());
                listener.on_requested_incompatible_qos(reader, status);
            }
            StatusKind::SampleLost => {
                let status = core.take_status(kind, |it| it.sample_lost.take());
                listener.on_sample_lost(reader, status);
            }
            StatusKind::SampleRejected => {
                let status = core.take_status(kind, |it| it.sample_rejected.take());
                listener.on_sample_rejected(reader, status);
            }
            StatusKind::LivelinessChanged => {
                let status = core.take_status(kind, |it| it.liveliness_changed.take());
                listener.on_liveliness_changed(reader, status);
            }
            StatusKind::RequestedDeadlineMissed => {
                let status = core.take_status(kind, |it| it.requested_deadline_missed.take());
                listener.on_requested_deadline_missed(reader, status);
            }
            _ => {}
        }
    }
}
