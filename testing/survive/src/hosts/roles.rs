//! The two processes of the scenarios: one talks, one listens. Both end with their input.

use std::collections::BTreeSet;
use std::io::BufRead;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration as StdDuration;

use whimbrel::{
    DataReader, DataReaderQos, DataWriter, DataWriterQos, DdsType, DomainParticipant, Duration,
    Error, InstanceHandle,
};

use crate::heap;

/// What travels.
#[derive(DdsType, Debug)]
struct Numbered {
    number: u64,
    fill: Vec<u8>,
}

/// A topic of the scenarios.
#[derive(Clone, Copy, Debug)]
pub(super) struct TopicPlan {
    pub(super) name: &'static str,
    /// Octets of a sample besides its number.
    bytes: usize,
    keep_all: bool,
    durable: bool,
    reliable: bool,
}

/// The topic that is TRANSIENT_LOCAL and keeps all.
pub(super) const LOG: &str = "log";

/// The topic that is not reliable: what is lost of it stays lost.
pub(super) const SIGHT: &str = "sight";

/// Reliable and KEEP_ALL, KEEP_LAST, TRANSIENT_LOCAL, larger than a packet, and best effort.
pub(super) const TOPICS: [TopicPlan; 5] = [
    TopicPlan {
        name: "stream",
        bytes: 100,
        keep_all: true,
        durable: false,
        reliable: true,
    },
    TopicPlan {
        name: "state",
        bytes: 100,
        keep_all: false,
        durable: false,
        reliable: true,
    },
    TopicPlan {
        name: LOG,
        bytes: 60,
        keep_all: true,
        durable: true,
        reliable: true,
    },
    TopicPlan {
        name: "bulk",
        bytes: 3000,
        keep_all: true,
        durable: false,
        reliable: true,
    },
    TopicPlan {
        name: SIGHT,
        bytes: 8000,
        keep_all: true,
        durable: false,
        reliable: false,
    },
];

