//! The roles of a process, each with its threads and listeners.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use whimbrel::{
    DataReader, DataReaderListener, DataReaderQos, DataWriter, DataWriterQos, DomainParticipant,
    Error, StatusKind,
};
use whimbrel_bench::exchange::Msg;

use super::options::{LOOK, Live, Role};
use super::peers::taken;
use super::tally::{Answers, Arrivals};
use crate::failure::Failure;

/// Samples that are under way at most.
const DEPTH: u32 = 1000;
/// Octets of a question that say who asks.
const ID_BYTES: usize = 8;

/// Everything that is under way; it ends when dropped.
pub(super) struct Playing {
    ended: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
    writers: Vec<DataWriter<Msg>>,
    _readers: Vec<DataReader<Msg>>,
}

impl Playing {
    /// Starts all roles of `live`.
    ///
    /// # Errors
    /// What the bus or the system says.
    pub(super) fn start(
        participant: &DomainParticipant,
        live: &Live,
        arrivals: &Arc<Arrivals>,
        answers: &Arc<Answers>,
    ) -> Result<Self, Failure> {
        let mut playing = Self {
            ended: Arc::default(),
            threads: Vec::new(),
            writers: Vec::new(),
            _readers: Vec::new(),
        };
        for role in &live.roles {
            let begun = match role {
                Role::Pub => playing.publish(participant, live),
                Role::Sub => playing.subscribe(participant, live, arrivals),
                Role::Ping => playing.ask(participant, live, answers),
                Role::Pong => playing.answer(participant, live),
            };
            begun.map_err(|error| Failure::Setup(format!("{role:?}: {error}")))?;
        }
        Ok(playing)
    }

    /// Samples that all writers sent again.
    pub(super) fn repairs(&self) -> u64 {
        self.writers.iter().map(|it| it.statistics().repairs).sum()
    }

    /// Ends what writes by itself.
    pub(super) fn stop(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    fn writer(
        &mut self,
        participant: &DomainParticipant,
        live: &Live,
        topic: &str,
    ) -> Result<DataWriter<Msg>, Error> {
        let topic = participant.create_topic::<Msg>(topic)?;
        let qos = DataWriterQos::default().keep_last(DEPTH);
        let qos = if live.best_effort {
            qos.best_effort()
        } else {
            qos.reliable()
        };
        let writer = participant.create_datawriter(&topic, qos)?;
        self.writers.push(writer.clone());
        Ok(writer)
    }

    fn reader(
        &mut self,
        participant: &DomainParticipant,
        live: &Live,
        topic: &str,
        listener: impl DataReaderListener<Msg> + 'static,
    ) -> Result<(), Error> {
        let topic = participant.create_topic::<Msg>(topic)?;
        let qos = DataReaderQos::default().keep_last(DEPTH);
        let qos = if live.best_effort {
            qos.best_effort()
        } else {
            qos.reliable()
        };
        let reader = participant.create_datareader(&topic, qos)?;
        reader.set_listener(Some(Box::new(listener)), StatusKind::DataAvailable);
        self._readers.push(reader);
        Ok(())
    }

    fn publish(&mut self, participant: &DomainParticipant, live: &Live) -> Result<(), Error> {
        let writer = self.writer(participant, live, "perf-data")?;
        let mut sample = Msg {
            seq: 0,
            payload: vec![0x55; live.size as usize].into(),
        };
        self.every(live.rate, move || {
            if writer.matched_subscriptions().is_empty() {
                thread::sleep(LOOK);
                return;
            }
            sample.seq = sample.seq.wrapping_add(1);
            // What found no room in time counts as lost where it is missed.
            let _ = writer.write(&sample);
        });
        Ok(())
    }

    fn subscribe(
        &mut self,
        participant: &DomainParticipant,
        live: &Live,
        arrivals: &Arc<Arrivals>,
    ) -> Result<(), Error> {
        let counting = Counting(Arc::clone(arrivals));
        self.reader(participant, live, "perf-data", counting)
    }

    fn ask(
        &mut self,
        participant: &DomainParticipant,
        live: &Live,
        answers: &Arc<Answers>,
    ) -> Result<(), Error> {
        let mut payload = vec![0x55; live.size as usize];
        let id = participant.guid().prefix.0;
        payload[..ID_BYTES].copy_from_slice(&id[id.len() - ID_BYTES..]);
        let noting = Noting {
            answers: Arc::clone(answers),
            id: payload[..ID_BYTES].to_vec(),
        };
        self.reader(participant, live, "perf-pong", noting)?;
        let writer = self.writer(participant, live, "perf-ping")?;
        let mut sample = Msg {
            seq: 0,
            payload: payload.into(),
        };
        let answers = Arc::clone(answers);
        self.every(live.ping_rate, move || {
            sample.seq = sample.seq.wrapping_add(1);
            answers.ask(sample.seq, sample.payload.len());
            // Who is not asked does not answer.
            let _ = writer.write(&sample);
        });
        Ok(())
    }

    fn answer(&mut self, participant: &DomainParticipant, live: &Live) -> Result<(), Error> {
        let writer = self.writer(participant, live, "perf-pong")?;
        self.reader(participant, live, "perf-ping", Echoing(writer))
    }

    /// Calls `act` so often a second, or as often as it goes.
    fn every(&mut self, rate: u32, mut act: impl FnMut() + Send + 'static) {
        let ended = Arc::clone(&self.ended);
        let period = (rate > 0).then(|| Duration::from_secs(1) / rate);
        self.threads.push(thread::spawn(move || {
            let mut due = Instant::now();
            while !ended.load(Ordering::Relaxed) {
                let left = due.saturating_duration_since(Instant::now());
                if !left.is_zero() {
                    thread::sleep(left.min(LOOK));
                    continue;
                }
                act();
                due = period.map_or(due, |it| (due + it).max(Instant::now() - it));
            }
        }));
    }
}

impl Drop for Playing {
    fn drop(&mut self) {
        self.stop();
        for thread in self.threads.drain(..) {
            // It has no result.
            let _ = thread.join();
        }
    }
}

struct Counting(Arc<Arrivals>);

impl DataReaderListener<Msg> for Counting {
    fn on_data_available(&mut self, reader: &DataReader<Msg>) {
        for (writer, sample) in taken(reader) {
            self.0.note(writer, sample.seq, sample.payload.len());
        }
    }
}

struct Noting {
    answers: Arc<Answers>,
    /// What our questions begin with.
    id: Vec<u8>,
}

impl DataReaderListener<Msg> for Noting {
    fn on_data_available(&mut self, reader: &DataReader<Msg>) {
        let now = Instant::now();
        for (writer, sample) in taken(reader) {
            if sample.payload.starts_with(&self.id) {
                self.answers.note(writer, sample.seq, now);
            }
        }
    }
}

struct Echoing(DataWriter<Msg>);

impl DataReaderListener<Msg> for Echoing {
    fn on_data_available(&mut self, reader: &DataReader<Msg>) {
        for (_, sample) in taken(reader) {
            // Who asked notices.
            let _ = self.0.write(&sample);
        }
    }
}
