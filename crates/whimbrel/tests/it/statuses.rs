//! Communication statuses, and QoS that does not exist yet.

use whimbrel::base::status::SampleRejectedKind;
use whimbrel::domain::Warning;
use whimbrel::qos::{
    DataRepresentationId, DestinationOrder, Durability, DurabilityService, LivelinessKind,
    Ownership, PolicyId, Presentation, ReaderDataLifecycle, ResourceLimits, TypeConsistency,
    UnsupportedPolicy,
};
use whimbrel::{
    DataReader, DataReaderQos, DataWriter, DataWriterQos, DomainParticipant, DomainParticipantQos,
    Duration, Error, PublisherQos, ReturnCode, StatusCondition, StatusKind, SubscriberQos,
    TopicQos, WaitSet,
};

use super::{Blob, PATIENCE, Position, matched_pair, pair, position, tag};

/// Waits for one status.
fn wait_for(condition: StatusCondition, kind: StatusKind) {
    condition.set_enabled_statuses(kind);
    let wait_set = WaitSet::new();
    wait_set.attach(condition);
    wait_set.wait(PATIENCE).unwrap();
}

fn endpoints(
    writer_qos: DataWriterQos,
    reader_qos: DataReaderQos,
) -> (DataWriter<Position>, DataReader<Position>) {
    let (here, there) = pair();
    let topic = here.create_topic("positions").unwrap();
    let writer = here.create_datawriter(&topic, writer_qos).unwrap();
    let topic = there.create_topic("positions").unwrap();
    let reader = there.create_datareader(&topic, reader_qos).unwrap();
    (writer, reader)
}

#[test]
fn matches_are_counted_and_reading_starts_anew() {
    let (writer, reader) = matched_pair();
    let status = writer.publication_matched_status();
    assert_eq!((status.total_count, status.total_count_change), (1, 1));
    assert_eq!((status.current_count, status.current_count_change), (1, 1));
    assert_eq!(status.last_subscription, reader.instance_handle());
    let again = writer.publication_matched_status();
    assert_eq!((again.total_count, again.total_count_change), (1, 0));
    let status = reader.subscription_matched_status();
    assert_eq!((status.current_count, status.current_count_change), (1, 1));
    assert_eq!(status.last_publication, writer.instance_handle());
    let alive = reader.liveliness_changed_status();
    assert_eq!((alive.alive_count, alive.alive_count_change), (1, 1));
    assert!(reader.status_changes().is_empty());

    drop(writer);
    wait_for(reader.status_condition(), StatusKind::SubscriptionMatched);
    let status = reader.subscription_matched_status();
    assert_eq!((status.total_count, status.total_count_change), (1, 0));
    assert_eq!((status.current_count, status.current_count_change), (0, -1));
    let alive = reader.liveliness_changed_status();
    assert_eq!((alive.alive_count, alive.alive_count_change), (0, -1));
    assert_eq!(reader.requested_deadline_missed_status().total_count, 0);
}

#[test]
fn incompatible_qos_names_the_policies_on_both_sides() {
    let (writer, reader) = endpoints(
        DataWriterQos::default().best_effort(),
        DataReaderQos::default().reliable().transient_local(),
    );
    wait_for(
        writer.status_condition(),
        StatusKind::OfferedIncompatibleQos,
    );
    wait_for(
        reader.status_condition(),
        StatusKind::RequestedIncompatibleQos,
    );
    for status in [
        writer.offered_incompatible_qos_status(),
        reader.requested_incompatible_qos_status(),
    ] {
        assert_eq!((status.total_count, status.total_count_change), (1, 1));
        let mut policies: Vec<_> = status.policies.iter().map(|it| it.policy).collect();
        policies.sort();
        assert_eq!(policies, [PolicyId::Durability, PolicyId::Reliability]);
    }
    let again = writer.offered_incompatible_qos_status();
    assert_eq!((again.total_count, again.total_count_change), (1, 0));
    assert_eq!(writer.publication_matched_status().total_count, 0);
    assert_eq!(writer.liveliness_lost_status().total_count, 0);
    assert_eq!(writer.offered_deadline_missed_status().total_count, 0);
}

