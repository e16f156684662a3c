//! Reads a topic as an asynchronous stream.
//!
//! Whimbrel brings no runtime and needs none: its futures only wake their task. The executor here
//! is a dozen lines so that the example stands alone; `tokio`, `smol` or any other serve as well.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use futures_core::Stream;
use whimbrel::{DataReaderQos, DataWriterQos, DdsType, DomainParticipant, Error};

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

/// Wakes the thread that runs the future.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// The smallest executor: runs one future on this thread, which sleeps in between.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}
