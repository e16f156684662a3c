//! QoS that changes while entities are in use.

use whimbrel::qos::{History, PolicyId, Presentation};
use whimbrel::{
    DataReader, DataReaderQos, DataWriter, DataWriterQos, DomainParticipant, DomainParticipantQos,
    Error, Publisher, PublisherQos, ReturnCode, Subscriber, SubscriberQos, TopicQos,
};

use super::asynchronous::block_on;
use super::{PATIENCE, Position, pair, position};

struct Groups {
    here: DomainParticipant,
    there: DomainParticipant,
    publisher: Publisher,
    subscriber: Subscriber,
    writer: DataWriter<Position>,
    reader: DataReader<Position>,
}

/// A writer and a reader in partition "a", matched.
fn groups() -> Groups {
    let (here, there) = pair();
    let qos = PublisherQos::default().partition("a");
    let publisher = here.create_publisher(qos).unwrap();
    let qos = SubscriberQos::default().partition("a");
    let subscriber = there.create_subscriber(qos).unwrap();
    let topic = here.create_topic("positions").unwrap();
    let qos = DataWriterQos::default().reliable().keep_all();
    let writer = publisher.create_datawriter(&topic, qos).unwrap();
    let topic = there.create_topic("positions").unwrap();
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = subscriber.create_datareader(&topic, qos).unwrap();
    let groups = Groups {
        here,
        there,
        publisher,
        subscriber,
        writer,
        reader,
    };
    groups.check_flow(0);
    groups
}

impl Groups {
    /// Waits until writer and reader know of each other, and sees a sample through.
    fn check_flow(&self, x: i32) {
        self.writer.wait_for_matched(1, PATIENCE).unwrap();
        self.reader.wait_for_matched(1, PATIENCE).unwrap();
        self.writer.write(&position("tram 7", x)).unwrap();
        let mut values = Vec::new();
        while values.is_empty() {
            let samples = self.reader.take_timeout(10, PATIENCE).unwrap();
            assert!(!samples.is_empty(), "{x} never came");
            // Those without data tell that the instance lost its writer.
            values.extend(samples.iter().filter_map(|it| it.data().map(|it| it.x)));
        }
        assert_eq!(values, [x]);
        self.writer.wait_for_acknowledgments(PATIENCE).unwrap();
    }

    /// Waits until neither side is matched.
    fn check_apart(&self) {
        let (writer, reader) = (&self.writer, &self.reader);
        let apart = |_: &_| writer.matched_subscriptions().is_empty();
        assert!(self.here.wait_for_discovery(PATIENCE, apart));
        let apart = |_: &_| reader.matched_publications().is_empty();
        assert!(self.there.wait_for_discovery(PATIENCE, apart));
    }
}

fn to_publisher(partition: &str) -> PublisherQos {
    PublisherQos::default().partition(partition)
}

fn to_subscriber(partition: &str) -> SubscriberQos {
    SubscriberQos::default().partition(partition)
}

#[test]
fn a_changed_partition_unmatches_and_rematches() {
    let groups = groups();
    groups.publisher.set_qos(to_publisher("b")).unwrap();
    assert_eq!(groups.publisher.qos(), to_publisher("b"));
    groups.check_apart();
    groups.writer.write(&position("tram 7", 1)).unwrap();
    groups.subscriber.set_qos(to_subscriber("b")).unwrap();
    groups.check_flow(2);
    groups.subscriber.set_qos(to_subscriber("c")).unwrap();
    groups.check_apart();
    groups.subscriber.set_qos(to_subscriber("b*")).unwrap();
    groups.check_flow(3);
}

#[test]
fn a_partition_left_and_entered_again_at_once_does_no_harm() {
    let groups = groups();
    for x in 1..20 {
        groups.publisher.set_qos(to_publisher("b")).unwrap();
        groups.publisher.set_qos(to_publisher("a")).unwrap();
        groups.check_flow(2 * x);
        groups.subscriber.set_qos(to_subscriber("b")).unwrap();
        groups.subscriber.set_qos(to_subscriber("a")).unwrap();
        groups.check_flow(2 * x + 1);
    }
}

