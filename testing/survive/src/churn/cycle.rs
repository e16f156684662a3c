//! One cycle: something is made, used and dropped in any order.

use std::any::Any;
use std::thread;
use std::time::Duration;

use whimbrel::{
    AnyDataReader, DataReader, DataReaderListener, DataReaderQos, DataWriter, DataWriterListener,
    DataWriterQos, DomainParticipant, DomainParticipantListener, GuardCondition, PublisherListener,
    Sample, StatusMask, Subscriber, SubscriberListener, TopicListener, WaitSet,
};

use super::blocked;
use super::dice::Dice;
use super::drops::{Thing, timed};
use super::faults::fault;
use super::scene::{Scene, Tick, all, all_of_it, topic};
use super::watchdog;

const PATIENCE: Duration = Duration::from_secs(30);

pub(super) struct Churn<'a> {
    scene: &'a Scene,
    dice: Dice,
    source: u32,
}

impl<'a> Churn<'a> {
    pub(super) fn new(scene: &'a Scene, seed: u64) -> Self {
        Self {
            scene,
            dice: Dice::new(seed + 1),
            source: 1000 + seed as u32,
        }
    }

    pub(super) fn cycle(&mut self) {
        watchdog::step("working");
        match self.dice.below(10) {
            0..=2 => self.endpoints(),
            3 | 4 => self.participant(),
            5 => self.wait_set(),
            6 => blocked::threads(self.scene, &mut self.dice),
            7 => blocked::futures(self.scene, &mut self.dice),
            8 => self.within_a_listener(),
            _ => self.matched(),
        }
    }

    fn drop_all(&mut self, mut things: Vec<Thing>) {
        self.dice.shuffle(&mut things);
        for (name, thing) in things {
            timed(name, thing);
        }
    }

    fn resident(&mut self) -> DomainParticipant {
        let scene = self.scene;
        let of = if self.dice.once_in(2) {
            &scene.here
        } else {
            &scene.there
        };
        of.clone()
    }

    /// Endpoints of a participant that stays.
    fn endpoints(&mut self) {
        let participant = self.resident();
        let things = self.populate(&participant);
        self.drop_all(things);
    }

    /// A participant with all it can have.
    fn participant(&mut self) {
        let participant = self.scene.join();
        let mut things = self.populate(&participant);
        if self.dice.once_in(2) {
            let listener = Box::new(Listener(None));
            participant.set_listener(Some(listener), StatusMask::ALL);
        }
        things.push(("a participant", Box::new(participant)));
        self.drop_all(things);
    }

    /// Writers and readers with listeners, between which samples flow.
    fn populate(&mut self, participant: &DomainParticipant) -> Vec<Thing> {
        let topic = topic(participant);
        let publisher = participant.create_publisher(Default::default());
        let publisher = publisher.expect("a publisher can be made");
        let subscriber = participant.create_subscriber(Default::default());
        let subscriber = subscriber.expect("a subscriber can be made");
        let mut things: Vec<Thing> = Vec::new();
        for _ in 0..=self.dice.below(2) {
            let qos = self.reader_qos();
            let reader = subscriber.create_datareader(&topic, qos);
            let reader: DataReader<Tick> = reader.expect("a reader can be made");
            if self.dice.once_in(2) {
                reader.set_listener(Some(Box::new(Listener(None))), StatusMask::ALL);
            }
            things.push(("a reader", Box::new(reader)));
        }
        for _ in 0..=self.dice.below(2) {
            let qos = self.writer_qos();
            let writer = publisher.create_datawriter(&topic, qos);
            let writer: DataWriter<Tick> = writer.expect("a writer can be made");
            if self.dice.once_in(2) {
                writer.set_listener(Some(Box::new(Listener(None))), StatusMask::ALL);
            }
            for number in 0..self.dice.below(8) as u32 {
                let fill = self.dice.below(3000) as usize;
                // A full history is as good as any.
                let _ = writer.try_write(&Tick::new(self.source, number, fill));
            }
            things.push(("a writer", Box::new(writer)));
        }
        if self.dice.once_in(2) {
            publisher.set_listener(Some(Box::new(Listener(None))), StatusMask::ALL);
            subscriber.set_listener(Some(Box::new(Listener(None))), StatusMask::ALL);
            topic.set_listener(Some(Box::new(Listener(None))), StatusMask::ALL);
        }
        if self.dice.once_in(4) {
            thread::sleep(Duration::from_millis(self.dice.below(10)));
        }
        things.push(("a publisher", Box::new(publisher)));
        things.push(("a subscriber", Box::new(subscriber)));
        things.push(("a topic", Box::new(topic)));
        things
    }

