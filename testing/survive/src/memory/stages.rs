//! What is done again and again.

use std::time::{Duration, Instant};

use whimbrel::domain::DomainParticipantBuilder;
use whimbrel::{
    DataReader, DataReaderQos, DataWriter, DataWriterQos, DdsType, DomainParticipant, Error,
};

use super::gauge::{Growth, Reading};
use crate::heap;

/// What a short run takes before its first stop: the most that is held at once is a matter of
/// chance, and is reached after many rounds.
const WARM_UP: Duration = Duration::from_secs(3);

/// Stops in a stage, and in one of a short run; the first third is the warm-up, too.
const STOPS: u64 = 24;
const STOPS_SHORT: u64 = 3;

/// At a stop the heap is at rest when it has not fallen for so long: buffers of a moment ago are
/// given back once a second.
const CALM: Duration = Duration::from_millis(1200);

/// No stop takes longer.
const REST_MAX: Duration = Duration::from_secs(5);

/// Nothing here takes that long unless it fails.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// Something to do again and again.
pub(super) struct Stage {
    pub(super) name: &'static str,
    /// What is counted.
    pub(super) what: &'static str,
    /// How often in a full run.
    full_count: u64,
    /// How many at a time.
    round: u64,
    start: fn() -> Result<Box<dyn Load>, Error>,
}

/// A stage under way.
trait Load {
    /// Does the `round` of as many as the stage says.
    fn round(&mut self, round: u64) -> Result<(), Error>;
    /// Waits until nothing is under way.
    fn settle(&mut self) -> Result<(), Error>;
}

/// The stages in their order.
pub(super) const STAGES: &[Stage] = &[
    Stage {
        name: "writes",
        what: "writes",
        full_count: 10_000_000,
        round: 1000,
        start: || Ok(Box::new(Writes::start()?)),
    },
    Stage {
        name: "disposed keys",
        what: "keys disposed",
        full_count: 500_000,
        round: 100,
        start: || Ok(Box::new(Keys::start(End::Dispose)?)),
    },
    Stage {
        name: "unregistered keys",
        what: "keys unregistered",
        full_count: 500_000,
        round: 100,
        start: || Ok(Box::new(Keys::start(End::Unregister)?)),
    },
    Stage {
        name: "joins",
        what: "joins and leaves",
        full_count: 10_000,
        round: 1,
        start: || Ok(Box::new(Joins::start()?)),
    },
];

impl Stage {
    /// Runs for `time`, or to the full count; gives how much was done and what that left behind.
    pub(super) fn run(&self, time: Duration, full: bool) -> Result<(u64, Growth), String> {
        self.measure(time, full)
            .map_err(|error| format!("failed: {error}"))
    }

    fn measure(&self, time: Duration, full: bool) -> Result<(u64, Growth), String> {
        let text = |error: Error| error.to_string();
        let mut load = (self.start)().map_err(text)?;
        let mut readings = Vec::new();
        let mut rounds = 0;
        let stops = if full { STOPS } else { STOPS_SHORT };
        let slice = time / u32::try_from(stops).unwrap_or(1);
        let warm = Instant::now() + WARM_UP;
        while !full && Instant::now() < warm {
            load.round(rounds).map_err(text)?;
            load.settle().map_err(text)?;
            rounds += 1;
        }
        for stop in 1..=stops {
            let until = Instant::now() + slice;
            let goal = self.full_count * stop / stops;
            loop {
                // Every round begins at rest, so that all are equal: what is resident follows the
                // most that was ever held at once, and a backlog is as long as chance has it.
                load.round(rounds).map_err(text)?;
                load.settle().map_err(text)?;
                rounds += 1;
                let over = if full {
                    rounds * self.round >= goal
                } else {
                    Instant::now() >= until
                };
                if over {
                    break;
                }
            }
            heap::settled(CALM, REST_MAX, 0);
            readings.push(Reading::now()?);
        }
        let growth = Growth::of(&readings).ok_or("too few stops")?;
        Ok((rounds * self.round, growth))
    }
}

#[derive(DdsType, Clone, Debug)]
struct Item {
    #[dds(key)]
    key: u64,
    text: String,
}

pub(super) fn builder(tag: &str) -> DomainParticipantBuilder {
    DomainParticipant::builder(91)
        .interfaces("lo")
        .domain_tag(format!("memory {tag} {}", std::process::id()))
        .log(false)
}

/// A writer and a reader of items in participants of their own.
struct Pair {
    writer: DataWriter<Item>,
    reader: DataReader<Item>,
    written: u64,
    taken: u64,
}

