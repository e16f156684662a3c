//! Compresses what it sends, has samples share messages, and prints what that came to.
//!
//! ```sh
//! cargo run -p whimbrel --example fewer_octets
//! ```

use std::time::Duration;

use whimbrel::domain::InProcess;
use whimbrel::qos::{Bundling, CompressionIds};
use whimbrel::{DataReaderQos, DataWriterQos, DdsType, DomainParticipant, Error};

/// A line of a log: short, and much like the one before.
#[derive(DdsType, Debug)]
struct Line {
    number: u32,
    text: String,
}

/// Something that is large enough to be compressed by itself.
#[derive(DdsType, Debug)]
struct Page {
    text: String,
}

const PATIENCE: Duration = Duration::from_secs(10);

fn main() -> Result<(), Error> {
    // Two participants, as if in two processes; within one, samples would not be sent at all.
    let join = || {
        let builder = DomainParticipant::builder(0);
        builder.in_process(InProcess::Off).build()
    };
    let (here, there) = (join()?, join()?);
    bundles(&here, &there)?;
    alone(&here, &there)
}

/// Samples that wait for each other leave in one message, and that is compressed as a whole.
fn bundles(here: &DomainParticipant, there: &DomainParticipant) -> Result<(), Error> {
    let topic = here.create_topic::<Line>("fewer/lines")?;
    let qos = DataWriterQos::default().reliable().keep_all();
    // A writer has one codec. Readers take every codec that was built in, unless they say less.
    let qos = qos.compression_ids(CompressionIds::LZ4);
    // They wait for 1400 octets of others, as long as LATENCY_BUDGET says at most. By default,
    // `Bundling::Automatic`, they wait only while they come faster than they can be sent.
    let qos = qos.bundling(Bundling::up_to(1400));
    let writer = here.create_datawriter(&topic, qos)?;
    let topic = there.create_topic::<Line>("fewer/lines")?;
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = there.create_datareader(&topic, qos)?;
    writer.wait_for_matched(1, PATIENCE)?;
    for number in 0..1000 {
        let text = format!("[INFO] sample {number} of a run, and nothing special about it");
        writer.write(&Line { number, text })?;
    }
    // What still waits.
    writer.flush();
    writer.wait_for_acknowledgments(PATIENCE)?;
    let taken = reader.take(usize::MAX)?.len();

    let counted = writer.statistics().bundling;
    println!(
        "{taken} lines in {} messages, {:.1} each",
        counted.bundles,
        counted.samples_per_bundle()
    );
    // Both ends count; of the reader it is how long the codec took to bring them back.
    let sent = writer.bundle_compression_statistics();
    let came = reader.bundle_compression_statistics();
    println!(
        "{} of them compressed: {} octets to {} (1 of {:.1}), {:?} to compress, {:?} to inflate",
        sent.bundles,
        sent.plain_bytes,
        sent.compressed_bytes,
        sent.ratio(),
        sent.time_spent,
        came.time_spent
    );
    Ok(())
}

/// A sample that is large enough is compressed by itself.
fn alone(here: &DomainParticipant, there: &DomainParticipant) -> Result<(), Error> {
    let topic = here.create_topic::<Page>("fewer/pages")?;
    let qos = DataWriterQos::default().reliable().keep_all();
    let qos = qos.compression_ids(CompressionIds::ZLIB);
    // How hard it tries, 1 to 10; and what is not worth it, in octets of the serialized sample.
    let qos = qos.writer_compression_level(6);
    let qos = qos.writer_compression_threshold(Some(2000));
    let writer = here.create_datawriter(&topic, qos)?;
    let topic = there.create_topic::<Page>("fewer/pages")?;
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = there.create_datareader(&topic, qos)?;
    writer.wait_for_matched(1, PATIENCE)?;
    for lines in [5, 200, 2000] {
        let line = "one line like the other. ";
        let text = line.repeat(lines);
        writer.write(&Page { text })?;
    }
    writer.wait_for_acknowledgments(PATIENCE)?;
    let taken = reader.take(usize::MAX)?.len();
    let sent = writer.compression_statistics();
    println!(
        "{taken} pages, {} compressed: {} octets to {} (1 of {:.1}) in {:?}; {} not worth it",
        sent.samples,
        sent.plain_bytes,
        sent.compressed_bytes,
        sent.ratio(),
        sent.time_spent,
        sent.below_threshold
    );
    Ok(())
}
