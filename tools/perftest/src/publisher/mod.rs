//! The publisher: sends, asks for answers, measures how long they take.

mod announced;
mod broken;
mod encoding;
mod history;
mod pace;
mod pongs;
mod sending;

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use whimbrel::DataWriter;

use crate::bus::{ANNOUNCEMENT, Bus, LATENCY, THROUGHPUT, wait_for};
use crate::failure::Failure;
use crate::file::Pieces;
use crate::message::Message;
use crate::printer::Printer;
use crate::reception::Reception;
use crate::settings::{Settings, check_size};
use announced::Announced;
use pongs::Pongs;
use sending::Sending;

/// Time between the samples before the test and the test.
const PAUSE: Duration = Duration::from_secs(1);

/// Runs the test.
///
/// # Errors
/// The file cannot be read, the bus refuses, subscribers leave, or a signal.
pub(crate) fn run<M: Message>(settings: &Settings) -> Result<(), Failure> {
    let pieces = settings
        .file
        .as_deref()
        .map(|path| Pieces::load(path, settings.data_len, settings.file_bytes_max))
        .transpose()?;
    let sizes = sizes(settings, pieces.as_ref())?;
    let printer = Printer::new(settings.form, settings.output.as_deref())?;
    let bus = Bus::join(settings)?;
    let writer = bus.writer::<M>(THROUGHPUT)?;
    let pongs = Arc::new(Pongs::new(printer, settings));
    let announced = Arc::new(Announced::default());
    let receptions = receive::<M>(&bus, settings, &pongs, &announced)?;
    meet(settings, &writer, &receptions, &announced)?;
    let mut sending = Sending::new(settings, &writer, &pongs, &announced, pieces);
    eprintln!(
        "Sending {} initialization pings ...",
        settings.initial_burst
    );
    let outcome = sending.burst().map_err(Failure::from).and_then(|()| {
        eprintln!("Sending data ...");
        pongs.begin();
        thread::sleep(PAUSE);
        play(settings, &mut sending, &sizes)
    });
    pongs.summarize::<M>();
    drop(receptions);
    if settings.writer_stats {
        eprintln!("{:?}", writer.statistics());
        eprintln!("{:?}", writer.compression_statistics());
    }
    let written = pongs.end();
    eprintln!("Finishing test...");
    outcome.and(written)
}

/// All sizes of samples, in octets.
fn sizes(settings: &Settings, pieces: Option<&Pieces>) -> Result<Vec<usize>, Failure> {
    if let Some(sizes) = &settings.scan {
        return Ok(sizes.clone());
    }
    let size = pieces.map(Pieces::data_len).or(settings.data_len);
    let size = size.unwrap_or(100);
    check_size(size)?;
    Ok(vec![size])
}

/// Readers of answers and announcements, with what each does.
struct Receptions<M: Message> {
    /// Only the first of several publishers measures.
    answers: Option<(whimbrel::DataReader<M>, Reception<M>)>,
    announcements: (whimbrel::DataReader<M>, Reception<M>),
}

fn receive<M: Message>(
    bus: &Bus<'_>,
    settings: &Settings,
    pongs: &Arc<Pongs>,
    announced: &Arc<Announced>,
) -> Result<Receptions<M>, Failure> {
    let answers = if settings.id == 0 {
        let reader = bus.reader::<M>(LATENCY)?;
        let pongs = Arc::clone(pongs);
        let note = move |message: M| pongs.note(message.head(), message.data().len());
        let reception = Reception::new(&reader, settings.read_thread, note)?;
        Some((reader, reception))
    } else {
        eprintln!("Latency results are only shown when -pidMultiPubTest = 0");
        None
    };
    let reader = bus.reader::<M>(ANNOUNCEMENT)?;
    let announced = Arc::clone(announced);
    let note = move |message: M| announced.note(message.head().entity_id, message.data().len());
    let reception = Reception::new(&reader, None, note)?;
    Ok(Receptions {
        answers,
        announcements: (reader, reception),
    })
}

/// Waits until all subscribers are there and have said so.
fn meet<M: Message>(
    settings: &Settings,
    writer: &DataWriter<M>,
    receptions: &Receptions<M>,
    announced: &Announced,
) -> Result<(), Failure> {
    let count = settings.subscribers;
    eprintln!("Waiting to discover {count} subscribers ...");
    wait_for(|time| writer.wait_for_matched(count, time))?;
    if let Some((reader, _)) = &receptions.answers {
        wait_for(|time| reader.wait_for_matched(count, time))?;
    }
    let (reader, _) = &receptions.announcements;
    wait_for(|time| reader.wait_for_matched(count, time))?;
    eprintln!("Waiting for subscribers announcement ...");
    announced.wait_until(|all| all.len() >= count)
}

/// Sends all sizes, then says that the test is over.
fn play<M: Message>(
    settings: &Settings,
    sending: &mut Sending<'_, M>,
    sizes: &[usize],
) -> Result<(), Failure> {
    for size in sizes {
        if settings.scan.is_some() {
            sending.change_size()?;
            sending.pongs.summarize::<M>();
        }
        sending.send(*size)?;
    }
    Ok(sending.finish()?)
}
