//! Listeners on every level, and what they may do.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;

use whimbrel::base::status::{PublicationMatched, SubscriptionMatched};
use whimbrel::domain::InProcess;
use whimbrel::{
    AnyDataReader, AnyDataWriter, DataReader, DataReaderListener, DataReaderQos, DataWriter,
    DataWriterListener, DataWriterQos, DomainParticipantListener, PublisherListener, Sample,
    StatusKind, StatusMask, Subscriber, SubscriberListener, Topic, TopicListener, WaitSet,
};

use super::{Blob, PATIENCE, Position, matched_pair, matched_pair_by, pair, position};

/// Calls a function with what a reader's listener hears.
struct OnData<F>(F);

impl<F: FnMut(&DataReader<Position>) + Send> DataReaderListener<Position> for OnData<F> {
    fn on_data_available(&mut self, reader: &DataReader<Position>) {
        (self.0)(reader);
    }
}

fn on_data(
    f: impl FnMut(&DataReader<Position>) + Send + 'static,
) -> Option<Box<dyn DataReaderListener<Position>>> {
    Some(Box::new(OnData(f)))
}

/// Sends every value that arrives.
fn forward(to: Sender<i32>) -> Option<Box<dyn DataReaderListener<Position>>> {
    on_data(move |reader| {
        for sample in reader.samples() {
            if let Some(data) = sample.into_data() {
                // The test may have heard enough.
                let _ = to.send(data.x);
            }
        }
    })
}

fn hear<T>(from: &Receiver<T>) -> T {
    from.recv_timeout(PATIENCE).expect("no listener was called")
}

#[test]
fn readers_tell_of_all_data_also_from_before() {
    let (writer, reader) = matched_pair();
    writer.write(&position("tram", 0)).unwrap();
    reader.wait_for_data(PATIENCE).unwrap();
    let (to, from) = channel();
    reader.set_listener(forward(to), StatusKind::DataAvailable);
    assert_eq!(hear(&from), 0);
    for x in 1..100 {
        writer.write(&position("tram", x)).unwrap();
    }
    let heard: Vec<_> = (1..100).map(|_| hear(&from)).collect();
    assert_eq!(heard, (1..100).collect::<Vec<_>>());
    // Without a listener nobody is told, and it is dropped with what it holds.
    reader.set_listener(None, StatusMask::ALL);
    assert_eq!(
        from.recv_timeout(PATIENCE),
        Err(RecvTimeoutError::Disconnected)
    );
    writer.write(&position("tram", 100)).unwrap();
    reader.wait_for_data(PATIENCE).unwrap();
}

#[test]
fn a_reader_that_hears_everything_hears_of_data() {
    let (writer, reader) = matched_pair();
    let (to, from) = channel();
    reader.set_listener(forward(to), StatusMask::ALL);
    writer.write(&position("tram", 7)).unwrap();
    assert_eq!(hear(&from), 7);
}

struct Matches(Sender<(String, u32)>);

impl DataWriterListener<Position> for Matches {
    fn on_publication_matched(
        &mut self,
        writer: &DataWriter<Position>,
        status: PublicationMatched,
    ) {
        assert!(
            !writer
                .status_changes()
                .contains(StatusKind::PublicationMatched)
        );
        let heard = (
            format!("writer {}", writer.topic_name()),
            status.current_count,
        );
        self.0.send(heard).unwrap();
    }
}

impl PublisherListener for Matches {
    fn on_publication_matched(&mut self, writer: &AnyDataWriter, status: PublicationMatched) {
        let typed: Option<DataWriter<Position>> = writer.downcast();
        assert!(typed.is_some() && writer.downcast::<Blob>().is_none());
        let heard = (
            format!("publisher {}", writer.topic_name()),
            status.current_count,
        );
        self.0.send(heard).unwrap();
    }
}

#[test]
fn the_most_specific_listener_is_told() {
    let (here, there) = pair();
    let publisher = here.create_publisher(Default::default()).unwrap();
    let (to, from) = channel();
    publisher.set_listener(Some(Box::new(Matches(to.clone()))), StatusMask::ALL);
    let make = |name: &str| {
        let topic: Topic<Position> = here.create_topic(name).unwrap();
        publisher
            .create_datawriter(&topic, DataWriterQos::default())
            .unwrap()
    };
    let (own, _inherited) = (make("own"), make("inherited"));
    own.set_listener(Some(Box::new(Matches(to))), StatusKind::PublicationMatched);
    let read = |name: &str| {
        let topic: Topic<Position> = there.create_topic(name).unwrap();
        there
            .create_datareader(&topic, DataReaderQos::default())
            .unwrap()
    };
    let _first = read("own");
    assert_eq!(hear(&from), ("writer own".to_owned(), 1));
    let _second = read("inherited");
    assert_eq!(hear(&from), ("publisher inherited".to_owned(), 1));
    own.set_listener(None, StatusMask::ALL);
    let _third = read("own");
    assert_eq!(hear(&from), ("publisher own".to_owned(), 2));
}

