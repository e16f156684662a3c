//! Waits for several things at once with one thread: two readers and a signal to stop.

use std::thread;
use std::time::Duration;

use whimbrel::{
    Condition, DataReaderQos, DataWriterQos, DdsType, DomainParticipant, Error, GuardCondition,
    InstanceStates, SampleState, ViewStates, WaitSet,
};

#[derive(DdsType, Debug)]
struct Temperature {
    celsius: f64,
}

#[derive(DdsType, Debug)]
struct Alarm {
    text: String,
}

fn main() -> Result<(), Error> {
    let participant = DomainParticipant::new(0)?;
    let temperatures = participant.create_topic::<Temperature>("waitset/temperatures")?;
    let alarms = participant.create_topic::<Alarm>("waitset/alarms")?;
    let reliable = DataReaderQos::default().reliable().keep_all();
    let temperature_reader = participant.create_datareader(&temperatures, reliable.clone())?;
    let alarm_reader = participant.create_datareader(&alarms, reliable)?;

    // A read condition is true while its reader has samples with these states.
    let unread = SampleState::NotRead;
    let any = (ViewStates::ANY, InstanceStates::ANY);
    let temperature = temperature_reader.create_readcondition(unread, any.0, any.1);
    let alarm = alarm_reader.create_readcondition(unread, any.0, any.1);
    // A guard condition is true when the program says so.
    let stop = GuardCondition::new();

    let wait_set = WaitSet::new();
    wait_set.attach(temperature.clone());
    wait_set.attach(alarm.clone());
    wait_set.attach(stop.clone());

    let publishing = thread::spawn({
        let stop = stop.clone();
        move || -> Result<(), Error> {
            let outcome = publish(&participant);
            stop.set_trigger_value(true);
            outcome
        }
    });
    loop {
        // Returns every condition that is true.
        let met = wait_set.wait(Duration::from_secs(30))?;
        for condition in &met {
            if *condition == Condition::from(temperature.clone()) {
                for sample in temperature_reader.take_w_condition(&temperature, 100)? {
                    println!("temperature: {:?}", sample.data());
                }
            } else if *condition == Condition::from(alarm.clone()) {
                for sample in alarm_reader.take_w_condition(&alarm, 100)? {
                    println!("alarm: {:?}", sample.data());
                }
            }
        }
        if met == [Condition::from(stop.clone())] {
            println!("told to stop, and nothing is left to read");
            break;
        }
    }
    match publishing.join() {
        Ok(outcome) => outcome,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// Writes a few temperatures and an alarm from within the same program.
fn publish(participant: &DomainParticipant) -> Result<(), Error> {
    let qos = DataWriterQos::default().reliable().keep_all();
    let topic = participant.create_topic::<Temperature>("waitset/temperatures")?;
    let temperatures = participant.create_datawriter(&topic, qos.clone())?;
    let topic = participant.create_topic::<Alarm>("waitset/alarms")?;
    let alarms = participant.create_datawriter(&topic, qos)?;
    let patience = Duration::from_secs(10);
    temperatures.wait_for_matched(1, patience)?;
    alarms.wait_for_matched(1, patience)?;
    for celsius in [20.5, 21.0, 99.9] {
        temperatures.write(&Temperature { celsius })?;
    }
    let text = "too hot".into();
    alarms.write(&Alarm { text })?;
    temperatures.wait_for_acknowledgments(patience)?;
    alarms.wait_for_acknowledgments(patience)
}
