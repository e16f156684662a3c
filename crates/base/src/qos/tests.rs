//! Sets of policies: defaults, contradictions, refusals, changes and compatibility.

use std::string::ToString;
use std::vec;
use std::vec::Vec;

use super::*;
use crate::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn defaults_are_the_standards_consistent_and_supported() {
    let writer = DataWriterQos::default();
    assert_eq!(writer.reliability.kind, ReliabilityKind::Reliable);
    assert_eq!(
        writer.reliability.max_blocking_time,
        Duration::from_millis(100)
    );
    let reader = DataReaderQos::default();
    assert_eq!(reader.reliability.kind, ReliabilityKind::BestEffort);
    assert_eq!(reader.history, History::KeepLast(1));
    assert_eq!(reader.durability, Durability::Volatile);
    assert!(reader.deadline.period.is_infinite());
    assert!(reader.liveliness.lease_duration.is_infinite());
    assert_eq!(TopicQos::default().reliability, Reliability::BEST_EFFORT);
    assert!(
        writer
            .writer_data_lifecycle
            .autodispose_unregistered_instances
    );
    assert!(
        PublisherQos::default()
            .entity_factory
            .autoenable_created_entities
    );
    assert_eq!(writer.check(), Ok(()));
    assert_eq!(reader.check(), Ok(()));
    assert_eq!(TopicQos::default().check(), Ok(()));
    assert_eq!(writer.check_supported(), Ok(()));
    assert_eq!(reader.check_supported(), Ok(()));
    assert_eq!(TopicQos::default().check_supported(), Ok(()));
    assert_eq!(PublisherQos::default().check_supported(), Ok(()));
    assert_eq!(SubscriberQos::default().check_supported(), Ok(()));
    assert_eq!(DomainParticipantQos::default().check_supported(), Ok(()));
}

#[test]
fn topics_hand_their_policies_on() {
    let topic = TopicQos::default()
        .reliable()
        .transient_local()
        .keep_last(9);
    let reader = DataReaderQos::default().from_topic(&topic);
    assert!(reader.reliability.is_reliable());
    assert_eq!(reader.history, History::KeepLast(9));
    let writer = DataWriterQos::default().from_topic(&TopicQos::default());
    assert!(!writer.reliability.is_reliable());
}

#[test]
fn a_writer_takes_the_first_codec_of_its_topic_and_a_reader_all() {
    let topic_of = |ids| {
        let mut topic = TopicQos::default();
        topic.data_representation.compression.compression_ids = ids;
        topic
            .data_representation
            .compression
            .writer_compression_level = 3;
        topic
    };
    let writer = |ids| {
        let qos = DataWriterQos::default().from_topic(&topic_of(ids));
        assert_eq!(qos.check(), Ok(()));
        let compression = qos.data_representation.compression;
        assert_eq!(compression.writer_compression_level, 3);
        compression.compression_ids
    };
    let reader = |ids| {
        let qos = DataReaderQos::default().from_topic(&topic_of(ids));
        qos.data_representation.compression.compression_ids
    };
    let (zlib, bzip2, lz4) = (
        CompressionIds::ZLIB,
        CompressionIds::BZIP2,
        CompressionIds::LZ4,
    );
    for (of_topic, of_writer) in [
        (zlib | bzip2 | lz4, zlib),
        (lz4 | bzip2, bzip2),
        (CompressionIds::LZ | lz4, lz4),
        (
            CompressionIds::LZ | CompressionIds::ZSTD,
            CompressionIds::ZSTD,
        ),
        (CompressionIds::ALL, zlib),
        (CompressionIds::NONE, CompressionIds::NONE),
    ] {
        assert_eq!(writer(Some(of_topic)), Some(of_writer), "{of_topic}");
        assert_eq!(reader(Some(of_topic)), Some(of_topic), "{of_topic}");
    }
    assert_eq!((writer(None), reader(None)), (None, None));
}