#[test]
fn changed_octets_of_groups_and_topics_reach_the_other_side() {
    let groups = groups();
    let (writer, reader) = (groups.writer.guid(), groups.reader.guid());
    let topics = (
        groups.here.create_topic::<Position>("others").unwrap(),
        groups.there.create_topic::<Position>("others").unwrap(),
    );
    let other_writer = groups
        .publisher
        .create_datawriter(&topics.0, DataWriterQos::default());
    let other_reader = groups
        .subscriber
        .create_datareader(&topics.1, DataReaderQos::default());
    let (other_writer, other_reader) = (other_writer.unwrap(), other_reader.unwrap());
    let seen = |ready: &dyn Fn(&DomainParticipant) -> bool, by: &DomainParticipant| {
        assert!(by.wait_for_discovery(PATIENCE, ready));
    };
    let qos = groups.publisher.qos().group_data(*b"group of writers");
    groups.publisher.set_qos(qos).unwrap();
    let qos = groups.subscriber.qos().group_data(*b"group of readers");
    groups.subscriber.set_qos(qos).unwrap();
    topics
        .0
        .set_qos(TopicQos::default().topic_data(*b"here"))
        .unwrap();
    topics
        .1
        .set_qos(TopicQos::default().topic_data(*b"there"))
        .unwrap();
    assert_eq!(topics.0.qos().topic_data.value, b"here");
    let of_writer = |it: &DomainParticipant, guid| {
        let mut all = it.discovered_writers().into_iter();
        all.find(|it| it.guid == guid)
            .map(|it| (it.group_data, it.topic_data))
    };
    let of_reader = |it: &DomainParticipant, guid| {
        let mut all = it.discovered_readers().into_iter();
        all.find(|it| it.guid == guid)
            .map(|it| (it.group_data, it.topic_data))
    };
    let facts = |group: &[u8], topic: &[u8]| Some((group.to_vec(), topic.to_vec()));
    for by in [&groups.here, &groups.there] {
        let (w, r) = (b"group of writers", b"group of readers");
        seen(
            &|it| of_writer(it, other_writer.guid()) == facts(w, b"here"),
            by,
        );
        seen(
            &|it| of_reader(it, other_reader.guid()) == facts(r, b"there"),
            by,
        );
        // Other topics have their own.
        seen(&|it| of_writer(it, writer) == facts(w, b""), by);
        seen(&|it| of_reader(it, reader) == facts(r, b""), by);
    }
    groups.check_flow(1);
}

#[test]
fn changed_user_data_reaches_the_other_side() {
    let groups = groups();
    let qos = DomainParticipantQos::default().user_data(*b"tram depot");
    groups.here.set_qos(qos.clone()).unwrap();
    assert_eq!(groups.here.qos(), qos);
    let qos = groups.writer.qos().user_data(*b"odometer");
    groups.writer.set_qos(qos).unwrap();
    let (guid, writer) = (groups.here.guid(), groups.writer.guid());
    assert!(groups.there.wait_for_discovery(PATIENCE, |it| {
        let mut participants = it.discovered_participants().into_iter();
        let mut writers = it.discovered_writers().into_iter();
        participants.any(|it| it.guid == guid && it.user_data == b"tram depot")
            && writers.any(|it| it.guid == writer && it.qos.user_data.value == b"odometer")
    }));
    groups.check_flow(1);
    let diagnostics = groups.here.diagnostics();
    assert_eq!(diagnostics.own_guid_claimed, 0);
}

#[test]
fn policies_that_cannot_change_are_refused_and_nothing_changes() {
    let groups = groups();
    let check = |outcome: Result<(), Error>, policy: PolicyId| {
        let error = outcome.unwrap_err();
        assert_eq!(error.return_code(), ReturnCode::ImmutablePolicy);
        assert!(
            matches!(&error, Error::ImmutablePolicy(it) if it.policy == policy),
            "{error:?}"
        );
    };
    let ordered = Presentation {
        ordered_access: true,
        ..Default::default()
    };
    // Asked before: whether the policy exists at all.
    let outcome = groups
        .publisher
        .set_qos(PublisherQos::default().presentation(ordered));
    assert!(
        matches!(outcome, Err(Error::UnsupportedPolicy(_))),
        "{outcome:?}"
    );
    let outcome = groups
        .subscriber
        .set_qos(SubscriberQos::default().presentation(ordered));
    assert!(
        matches!(outcome, Err(Error::UnsupportedPolicy(_))),
        "{outcome:?}"
    );
    assert_eq!(groups.publisher.qos(), to_publisher("a"));
    assert_eq!(groups.subscriber.qos(), to_subscriber("a"));
    let topic = groups.here.create_topic::<Position>("positions").unwrap();
    let mut qos = TopicQos::default().topic_data(*b"never");
    qos.history = History::KeepAll;
    check(topic.set_qos(qos), PolicyId::History);
    assert_eq!(topic.qos(), TopicQos::default());
    check(
        groups.writer.set_qos(DataWriterQos::default().reliable()),
        PolicyId::History,
    );
    let qos = DataReaderQos::default().keep_all();
    check(groups.reader.set_qos(qos), PolicyId::Reliability);
    let qos = DomainParticipantQos::default().autoenable_created_entities(false);
    let outcome = groups.here.set_qos(qos);
    assert!(
        matches!(outcome, Err(Error::UnsupportedPolicy(_))),
        "{outcome:?}"
    );
    let qos = DomainParticipantQos::default().user_data(vec![0; 1 << 20]);
    let outcome = groups.here.set_qos(qos);
    assert!(
        matches!(outcome, Err(Error::InconsistentPolicy(_))),
        "{outcome:?}"
    );
    assert_eq!(groups.here.qos(), DomainParticipantQos::default());
}

