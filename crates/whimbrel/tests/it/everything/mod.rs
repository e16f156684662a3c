//! Every call from inside every callback.
//!
//! [`calls`] lists all public methods of all entities, [`CALLBACKS`] all callbacks at each level
//! that can hear them; both lists are compared with the sources, so what is added there must be
//! added here.

mod calls;

use std::collections::BTreeSet;
use std::fs;
use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use whimbrel::qos::ResourceLimits;
use whimbrel::status::{
    InconsistentTopic, LivelinessChanged, OfferedIncompatibleQos, PublicationMatched,
    RequestedIncompatibleQos, SampleLost, SampleRejected, SubscriptionMatched,
};
use whimbrel::{
    AnyDataReader, AnyDataWriter, DataReader, DataReaderListener, DataReaderQos, DataWriter,
    DataWriterListener, DataWriterQos, DomainParticipant, DomainParticipantListener,
    GuardCondition, Publisher, PublisherListener, StatusMask, Subscriber, SubscriberListener,
    Topic, TopicListener, WaitSet,
};

use super::{Blob, PATIENCE, Position, position, tag};
use calls::{CALLS, NOT_CALLED};

/// All entities of one side, on which everything is called.
struct World {
    tag: String,
    /// What calls that may block are given; most have nothing to wait for.
    patience: Duration,
    participant: DomainParticipant,
    topic: Topic<Position>,
    publisher: Publisher,
    subscriber: Subscriber,
    writer: DataWriter<Position>,
    reader: DataReader<Position>,
    wait_set: WaitSet,
    guard: GuardCondition,
    /// As group listeners are given them; nothing where the callback is none of theirs.
    any_writer: Option<AnyDataWriter>,
    any_reader: Option<AnyDataReader>,
}

impl World {
    fn any_writer<R>(&self, call: impl Fn(&AnyDataWriter) -> R) -> Option<R> {
        self.any_writer.as_ref().map(call)
    }

    fn any_reader<R>(&self, call: impl Fn(&AnyDataReader) -> R) -> Option<R> {
        self.any_reader.as_ref().map(call)
    }
}

fn join(tag: &str) -> DomainParticipant {
    let builder = DomainParticipant::builder(77).domain_tag(tag);
    builder.interfaces("lo").log(false).build().unwrap()
}

/// At which entity a listener is set.
#[derive(Clone, Copy, Debug)]
enum Level {
    Own,
    Group,
    Participant,
}

/// How a callback is brought about from the other side.
#[derive(Clone, Copy, Debug)]
enum Cause {
    Match,
    Data,
    Loss,
    TooMuch,
    StrictReader,
    LaxWriter,
    OtherType,
}

use Cause::*;
use Level::*;

/// Every callback, where it may be heard, and what brings it about.
const CALLBACKS: &[(&str, &[Level], Cause)] = &[
    ("on_publication_matched", &[Own, Group, Participant], Match),
    (
        "on_offered_incompatible_qos",
        &[Own, Group, Participant],
        StrictReader,
    ),
    ("on_data_available", &[Own, Group, Participant], Data),
    ("on_data_on_readers", &[Group, Participant], Data),
    ("on_subscription_matched", &[Own, Group, Participant], Match),
    (
        "on_requested_incompatible_qos",
        &[Own, Group, Participant],
        LaxWriter,
    ),
    ("on_sample_lost", &[Own, Group, Participant], Loss),
    ("on_sample_rejected", &[Own, Group, Participant], TooMuch),
    ("on_liveliness_changed", &[Own, Group, Participant], Match),
    ("on_inconsistent_topic", &[Own, Participant], OtherType),
];

/// Callbacks whose documentation says that they are not called yet.
const NOT_YET: &[&str] = &[
    "on_liveliness_lost",
    "on_offered_deadline_missed",
    "on_requested_deadline_missed",
];

/// Calls everything at the first callback of this name, then drops everything.
#[derive(Clone)]
struct Everything {
    callback: &'static str,
    world: Arc<Mutex<Option<World>>>,
    /// The call under way, for whoever asks why nothing goes on.
    at: Arc<Mutex<&'static str>>,
    done: Sender<()>,
}

