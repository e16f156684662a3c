//! The process that measures: a callback takes the answer and writes the next sample.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use whimbrel::{DataReader, DataReaderListener, DataWriter, StatusKind};
use whimbrel_bench::clock::now_ns;
use whimbrel_bench::exchange::{Block, COUNTERS, Counters, Ends, Msg, PATIENCE};
use whimbrel_bench::protocol::{Order, ROUND_TRIPS};

use super::ends::{self, Sample};
use super::open::{self, Schedule};

pub(super) struct Ping {
    ends: Ends,
    sample: Sample,
    shared: Arc<Mutex<Task>>,
    finished: Receiver<()>,
}

/// What the callback is to do with answers.
enum Task {
    Nothing,
    /// Write the next sample when the last one is answered.
    Closed(Block),
    /// Note when each was answered; another thread writes.
    Open(open::Answers),
}

impl Ping {
    pub(super) fn new(domain: u32, sample: Sample, words: &[String]) -> Result<Self, String> {
        let ends = ends::open(domain, ["ping", "pong"], words)?;
        let shared = Arc::new(Mutex::new(Task::Nothing));
        let (done, finished) = channel();
        let echo = Echo {
            task: Arc::clone(&shared),
            writer: ends.writer.clone(),
            done,
        };
        ends.reader
            .set_listener(Some(Box::new(echo)), StatusKind::DataAvailable);
        ends.meet()?;
        Ok(Self {
            ends,
            sample,
            shared,
            finished,
        })
    }

    /// Answers `SIZE COUNT WARM` with round trips, `open SIZE COUNT RATE` with those of a schedule,
    /// `counters` with those of the writer.
    pub(super) fn answer(&self, line: &str) -> Result<String, String> {
        if line == COUNTERS {
            return Ok(Counters::of(&self.ends.writer).to_string());
        }
        if let Some(words) = line.strip_prefix("open ") {
            return self.open(words.parse()?);
        }
        let trips = self.block(line.parse()?)?;
        let words: Vec<String> = trips.iter().map(u64::to_string).collect();
        Ok(format!("{ROUND_TRIPS} {}", words.join(" ")))
    }

    fn block(&self, order: Order) -> Result<Vec<u64>, String> {
        let mut block = Block::new(order, self.sample.of(order.size)?);
        {
            let mut task = lock(&self.shared);
            block.send(&self.ends.writer)?;
            *task = Task::Closed(block);
        }
        let awaited = self.finished.recv_timeout(PATIENCE * 6);
        match std::mem::replace(&mut *lock(&self.shared), Task::Nothing) {
            Task::Closed(block) if awaited.is_ok() => Ok(block.into_trips()),
            Task::Closed(block) => Err(format!("stalled after {} round trips", block.done())),
            _ => Err("another task took over".into()),
        }
    }

    fn open(&self, schedule: Schedule) -> Result<String, String> {
        *lock(&self.shared) = Task::Open(open::Answers::new(schedule));
        let sample = self.sample.of(schedule.size)?;
        let sent = open::send(schedule, sample, &self.ends.writer)?;
        let complete = || match &*lock(&self.shared) {
            Task::Open(answers) => answers.is_complete(),
            _ => true,
        };
        open::settle(complete);
        match std::mem::replace(&mut *lock(&self.shared), Task::Nothing) {
            Task::Open(answers) => Ok(answers.report(&sent)),
            _ => Err("another task took over".into()),
        }
    }
}

struct Echo {
    task: Arc<Mutex<Task>>,
    writer: DataWriter<Msg>,
    done: Sender<()>,
}

impl Echo {
    /// Nobody listens once the block was given up.
    fn end(&self) {
        let _ = self.done.send(());
    }
}

impl DataReaderListener<Msg> for Echo {
    fn on_data_available(&mut self, reader: &DataReader<Msg>) {
        let Ok(Some(sample)) = reader.take_next_sample() else {
            return;
        };
        let now = now_ns();
        let Some(data) = sample.data() else { return };
        let mut task = lock(&self.task);
        match &mut *task {
            Task::Nothing => {}
            Task::Open(answers) => answers.note(data.seq, now),
            Task::Closed(block) => {
                if !block.note(data, now) {
                    return;
                }
                if block.is_done() {
                    self.end();
                } else if let Err(why) = block.send(&self.writer) {
                    eprintln!("{why}");
                    self.end();
                }
            }
        }
    }
}

fn lock(task: &Mutex<Task>) -> MutexGuard<'_, Task> {
    task.lock().unwrap_or_else(PoisonError::into_inner)
}