#[test]
fn topics_hear_of_other_types_under_their_name() {
    let (here, there) = pair();
    let topic = here.create_topic::<Position>("contested").unwrap();
    let other = there.create_topic::<Blob>("contested").unwrap();
    let _writer = here
        .create_datawriter(&topic, DataWriterQos::default())
        .unwrap();
    let _reader = there
        .create_datareader(&other, DataReaderQos::default())
        .unwrap();
    wait_for(topic.status_condition(), StatusKind::InconsistentTopic);
    // All handles of the name see the same.
    let twin = here.create_topic::<Position>("contested").unwrap();
    let status = twin.inconsistent_topic_status();
    assert!(status.total_count >= 1);
    assert_eq!(status.total_count, status.total_count_change);
    assert!(
        !topic
            .status_changes()
            .contains(StatusKind::InconsistentTopic)
    );
    wait_for(other.status_condition(), StatusKind::InconsistentTopic);
}

#[test]
fn samples_without_room_are_counted_as_rejected() {
    let limits = ResourceLimits::UNLIMITED.max_samples(1);
    let (writer, reader) = endpoints(
        DataWriterQos::default().reliable().keep_all(),
        DataReaderQos::default()
            .reliable()
            .keep_all()
            .resource_limits(limits),
    );
    writer.wait_for_matched(1, PATIENCE).unwrap();
    writer.write(&position("tram", 1)).unwrap();
    writer.write(&position("tram", 2)).unwrap();
    wait_for(reader.status_condition(), StatusKind::SampleRejected);
    let status = reader.sample_rejected_status();
    assert!(status.total_count >= 1);
    assert_eq!(status.last_reason, SampleRejectedKind::BySamplesLimit);
    assert_eq!(reader.sample_lost_status().total_count, 0);
}

#[test]
fn samples_that_a_bad_network_swallows_are_counted_as_lost() {
    let tag = tag();
    let builder = || {
        DomainParticipant::builder(77)
            .domain_tag(&tag)
            .interfaces("lo")
    };
    let (here, there) = (
        builder().faults(300, 0, 7).build().unwrap(),
        builder().build().unwrap(),
    );
    let topic = here.create_topic("positions").unwrap();
    let qos = DataWriterQos::default().best_effort();
    let writer = here.create_datawriter::<Position>(&topic, qos).unwrap();
    let topic = there.create_topic("positions").unwrap();
    let qos = DataReaderQos::default().best_effort().keep_all();
    let reader = there.create_datareader::<Position>(&topic, qos).unwrap();
    writer.wait_for_matched(1, PATIENCE).unwrap();
    reader.wait_for_matched(1, PATIENCE).unwrap();
    for x in 0..200 {
        writer.write(&position("tram", x)).unwrap();
    }
    wait_for(reader.status_condition(), StatusKind::SampleLost);
    assert!(reader.sample_lost_status().total_count >= 1);
}

#[test]
fn every_policy_without_behaviour_is_refused_by_its_name() {
    let (here, _) = pair();
    let topic = here.create_topic::<Position>("positions").unwrap();
    let second = Duration::from_secs(1);
    let check = |policy: PolicyId, outcome: Result<(), Error>| match outcome {
        Err(error @ Error::UnsupportedPolicy(UnsupportedPolicy { policy: named, .. })) => {
            assert_eq!(named, policy);
            assert_eq!(error.return_code(), ReturnCode::Unsupported);
            assert!(error.to_string().contains(policy.short_name()), "{error}");
        }
        other => panic!("{policy:?}: {other:?}"),
    };
    let writer = |policy, qos: DataWriterQos| {
        check(policy, here.create_datawriter(&topic, qos).map(drop));
    };
    let reader = |policy, qos: DataReaderQos| {
        check(policy, here.create_datareader(&topic, qos).map(drop));
    };
    let (of_writer, of_reader) = (DataWriterQos::default, DataReaderQos::default);
    writer(PolicyId::Deadline, of_writer().deadline(second));
    reader(PolicyId::Deadline, of_reader().deadline(second));
    writer(
        PolicyId::Ownership,
        of_writer().ownership(Ownership::Exclusive),
    );
    reader(
        PolicyId::Ownership,
        of_reader().ownership(Ownership::Exclusive),
    );
    writer(
        PolicyId::OwnershipStrength,
        of_writer().ownership_strength(1),
    );
    let manual = LivelinessKind::ManualByTopic;
    writer(
        PolicyId::Liveliness,
        of_writer().liveliness(manual, Duration::INFINITE),
    );
    let automatic = LivelinessKind::Automatic;
    reader(
        PolicyId::Liveliness,
        of_reader().liveliness(automatic, second),
    );
    writer(PolicyId::Lifespan, of_writer().lifespan(second));
    writer(
        PolicyId::TransportPriority,
        of_writer().transport_priority(1),
    );
    let order = DestinationOrder::BySourceTimestamp;
    writer(
        PolicyId::DestinationOrder,
        of_writer().destination_order(order),
    );
    reader(
        PolicyId::DestinationOrder,
        of_reader().destination_order(order),
    );
    reader(
        PolicyId::TimeBasedFilter,
        of_reader().minimum_separation(second),
    );
    let lifecycle = ReaderDataLifecycle {
        autopurge_disposed_samples_delay: second,
        ..Default::default()
    };
    reader(
        PolicyId::ReaderDataLifecycle,
        of_reader().reader_data_lifecycle(lifecycle),
    );
    let consistency = TypeConsistency {
        prevent_type_widening: true,
        ..Default::default()
    };
    reader(
        PolicyId::TypeConsistency,
        of_reader().type_consistency(consistency),
    );
    let service = DurabilityService {
        service_cleanup_delay: second,
        ..Default::default()
    };
    writer(
        PolicyId::DurabilityService,
        of_writer().durability_service(service),
    );
    for durability in [Durability::Transient, Durability::Persistent] {
        let mut qos = of_writer();
        qos.durability = durability;
        writer(PolicyId::Durability, qos);
    }
    let xml = [DataRepresentationId::XML];
    let outcome = here.create_datawriter(&topic, of_writer().data_representation(&xml));
    assert!(outcome.is_err(), "XML needs a later issue");
}

