//! Samples that are exchanged and checked while everything else comes and goes.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use whimbrel::{DataReader, DataReaderListener, DataWriter, InstanceHandle, StatusKind};

use super::scene::{Scene, Tick, all, all_of_it, topic};
use super::watchdog;

const PERIOD: Duration = Duration::from_millis(1);
const PATIENCE: Duration = Duration::from_secs(20);

/// The exchange, until [`Traffic::stop`].
pub(super) struct Traffic {
    stop: Arc<AtomicBool>,
    sender: JoinHandle<Result<u64, String>>,
    checked: Arc<Checked>,
    _reader: DataReader<Tick>,
}

#[derive(Default)]
struct Checked {
    count: AtomicU64,
    fault: Mutex<Option<String>>,
}

/// Checks the order of what `source` sends.
struct Check {
    source: u32,
    checked: Arc<Checked>,
}

impl DataReaderListener<Tick> for Check {
    fn on_data_available(&mut self, reader: &DataReader<Tick>) {
        for tick in reader.samples().filter_map(|sample| sample.into_data()) {
            if tick.source != self.source {
                continue;
            }
            let want = self.checked.count.fetch_add(1, Ordering::SeqCst);
            if u64::from(tick.number) != want {
                let fault = format!("sample {} arrived instead of {want}", tick.number);
                let mut known = self.checked.fault.lock().expect("nobody panics here");
                known.get_or_insert(fault);
            }
        }
    }
}

impl Traffic {
    /// Between the participants of `scene`; what `source` sends is checked.
    pub(super) fn start(scene: &Scene, source: u32) -> Self {
        let checked = Arc::new(Checked::default());
        let reader = scene
            .there
            .create_datareader(&topic(&scene.there), all_of_it());
        let reader = reader.expect("a reader can be made");
        let listener = Check {
            source,
            checked: Arc::clone(&checked),
        };
        reader.set_listener(Some(Box::new(listener)), StatusKind::DataAvailable);
        let writer = scene
            .here
            .create_datawriter(&topic(&scene.here), all(20_000));
        let writer = writer.expect("a writer can be made");
        let stop = Arc::new(AtomicBool::new(false));
        let sender = thread::Builder::new().name("traffic".into()).spawn({
            let stop = Arc::clone(&stop);
            let checking = reader.instance_handle();
            move || send(&writer, checking, source, &stop)
        });
        Self {
            stop,
            sender: sender.expect("the system has threads"),
            checked,
            _reader: reader,
        }
    }

    /// How many samples arrived, all of them and in order.
    pub(super) fn stop(self) -> Result<u64, String> {
        watchdog::step("stopping the traffic");
        self.stop.store(true, Ordering::SeqCst);
        let sent = self.sender.join().map_err(|_| "the sender panicked")??;
        let started = Instant::now();
        let count = || self.checked.count.load(Ordering::SeqCst);
        while count() < sent && started.elapsed() < PATIENCE {
            thread::sleep(PERIOD);
        }
        let fault = self
            .checked
            .fault
            .lock()
            .expect("nobody panics here")
            .take();
        match fault {
            Some(fault) => Err(fault),
            None if count() == sent => Ok(sent),
            None => Err(format!("{} of {sent} samples arrived", count())),
        }
    }
}

/// Writes to the reader that is `checking`, and whoever else is there.
fn send(
    writer: &DataWriter<Tick>,
    checking: InstanceHandle,
    source: u32,
    stop: &AtomicBool,
) -> Result<u64, String> {
    let started = Instant::now();
    // Readers of others are matched too, at times before it.
    while !writer.matched_subscriptions().contains(&checking) {
        if started.elapsed() > PATIENCE {
            return Err("the traffic's ends do not match".to_owned());
        }
        thread::sleep(PERIOD);
    }
    let mut number = 0;
    while !stop.load(Ordering::SeqCst) {
        watchdog::step("the traffic's write");
        let written = writer.write(&Tick::new(source, number, 100));
        written.map_err(|why| format!("sample {number} could not be written: {why}"))?;
        number += 1;
        thread::sleep(PERIOD);
    }
    Ok(number.into())
}
