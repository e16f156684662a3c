//! How samples reach the test: by a listener, or by a thread that waits for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use whimbrel::{DataReader, DataReaderListener, Sample, StatusKind};

use crate::bus::SLICE;
use crate::failure::Failure;
use crate::message::Message;
use crate::settings::ReadThread;

/// Samples taken at a time. Of types with a key all that are there: they come instance by instance.
const fn taken_max<M: Message>() -> usize {
    if M::KEYED { usize::MAX } else { 256 }
}

/// Gives the data of `taken` to `receive` in the order in which it was written.
fn give<M: Message>(taken: &mut Vec<Sample<M>>, receive: &mut impl FnMut(M)) {
    if M::KEYED {
        taken.sort_by_key(|it| it.info().source_timestamp);
    }
    let messages = taken.drain(..).filter_map(Sample::into_data);
    messages.for_each(receive);
}

/// Samples of a reader on their way to a function; ends when dropped.
pub(crate) struct Reception<M: Message> {
    reader: DataReader<M>,
    thread: Option<JoinHandle<()>>,
    ended: Arc<AtomicBool>,
}

impl<M: Message> Reception<M> {
    /// Gives every sample of `reader` to `receive` from now on.
    ///
    /// # Errors
    /// The system has no thread.
    pub(crate) fn new(
        reader: &DataReader<M>,
        thread: Option<ReadThread>,
        receive: impl FnMut(M) + Send + 'static,
    ) -> Result<Self, Failure> {
        let ended = Arc::new(AtomicBool::new(false));
        let thread = match thread {
            None => {
                let taken = Vec::new();
                let heard = Box::new(Heard { receive, taken });
                reader.set_listener(Some(heard), StatusKind::DataAvailable);
                None
            }
            Some(way) => {
                let (reader, ended) = (reader.clone(), Arc::clone(&ended));
                let spawned = thread::Builder::new()
                    .name("receive".into())
                    .spawn(move || turn(&reader, way, &ended, receive));
                Some(spawned.map_err(Failure::run("starting a thread"))?)
            }
        };
        Ok(Self {
            reader: reader.clone(),
            thread,
            ended,
        })
    }
}

impl<M: Message> Drop for Reception<M> {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        match self.thread.take() {
            // It has no result; that it panicked has been printed.
            Some(thread) => drop(thread.join()),
            None => self.reader.set_listener(None, StatusKind::DataAvailable),
        }
    }
}

struct Heard<M, F> {
    receive: F,
    taken: Vec<Sample<M>>,
}

impl<M: Message, F: FnMut(M) + Send> DataReaderListener<M> for Heard<M, F> {
    fn on_data_available(&mut self, reader: &DataReader<M>) {
        let taken = &mut self.taken;
        while reader.take_into(taken_max::<M>(), taken).is_ok() && !taken.is_empty() {
            give(taken, &mut self.receive);
        }
    }
}

/// Takes samples until `ended`: as many as are awaited together, or what came in time.
fn turn<M: Message>(
    reader: &DataReader<M>,
    way: ReadThread,
    ended: &AtomicBool,
    mut receive: impl FnMut(M),
) {
    let mut taken = Vec::new();
    while !ended.load(Ordering::Relaxed) {
        // An error is that nothing came in time.
        let _ = reader.take_timeout_into(taken_max::<M>(), SLICE, &mut taken);
        let deadline = Instant::now() + way.delay;
        while !taken.is_empty() && taken.len() < way.events {
            let left = deadline.saturating_duration_since(Instant::now());
            let wanted = way.events - taken.len();
            if reader.take_timeout_into(wanted, left, &mut taken).is_err() {
                break;
            }
        }
        give(&mut taken, &mut receive);
    }
}