impl Everything {
    fn heard(&self, callback: &str, complete: impl FnOnce(&mut World)) {
        if callback != self.callback {
            return;
        }
        let Some(mut world) = self.world.lock().unwrap().take() else {
            return;
        };
        complete(&mut world);
        for (name, call) in CALLS {
            *self.at.lock().unwrap() = name;
            call(&world);
        }
        *self.at.lock().unwrap() = "drop";
        drop(world);
        self.done.send(()).unwrap();
    }
}

macro_rules! hear {
    ($listener:ident<T> for $entity:ty { $($callback:ident: $status:ty,)* }) => {
        impl $listener<Position> for Everything {
            $(fn $callback(&mut self, _: &$entity, _: $status) {
                self.heard(stringify!($callback), |_| ());
            })*
        }
    };
    ($listener:ident as $member:ident for $entity:ty { $($callback:ident: $status:ty,)* }) => {
        $(fn $callback(&mut self, it: &$entity, _: $status) {
            let any = it.clone();
            self.heard(stringify!($callback), |world| world.$member = Some(any));
        })*
    };
}

hear!(DataWriterListener<T> for DataWriter<Position> {
    on_publication_matched: PublicationMatched,
    on_offered_incompatible_qos: OfferedIncompatibleQos,
});

impl DataReaderListener<Position> for Everything {
    fn on_data_available(&mut self, _: &DataReader<Position>) {
        self.heard("on_data_available", |_| ());
    }

    fn on_subscription_matched(&mut self, _: &DataReader<Position>, _: SubscriptionMatched) {
        self.heard("on_subscription_matched", |_| ());
    }

    fn on_requested_incompatible_qos(
        &mut self,
        _: &DataReader<Position>,
        _: RequestedIncompatibleQos,
    ) {
        self.heard("on_requested_incompatible_qos", |_| ());
    }

    fn on_sample_lost(&mut self, _: &DataReader<Position>, _: SampleLost) {
        self.heard("on_sample_lost", |_| ());
    }

    fn on_sample_rejected(&mut self, _: &DataReader<Position>, _: SampleRejected) {
        self.heard("on_sample_rejected", |_| ());
    }

    fn on_liveliness_changed(&mut self, _: &DataReader<Position>, _: LivelinessChanged) {
        self.heard("on_liveliness_changed", |_| ());
    }
}

impl PublisherListener for Everything {
    hear!(PublisherListener as any_writer for AnyDataWriter {
        on_publication_matched: PublicationMatched,
        on_offered_incompatible_qos: OfferedIncompatibleQos,
    });
}

impl SubscriberListener for Everything {
    fn on_data_on_readers(&mut self, subscriber: &Subscriber) {
        // Heard by this one or by the next.
        subscriber.notify_datareaders();
        self.heard("on_data_on_readers", |_| ());
    }

    fn on_data_available(&mut self, reader: &AnyDataReader) {
        let any = reader.clone();
        self.heard("on_data_available", |world| world.any_reader = Some(any));
    }

    hear!(SubscriberListener as any_reader for AnyDataReader {
        on_subscription_matched: SubscriptionMatched,
        on_requested_incompatible_qos: RequestedIncompatibleQos,
        on_sample_lost: SampleLost,
        on_sample_rejected: SampleRejected,
        on_liveliness_changed: LivelinessChanged,
    });
}

impl TopicListener for Everything {
    fn on_inconsistent_topic(&mut self, _: &str, _: InconsistentTopic) {
        self.heard("on_inconsistent_topic", |_| ());
    }
}

impl DomainParticipantListener for Everything {
    fn on_inconsistent_topic(&mut self, _: &str, _: InconsistentTopic) {
        self.heard("on_inconsistent_topic", |_| ());
    }
}

fn world(tag: &str, cause: Cause) -> World {
    let participant = join(tag);
    let topic: Topic<Position> = participant.create_topic("positions").unwrap();
    let publisher = participant.create_publisher(Default::default()).unwrap();
    let subscriber = participant.create_subscriber(Default::default()).unwrap();
    let qos = DataWriterQos::default().reliable().keep_all();
    let writer = publisher.create_datawriter(&topic, qos).unwrap();
    let qos = DataReaderQos::default().keep_all();
    let qos = match cause {
        Loss => qos,
        TooMuch => qos
            .reliable()
            .resource_limits(ResourceLimits::UNLIMITED.max_samples(1)),
        _ => qos.reliable(),
    };
    World {
        tag: tag.to_owned(),
        patience: Duration::from_millis(2),
        reader: subscriber.create_datareader(&topic, qos).unwrap(),
        participant,
        topic,
        publisher,
        subscriber,
        writer,
        wait_set: WaitSet::new(),
        guard: GuardCondition::new(),
        any_writer: None,
        any_reader: None,
    }
}

