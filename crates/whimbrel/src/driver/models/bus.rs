//! The whole bus on loopback sockets: endpoints come and go while others talk, and all ends.
//!
//! The io thread polls without sleeping here, as no model knows when a datagram arrives;
//! [`super::timers`] and [`super::wakes`] show that it would be woken.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::driver::sync::thread;
use crate::publication::DataWriter;
use crate::subscription::DataReader;
use crate::{DataReaderQos, DataWriterQos, DdsType, DomainParticipant, Topic};

/// Orders tried for each model; one takes about 50 ms.
const ORDERS: usize = 60;

const LONG: Duration = Duration::from_secs(3600);

#[derive(DdsType, Clone, Debug, PartialEq)]
#[dds(crate = "whimbrel_types")]
struct Number {
    value: u32,
}

fn join(tag: &str) -> (DomainParticipant, Topic<Number>) {
    let builder = DomainParticipant::builder(79).domain_tag(tag);
    let participant = builder.interfaces("lo").build().unwrap();
    let topic = participant.create_topic("numbers").unwrap();
    (participant, topic)
}

fn explore(orders: usize, model: impl Fn() + Send + Sync + 'static) {
    // A process has one driver, which no two models may share.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut config = shuttle::Config::new();
    config.stack_size = 1 << 20;
    config.max_steps = shuttle::MaxSteps::FailAfter(20_000_000);
    let scheduler = shuttle::scheduler::RandomScheduler::new(orders);
    shuttle::Runner::new(scheduler, config).run(model);
}

fn pair() -> (DataWriter<Number>, DataReader<Number>) {
    let tag = format!("model-{}", std::process::id());
    let (here, there) = (join(&tag), join(&tag));
    let qos = DataWriterQos::default().reliable().keep_all();
    let writer = here.0.create_datawriter(&here.1, qos).unwrap();
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = there.0.create_datareader(&there.1, qos).unwrap();
    writer.wait_for_matched(1, LONG).unwrap();
    reader.wait_for_matched(1, LONG).unwrap();
    (writer, reader)
}

#[test]
fn endpoints_come_and_go_while_others_talk() {
    explore(ORDERS, || {
        let (writer, reader) = pair();
        let participants = [
            writer.publisher().participant(),
            reader.subscriber().participant(),
        ];
        let churns = participants.map(|participant| {
            thread::spawn(move || {
                let topic: Topic<Number> = participant.create_topic("numbers").unwrap();
                let qos = DataReaderQos::default().reliable();
                let reader = participant.create_datareader(&topic, qos).unwrap();
                let qos = DataWriterQos::default().reliable();
                let writer = participant.create_datawriter(&topic, qos).unwrap();
                writer.write(&Number { value: 1000 }).unwrap();
                drop(reader);
            })
        });
        let sender = thread::spawn(move || {
            for value in 0..5 {
                writer.write(&Number { value }).unwrap();
            }
            writer.wait_for_acknowledgments(LONG).unwrap();
        });
        let mut next = 0;
        while next < 5 {
            for data in reader.take_timeout(10, LONG).unwrap() {
                let value = data.into_data().map(|it| it.value);
                if value.is_some_and(|value| value < 1000) {
                    assert_eq!(value, Some(next));
                    next += 1;
                }
            }
        }
        sender.join().unwrap();
        churns.into_iter().for_each(|it| it.join().unwrap());
    });
}

#[test]
fn all_handles_may_go_at_once() {
    explore(ORDERS, || {
        let (writer, reader) = pair();
        let blocked = thread::spawn({
            let reader = reader.clone();
            move || reader.take_timeout(1, LONG).unwrap().len()
        });
        let sender = thread::spawn(move || writer.write(&Number { value: 1 }).unwrap());
        drop(reader);
        sender.join().unwrap();
        // Its sample, or that its writer is gone: something is to be taken either way.
        let _ = blocked.join().unwrap();
    });
}
