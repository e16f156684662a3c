//! The table of policies tells the truth.

use whimbrel::qos::{DataRepresentationId, FEATURES, Feature, QosSet};
use whimbrel::{DataReaderQos, DataWriterQos, DomainParticipant, Error, InstanceState, ReturnCode};

use super::{PATIENCE, Position, matched_pair, pair, position, tag};

fn join(set: &QosSet) -> Result<DomainParticipant, Error> {
    DomainParticipant::builder(77)
        .domain_tag(tag())
        .interfaces("lo")
        .qos(set.participant.clone())
        .build()
}

/// Everything that the values of `feature` can be asked of, tried one by one.
fn outcomes(feature: &Feature, here: &DomainParticipant) -> Vec<(bool, Result<(), Error>)> {
    let (set, plain) = (feature.qos(), QosSet::default());
    let topic = here.create_topic::<Position>("positions").unwrap();
    let publisher = here.create_publisher(plain.publisher.clone()).unwrap();
    let subscriber = here.create_subscriber(plain.subscriber.clone()).unwrap();
    vec![
        (set.participant != plain.participant, join(&set).map(drop)),
        (
            set.topic != plain.topic,
            here.create_topic_with_qos::<Position>("positions", set.topic.clone())
                .map(drop),
        ),
        (set.topic != plain.topic, topic.set_qos(set.topic)),
        (
            set.publisher != plain.publisher,
            here.create_publisher(set.publisher.clone()).map(drop),
        ),
        (
            set.publisher != plain.publisher,
            publisher.set_qos(set.publisher),
        ),
        (
            set.subscriber != plain.subscriber,
            here.create_subscriber(set.subscriber.clone()).map(drop),
        ),
        (
            set.subscriber != plain.subscriber,
            subscriber.set_qos(set.subscriber),
        ),
        (
            set.writer != plain.writer,
            publisher
                .create_datawriter(&topic, set.writer.clone())
                .map(drop),
        ),
        (
            set.writer != plain.writer,
            publisher.set_default_datawriter_qos(set.writer),
        ),
        (
            set.reader != plain.reader,
            subscriber
                .create_datareader(&topic, set.reader.clone())
                .map(drop),
        ),
        (
            set.reader != plain.reader,
            subscriber.set_default_datareader_qos(set.reader),
        ),
    ]
}

#[test]
fn what_the_table_refuses_is_refused_by_every_entity() {
    let here = join(&QosSet::default()).unwrap();
    let mut refused = 0;
    for feature in FEATURES.iter().filter(|it| it.refusal().is_some()) {
        let outcomes = outcomes(feature, &here);
        assert!(outcomes.iter().any(|(asked, _)| *asked), "{feature:?}");
        for (asked, outcome) in outcomes {
            if !asked {
                outcome.unwrap();
                continue;
            }
            let error = outcome.unwrap_err();
            assert_eq!(error.return_code(), ReturnCode::Unsupported, "{feature:?}");
            let name = feature.policy.short_name();
            assert!(error.to_string().starts_with(name), "{name}: {error}");
            refused += 1;
        }
    }
    assert!(refused > 40, "{refused}");
}

#[test]
fn what_the_table_accepts_carries_samples() {
    for feature in FEATURES.iter().filter(|it| it.refusal().is_none()) {
        let set = feature.qos();
        let here = join(&set).unwrap();
        let topic = here
            .create_topic_with_qos::<Position>("positions", set.topic)
            .unwrap();
        let publisher = here.create_publisher(set.publisher).unwrap();
        let subscriber = here.create_subscriber(set.subscriber).unwrap();
        let writer = publisher.create_datawriter(&topic, set.writer).unwrap();
        let reader = subscriber.create_datareader(&topic, set.reader).unwrap();
        writer.wait_for_matched(1, PATIENCE).unwrap();
        reader.wait_for_matched(1, PATIENCE).unwrap();
        writer.write(&position("tram", 7)).unwrap();
        let samples = reader.take_timeout(1, PATIENCE).unwrap();
        let data = samples.first().and_then(|it| it.data());
        assert_eq!(data, Some(&position("tram", 7)), "{feature:?}");
    }
}

#[test]
fn both_encodings_travel() {
    let (here, there) = pair();
    for (name, id) in [
        ("one", DataRepresentationId::XCDR1),
        ("two", DataRepresentationId::XCDR2),
    ] {
        let topic = here.create_topic::<Position>(name).unwrap();
        let qos = DataWriterQos::default()
            .reliable()
            .data_representation(&[id]);
        let writer = here.create_datawriter(&topic, qos).unwrap();
        let topic = there.create_topic::<Position>(name).unwrap();
        let qos = DataReaderQos::default()
            .reliable()
            .data_representation(&[DataRepresentationId::XCDR2, DataRepresentationId::XCDR1]);
        let reader = there.create_datareader(&topic, qos).unwrap();
        writer.wait_for_matched(1, PATIENCE).unwrap();
        writer.write(&position("tram", 1)).unwrap();
        let samples = reader.take_timeout(1, PATIENCE).unwrap();
        let data = samples.first().and_then(|it| it.data());
        assert_eq!(data, Some(&position("tram", 1)), "{id}");
    }
}

#[test]
fn unregistering_disposes_only_where_it_should() {
    for (disposes, expected) in [
        (true, InstanceState::NotAliveDisposed),
        (false, InstanceState::NotAliveNoWriters),
    ] {
        let (writer, reader) = matched_pair();
        let qos = writer.qos().autodispose_unregistered_instances(disposes);
        writer.set_qos(qos).unwrap();
        writer.write(&position("tram", 1)).unwrap();
        writer.unregister_instance(&position("tram", 1)).unwrap();
        writer.wait_for_acknowledgments(PATIENCE).unwrap();
        let samples = reader.take(10).unwrap();
        let last = samples.last().unwrap();
        assert_eq!(last.info().instance_state, expected);
    }
}
