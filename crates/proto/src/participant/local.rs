//! Endpoints of our own, as discovery sees them.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use whimbrel_base::guid::{EntityId, Guid, GuidPrefix};
use whimbrel_base::qos::{DataReaderQos, DataWriterQos, PublisherQos, SubscriberQos, TopicQos};
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_wire::discovery::{EndpointData, ReaderData, WriterData};

use crate::discovery::matching::{ReaderFacts, WriterFacts};

/// A writer of our own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocalWriter {
    /// Which one.
    pub entity: EntityId,
    /// Name of its topic.
    pub topic_name: String,
    /// Name of its type.
    pub type_name: String,
    /// Its policies.
    pub qos: DataWriterQos,
    /// Those of its publisher.
    pub publisher: PublisherQos,
    /// Those of its topic.
    pub topic: TopicQos,
}

/// A reader of our own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocalReader {
    /// Which one.
    pub entity: EntityId,
    /// Name of its topic.
    pub topic_name: String,
    /// Name of its type.
    pub type_name: String,
    /// Its policies.
    pub qos: DataReaderQos,
    /// Those of its subscriber.
    pub subscriber: SubscriberQos,
    /// Those of its topic.
    pub topic: TopicQos,
}

impl LocalWriter {
    /// What matching looks at.
    pub(super) fn facts(&self, prefix: GuidPrefix) -> WriterFacts<'_> {
        WriterFacts {
            guid: Guid::new(prefix, self.entity),
            topic_name: &self.topic_name,
            type_name: &self.type_name,
            qos: &self.qos,
            publisher: &self.publisher,
        }
    }

    /// The announcement, encapsulated. Its locators are the participant's.
    pub(super) fn announcement(&self, prefix: GuidPrefix) -> Vec<u8> {
        let guid = Guid::new(prefix, self.entity);
        let mut endpoint = EndpointData::new(guid, &*self.topic_name, &*self.type_name);
        endpoint.partition = self.publisher.partition.clone();
        endpoint.presentation = self.publisher.presentation;
        endpoint.group_data = self.publisher.group_data.clone();
        endpoint.topic_data = self.topic.topic_data.clone();
        endpoint.batches = self.qos.batch.is_some();
        let data = WriterData {
            endpoint,
            qos: self.qos.clone(),
            max_serialized_size: None,
        };
        let mut payload = Vec::new();
        // What is too long to travel is left out; the QoS checks keep that from happening.
        let _ = data.compose(&mut payload);
        payload
    }
}

impl LocalReader {
    /// What matching looks at.
    pub(super) fn facts(&self, prefix: GuidPrefix) -> ReaderFacts<'_> {
        ReaderFacts {
            guid: Guid::new(prefix, self.entity),
            topic_name: &self.topic_name,
            type_name: &self.type_name,
            qos: &self.qos,
            subscriber: &self.subscriber,
        }
    }

    /// The announcement, encapsulated. Its locators are the participant's.
    pub(super) fn announcement(&self, prefix: GuidPrefix) -> Vec<u8> {
        let guid = Guid::new(prefix, self.entity);
        let mut endpoint = EndpointData::new(guid, &*self.topic_name, &*self.type_name);
        endpoint.partition = self.subscriber.partition.clone();
        endpoint.presentation = self.subscriber.presentation;
        endpoint.group_data = self.subscriber.group_data.clone();
        endpoint.topic_data = self.topic.topic_data.clone();
        endpoint.batches = true;
        let data = ReaderData {
            endpoint,
            qos: self.qos.clone(),
            expects_inline_qos: false,
            content_filter: None,
        };
        let mut payload = Vec::new();
        // What is too long to travel is left out; the QoS checks keep that from happening.
        let _ = data.compose(&mut payload);
        payload
    }
}

/// A local endpoint and the number of its newest announcement.
#[derive(Debug)]
pub(super) struct Announced<T> {
    /// Outside of the map: its nodes have room to spare, and of those there are few.
    pub(super) endpoint: Box<T>,
    pub(super) sequence: SequenceNumber,
}