/// `talk LEASE_MS PERIOD_MS...` or `listen LEASE_MS PERIOD_MS...`: one period for each topic, 0
/// leaves it out.
pub(super) fn child(words: &[String]) -> ExitCode {
    match run(words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{words:?}: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[String]) -> Result<(), String> {
    let (role, numbers) = words.split_first().ok_or("which role?")?;
    let numbers: Vec<u64> = numbers
        .iter()
        .map(|it| it.parse().map_err(|_| format!("what is {it}?")))
        .collect::<Result<_, _>>()?;
    let (lease_ms, periods) = numbers.split_first().ok_or("which lease?")?;
    let lease = Duration::from_millis(i64::try_from(*lease_ms).unwrap_or(i64::MAX));
    let participant = DomainParticipant::builder(0)
        .lease(lease)
        .announce_period(lease.divided_by(4))
        .build()
        .map_err(|error| error.to_string())?;
    let plans = TOPICS.iter().copied().zip(periods.iter().copied());
    let plans = plans.filter(|(_, period)| *period > 0);
    let done = match role.as_str() {
        "talk" => talk(&participant, plans),
        "listen" => listen(&participant, plans.map(|(plan, _)| plan)),
        other => return Err(format!("what is {other}?")),
    };
    done.map_err(|error| error.to_string())
}

fn talk(
    participant: &DomainParticipant,
    plans: impl Iterator<Item = (TopicPlan, u64)>,
) -> Result<(), Error> {
    let mut counts = Vec::new();
    let [talking, logging] = [(); 2].map(|()| Arc::new(AtomicBool::new(true)));
    for (plan, period_ms) in plans {
        let topic = participant.create_topic::<Numbered>(plan.name)?;
        let mut qos = DataWriterQos::default().max_blocking_time(Duration::from_secs(60));
        if !plan.reliable {
            qos = qos.best_effort();
        }
        if plan.keep_all {
            qos = qos.keep_all();
        }
        if plan.durable {
            qos = qos.transient_local();
        }
        let writer = participant.create_datawriter(&topic, qos)?;
        let count = Arc::new(AtomicU64::new(0));
        counts.push((plan.name, Arc::clone(&count)));
        let talking = Arc::clone(if plan.durable { &logging } else { &talking });
        let period = StdDuration::from_millis(period_ms);
        thread::spawn(move || write(&writer, plan.bytes, period, &count, &talking));
    }
    serve(|line| {
        if line == "stop" {
            talking.store(false, Ordering::Relaxed);
        }
        if line == "stop" || line == "close" {
            logging.store(false, Ordering::Relaxed);
        }
        let words = counts
            .iter()
            .map(|(name, count)| format!("{name}={} ", count.load(Ordering::Relaxed)));
        words.collect::<String>() + &about(participant)
    });
    Ok(())
}

fn write(
    writer: &DataWriter<Numbered>,
    bytes: usize,
    period: StdDuration,
    count: &AtomicU64,
    talking: &AtomicBool,
) {
    let mut sample = Numbered {
        number: 0,
        fill: vec![7; bytes],
    };
    loop {
        if talking.load(Ordering::Relaxed) {
            sample.number += 1;
            if let Err(error) = writer.write(&sample) {
                eprintln!("write: {error}");
                return;
            }
            count.store(sample.number, Ordering::Relaxed);
        }
        thread::sleep(period);
    }
}

/// What has arrived of a topic.
#[derive(Default)]
struct Tally {
    writer: Option<InstanceHandle>,
    first: u64,
    last: u64,
    missing: u64,
    repeated: u64,
    distinct: BTreeSet<u64>,
}

impl Tally {
    fn count(&mut self, writer: InstanceHandle, number: u64, all: bool) {
        if self.writer.replace(writer) != Some(writer) {
            *self = Self {
                writer: self.writer,
                first: number,
                last: number,
                ..Self::default()
            };
        } else if number > self.last {
            self.missing += number - self.last - 1;
            self.last = number;
        } else {
            self.repeated += 1;
        }
        if all {
            self.distinct.insert(number);
        }
    }
}

fn listen(
    participant: &DomainParticipant,
    plans: impl Iterator<Item = TopicPlan>,
) -> Result<(), Error> {
    let mut tallies = Vec::new();
    for plan in plans {
        let topic = participant.create_topic::<Numbered>(plan.name)?;
        let mut qos = DataReaderQos::default();
        if plan.reliable {
            qos = qos.reliable();
        }
        if plan.keep_all {
            qos = qos.keep_all();
        }
        if plan.durable {
            qos = qos.transient_local();
        }
        let reader = participant.create_datareader(&topic, qos)?;
        let tally = Arc::new(Mutex::new(Tally::default()));
        tallies.push((plan.name, Arc::clone(&tally)));
        thread::spawn(move || take(&reader, plan.durable, &tally));
    }
    serve(|_| {
        let words = tallies.iter().map(|(name, tally)| {
            let it = tally.lock().unwrap_or_else(PoisonError::into_inner);
            format!(
                "{name}.first={} {name}.last={} {name}.missing={} {name}.repeated={} \
                 {name}.distinct={} ",
                it.first,
                it.last,
                it.missing,
                it.repeated,
                it.distinct.len()
            )
        });
        words.collect::<String>() + &about(participant)
    });
    Ok(())
}

fn take(reader: &DataReader<Numbered>, all: bool, tally: &Mutex<Tally>) {
    loop {
        // Silence is what some scenarios are about.
        let _ = reader.wait_for_data(StdDuration::from_secs(1));
        let Ok(samples) = reader.take(256) else {
            continue;
        };
        let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
        for sample in samples {
            if let Some(data) = sample.data() {
                tally.count(sample.info().publication_handle, data.number, all);
            }
        }
    }
}

fn about(participant: &DomainParticipant) -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let rss = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .and_then(|rest| rest.split_whitespace().next())
        .unwrap_or("0");
    let diagnostics = participant.diagnostics();
    let sent = diagnostics.sent;
    format!(
        "guid={} others={} rss_kb={rss} heap_kb={} sent={} sent_bytes={} oversize={}",
        participant.guid(),
        participant.discovered_participants().len(),
        heap::held_bytes() / 1024,
        sent.0,
        sent.1,
        diagnostics.oversize
    )
}

/// Answers every line of the input until it ends.
fn serve(answer: impl Fn(&str) -> String) {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        println!("{}", answer(&line));
    }
}
