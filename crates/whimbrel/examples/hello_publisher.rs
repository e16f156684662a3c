//! Publishes a few greetings. Start `hello_subscriber` beside it, before or after:
//!
//! ```sh
//! cargo run -p whimbrel --example hello_subscriber &
//! cargo run -p whimbrel --example hello_publisher
//! ```

use std::time::Duration;

use whimbrel::{DataWriterQos, DdsType, DomainParticipant, Error};

/// What is sent. Programs that share the topic must agree on it.
#[derive(DdsType, Debug)]
struct Greeting {
    /// Samples with the same key are versions of the same thing, here: what one speaker says.
    #[dds(key)]
    speaker: String,
    text: String,
    number: u32,
}

fn main() -> Result<(), Error> {
    // A participant is this program's membership in a domain; domains do not hear each other.
    let participant = DomainParticipant::new(0)?;
    // A topic is a name for data of one type.
    let topic = participant.create_topic::<Greeting>("greetings")?;
    // Reliable: what gets lost on the way is sent again. Transient local: whoever comes later
    // still gets what is in history, here the last ten samples of each speaker.
    let qos = DataWriterQos::default()
        .reliable()
        .transient_local()
        .keep_last(10);
    let writer = participant.create_datawriter(&topic, qos)?;

    println!("waiting for a subscriber");
    match writer.wait_for_matched(1, Duration::from_secs(30)) {
        Ok(()) => {}
        Err(Error::Timeout) => {
            println!("nobody came");
            return Ok(());
        }
        Err(error) => return Err(error),
    }
    for number in 1..=10 {
        let greeting = Greeting {
            speaker: "whimbrel".into(),
            text: "hello".into(),
            number,
        };
        writer.write(&greeting)?;
        println!("wrote {greeting:?}");
    }
    // Leaving the bus takes history along, so wait until everybody has it.
    writer.wait_for_acknowledgments(Duration::from_secs(10))
    // Dropping the writer and the participant takes them off the bus; there is nothing to delete.
}
