//! A ping-pong that notes on the way there when each stage began, by the clock that both processes
//! share. It is a run of its own: reading the clock more often costs time.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use whimbrel::{DataReader, DataReaderListener, DataWriter, StatusKind};
use whimbrel_bench::exchange::{Ends, Msg, PATIENCE, answer};
use whimbrel_net::marks::{self, wall_ns};

use super::ends::{self, Sample};

/// The word before the times of what was written: for each sample write begun, first send call
/// begun, last one ended, write ended, and how long compressing took.
pub(crate) const SENT: &str = "sent_ns";
/// The word before those of what arrived: receive call ended, callback begun, sample taken, and how
/// long decompressing took.
pub(crate) const ARRIVED: &str = "arrived_ns";

type Times = Vec<[u64; 5]>;

/// The end that asks.
pub(super) struct Asking {
    ends: Ends,
    sample: Sample,
    task: Arc<Mutex<Task>>,
    finished: Receiver<()>,
}

#[derive(Default)]
struct Task {
    sample: Msg,
    count: u32,
    times: Times,
}

impl Asking {
    pub(super) fn new(domain: u32, sample: Sample, words: &[String]) -> Result<Self, String> {
        marks::watch();
        let ends = ends::open(domain, ["ping", "pong"], words)?;
        let task = Arc::new(Mutex::new(Task::default()));
        let (done, finished) = channel();
        let next = Next {
            task: Arc::clone(&task),
            writer: ends.writer.clone(),
            done,
        };
        ends.reader
            .set_listener(Some(Box::new(next)), StatusKind::DataAvailable);
        ends.meet()?;
        Ok(Self {
            ends,
            sample,
            task,
            finished,
        })
    }

    /// Answers `SIZE COUNT`.
    pub(super) fn answer(&self, line: &str) -> Result<String, String> {
        let wrong = || format!("not SIZE COUNT: {line}");
        let (size, count) = line.split_once(' ').ok_or_else(wrong)?;
        let size = size.parse().map_err(|_| wrong())?;
        {
            let mut task = lock(&self.task);
            *task = Task {
                sample: self.sample.of(size)?,
                count: count.parse().map_err(|_| wrong())?,
                times: Times::new(),
            };
            task.write(&self.ends.writer)?;
        }
        let awaited = self.finished.recv_timeout(PATIENCE * 6);
        let task = std::mem::take(&mut *lock(&self.task));
        match awaited {
            Ok(()) => Ok(line_of(SENT, &task.times)),
            Err(_) => Err(format!("stalled after {} samples", task.times.len())),
        }
    }
}

impl Task {
    fn write(&mut self, writer: &DataWriter<Msg>) -> Result<(), String> {
        self.sample.seq += 1;
        let packed = || writer.compression_statistics().time_spent;
        let before = packed();
        marks::begin();
        let begun = wall_ns();
        let written = writer.write(&self.sample);
        let ended = wall_ns();
        written.map_err(|error| format!("write: {error}"))?;
        let [first, last] = marks::sent_ns().unwrap_or([ended; 2]);
        let spent = packed().saturating_sub(before).as_nanos() as u64;
        self.times.push([begun, first, last, ended, spent]);
        Ok(())
    }
}

struct Next {
    task: Arc<Mutex<Task>>,
    writer: DataWriter<Msg>,
    done: Sender<()>,
}

impl DataReaderListener<Msg> for Next {
    fn on_data_available(&mut self, reader: &DataReader<Msg>) {
        let Ok(Some(sample)) = reader.take_next_sample() else {
            return;
        };
        let mut task = lock(&self.task);
        if sample.data().is_none_or(|it| it.seq != task.sample.seq) {
            return;
        }
        if task.sample.seq >= task.count {
            // Nobody listens once it was given up.
            let _ = self.done.send(());
        } else if let Err(why) = task.write(&self.writer) {
            eprintln!("{why}");
        }
    }
}

/// The end that answers.
pub(super) struct Answering {
    /// Keeps it.
    _ends: Ends,
    times: Arc<Mutex<Times>>,
}

impl Answering {
    pub(super) fn new(domain: u32, words: &[String]) -> Result<Self, String> {
        marks::watch();
        let ends = ends::open(domain, ["pong", "ping"], words)?;
        let times = Arc::new(Mutex::new(Times::new()));
        let noting = Noting {
            times: Arc::clone(&times),
            writer: ends.writer.clone(),
            spent_ns: 0,
        };
        ends.reader
            .set_listener(Some(Box::new(noting)), StatusKind::DataAvailable);
        Ok(Self { _ends: ends, times })
    }

    /// What arrived since the last time.
    pub(super) fn answer(&self) -> String {
        line_of(ARRIVED, &std::mem::take(&mut *lock(&self.times)))
    }
}

struct Noting {
    times: Arc<Mutex<Times>>,
    writer: DataWriter<Msg>,
    /// All decompressing so far.
    spent_ns: u64,
}

impl DataReaderListener<Msg> for Noting {
    fn on_data_available(&mut self, reader: &DataReader<Msg>) {
        let called = wall_ns();
        let received = marks::received_ns().unwrap_or(called);
        let Ok(Some(sample)) = reader.take_next_sample() else {
            return;
        };
        let taken = wall_ns();
        let all_ns = reader.compression_statistics().time_spent.as_nanos() as u64;
        let spent = all_ns.saturating_sub(std::mem::replace(&mut self.spent_ns, all_ns));
        let seq = sample.data().map_or(0, |it| u64::from(it.seq));
        lock(&self.times).push([received, called, taken, spent, seq]);
        answer(&self.writer, &sample);
    }
}

fn line_of(word: &str, times: &Times) -> String {
    let mut line = word.to_owned();
    for time in times.iter().flatten() {
        line.push_str(&format!(" {time}"));
    }
    line
}

fn lock<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}