#[test]
fn defaults_are_what_entities_are_created_with() {
    let (here, _) = pair();
    here.set_default_publisher_qos(to_publisher("p")).unwrap();
    here.set_default_subscriber_qos(to_subscriber("s")).unwrap();
    let qos = TopicQos::default().topic_data(*b"t");
    here.set_default_topic_qos(qos.clone()).unwrap();
    let topic = here.create_topic::<Position>("positions").unwrap();
    assert_eq!((topic.qos(), here.default_topic_qos()), (qos.clone(), qos));
    let writer = here
        .create_datawriter(&topic, DataWriterQos::default())
        .unwrap();
    let reader = here
        .create_datareader(&topic, DataReaderQos::default())
        .unwrap();
    let (publisher, subscriber) = (writer.publisher(), reader.subscriber());
    assert_eq!(publisher.qos(), here.default_publisher_qos());
    assert_eq!(publisher.qos(), to_publisher("p"));
    assert_eq!(subscriber.qos(), here.default_subscriber_qos());
    assert_eq!(subscriber.qos(), to_subscriber("s"));
    let of_writer = DataWriterQos::default().keep_all();
    publisher
        .set_default_datawriter_qos(of_writer.clone())
        .unwrap();
    assert_eq!(publisher.default_datawriter_qos(), of_writer);
    let of_reader = DataReaderQos::default().keep_all();
    subscriber
        .set_default_datareader_qos(of_reader.clone())
        .unwrap();
    assert_eq!(subscriber.default_datareader_qos(), of_reader);
    // What cannot be created cannot be the default.
    let refused = publisher.set_default_datawriter_qos(of_writer.transport_priority(1));
    assert!(
        matches!(refused, Err(Error::UnsupportedPolicy(_))),
        "{refused:?}"
    );
    assert_eq!(
        publisher.default_datawriter_qos().transport_priority.value,
        0
    );
}

#[test]
fn a_writer_names_the_keys_of_its_instances() {
    let groups = groups();
    let writer = &groups.writer;
    let key = |handle| writer.key_value(handle).map(|it| it.vehicle);
    let check = |vehicle: &str| {
        let handle = writer.lookup_instance(&position(vehicle, 9)).unwrap();
        assert_eq!(key(handle.unwrap()).unwrap(), vehicle);
    };
    // Its samples are acknowledged, so that none need be kept.
    check("tram 7");
    let registered = writer.register_instance(&position("tram 8", 1)).unwrap();
    assert_eq!(key(registered).unwrap(), "tram 8");
    writer.try_write(&position("", 2)).unwrap();
    check("");
    block_on(writer.write_async(&position("tram 9", 3))).unwrap();
    check("tram 9");
    writer.dispose(&position("tram 7", 1)).unwrap();
    check("tram 7");
    let unknown = |handle| key(handle).unwrap_err().return_code() == ReturnCode::BadParameter;
    for vehicle in ["tram 7", "tram 8", "", "tram 9"] {
        let handle = writer.lookup_instance(&position(vehicle, 0)).unwrap();
        writer.unregister_instance(&position(vehicle, 0)).unwrap();
        assert!(unknown(handle.unwrap()), "{vehicle}");
    }
    writer.write(&position("tram 8", 4)).unwrap();
    assert_eq!(key(registered).unwrap(), "tram 8");
    assert!(unknown(whimbrel::InstanceHandle::NIL));
    assert!(unknown(writer.instance_handle()));
}

#[test]
fn of_changes_made_at_once_the_one_in_force_is_announced_last() {
    const THREADS: u8 = 4;
    const ROUNDS: u8 = 250;
    let groups = groups();
    let (publisher, writer) = (&groups.publisher, &groups.writer);
    let barrier = &std::sync::Barrier::new(usize::from(THREADS));
    // What is in force, and what was announced last.
    let both = &|by: &DomainParticipant| {
        let mut writers = by.discovered_writers().into_iter();
        let told = writers.find(|it| it.guid == writer.guid()).unwrap();
        let told = (told.group_data, told.qos.user_data.value);
        let in_force = (
            publisher.qos().group_data.value,
            writer.qos().user_data.value,
        );
        (in_force, told)
    };
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let here = &groups.here;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let data = [thread, round];
                    barrier.wait();
                    let qos = to_publisher("a").group_data(data);
                    publisher.set_qos(qos).unwrap();
                    writer.set_qos(writer.qos().user_data(data)).unwrap();
                    barrier.wait();
                    let (in_force, told) = both(here);
                    assert_eq!(in_force, told);
                }
            });
        }
    });
    assert!(groups.there.wait_for_discovery(PATIENCE, |it| {
        let (in_force, told) = both(it);
        in_force == told
    }));
    groups.check_flow(1);
}
