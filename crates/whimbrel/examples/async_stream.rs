//! Reads a topic as an asynchronous stream.
//!
//! Whimbrel brings no runtime and needs none: its futures only wake their task. `block_on` runs one
//! on this thread, which receives while it waits; `tokio`, `smol` or any other serve as well.

use std::future::poll_fn;
use std::pin::Pin;

use futures_core::Stream;
use whimbrel::{DataReaderQos, DataWriterQos, DdsType, DomainParticipant, Error, block_on};

#[derive(DdsType, Debug)]
struct Tick {
    number: u32,
}

fn main() -> Result<(), Error> {
    let participant = DomainParticipant::new(0)?;
    let topic = participant.create_topic::<Tick>("async/ticks")?;
    let reader =
        participant.create_datareader(&topic, DataReaderQos::default().reliable().keep_all())?;
    let writer =
        participant.create_datawriter(&topic, DataWriterQos::default().reliable().keep_all())?;

    block_on(async {
        writer.wait_for_matched_async(1).await;
        for number in 1..=5 {
            // Waits for room in history without blocking the thread.
            writer.write_async(&Tick { number }).await?;
        }
        // A stream takes one sample after the other; dropping it loses none. With the crate
        // `futures` this is `while let Some(sample) = stream.next().await`.
        let mut stream = reader.stream();
        while let Some(sample) = poll_fn(|context| Pin::new(&mut stream).poll_next(context)).await {
            println!("{:?}", sample.data());
            if sample.data().is_some_and(|tick| tick.number == 5) {
                break;
            }
        }
        writer.wait_for_acknowledgments_async().await;
        Ok(())
    })
}
