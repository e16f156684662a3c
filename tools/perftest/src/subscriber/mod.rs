//! The subscriber: receives, answers pings, counts.

mod tally;

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use whimbrel::{DataReader, DataWriter};

use crate::bus::{ANNOUNCEMENT, Bus, LATENCY, SLICE, THROUGHPUT, wait_for};
use crate::cpu::CpuMonitor;
use crate::failure::Failure;
use crate::filter::KeyRange;
use crate::message::{
    FINISHED_SIZE, Head, INITIALIZE_SIZE, LENGTH_CHANGED_SIZE, Message, NO_PING, OVERHEAD_BYTES,
    zeros,
};
use crate::printer::{Printer, ThroughputInterval};
use crate::reception::Reception;
use crate::settings::Settings;
use crate::stop;
use tally::{Rates, Tally};

/// Time between announcements, and between lines.
const TICK: Duration = Duration::from_secs(1);
/// How long the last announcement may take.
const GOODBYE: Duration = Duration::from_secs(2);

/// Runs the test.
///
/// # Errors
/// The bus refuses, publishers leave without a word, nothing arrives, or a signal.
pub(crate) fn run<M: Message>(settings: &Settings) -> Result<(), Failure> {
    let printer = Printer::new(settings.form, settings.output.as_deref())?;
    let bus = Bus::join(settings)?;
    let pongs = bus.writer::<M>(LATENCY)?;
    let reader = bus.reader::<M>(THROUGHPUT)?;
    let announcements = bus.writer::<M>(ANNOUNCEMENT)?;
    let shared = Arc::new(Shared::new(printer, settings));
    let echo = Echo {
        shared: Arc::clone(&shared),
        writer: pongs.clone(),
        id: settings.id,
        filter: settings.filter,
    };
    let reception = Reception::new(&reader, settings.read_thread, move |message| {
        echo.receive(message);
    })?;
    let count = settings.publishers;
    eprintln!("Waiting to discover {count} publishers ...");
    wait_for(|time| reader.wait_for_matched(count, time))?;
    // Of several publishers only the first has a reader of answers.
    wait_for(|time| pongs.wait_for_matched(1, time))?;
    wait_for(|time| announcements.wait_for_matched(count, time))?;
    let test = Test {
        shared: &shared,
        reader: &reader,
        announcements: &announcements,
        id: settings.id,
    };
    let outcome = test.begin().and_then(|()| test.watch());
    drop(reception);
    let mut state = shared.lock();
    state.summarize();
    let printed = state.printer.end();
    eprintln!("Finishing test...");
    let nothing = !state.any && outcome.is_ok();
    drop(state);
    if nothing {
        return Err(Failure::Run(
            "no samples have been received, though publishers said that they are done: see to \
             -executionTime and -numIter, or send slower with -pubRate"
                .into(),
        ));
    }
    outcome.and(printed)
}

/// What the reception and the main thread share.
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    printer: Printer,
    tally: Tally,
    publishers: usize,
    finished: BTreeSet<i32>,
    /// The publisher has said that the size changes and waits for our word.
    size_changes: bool,
    /// Samples of the test have arrived, of any size.
    any: bool,
    cpu: CpuMonitor,
}

impl Shared {
    fn new(printer: Printer, settings: &Settings) -> Self {
        let state = State {
            printer,
            tally: Tally::new(settings.filter.is_none()),
            publishers: settings.publishers,
            finished: BTreeSet::new(),
            size_changes: false,
            any: false,
            cpu: CpuMonitor::new(),
        };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something happens that cannot wait, or `time` is over.
    fn wait<'a>(&self, state: MutexGuard<'a, State>, time: Duration) -> MutexGuard<'a, State> {
        let waited = self.changed.wait_timeout_while(state, time, |it| {
            !it.is_finished() && !it.size_changes && stop::signal().is_none()
        });
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

impl State {
    fn is_finished(&self) -> bool {
        self.finished.len() >= self.publishers
    }

    /// Prints what was counted since the size last changed, if anything was.
    fn summarize(&mut self) {
        if let Some(mut summary) = self.tally.summary(Instant::now()) {
            summary.cpu = self.cpu.average();
            self.printer.throughput_summary(&summary);
            self.cpu = CpuMonitor::new();
        }
        self.tally = self.tally.anew();
    }