#[test]
fn groups_refuse_what_does_not_exist_yet() {
    let (here, _) = pair();
    let named = |outcome: Result<(), Error>, policy: PolicyId| {
        let error = outcome.unwrap_err();
        assert!(
            matches!(&error, Error::UnsupportedPolicy(it) if it.policy == policy),
            "{error:?}"
        );
    };
    let coherent = Presentation {
        coherent_access: true,
        ..Default::default()
    };
    let qos = PublisherQos::default().presentation(coherent);
    named(here.create_publisher(qos).map(drop), PolicyId::Presentation);
    let qos = SubscriberQos::default().presentation(coherent);
    named(
        here.create_subscriber(qos).map(drop),
        PolicyId::Presentation,
    );
    let qos = PublisherQos::default().autoenable_created_entities(false);
    named(
        here.create_publisher(qos).map(drop),
        PolicyId::EntityFactory,
    );
    let qos = DomainParticipantQos::default().autoenable_created_entities(false);
    let outcome = DomainParticipant::builder(77).qos(qos).build();
    named(outcome.map(drop), PolicyId::EntityFactory);
    let qos = TopicQos::default().deadline(Duration::from_secs(1));
    let outcome = here.create_topic_with_qos::<Position>("positions", qos);
    named(outcome.map(drop), PolicyId::Deadline);
}

#[test]
fn a_reader_without_writer_is_warned_of_once() {
    let tag = tag();
    let join = || {
        let builder = DomainParticipant::builder(77)
            .domain_tag(&tag)
            .interfaces("lo")
            .unserved_patience(Duration::from_millis(300));
        builder.build().unwrap()
    };
    let (here, there) = (join(), join());
    let topic = here.create_topic::<Position>("positions").unwrap();
    let qos = DataWriterQos::default().best_effort();
    let writer = here.create_datawriter(&topic, qos).unwrap();
    let found = there.wait_for_discovery(PATIENCE, |it| !it.discovered_writers().is_empty());
    assert!(found);
    let topic = there.create_topic::<Position>("positions").unwrap();
    let qos = DataReaderQos::default().reliable();
    let reader = there.create_datareader(&topic, qos).unwrap();
    assert!(there.wait_for_discovery(PATIENCE, |it| !it.warnings().is_empty()));
    let warnings = there.warnings();
    let [
        Warning::ReaderUnserved {
            reader: who,
            unserved,
        },
    ] = warnings.as_slice()
    else {
        panic!("{warnings:?}");
    };
    assert_eq!((*who, unserved.writers), (reader.guid(), 1));
    let nearest = unserved.nearest.as_ref().unwrap();
    assert_eq!(nearest.writer, writer.guid());
    let text = warnings[0].to_string();
    assert!(
        text.contains("RELIABILITY failed: writer BEST_EFFORT, reader RELIABLE"),
        "{text}"
    );
}

#[test]
fn matched_endpoints_can_be_looked_up() {
    let (writer, reader) = matched_pair();
    let there = writer.matched_subscriptions()[0];
    let found = writer.matched_subscription_data(there).unwrap();
    assert_eq!(found.guid, reader.guid());
    assert_eq!(found.topic_name, reader.topic_name());
    let here = reader.matched_publications()[0];
    assert_eq!(
        reader.matched_publication_data(here).unwrap().guid,
        writer.guid()
    );
    assert!(writer.matched_subscription_data(here).is_err());
    assert!(reader.matched_publication_data(there).is_err());
}
