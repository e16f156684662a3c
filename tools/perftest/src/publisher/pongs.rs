//! Answers of subscribers: half the time from ping to answer is a latency.

use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::clock::now_ns;
use crate::cpu::CpuMonitor;
use crate::failure::Failure;
use crate::message::OVERHEAD_BYTES;
use crate::message::{FINISHED_SIZE, Head, INITIALIZE_SIZE, LENGTH_CHANGED_SIZE, Message};
use crate::printer::{LatencySummary, Printer};
use crate::settings::Settings;

use super::encoding;
use super::history::History;

/// What the reception and the sending thread share.
pub(super) struct Pongs {
    state: Mutex<State>,
    answered: Condvar,
    serialization: bool,
    latency_file: Option<PathBuf>,
}

struct State {
    printer: Printer,
    history: History,
    /// Octets of the samples that are being answered.
    length: Option<usize>,
    /// Number of the newest ping that was answered.
    newest: Option<u32>,
    cpu: CpuMonitor,
    /// Of `-latencyFile`.
    file_error: Option<io::Error>,
}

impl Pongs {
    pub(super) fn new(printer: Printer, settings: &Settings) -> Self {
        let state = State {
            printer,
            history: History::default(),
            length: None,
            newest: None,
            cpu: CpuMonitor::new(),
            file_error: None,
        };
        Self {
            state: Mutex::new(state),
            answered: Condvar::new(),
            serialization: settings.serialization,
            latency_file: settings.latency_file.clone(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The output begins.
    pub(super) fn begin(&self) {
        let mut state = self.lock();
        state.printer.begin();
        state.cpu = CpuMonitor::new();
    }

    /// Forgets which ping was answered last: numbers begin anew.
    pub(super) fn restart(&self) {
        self.lock().newest = None;
    }

    /// Takes note of an answer with `size` octets of data.
    pub(super) fn note(&self, head: Head, size: usize) {
        let now = now_ns();
        if [INITIALIZE_SIZE, FINISHED_SIZE, LENGTH_CHANGED_SIZE].contains(&size) {
            return;
        }
        let mut state = self.lock();
        state.note(head, size + OVERHEAD_BYTES, now);
        drop(state);
        self.answered.notify_all();
    }

    /// Waits until ping `seq_num` is answered, at most for `time`; whether it is.
    pub(super) fn wait(&self, seq_num: u32, time: Duration) -> bool {
        let waited = self
            .answered
            .wait_timeout_while(self.lock(), time, |it| it.newest != Some(seq_num));
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.newest == Some(seq_num)
    }

    /// Prints what was measured since the size last changed, if anything was.
    pub(super) fn summarize<M: Message>(&self) {
        let mut state = self.lock();
        let Some(length) = state.length.take() else {
            return;
        };
        if let Some(path) = &self.latency_file
            && let Err(error) = append(path, state.history.all())
        {
            state.file_error.get_or_insert(error);
        }
        let history = std::mem::take(&mut state.history);
        if history.all().is_empty() {
            return;
        }
        let summary = LatencySummary {
            length,
            all: history.latencies(),
            percentiles: history.percentiles(),
            serialization_us: self.serialization.then(|| encoding::cost_us::<M>(length)),
            cpu: state.cpu.average(),
        };
        state.printer.latency_summary(&summary);
        state.cpu = CpuMonitor::new();
    }

    /// The output ends.
    ///
    /// # Errors
    /// Anything that could not be written.
    pub(super) fn end(&self) -> Result<(), Failure> {
        let mut state = self.lock();
        state.printer.end()?;
        let error = state.file_error.take();
        error.map_or(Ok(()), |error| Err(Failure::run("-latencyFile")(error)))
    }
}

impl State {
    fn note(&mut self, head: Head, length: usize, now: u64) {
        self.newest = Some(head.seq_num);
        if self.length != Some(length) {
            // The first of a size pays for what is done once: it does not count.
            self.length = Some(length);
            self.history = History::default();
            self.printer.latency_header(length);
            return;
        }
        let Some(trip) = now.checked_sub(head.sent_ns) else {
            eprintln!("An answer to a ping that was not ours: is -pidMultiPubTest 0 given twice?");
            return;
        };
        self.history.add(trip / 2);
        let cpu = self.cpu.interval();
        self.printer
            .latency_interval(length, trip / 2, self.history.latencies(), cpu);
    }
}

/// Appends latencies in microseconds with their numbers.
fn append(path: &Path, latencies: &[u64]) -> io::Result<()> {
    let file = OpenOptions::new().append(true).create(true).open(path)?;
    let mut out = BufWriter::new(file);
    writeln!(out, "Sample Number, Value")?;
    for (number, ns) in latencies.iter().enumerate() {
        writeln!(out, "{number}, {}", ns / 1000)?;
    }
    out.flush()
}