#[test]
fn contradictions_name_both_policies() {
    fn check(result: Result<(), InconsistentPolicy>, policy: PolicyId, against: PolicyId) {
        let error = result.unwrap_err();
        assert_eq!((error.policy, error.against), (policy, against));
    }
    let limits = ResourceLimits::UNLIMITED;
    let qos = DataWriterQos::default;
    check(
        qos()
            .keep_last(5)
            .resource_limits(limits.max_samples_per_instance(4))
            .check(),
        PolicyId::History,
        PolicyId::ResourceLimits,
    );
    check(
        qos().keep_last(0).check(),
        PolicyId::History,
        PolicyId::History,
    );
    check(
        qos()
            .resource_limits(limits.max_samples(3).max_samples_per_instance(4))
            .check(),
        PolicyId::ResourceLimits,
        PolicyId::ResourceLimits,
    );
    check(
        qos().resource_limits(limits.max_instances(0)).check(),
        PolicyId::ResourceLimits,
        PolicyId::ResourceLimits,
    );
    check(
        DataReaderQos::default()
            .deadline(SECOND)
            .minimum_separation(SECOND.times(2))
            .check(),
        PolicyId::Deadline,
        PolicyId::TimeBasedFilter,
    );
    check(
        qos().user_data(vec![0; OCTETS_MAX + 1]).check(),
        PolicyId::UserData,
        PolicyId::UserData,
    );
    let xcdr1 = DataRepresentationId::XCDR1;
    check(
        qos().data_representation(&[xcdr1, xcdr1]).check(),
        PolicyId::DataRepresentation,
        PolicyId::DataRepresentation,
    );
    check(
        qos()
            .durability_service(DurabilityService {
                history: History::KeepLast(0),
                ..DurabilityService::default()
            })
            .check(),
        PolicyId::DurabilityService,
        PolicyId::DurabilityService,
    );
    // A limit on all samples alone says nothing about those of one instance.
    assert_eq!(
        qos()
            .keep_all()
            .resource_limits(limits.max_samples(3))
            .check(),
        Ok(())
    );
}

#[test]
fn what_does_not_exist_is_refused_by_name() {
    fn writer(qos: DataWriterQos, policy: PolicyId) {
        let error = qos.check_supported().unwrap_err();
        assert_eq!(error.policy, policy);
        assert!(error.to_string().starts_with(policy.short_name()));
    }
    fn reader(qos: DataReaderQos, policy: PolicyId) {
        assert_eq!(qos.check_supported().unwrap_err().policy, policy);
    }
    let w = DataWriterQos::default;
    let r = DataReaderQos::default;
    writer(w().deadline(SECOND), PolicyId::Deadline);
    writer(w().lifespan(SECOND), PolicyId::Lifespan);
    writer(w().transport_priority(1), PolicyId::TransportPriority);
    writer(w().ownership(Ownership::Exclusive), PolicyId::Ownership);
    writer(w().ownership_strength(1), PolicyId::OwnershipStrength);
    writer(
        w().liveliness(LivelinessKind::Automatic, SECOND),
        PolicyId::Liveliness,
    );
    let infinite = Duration::INFINITE;
    writer(
        w().liveliness(LivelinessKind::ManualByTopic, infinite),
        PolicyId::Liveliness,
    );
    let by_source = DestinationOrder::BySourceTimestamp;
    writer(w().destination_order(by_source), PolicyId::DestinationOrder);
    let xml = DataRepresentationId::XML;
    writer(
        w().data_representation(&[xml]),
        PolicyId::DataRepresentation,
    );
    let mut transient = w();
    transient.durability = Durability::Transient;
    writer(transient, PolicyId::Durability);
    let mut service = w();
    service.durability_service.service_cleanup_delay = SECOND;
    writer(service, PolicyId::DurabilityService);
    reader(r().minimum_separation(SECOND), PolicyId::TimeBasedFilter);
    reader(
        r().reader_data_lifecycle(ReaderDataLifecycle {
            autopurge_disposed_samples_delay: SECOND,
            ..ReaderDataLifecycle::default()
        }),
        PolicyId::ReaderDataLifecycle,
    );
    reader(
        r().type_consistency(TypeConsistency {
            prevent_type_widening: true,
            ..TypeConsistency::default()
        }),
        PolicyId::TypeConsistency,
    );
    let coherent = Presentation {
        coherent_access: true,
        ..Presentation::default()
    };
    let error = PublisherQos::default()
        .presentation(coherent)
        .check_supported();
    assert_eq!(error.unwrap_err().policy, PolicyId::Presentation);
    let supported = w()
        .transient_local()
        .keep_all()
        .data_representation(&[DataRepresentationId::XCDR2, DataRepresentationId::XCDR1])
        .user_data(*b"seen")
        .autodispose_unregistered_instances(false)
        .resource_limits(ResourceLimits::UNLIMITED.max_samples(7));
    assert_eq!(supported.check_supported(), Ok(()));
    assert_eq!(
        SubscriberQos::default().partition("a*").check_supported(),
        Ok(())
    );
}