#[derive(PartialEq, Debug)]
enum Heard {
    Group,
    Reader(i32),
    Participant(i32),
    Matched(u32),
    Inconsistent(String),
}

/// Hears of data; passes it on to others where it is not `greedy`.
struct Group {
    to: Sender<Heard>,
    greedy: bool,
}

impl PublisherListener for Group {}

impl SubscriberListener for Group {
    fn on_data_on_readers(&mut self, subscriber: &Subscriber) {
        assert!(subscriber.status_changes().is_empty());
        self.to.send(Heard::Group).unwrap();
        if !self.greedy {
            subscriber.notify_datareaders();
        }
    }

    fn on_data_available(&mut self, reader: &AnyDataReader) {
        let reader: DataReader<Position> = reader.downcast().unwrap();
        for data in reader.samples().filter_map(Sample::into_data) {
            self.to.send(Heard::Participant(data.x)).unwrap();
        }
    }

    fn on_subscription_matched(&mut self, reader: &AnyDataReader, status: SubscriptionMatched) {
        assert_eq!(reader.topic_name(), "positions");
        self.to.send(Heard::Matched(status.current_count)).unwrap();
    }
}

impl DomainParticipantListener for Group {
    fn on_inconsistent_topic(
        &mut self,
        topic_name: &str,
        _: whimbrel::base::status::InconsistentTopic,
    ) {
        self.to
            .send(Heard::Inconsistent(topic_name.into()))
            .unwrap();
    }
}

impl TopicListener for Group {
    fn on_inconsistent_topic(
        &mut self,
        topic_name: &str,
        _: whimbrel::base::status::InconsistentTopic,
    ) {
        self.to
            .send(Heard::Inconsistent(topic_name.into()))
            .unwrap();
    }
}

#[test]
fn data_is_told_to_the_subscriber_first_and_passed_on_when_it_says_so() {
    let (writer, reader) = matched_pair();
    let subscriber = reader.subscriber();
    let (to, from) = channel();
    let own = to.clone();
    reader.set_listener(
        on_data(move |reader| {
            let taken = reader.take(10).unwrap();
            own.send(Heard::Reader(taken[0].data().unwrap().x)).unwrap();
        }),
        StatusKind::DataAvailable,
    );
    let group = |greedy| {
        let to = to.clone();
        Some(Box::new(Group { to, greedy }) as Box<dyn SubscriberListener>)
    };
    subscriber.set_listener(group(true), StatusKind::DataOnReaders);
    writer.write(&position("tram", 1)).unwrap();
    assert_eq!(hear(&from), Heard::Group);
    // Not passed on, so it is still there and still news.
    subscriber.set_listener(group(false), StatusKind::DataOnReaders);
    assert_eq!(hear(&from), Heard::Group);
    assert_eq!(hear(&from), Heard::Reader(1));
    subscriber.set_listener(None, StatusMask::ALL);
    writer.write(&position("tram", 2)).unwrap();
    assert_eq!(hear(&from), Heard::Reader(2));
}

#[test]
fn participants_hear_what_nobody_else_does() {
    let (here, there) = pair();
    let (to, from) = channel();
    let kinds =
        StatusKind::DataAvailable | StatusKind::SubscriptionMatched | StatusKind::InconsistentTopic;
    let listener = Group { to, greedy: true };
    there.set_listener(Some(Box::new(listener)), kinds);
    let topic: Topic<Position> = there.create_topic("positions").unwrap();
    let qos = DataReaderQos::default().reliable().keep_all();
    let _reader = there.create_datareader(&topic, qos).unwrap();
    let topic: Topic<Position> = here.create_topic("positions").unwrap();
    let writer = here
        .create_datawriter(&topic, DataWriterQos::default().reliable())
        .unwrap();
    assert_eq!(hear(&from), Heard::Matched(1));
    writer.wait_for_matched(1, PATIENCE).unwrap();
    writer.write(&position("tram", 5)).unwrap();
    assert_eq!(hear(&from), Heard::Participant(5));
    drop(writer);
    drop(topic);
    assert_eq!(hear(&from), Heard::Matched(0));
    let other: Topic<Blob> = here.create_topic("positions").unwrap();
    let _other = here
        .create_datawriter(&other, DataWriterQos::default())
        .unwrap();
    assert_eq!(hear(&from), Heard::Inconsistent("positions".into()));
    // The topic's own listener takes precedence, and is told of its side.
    let (to, from) = channel();
    let listener = Group { to, greedy: true };
    other.set_listener(Some(Box::new(listener)), StatusMask::ALL);
    assert_eq!(hear(&from), Heard::Inconsistent("positions".into()));
}