    fn writer_qos(&mut self) -> DataWriterQos {
        match self.dice.below(4) {
            0 => DataWriterQos::default().best_effort(),
            1 => DataWriterQos::default().reliable().keep_last(5),
            2 => all(20).transient_local(),
            _ => all(20),
        }
    }

    fn reader_qos(&mut self) -> DataReaderQos {
        match self.dice.below(4) {
            0 => DataReaderQos::default(),
            1 => DataReaderQos::default().reliable().keep_last(5),
            2 => all_of_it().transient_local(),
            _ => all_of_it(),
        }
    }

    /// A writer that meets the readers that stay, also those of the other process.
    fn matched(&mut self) {
        let participant = self.scene.join();
        let writer = participant.create_datawriter(&topic(&participant), all(5000));
        let writer = writer.expect("a writer can be made");
        watchdog::step("wait_for_matched");
        if let Err(why) = writer.wait_for_matched(1, PATIENCE) {
            fault(format!("a new writer meets no reader: {why}"));
        }
        let tick = Tick::new(self.source, 0, 10);
        watchdog::step("wait_for_acknowledgments");
        let written = writer.write(&tick);
        if let Err(why) = written.and_then(|()| writer.wait_for_acknowledgments(PATIENCE)) {
            fault(format!(
                "a sample of a new writer is not acknowledged: {why}"
            ));
        }
        self.drop_all(vec![
            ("a matched writer", Box::new(writer)),
            ("a participant", Box::new(participant)),
        ]);
    }

    /// Wait sets on entities that go before them or after them.
    fn wait_set(&mut self) {
        let participant = self.resident();
        let topic = topic(&participant);
        let reader = participant.create_datareader(&topic, self.reader_qos());
        let reader = reader.expect("a reader can be made");
        let (wait_set, guard) = (WaitSet::new(), GuardCondition::new());
        wait_set.attach(reader.status_condition());
        wait_set.attach(guard.clone());
        wait_set.attach(reader.create_readcondition(
            whimbrel::SampleStates::ANY,
            whimbrel::ViewStates::ANY,
            whimbrel::InstanceStates::ANY,
        ));
        watchdog::step("a wait set");
        thread::scope(|threads| {
            threads.spawn(|| wait_set.wait(Duration::from_secs(20)).map(drop));
            guard.set_trigger_value(true);
        });
        self.drop_all(vec![
            ("a reader in a wait set", Box::new(reader)),
            ("a guard condition", Box::new(guard)),
            ("a wait set", Box::new(wait_set)),
            ("a topic", Box::new(topic)),
        ]);
    }

    /// The last handles go within a listener.
    fn within_a_listener(&mut self) {
        let participant = self.scene.join();
        let topic = topic(&participant);
        let writer = participant.create_datawriter(&topic, all(20));
        let writer: DataWriter<Tick> = writer.expect("a writer can be made");
        let reader = participant.create_datareader(&topic, all_of_it());
        let reader: DataReader<Tick> = reader.expect("a reader can be made");
        let handles: Box<dyn Any + Send> = Box::new((writer.clone(), topic, participant));
        let listener = Listener(Some(handles));
        reader.set_listener(Some(Box::new(listener)), StatusMask::ALL);
        if self.dice.once_in(2) {
            thread::sleep(Duration::from_millis(self.dice.below(5)));
        }
        self.drop_all(vec![
            ("a writer", Box::new(writer)),
            ("a reader with a busy listener", Box::new(reader)),
        ]);
    }
}

/// Takes what there is, and drops what it holds at the first call.
struct Listener(Option<Box<dyn Any + Send>>);

impl Listener {
    fn let_go(&mut self) {
        if let Some(held) = self.0.take() {
            timed("everything else, in a listener", held);
            // The bus may have nothing more for this thread.
            watchdog::rest();
        }
    }
}

impl DataReaderListener<Tick> for Listener {
    fn on_data_available(&mut self, reader: &DataReader<Tick>) {
        // Samples of nobody here in particular.
        let _ = reader.take(100);
        self.let_go();
    }

    fn on_subscription_matched(
        &mut self,
        _: &DataReader<Tick>,
        _: whimbrel::status::SubscriptionMatched,
    ) {
        self.let_go();
    }
}

impl DataWriterListener<Tick> for Listener {}
impl PublisherListener for Listener {}
impl TopicListener for Listener {}
impl DomainParticipantListener for Listener {}

impl SubscriberListener for Listener {
    fn on_data_on_readers(&mut self, subscriber: &Subscriber) {
        subscriber.notify_datareaders();
    }

    fn on_data_available(&mut self, reader: &AnyDataReader) {
        let reader: Option<DataReader<Tick>> = reader.downcast();
        let _ = reader.map(|it| it.samples().filter_map(Sample::into_data).count());
    }
}
