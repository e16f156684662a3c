//! Finding what is there, and not wanting to know of it.

use std::time::Duration;

use whimbrel::{DataReaderQos, DataWriterQos, Error, ReturnCode};

use super::{Blob, PATIENCE, Position, matched_pair, pair, position};

#[test]
fn endpoints_are_found_by_their_topic_and_type() {
    let (writer, reader) = matched_pair();
    let (publisher, subscriber) = (writer.publisher(), reader.subscriber());
    let found = publisher
        .lookup_datawriter::<Position>("positions")
        .unwrap();
    assert_eq!(found.guid(), writer.guid());
    assert!(publisher.lookup_datawriter::<Blob>("positions").is_none());
    assert!(publisher.lookup_datawriter::<Position>("others").is_none());
    let found = subscriber
        .lookup_datareader::<Position>("positions")
        .unwrap();
    assert_eq!(found.guid(), reader.guid());
    assert!(subscriber.lookup_datareader::<Blob>("positions").is_none());
    drop((found, reader));
    assert!(
        subscriber
            .lookup_datareader::<Position>("positions")
            .is_none()
    );
}

#[test]
fn a_participant_knows_its_own() {
    let (writer, reader) = matched_pair();
    let here = writer.publisher().participant();
    assert!(here.contains_entity(writer.instance_handle()));
    assert!(!here.contains_entity(reader.instance_handle()));
    let there = reader.subscriber().participant();
    assert!(there.contains_entity(reader.instance_handle()));
}

#[test]
fn topics_are_found_once_somebody_uses_them() {
    let (here, there) = pair();
    let none = here.find_topic::<Position>("positions", Duration::from_millis(20));
    assert!(matches!(none, Err(Error::Timeout)));
    let topic = there.create_topic::<Position>("positions").unwrap();
    let _writer = there
        .create_datawriter(&topic, DataWriterQos::default())
        .unwrap();
    let found = here.find_topic::<Position>("positions", PATIENCE).unwrap();
    assert_eq!(found.name(), "positions");
    let other = here.find_topic::<Blob>("positions", PATIENCE).unwrap_err();
    assert_eq!(other.return_code(), ReturnCode::PreconditionNotMet);
}

#[test]
fn an_ignored_writer_unmatches_and_stays_away() {
    let (writer, reader) = matched_pair();
    let there = reader.subscriber().participant();
    let handle = writer.instance_handle();
    there.ignore_publication(handle).unwrap();
    assert!(reader.matched_publications().is_empty());
    assert!(there.discovered_writers().is_empty());
    // Announced again, as after any change of its QoS, it is as if it were not there.
    writer.set_qos(writer.qos().user_data(*b"again")).unwrap();
    let topic = writer
        .publisher()
        .participant()
        .create_topic::<Position>("more")
        .unwrap();
    let more = writer
        .publisher()
        .create_datawriter(&topic, DataWriterQos::default())
        .unwrap();
    let seen = |guid| {
        there.wait_for_discovery(PATIENCE, |it| {
            it.discovered_writers()
                .iter()
                .any(|writer| writer.guid == guid)
        })
    };
    assert!(seen(more.guid()));
    assert_eq!(there.discovered_writers().len(), 1);
    assert!(there.ignore_publication(reader.instance_handle()).is_err());
}

#[test]
fn an_ignored_reader_is_sent_nothing() {
    let (writer, reader) = matched_pair();
    let here = writer.publisher().participant();
    here.ignore_subscription(reader.instance_handle()).unwrap();
    assert!(writer.matched_subscriptions().is_empty());
    writer.write(&position("tram", 1)).unwrap();
    writer.wait_for_acknowledgments(Duration::ZERO).unwrap();
    assert!(here.ignore_subscription(writer.instance_handle()).is_err());
}

#[test]
fn an_ignored_participant_is_gone_with_all_it_has() {
    let (writer, reader) = matched_pair();
    let here = writer.publisher().participant();
    let there = reader.subscriber().participant();
    let own = here.ignore_participant(here.instance_handle());
    assert_eq!(own.unwrap_err().return_code(), ReturnCode::BadParameter);
    here.ignore_participant(there.instance_handle()).unwrap();
    assert!(writer.matched_subscriptions().is_empty());
    assert!(here.discovered_participants().is_empty());
    // Its further announcements change nothing.
    let user_data = there.qos().user_data(*b"still here");
    there.set_qos(user_data).unwrap();
    let topic = there.create_topic::<Position>("positions").unwrap();
    let _more = there
        .create_datareader(&topic, DataReaderQos::default())
        .unwrap();
    let back = here.wait_for_discovery(Duration::from_millis(200), |it| {
        !it.discovered_participants().is_empty()
    });
    assert!(!back);
}