#[test]
fn a_listener_that_panics_stops_no_other_and_is_called_again() {
    let (writer, reader) = matched_pair();
    let participant = reader.subscriber().participant();
    let before = participant.listener_panics();
    let (to, from) = channel();
    reader.set_listener(
        on_data(move |reader| {
            let x = reader.take(1).unwrap()[0].data().unwrap().x;
            to.send(x).unwrap();
            assert_ne!(x, 1, "one is more than this listener bears");
        }),
        StatusKind::DataAvailable,
    );
    writer.write(&position("tram", 1)).unwrap();
    assert_eq!(hear(&from), 1);
    writer.write(&position("tram", 2)).unwrap();
    assert_eq!(hear(&from), 2);
    assert!(participant.listener_panics() > before);
    let (other_writer, other_reader) = matched_pair();
    let (to, from) = channel();
    other_reader.set_listener(forward(to), StatusKind::DataAvailable);
    other_writer.write(&position("bus", 3)).unwrap();
    assert_eq!(hear(&from), 3);
}

#[test]
fn listeners_may_call_everything_and_replace_themselves() {
    let (writer, reader) = matched_pair();
    let (to, from) = channel();
    let (answers, answered) = channel();
    let listener = on_data(move |reader| {
        let participant = reader.subscriber().participant();
        // Reads, waits, statuses, conditions.
        assert_eq!(reader.read(1).unwrap().len(), 1);
        let condition = reader.create_readcondition(
            whimbrel::SampleStates::ANY,
            whimbrel::ViewStates::ANY,
            whimbrel::InstanceStates::ANY,
        );
        let wait_set = WaitSet::new();
        wait_set.attach(condition.clone());
        wait_set.attach(reader.status_condition());
        assert!(!wait_set.wait(PATIENCE).unwrap().is_empty());
        let taken = reader.take_w_condition(&condition, 1).unwrap();
        let _ = reader.subscription_matched_status();
        let _ = (reader.statistics(), reader.matched_publications());
        reader.set_qos(reader.qos()).unwrap();
        let _ = participant.discovered_writers();
        // New entities, which meet the sender while this listener waits for it.
        let topic = participant.create_topic("answers").unwrap();
        let qos = DataWriterQos::default().reliable();
        let answer: DataWriter<Position> = participant.create_datawriter(&topic, qos).unwrap();
        answer.wait_for_matched(1, PATIENCE).unwrap();
        answer.write(taken[0].data().unwrap()).unwrap();
        answer.wait_for_acknowledgments(PATIENCE).unwrap();
        drop((answer, topic));
        // The next is heard by another.
        reader.set_listener(forward(to.clone()), StatusKind::DataAvailable);
        answers.send(()).unwrap();
    });
    reader.set_listener(listener, StatusKind::DataAvailable);
    let here = writer.publisher().participant();
    let topic = here.create_topic("answers").unwrap();
    let qos = DataReaderQos::default().reliable();
    let answer: DataReader<Position> = here.create_datareader(&topic, qos).unwrap();
    writer.write(&position("tram", 1)).unwrap();
    let heard = answer.take_timeout(1, PATIENCE).unwrap();
    assert_eq!(heard[0].data(), Some(&position("tram", 1)));
    hear(&answered);
    writer.write(&position("tram", 2)).unwrap();
    assert_eq!(hear(&from), 2);
}

#[test]
fn the_last_handle_of_everything_may_go_in_a_listener() {
    let own = thread::current().name().map(str::to_owned);
    check_last_handle(InProcess::Direct, own.as_deref());
    check_last_handle(InProcess::Queued, Some("whimbrel-call"));
    check_last_handle(InProcess::Off, Some("whimbrel-call"));
}

/// Where samples go in this way the thread of this name calls the listener.
fn check_last_handle(how: InProcess, caller: Option<&str>) {
    let (writer, reader) = matched_pair_by(how);
    let (to, from) = channel();
    let (give, given) = channel::<DataReader<Position>>();
    // What comes before the reader has heard the writer goes by the network whatever is asked for.
    writer.write(&position("tram", 0)).unwrap();
    assert_eq!(reader.take_timeout(1, PATIENCE).unwrap().len(), 1);
    writer.wait_for_acknowledgments(PATIENCE).unwrap();
    reader.set_listener(
        on_data(move |_| {
            drop(given.recv_timeout(PATIENCE).unwrap());
            to.send(thread::current().name().map(str::to_owned))
                .unwrap();
        }),
        StatusKind::DataAvailable,
    );
    give.send(reader).unwrap();
    writer.write(&position("tram", 1)).unwrap();
    assert_eq!(hear(&from).as_deref(), caller);
    let condition = writer.status_condition();
    condition.set_enabled_statuses(StatusKind::PublicationMatched);
    let _ = writer.publication_matched_status();
    let started = std::time::Instant::now();
    while !writer.matched_subscriptions().is_empty() {
        assert!(started.elapsed() < PATIENCE, "the reader stayed");
        let wait_set = WaitSet::new();
        wait_set.attach(condition.clone());
        if wait_set.wait(std::time::Duration::from_millis(100)).is_ok() {
            let _ = writer.publication_matched_status();
        }
    }
    // The listener went with its reader, so nobody holds the other end.
    assert_eq!(
        from.recv_timeout(PATIENCE),
        Err(RecvTimeoutError::Disconnected)
    );
}
