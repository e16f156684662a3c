//! Every public method of every entity, as it may be called anywhere.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use whimbrel::{
    Condition, DataReaderQos, DataWriterQos, DomainParticipant, GuardCondition, InstanceHandle,
    InstanceStates, ReadCondition, SampleStates, Selector, StatusKind, StatusMask, ViewStates,
    WaitSet,
};

use super::{Blob, Position, World, position};

/// A call and its name.
pub(super) type Call = (&'static str, fn(&World));

/// Not called, and why.
pub(super) const NOT_CALLED: &[(&str, &str)] = &[(
    "DomainParticipant::new",
    "builder().build() on all interfaces of the machine",
)];

macro_rules! calls {
    ($($owner:ident { $($name:ident: |$w:ident| $call:expr;)* })*) => {
        pub(super) const CALLS: &[Call] = &[$($(
            (concat!(stringify!($owner), "::", stringify!($name)), |$w| { let _ = $call; }),
        )*)*];
    };
}

calls! {
    DomainParticipant {
        builder: |w| w.join();
        domain_id: |w| w.participant.domain_id();
        name: |w| w.participant.name();
        qos: |w| w.participant.qos();
        set_qos: |w| w.participant.set_qos(w.participant.qos()).unwrap();
        guid: |w| w.participant.guid();
        instance_handle: |w| w.participant.instance_handle();
        interfaces: |w| w.participant.interfaces();
        status_condition: |w| w.participant.status_condition();
        set_listener: |w| w.participant.set_listener(nobody(), StatusMask::ALL);
        listener_panics: |w| w.participant.listener_panics();
        discovered_participants: |w| w.participant.discovered_participants();
        discovered_writers: |w| w.participant.discovered_writers();
        discovered_readers: |w| w.participant.discovered_readers();
        current_time: |w| w.participant.current_time();
        explain_match: |w| w.participant.explain_match(w.writer.guid(), w.reader.guid());
        warnings: |w| w.participant.warnings();
        memory: |w| w.participant.memory();
        ignore_participant: |w| w.participant.ignore_participant(w.participant.instance_handle());
        ignore_publication: |w| w.participant.ignore_publication(w.writer.instance_handle());
        ignore_subscription: |w| w.participant.ignore_subscription(w.reader.instance_handle());
        contains_entity: |w| w.participant.contains_entity(w.writer.instance_handle());
        find_topic: |w| w.participant.find_topic::<Position>(w.topic.name(), w.patience);
        diagnostics: |w| w.participant.diagnostics();
        wait_for_discovery: |w| w.participant.wait_for_discovery(w.patience, |_| false);
        create_topic: |w| w.participant.create_topic::<Blob>("blobs").unwrap();
        create_topic_with_qos: |w| {
            let qos = w.topic.qos();
            w.participant.create_topic_with_qos::<Blob>("blobs", qos).unwrap()
        };
        create_publisher: |w| w.participant.create_publisher(Default::default()).unwrap();
        create_subscriber: |w| w.participant.create_subscriber(Default::default()).unwrap();
        create_datawriter: |w| {
            let qos = DataWriterQos::default().reliable();
            w.participant.create_datawriter(&w.topic, qos).unwrap()
        };
        create_datareader: |w| {
            let qos = DataReaderQos::default().reliable();
            w.participant.create_datareader(&w.topic, qos).unwrap()
        };
        create_raw_topic: |w| w.participant.create_raw_topic("raw", "Raw", true).unwrap();
        create_raw_datareader: |w| w.raw_reader();
        default_topic_qos: |w| w.participant.default_topic_qos();
        set_default_topic_qos: |w| w.participant.set_default_topic_qos(w.topic.qos()).unwrap();
        default_publisher_qos: |w| w.participant.default_publisher_qos();
        set_default_publisher_qos: |w| {
            w.participant.set_default_publisher_qos(w.publisher.qos()).unwrap()
        };
        default_subscriber_qos: |w| w.participant.default_subscriber_qos();
        set_default_subscriber_qos: |w| {
            w.participant.set_default_subscriber_qos(w.subscriber.qos()).unwrap()
        };
    }
    Topic {
        name: |w| w.topic.name();
        type_name: |w| w.topic.type_name();
        qos: |w| w.topic.qos();
        set_qos: |w| w.topic.set_qos(w.topic.qos()).unwrap();
        status_condition: |w| w.topic.status_condition();
        set_listener: |w| w.topic.set_listener(nobody(), StatusMask::ALL);
        inconsistent_topic_status: |w| w.topic.inconsistent_topic_status();
        status_changes: |w| w.topic.status_changes();
        participant: |w| w.topic.participant();
    }
    Publisher {
        lookup_datawriter: |w| w.publisher.lookup_datawriter::<Position>(w.topic.name());
        qos: |w| w.publisher.qos();
        set_qos: |w| w.publisher.set_qos(w.publisher.qos()).unwrap();
        default_datawriter_qos: |w| w.publisher.default_datawriter_qos();
        set_default_datawriter_qos: |w| {
            w.publisher.set_default_datawriter_qos(w.writer.qos()).unwrap()
        };
        status_condition: |w| w.publisher.status_condition();
        set_listener: |w| w.publisher.set_listener(nobody(), StatusMask::ALL);
        participant: |w| w.publisher.participant();
        suspend_publications: |w| w.publisher.suspend_publications();
        resume_publications: |w| w.publisher.resume_publications();
        flush: |w| w.publisher.flush();
        create_datawriter: |w| w.publisher.create_datawriter(&w.topic, w.writer.qos()).unwrap();
    }
    Subscriber {
        lookup_datareader: |w| w.subscriber.lookup_datareader::<Position>(w.topic.name());
        qos: |w| w.subscriber.qos();
        set_qos: |w| w.subscriber.set_qos(w.subscriber.qos()).unwrap();
        default_datareader_qos: |w| w.subscriber.default_datareader_qos();
        set_default_datareader_qos: |w| {
            w.subscriber.set_default_datareader_qos(w.reader.qos()).unwrap()
        };
        status_condition: |w| w.subscriber.status_condition();
        status_changes: |w| w.subscriber.status_changes();
        set_listener: |w| w.subscriber.set_listener(nobody(), StatusMask::ALL);
        notify_datareaders: |w| w.subscriber.notify_datareaders();
        participant: |w| w.subscriber.participant();
        create_datareader: |w| w.subscriber.create_datareader(&w.topic, w.reader.qos()).unwrap();
    }
    DataWriter {
        guid: |w| w.writer.guid();
        instance_handle: |w| w.writer.instance_handle();
        qos: |w| w.writer.qos();
        set_qos: |w| w.writer.set_qos(w.writer.qos()).unwrap();
        publisher: |w| w.writer.publisher();
        topic_name: |w| w.writer.topic_name();
        status_condition: |w| w.writer.status_condition();
        status_changes: |w| w.writer.status_changes();
        set_listener: |w| w.writer.set_listener(nobody(), StatusMask::ALL);
        write: |w| w.writer.write(&position("tram", 1)).unwrap();
        write_batch: |w| w.writer.write_batch(&[position("tram", 1)]).unwrap();
        flush: |w| w.writer.flush();
        bundle_compression_statistics: |w| w.writer.bundle_compression_statistics();
        write_with_timestamp: |w| {
            let time = w.participant.current_time();
            w.writer.write_with_timestamp(&position("tram", 1), time).unwrap()
        };
        write_shared: |w| w.writer.write_shared(Arc::new(position("tram", 1))).unwrap();
        write_shared_with_timestamp: |w| {
            let time = w.participant.current_time();
            let value = Arc::new(position("tram", 1));
            w.writer.write_shared_with_timestamp(value, time).unwrap()
        };
        try_write: |w| w.writer.try_write(&position("tram", 1)).unwrap();
        write_async: |w| poll(w.writer.write_async(&position("tram", 1)));
        register_instance: |w| w.writer.register_instance(&position("bus", 1)).unwrap();
        lookup_instance: |w| w.writer.lookup_instance(&position("bus", 1)).unwrap();
        key_value: |w| {
            let bus = w.writer.register_instance(&position("bus", 1)).unwrap();
            w.writer.key_value(bus).unwrap()
        };
        unregister_instance: |w| w.writer.unregister_instance(&position("bus", 1)).unwrap();
        unregister_instance_with_timestamp: |w| {
            w.writer.register_instance(&position("bus", 1)).unwrap();
            let time = w.participant.current_time();
            w.writer.unregister_instance_with_timestamp(&position("bus", 1), time).unwrap()
        };
        dispose: |w| w.writer.dispose(&position("tram", 1)).unwrap();
        dispose_with_timestamp: |w| {
            let time = w.participant.current_time();
            w.writer.dispose_with_timestamp(&position("tram", 1), time).unwrap()
        };
        wait_for_acknowledgments: |w| w.writer.wait_for_acknowledgments(w.patience);
        wait_for_acknowledgments_async: |w| poll(w.writer.wait_for_acknowledgments_async());
        wait_for_matched: |w| w.writer.wait_for_matched(1, w.patience);
        hold_until_matched: |w| w.writer.hold_until_matched(0);
        wait_for_matched_async: |w| poll(w.writer.wait_for_matched_async(99));
        matched_subscriptions: |w| w.writer.matched_subscriptions();
        matched_subscription_data: |w| {
            let matched = w.writer.matched_subscriptions();
            w.writer.matched_subscription_data(matched.first().copied().unwrap_or_default())
        };
        compression_statistics: |w| w.writer.compression_statistics();
        statistics: |w| w.writer.statistics();
        memory: |w| w.writer.memory();
        publication_matched_status: |w| w.writer.publication_matched_status();
        offered_incompatible_qos_status: |w| w.writer.offered_incompatible_qos_status();
        liveliness_lost_status: |w| w.writer.liveliness_lost_status();
        offered_deadline_missed_status: |w| w.writer.offered_deadline_missed_status();
    }
    DataReader {
        guid: |w| w.reader.guid();
        instance_handle: |w| w.reader.instance_handle();
        qos: |w| w.reader.qos();
        set_qos: |w| w.reader.set_qos(w.reader.qos()).unwrap();
        subscriber: |w| w.reader.subscriber();
        topic_name: |w| w.reader.topic_name();
        status_condition: |w| w.reader.status_condition();
        status_changes: |w| w.reader.status_changes();
        set_listener: |w| w.reader.set_listener(nobody(), StatusMask::ALL);
        create_readcondition: |w| on_all(w);
        read: |w| w.reader.read(1).unwrap();
        read_selected: |w| w.reader.read_selected(&Selector::ALL).unwrap();
        read_instance: |w| w.reader.read_instance(InstanceHandle::NIL, 1);
        read_next_instance: |w| w.reader.read_next_instance(InstanceHandle::NIL, 1).unwrap();
        read_next_sample: |w| w.reader.read_next_sample().unwrap();
        read_w_condition: |w| w.reader.read_w_condition(&on_all(w), 1).unwrap();
        take: |w| w.reader.take(1).unwrap();
        take_into: |w| w.reader.take_into(1, &mut Vec::new()).unwrap();
        take_selected: |w| w.reader.take_selected(&Selector::ALL).unwrap();
        take_instance: |w| w.reader.take_instance(InstanceHandle::NIL, 1);
        take_next_instance: |w| w.reader.take_next_instance(InstanceHandle::NIL, 1).unwrap();
        take_next_sample: |w| w.reader.take_next_sample().unwrap();
        take_w_condition: |w| w.reader.take_w_condition(&on_all(w), 1).unwrap();
        take_loaned: |w| w.reader.take_loaned(&Selector::ALL).unwrap();
        take_timeout: |w| w.reader.take_timeout(1, w.patience);
        take_timeout_into: |w| w.reader.take_timeout_into(1, w.patience, &mut Vec::new());
        take_async: |w| poll(w.reader.take_async(1));
        stream: |w| w.reader.stream();
        samples: |w| w.reader.samples().count();
        samples_timeout: |w| w.reader.samples_timeout(w.patience).take(3).count();
        lookup_instance: |w| w.reader.lookup_instance(&position("tram", 1)).unwrap();
        key_value: |w| w.reader.key_value(InstanceHandle::NIL);
        wait_for_data: |w| w.reader.wait_for_data(w.patience);
        wait_for_historical_data: |w| w.reader.wait_for_historical_data(w.patience);
        wait_for_historical_data_async: |w| poll(w.reader.wait_for_historical_data_async());
        wait_for_matched: |w| w.reader.wait_for_matched(1, w.patience);
        wait_for_matched_async: |w| poll(w.reader.wait_for_matched_async(99));
        matched_publications: |w| w.reader.matched_publications();
        matched_publication_data: |w| {
            let matched = w.reader.matched_publications();
            w.reader.matched_publication_data(matched.first().copied().unwrap_or_default())
        };
        bundle_compression_statistics: |w| w.reader.bundle_compression_statistics();
        compression_statistics: |w| w.reader.compression_statistics();
        statistics: |w| w.reader.statistics();
        memory: |w| w.reader.memory();
        undecodable_samples: |w| w.reader.undecodable_samples();
        readiness_fd: |w| w.reader.readiness_fd().unwrap();
        subscription_matched_status: |w| w.reader.subscription_matched_status();
        requested_incompatible_qos_status: |w| w.reader.requested_incompatible_qos_status();
        sample_lost_status: |w| w.reader.sample_lost_status();
        sample_rejected_status: |w| w.reader.sample_rejected_status();
        liveliness_changed_status: |w| w.reader.liveliness_changed_status();
        requested_deadline_missed_status: |w| w.reader.requested_deadline_missed_status();
    }
    AnyDataWriter {
        guid: |w| w.any_writer(|it| it.guid());
        instance_handle: |w| w.any_writer(|it| it.instance_handle());
        topic_name: |w| w.any_writer(|it| it.topic_name().len());
        type_name: |w| w.any_writer(|it| it.type_name().len());
        downcast: |w| w.any_writer(|it| it.downcast::<Position>());
    }
    AnyDataReader {
        guid: |w| w.any_reader(|it| it.guid());
        instance_handle: |w| w.any_reader(|it| it.instance_handle());
        topic_name: |w| w.any_reader(|it| it.topic_name().len());
        type_name: |w| w.any_reader(|it| it.type_name().len());
        subscriber: |w| w.any_reader(|it| it.subscriber());
        downcast: |w| w.any_reader(|it| it.downcast::<Position>());
    }
    RawTopic {
        name: |w| w.raw_topic().name().len();
        type_name: |w| w.raw_topic().type_name().len();
        is_keyed: |w| w.raw_topic().is_keyed();
    }
    RawDataReader {
        guid: |w| w.raw_reader().guid();
        take: |w| w.raw_reader().take(1);
        wait_for_data: |w| w.raw_reader().wait_for_data(w.patience);
        bundle_compression_statistics: |w| w.raw_reader().bundle_compression_statistics();
        compression_statistics: |w| w.raw_reader().compression_statistics();
        statistics: |w| w.raw_reader().statistics();
    }
    StatusCondition {
        enabled_statuses: |w| w.reader.status_condition().enabled_statuses();
        set_enabled_statuses: |w| {
            w.reader.status_condition().set_enabled_statuses(StatusKind::DataAvailable)
        };
        trigger_value: |w| w.reader.status_condition().trigger_value();
    }
    ReadCondition {
        sample_states: |w| on_all(w).sample_states();
        view_states: |w| on_all(w).view_states();
        instance_states: |w| on_all(w).instance_states();
        trigger_value: |w| on_all(w).trigger_value();
    }
    GuardCondition {
        new: |_w| GuardCondition::new();
        set_trigger_value: |w| w.guard.set_trigger_value(true);
        trigger_value: |w| w.guard.trigger_value();
    }
    Condition {
        trigger_value: |w| Condition::from(w.guard.clone()).trigger_value();
    }
    WaitSet {
        new: |_w| WaitSet::new();
        attach: |w| w.wait_set.attach(w.reader.status_condition());
        conditions: |w| w.wait_set.conditions();
        wait: |w| w.wait_set.wait(w.patience);
        wait_into: |w| w.wait_set.wait_into(w.patience, &mut Vec::new());
        wait_async: |w| poll(w.wait_set.wait_async());
        detach: |w| w.wait_set.detach(w.reader.status_condition()).unwrap();
    }
}

/// No listener, whatever its kind.
fn nobody<T>() -> Option<T> {
    None
}

/// Polls a future once and gives it up.
fn poll<F: Future>(future: F) {
    let waker = Waker::noop();
    let _ = pin!(future).as_mut().poll(&mut Context::from_waker(waker));
}

fn on_all(world: &World) -> ReadCondition {
    let (samples, views) = (SampleStates::ANY, ViewStates::ANY);
    let reader = &world.reader;
    reader.create_readcondition(samples, views, InstanceStates::ANY)
}

impl World {
    /// Another participant beside this one.
    fn join(&self) -> DomainParticipant {
        super::join(&self.tag)
    }

    fn raw_topic(&self) -> whimbrel::RawTopic {
        self.participant
            .create_raw_topic("raw", "Raw", true)
            .unwrap()
    }

    fn raw_reader(&self) -> whimbrel::RawDataReader {
        let (subscriber, qos) = (Default::default(), Default::default());
        let topic = self.raw_topic();
        let reader = self
            .participant
            .create_raw_datareader(&topic, subscriber, qos);
        reader.unwrap()
    }
}