/// Brings the callback about again and again, until `done`.
fn bring_about(tag: &str, cause: Cause, done: impl Fn() -> bool) {
    let builder = DomainParticipant::builder(77).domain_tag(tag);
    let lossy = if matches!(cause, Loss) { 300 } else { 0 };
    let builder = builder.interfaces("lo").log(false).faults(lossy, 0, 7);
    let other = builder.build().unwrap();
    if matches!(cause, OtherType) {
        let topic: Topic<Blob> = other.create_topic("positions").unwrap();
        let _reader = other
            .create_datareader(&topic, DataReaderQos::default())
            .unwrap();
        while !done() {}
        return;
    }
    let topic: Topic<Position> = other.create_topic("positions").unwrap();
    let lax = matches!(cause, Loss | LaxWriter);
    let qos = DataWriterQos::default().keep_last(10);
    let qos = if lax { qos } else { qos.reliable() };
    let qos = if lax { qos.best_effort() } else { qos };
    let writer = other.create_datawriter(&topic, qos).unwrap();
    let qos = DataReaderQos::default().reliable();
    let strict = matches!(cause, StrictReader);
    let qos = if strict { qos.transient_local() } else { qos };
    let _reader = other.create_datareader(&topic, qos).unwrap();
    let mut x = 0;
    while !done() {
        writer.write(&position("tram", x)).unwrap();
        x += 1;
    }
}

fn check(callback: &'static str, level: Level, cause: Cause) {
    let tag = tag();
    let mut world = world(&tag, cause);
    let (done, is_done) = channel();
    let all = Everything {
        callback,
        world: Arc::default(),
        at: Arc::new(Mutex::new("nothing")),
        done,
    };
    let one = Some(Box::new(all.clone()));
    match level {
        Own if callback == "on_inconsistent_topic" => {
            world
                .topic
                .set_listener(one.map(|it| it as _), StatusMask::ALL);
        }
        Own => {
            world
                .writer
                .set_listener(one.clone().map(|it| it as _), StatusMask::ALL);
            world
                .reader
                .set_listener(one.map(|it| it as _), StatusMask::ALL);
        }
        Group => {
            world
                .publisher
                .set_listener(one.clone().map(|it| it as _), StatusMask::ALL);
            world
                .subscriber
                .set_listener(one.map(|it| it as _), StatusMask::ALL);
        }
        Participant => {
            world
                .participant
                .set_listener(one.map(|it| it as _), StatusMask::ALL);
        }
    }
    world.wait_set.attach(world.guard.clone());
    world.any_writer = None;
    *all.world.lock().unwrap() = Some(world);
    let at = Arc::clone(&all.at);
    drop(all);
    let started = Instant::now();
    bring_about(&tag, cause, || {
        match is_done.recv_timeout(Duration::from_millis(2)) {
            Ok(()) => true,
            Err(RecvTimeoutError::Timeout) => {
                let at = at.lock().unwrap();
                assert!(
                    started.elapsed() < PATIENCE * 3,
                    "{callback} at {level:?}: stuck at {at}"
                );
                false
            }
            Err(RecvTimeoutError::Disconnected) => {
                panic!("{callback} at {level:?}: {} panicked", at.lock().unwrap())
            }
        }
    });
}

#[test]
fn every_call_may_be_made_in_every_callback() {
    let checks = CALLBACKS.iter().flat_map(|(callback, levels, cause)| {
        levels.iter().map(move |it| (*callback, *it, *cause))
    });
    let checks: Mutex<Vec<_>> = Mutex::new(checks.collect());
    // Listeners run one after the other, but what they wait for comes meanwhile.
    thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                loop {
                    let next = checks.lock().unwrap().pop();
                    let Some((callback, level, cause)) = next else {
                        return;
                    };
                    check(callback, level, cause);
                }
            });
        }
    });
}

impl Wake for Everything {
    fn wake(self: Arc<Self>) {
        self.heard("wake", |_| ());
    }
}

