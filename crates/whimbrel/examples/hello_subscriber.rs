//! Prints greetings until their publisher goes. See `hello_publisher`.

use std::time::Duration;

use whimbrel::{DataReaderQos, DdsType, DomainParticipant, Error, InstanceState};

#[derive(DdsType, Debug)]
struct Greeting {
    #[dds(key)]
    speaker: String,
    text: String,
    number: u32,
}

fn main() -> Result<(), Error> {
    let participant = DomainParticipant::new(0)?;
    let topic = participant.create_topic::<Greeting>("greetings")?;
    // Asks for what the publisher offers: a reader never matches a writer that offers less.
    let qos = DataReaderQos::default()
        .reliable()
        .transient_local()
        .keep_all();
    let reader = participant.create_datareader(&topic, qos)?;

    println!("waiting for greetings");
    // Gives one sample after the other and ends when none came for a while.
    for sample in reader.samples_timeout(Duration::from_secs(30)) {
        match sample.data() {
            Some(greeting) => println!(
                "{}: {} {}",
                greeting.speaker, greeting.text, greeting.number
            ),
            // Samples without data tell that an instance changed its state.
            None if sample.info().instance_state == InstanceState::NotAliveNoWriters => {
                println!("the speaker left");
                return Ok(());
            }
            None => {}
        }
    }
    println!("nobody said anything for a while");
    Ok(())
}
