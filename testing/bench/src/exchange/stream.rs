//! A stream of samples as fast as it goes.

use std::sync::Arc;
use std::thread;

use whimbrel::qos::{Bundling, ResourceLimits};
use whimbrel::{
    DataReaderQos, DataWriter, DataWriterQos, DomainParticipant, Duration, Error, StatusKind,
};

use super::{COUNTERS, Counters, Msg, PATIENCE};
use crate::protocol::serve_lines;
use crate::stream::{Arrivals, Burst, Count, Sent, is_reliable};

/// Payloads above this many octets are large: a reader holds few of them.
const LARGE_BYTES: usize = 100_000;
/// Samples that a reader holds, so that a slow one holds back a reliable writer: of large ones, and
/// of others.
const HELD_MAX: (u32, u32) = (64, 4000);

/// One end of a stream.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    domain: u32,
    is_reliable: bool,
    keeps_all: bool,
    bundling: Bundling,
}

impl Stream {
    /// In `domain`, reliable or with best effort as `mode` says, which may end with a bundling, as
    /// in `reliable+off` or, with a limit in octets, `reliable+1400`; `unbundled` and `batched`
    /// are short for the first and for the largest bundles that pay. All keep all samples but
    /// `best-effort-last`, of which the writer keeps the last.
    ///
    /// # Errors
    /// There is no such mode.
    pub fn new(domain: u32, mode: &str) -> Result<Self, String> {
        let mode = match mode {
            "batched" => "reliable+60000",
            "unbundled" => "reliable+off",
            _ => mode,
        };
        let (mode, bundling) = mode.split_once('+').unwrap_or((mode, "automatic"));
        let of_last = mode.strip_suffix("-last");
        Ok(Self {
            domain,
            is_reliable: is_reliable(of_last.unwrap_or(mode))?,
            keeps_all: of_last.is_none(),
            bundling: bundled(bundling)?,
        })
    }

    /// Writes `sample` again and again to `readers` as each line of the input says, or tells its
    /// [`Counters`]; `turn` makes the usual QoS that of the writer.
    ///
    /// # Errors
    /// What the bus or `turn` says.
    pub fn write(
        self,
        readers: usize,
        mut sample: Msg,
        turn: impl FnOnce(DataWriterQos) -> Result<DataWriterQos, String>,
    ) -> Result<(), String> {
        let qos = turn(self.writer_qos())?;
        let open = || -> Result<DataWriter<Msg>, Error> {
            let participant = DomainParticipant::new(self.domain)?;
            let topic = participant.create_topic::<Msg>("stream")?;
            let writer = participant.create_datawriter(&topic, qos)?;
            writer.wait_for_matched(readers, PATIENCE)?;
            Ok(writer)
        };
        let writer = open().map_err(|error| error.to_string())?;
        serve_lines(|line| {
            if line == COUNTERS {
                return Ok(Counters::of(&writer).to_string());
            }
            let burst: Burst = line.parse()?;
            let sent = burst.run(|| {
                sample.seq = sample.seq.wrapping_add(1);
                writer.write(&sample).is_ok()
            });
            writer.flush();
            if self.is_reliable {
                let done = writer.wait_for_acknowledgments(PATIENCE * 3);
                done.map_err(|error| format!("acknowledgments: {error}"))?;
            }
            Ok(sent.to_string())
        })
    }

    /// Has so many writers, each by a thread of its own, write `sample` again and again to all of
    /// `readers` as each line of the input says; all of them share a participant.
    ///
    /// # Errors
    /// What the bus says.
    pub fn write_by_threads(
        self,
        (writers, readers): (usize, usize),
        sample: &Msg,
    ) -> Result<(), String> {
        let open = || -> Result<Vec<DataWriter<Msg>>, Error> {
            let participant = DomainParticipant::new(self.domain)?;
            let topic = participant.create_topic::<Msg>("stream")?;
            let opened = (0..writers).map(|_| {
                let writer = participant.create_datawriter(&topic, self.writer_qos())?;
                writer.wait_for_matched(readers, PATIENCE)?;
                Ok(writer)
            });
            opened.collect()
        };
        let writers = open().map_err(|error| error.to_string())?;
        serve_lines(|line| {
            let burst: Burst = line.parse()?;
            let sent = thread::scope(|scope| {
                let begin = |writer| scope.spawn(move || burst.run(|| writes(writer, sample)));
                let begun: Vec<_> = writers.iter().map(begin).collect();
                begun
                    .into_iter()
                    .try_fold(Sent::default(), |all, it| Some(all.beside(it.join().ok()?)))
            });
            let sent = sent.ok_or("a thread panicked")?;
            if self.is_reliable {
                for writer in &writers {
                    let done = writer.wait_for_acknowledgments(PATIENCE * 3);
                    done.map_err(|error| format!("acknowledgments: {error}"))?;
                }
            }
            Ok(sent.to_string())
        })
    }

    fn writer_qos(self) -> DataWriterQos {
        let qos = DataWriterQos::default().bundling(self.bundling);
        let qos = if self.keeps_all {
            qos.keep_all()
        } else {
            qos.keep_last(1)
        };
        let qos = if self.is_reliable {
            qos.reliable()
        } else {
            qos.best_effort()
        };
        qos.max_blocking_time(Duration::from_secs(1))
    }

    /// Counts samples of `size` octets, and says at each line of the input how many there were.
    ///
    /// # Errors
    /// What the bus says.
    pub fn read(self, size: usize) -> Result<(), String> {
        let arrivals = Arc::new(Arrivals::default());
        let (large, usual) = HELD_MAX;
        let held = if size > LARGE_BYTES { large } else { usual };
        let qos = DataReaderQos::default().keep_all();
        let qos = if self.is_reliable {
            let limits = ResourceLimits::UNLIMITED.max_samples(held);
            qos.reliable().resource_limits(limits)
        } else {
            qos.best_effort()
        };
        let open = || -> Result<_, Error> {
            let participant = DomainParticipant::new(self.domain)?;
            let topic = participant.create_topic::<Msg>("stream")?;
            let reader = participant.create_datareader(&topic, qos)?;
            let count = Count(Arc::clone(&arrivals));
            reader.set_listener(Some(Box::new(count)), StatusKind::DataAvailable);
            Ok(reader)
        };
        let _reader = open().map_err(|error| error.to_string())?;
        serve_lines(|_| Ok(arrivals.take().to_string()))
    }
}

fn writes(writer: &DataWriter<Msg>, sample: &Msg) -> bool {
    writer.write(sample).is_ok()
}

/// The bundling that `word` names: `automatic`, `off` or a limit in octets.
///
/// # Errors
/// It names none.
pub fn bundled(word: &str) -> Result<Bundling, String> {
    Ok(match word {
        "automatic" => Bundling::Automatic,
        "off" => Bundling::Off,
        limit => Bundling::up_to(limit.parse().map_err(|_| "bad limit of bundles")?),
    })
}