#[test]
fn enabled_entities_keep_what_cannot_change() {
    let old = DataWriterQos::default();
    assert_eq!(old.check_change(&old.clone().user_data(*b"new")), Ok(()));
    assert_eq!(old.check_change(&old.clone().deadline(SECOND)), Ok(()));
    let changed = old.check_change(&old.clone().keep_last(2)).unwrap_err();
    assert_eq!(changed.policy, PolicyId::History);
    let changed = old.check_change(&old.clone().best_effort()).unwrap_err();
    assert_eq!(changed.policy, PolicyId::Reliability);
    let group = SubscriberQos::default();
    assert_eq!(group.check_change(&group.clone().partition("p")), Ok(()));
}

/// The policies on which `writer` and `reader` disagree.
fn disagreements(writer: &DataWriterQos, reader: &DataReaderQos) -> Vec<PolicyId> {
    let (publisher, subscriber) = (PublisherQos::default(), SubscriberQos::default());
    let verdicts = compare(writer, &publisher, reader, &subscriber);
    assert_eq!(verdicts.len(), 9);
    let bad: Vec<_> = verdicts
        .iter()
        .filter(|v| !v.compatible)
        .map(|v| v.policy)
        .collect();
    assert_eq!(
        bad.is_empty(),
        is_compatible(writer, &publisher, reader, &subscriber)
    );
    bad
}

#[test]
fn offers_must_satisfy_requests() {
    let w = DataWriterQos::default;
    let r = DataReaderQos::default;
    let check = |writer: DataWriterQos, reader: DataReaderQos, expected: &[PolicyId]| {
        assert_eq!(disagreements(&writer, &reader), expected);
    };
    check(w(), r(), &[]);
    check(w(), r().reliable(), &[]);
    check(w().best_effort(), r().reliable(), &[PolicyId::Reliability]);
    check(w().transient_local(), r(), &[]);
    check(w(), r().transient_local(), &[PolicyId::Durability]);
    check(w().deadline(SECOND), r().deadline(SECOND), &[]);
    check(w(), r().deadline(SECOND), &[PolicyId::Deadline]);
    check(w().latency_budget(SECOND), r(), &[PolicyId::LatencyBudget]);
    check(w(), r().latency_budget(SECOND), &[]);
    check(
        w().ownership(Ownership::Exclusive),
        r(),
        &[PolicyId::Ownership],
    );
    check(
        w(),
        r().ownership(Ownership::Exclusive),
        &[PolicyId::Ownership],
    );
    let manual = LivelinessKind::ManualByTopic;
    check(w(), r().liveliness(manual, SECOND), &[PolicyId::Liveliness]);
    check(w().liveliness(manual, SECOND), r(), &[]);
    let by_source = DestinationOrder::BySourceTimestamp;
    check(
        w(),
        r().destination_order(by_source),
        &[PolicyId::DestinationOrder],
    );
    check(w().destination_order(by_source), r(), &[]);
    let (one, two) = (DataRepresentationId::XCDR1, DataRepresentationId::XCDR2);
    check(
        w().data_representation(&[two]),
        r(),
        &[PolicyId::DataRepresentation],
    );
    check(
        w().data_representation(&[two, one]),
        r(),
        &[PolicyId::DataRepresentation],
    );
    check(w().data_representation(&[one, two]), r(), &[]);
    check(w(), r().data_representation(&[two, one]), &[]);
    // Every reason is told, not only the first.
    check(
        w().best_effort(),
        r().reliable().transient_local().deadline(SECOND),
        &[
            PolicyId::Durability,
            PolicyId::Deadline,
            PolicyId::Reliability,
        ],
    );
}

#[test]
fn groups_offer_presentation() {
    let of = |access_scope, coherent_access, ordered_access| Presentation {
        access_scope,
        coherent_access,
        ordered_access,
    };
    let check = |offered, requested, expected| {
        assert_eq!(Presentation::compatible(&offered, &requested), expected);
    };
    use PresentationScope::{Group, Instance, Topic};
    check(of(Group, true, true), of(Instance, false, false), true);
    check(of(Instance, false, false), of(Topic, false, false), false);
    check(of(Topic, false, true), of(Topic, true, true), false);
    check(of(Topic, true, false), of(Topic, true, true), false);
}

#[test]
fn verdicts_show_both_values() {
    let verdicts = compare(
        &DataWriterQos::default().best_effort(),
        &PublisherQos::default(),
        &DataReaderQos::default().reliable(),
        &SubscriberQos::default(),
    );
    let verdict = verdicts
        .iter()
        .find(|v| v.policy == PolicyId::Reliability)
        .unwrap();
    assert_eq!(
        (
            verdict.offered.as_str(),
            verdict.requested.as_str(),
            verdict.compatible
        ),
        ("BEST_EFFORT", "RELIABLE", false)
    );
}