    fn count(&mut self, head: Head, length: usize) {
        if self.tally.length != Some(length) {
            self.summarize();
            self.printer.throughput_header(length);
        }
        self.any = true;
        self.tally.count(head, length, Instant::now());
    }
}

/// Answers and counts what arrives.
struct Echo<M: Message> {
    shared: Arc<Shared>,
    writer: DataWriter<M>,
    id: i32,
    filter: Option<KeyRange>,
}

impl<M: Message> Echo<M> {
    fn receive(&self, message: M) {
        let (head, size) = (message.head(), message.data().len());
        if self.filter.is_some_and(|it| !it.takes(head.key)) {
            return;
        }
        // Whoever is named may not want the key: who gets a ping through its filter answers it.
        let is_for_us =
            head.latency_ping == self.id || (self.filter.is_some() && head.latency_ping != NO_PING);
        let pings = size == INITIALIZE_SIZE || is_for_us;
        if pings && size != FINISHED_SIZE {
            // Nobody listens any more, or the test is over: the publisher notices either.
            let _ = self.writer.write(&message);
        }
        if size == INITIALIZE_SIZE {
            return;
        }
        let mut state = self.shared.lock();
        match size {
            FINISHED_SIZE => {
                if state.finished.insert(head.entity_id) {
                    state.tally.note_last(head);
                }
            }
            LENGTH_CHANGED_SIZE => {
                state.summarize();
                state.size_changes = true;
            }
            _ => {
                state.count(head, size + OVERHEAD_BYTES);
                return;
            }
        }
        drop(state);
        self.shared.changed.notify_all();
    }
}

/// The main thread's part.
struct Test<'a, M: Message> {
    shared: &'a Shared,
    reader: &'a DataReader<M>,
    announcements: &'a DataWriter<M>,
    id: i32,
}

impl<M: Message> Test<'_, M> {
    fn announce(&self, size: usize) -> Result<(), Failure> {
        let head = Head {
            entity_id: self.id,
            latency_ping: NO_PING,
            ..Head::default()
        };
        let written = self.announcements.write(&zeros(head, size));
        written.map_err(Failure::run("announcing"))
    }

    /// Announces this subscriber until the first data arrives.
    fn begin(&self) -> Result<(), Failure> {
        eprintln!("Waiting for data ...");
        self.shared.lock().printer.begin();
        let mut next = Instant::now();
        loop {
            let state = self.shared.lock();
            if state.any || state.size_changes || state.is_finished() {
                return Ok(());
            }
            let state = self.shared.wait(state, SLICE);
            drop(state);
            if let Some(signal) = stop::signal() {
                return Err(Failure::Signal(signal));
            }
            if Instant::now() >= next {
                self.announce(INITIALIZE_SIZE)?;
                next += TICK;
            }
        }
    }

    /// Prints a line each second until the test is over.
    fn watch(&self) -> Result<(), Failure> {
        let mut rates = Rates::default();
        let mut next = Instant::now() + TICK;
        loop {
            let time = next.saturating_duration_since(Instant::now());
            let mut state = self.shared.wait(self.shared.lock(), time.min(SLICE));
            let changes = std::mem::take(&mut state.size_changes);
            let (is_finished, signal) = (state.is_finished(), stop::signal());
            if Instant::now() >= next {
                next += TICK;
                print_interval(&mut state, &mut rates);
            }
            drop(state);
            if changes {
                self.announce(LENGTH_CHANGED_SIZE)?;
            }
            if is_finished {
                self.announce(FINISHED_SIZE)?;
                // The publisher says it again until it has heard us, and ends by itself.
                let _ = self.announcements.wait_for_acknowledgments(GOODBYE);
                return Ok(());
            }
            if let Some(signal) = signal {
                return Err(Failure::Signal(signal));
            }
            if self.reader.matched_publications().is_empty() {
                return Err(Failure::Run(
                    "the publishers left without saying that the test is over".into(),
                ));
            }
        }
    }
}

fn print_interval(state: &mut State, rates: &mut Rates) {
    let Some(rate) = rates.next(&state.tally, Instant::now()) else {
        return;
    };
    let interval = ThroughputInterval {
        cpu: state.cpu.interval(),
        ..rate
    };
    state.printer.throughput_interval(&interval);
}