#[test]
fn every_call_may_be_made_by_a_waker() {
    let tag = tag();
    let mut world = world(&tag, Data);
    // Wakers hold up reception, also that of other tests.
    world.patience = Duration::ZERO;
    let mut taken = pin!(world.reader.take_async(1));
    let (done, is_done) = channel();
    let all = Everything {
        callback: "wake",
        world: Arc::new(Mutex::new(Some(world))),
        at: Arc::new(Mutex::new("nothing")),
        done,
    };
    let at = Arc::clone(&all.at);
    let waker = Waker::from(Arc::new(all));
    let polled = taken.as_mut().poll(&mut Context::from_waker(&waker));
    assert!(polled.is_pending());
    let started = Instant::now();
    bring_about(&tag, Data, || {
        let waited = started.elapsed();
        assert!(waited < PATIENCE * 3, "stuck at {}", at.lock().unwrap());
        is_done.recv_timeout(Duration::from_millis(2)).is_ok()
    });
}

/// Types that are entities or what waits for them.
const ENTITIES: &[&str] = &[
    "AnyDataReader",
    "AnyDataWriter",
    "Condition",
    "DataReader",
    "DataWriter",
    "DomainParticipant",
    "GuardCondition",
    "Publisher",
    "RawDataReader",
    "RawTopic",
    "ReadCondition",
    "StatusCondition",
    "Subscriber",
    "Topic",
    "WaitSet",
];

/// The sources of the crate, driver and tests left out.
fn sources(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !path.ends_with("driver") {
                sources(&path, found);
            }
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push(fs::read_to_string(path).unwrap());
        }
    }
}

fn all_sources() -> Vec<String> {
    let mut found = Vec::new();
    sources(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut found,
    );
    found
}

/// The type of `impl<...> Type<...> {`; nothing for implementations of traits.
fn implemented(line: &str) -> Option<&str> {
    let mut rest = line.strip_prefix("impl")?;
    if rest.starts_with('<') {
        let mut depth = 0;
        let end = rest.find(|letter| {
            depth += i32::from(letter == '<') - i32::from(letter == '>');
            depth == 0
        });
        rest = &rest[end? + 1..];
    }
    let inherent = !rest.contains(" for ");
    let name = rest
        .trim_start()
        .split(|letter: char| !letter.is_alphanumeric());
    inherent.then_some(name)?.next()
}

fn name_after<'a>(line: &'a str, prefix: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(prefix)?;
    rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .next()
}

#[test]
fn every_public_method_of_every_entity_is_called() {
    let mut methods = BTreeSet::new();
    for source in all_sources() {
        let mut of = None;
        for line in source.lines() {
            if line.starts_with("impl") {
                of = implemented(line).filter(|name| ENTITIES.contains(name));
            }
            let name = ["    pub fn ", "    pub const fn ", "    pub async fn "]
                .iter()
                .find_map(|prefix| name_after(line, prefix));
            if let (Some(of), Some(name)) = (of, name) {
                methods.insert(format!("{of}::{name}"));
            }
        }
    }
    let called = CALLS.iter().map(|(name, _)| *name);
    let named = called.chain(NOT_CALLED.iter().map(|(name, _)| *name));
    let named: BTreeSet<String> = named.map(str::to_owned).collect();
    let missing: Vec<_> = methods.symmetric_difference(&named).collect();
    assert!(
        missing.is_empty(),
        "in the sources or in CALLS only: {missing:?}"
    );
    assert!(methods.len() > 100, "the sources were not understood");
}

#[test]
fn every_callback_is_heard() {
    let (mut called, mut not_yet) = (BTreeSet::new(), BTreeSet::new());
    for source in all_sources() {
        let (mut says_not_yet, mut in_trait) = (false, false);
        for line in source.lines() {
            in_trait = line.starts_with("pub trait ") || (in_trait && line != "}");
            let line = line.trim_start();
            says_not_yet |= line.starts_with("///") && line.contains("Not called yet");
            let name = name_after(line, "fn ").filter(|_| in_trait);
            let name = name.filter(|name| name.starts_with("on_"));
            if let Some(name) = name {
                let set = if says_not_yet {
                    &mut not_yet
                } else {
                    &mut called
                };
                set.insert(name.to_owned());
                says_not_yet = false;
            }
        }
    }
    let heard: BTreeSet<_> = CALLBACKS
        .iter()
        .map(|(name, ..)| (*name).to_owned())
        .collect();
    assert_eq!(called, heard);
    let not_heard: BTreeSet<_> = NOT_YET.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(not_yet, not_heard);
}