impl Pair {
    fn new(tag: &str, writer: DataWriterQos, reader: DataReaderQos) -> Result<Self, Error> {
        let (here, there) = (builder(tag).build()?, builder(tag).build()?);
        let writer = here.create_datawriter(&here.create_topic("items")?, writer)?;
        let reader = there.create_datareader(&there.create_topic("items")?, reader)?;
        writer.wait_for_matched(1, PATIENCE)?;
        Ok(Self {
            writer,
            reader,
            written: 0,
            taken: 0,
        })
    }

    /// Takes what has arrived.
    fn take(&mut self) -> Result<(), Error> {
        self.taken += self.reader.take(usize::MAX)?.len() as u64;
        Ok(())
    }

    fn settle(&mut self) -> Result<(), Error> {
        self.take()?;
        self.writer.wait_for_acknowledgments(PATIENCE)?;
        self.take()
    }
}

struct Writes(Pair);

impl Writes {
    fn start() -> Result<Self, Error> {
        let mut writer = DataWriterQos::default().reliable().keep_all();
        // On a busy machine the other side may not run for a while.
        writer.reliability.max_blocking_time = PATIENCE.into();
        let reader = DataReaderQos::default().reliable().keep_all();
        Ok(Self(Pair::new("writes", writer, reader)?))
    }
}

impl Load for Writes {
    fn round(&mut self, _round: u64) -> Result<(), Error> {
        let item = Item {
            key: 7,
            text: "a text of some length, as samples have it".into(),
        };
        for _ in 0..1000 {
            self.0.writer.write(&item)?;
            self.0.written += 1;
        }
        self.0.take()
    }

    fn settle(&mut self) -> Result<(), Error> {
        self.0.settle()?;
        if self.0.taken == self.0.written {
            return Ok(());
        }
        Err(Error::PreconditionNotMet(format!(
            "{} written, {} taken",
            self.0.written, self.0.taken
        )))
    }
}

/// How keys end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Dispose,
    Unregister,
}

/// Keys of a writer that serves late joiners, so it keeps what it may.
struct Keys {
    pair: Pair,
    end: End,
}

impl Keys {
    fn start(end: End) -> Result<Self, Error> {
        let writer = DataWriterQos::default()
            .reliable()
            .transient_local()
            .keep_last(1)
            .autodispose_unregistered_instances(false);
        let reader = DataReaderQos::default().reliable().transient_local();
        Ok(Self {
            pair: Pair::new("keys", writer, reader)?,
            end,
        })
    }
}

impl Load for Keys {
    fn round(&mut self, round: u64) -> Result<(), Error> {
        for key in round * 100..(round + 1) * 100 {
            let item = Item {
                key,
                text: "short-lived".into(),
            };
            self.pair.writer.write(&item)?;
            match self.end {
                End::Dispose => self.pair.writer.dispose(&item)?,
                End::Unregister => self.pair.writer.unregister_instance(&item)?,
            }
        }
        self.pair.take()
    }

    fn settle(&mut self) -> Result<(), Error> {
        self.pair.settle()
    }
}

/// A participant that stays, with an endpoint of each kind, among others that do not.
struct Joins(Pair);

impl Joins {
    fn start() -> Result<Self, Error> {
        let writer = DataWriterQos::default().reliable().transient_local();
        let reader = DataReaderQos::default().reliable().transient_local();
        Ok(Self(Pair::new("joins", writer, reader)?))
    }
}

impl Load for Joins {
    fn round(&mut self, round: u64) -> Result<(), Error> {
        let peer = builder("joins").build()?;
        let topic = peer.create_topic::<Item>("items")?;
        let qos = DataWriterQos::default().reliable().transient_local();
        let writer = peer.create_datawriter(&topic, qos)?;
        let qos = DataReaderQos::default().reliable().transient_local();
        let _reader = peer.create_datareader(&topic, qos)?;
        // Its own reader and the one that stays.
        writer.wait_for_matched(2, PATIENCE)?;
        let text = String::from("hello");
        writer.write(&Item { key: round, text })?;
        writer.wait_for_acknowledgments(PATIENCE)
    }

    fn settle(&mut self) -> Result<(), Error> {
        let stays = self.0.writer.publisher().participant();
        let alone =
            stays.wait_for_discovery(PATIENCE, |it| it.discovered_participants().len() == 1);
        if !alone {
            return Err(Error::Timeout);
        }
        let until = Instant::now() + PATIENCE;
        while self.0.reader.matched_publications().len() > 1 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.0.settle()
    }
}
