//! The demo's subscriber: a process of its own.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use whimbrel::qos::ResourceLimits;
use whimbrel::{DataReader, DataReaderQos, DomainParticipant};

use super::log::Checksum;
use super::message::{Latency, Read, Report, child, tell};
use super::plan::{PATIENCE, TOPIC, join, steady_lines};
use crate::failure::Failure;
use crate::known::LogLine;
use crate::options::DemoChild;
use crate::stop;
use crate::time::now_ns;

/// Lines that may wait to be read.
const UNREAD_MAX: u32 = 8192;

/// How long a wait for lines lasts before the rest is looked at.
const TURN: Duration = Duration::from_millis(50);

/// Time between reports.
const REPORT_PERIOD: Duration = Duration::from_millis(100);

/// Latencies above this count as this.
const LATENCY_NS_MAX: u64 = 60_000_000_000;

/// Not yet known how many lines there will be.
const UNKNOWN: u64 = u64::MAX;

/// The parent is gone, or wants no more.
const STOP: u64 = u64::MAX - 1;

pub(crate) fn run(args: &DemoChild) -> Result<(), Failure> {
    child(|| subscribe(args))
}

fn subscribe(args: &DemoChild) -> Result<(), Failure> {
    let participant = join(args, "subscriber")?;
    let topic = participant.create_topic::<LogLine>(TOPIC)?;
    let qos = DataReaderQos::default()
        .reliable()
        .keep_all()
        .resource_limits(ResourceLimits::UNLIMITED.max_samples(UNREAD_MAX));
    let reader = participant.create_datareader(&topic, qos)?;
    let expected = listen_to_parent()?;
    let mut tally = Tally::new(steady_lines(args.steady))?;
    let mut reported_at = Instant::now();
    let mut heard_at = Instant::now();
    loop {
        stop::check()?;
        let samples = reader.take_timeout(usize::MAX, TURN).unwrap_or_default();
        let now = now_ns();
        if !samples.is_empty() {
            heard_at = Instant::now();
        }
        let lines = samples.into_iter().filter_map(|sample| sample.into_data());
        tally.add(lines.collect(), now)?;
        match expected.load(Ordering::Relaxed) {
            STOP => return Ok(()),
            UNKNOWN => {}
            count if tally.read.lines >= count => break,
            count if heard_at.elapsed() > PATIENCE => {
                return Err(Failure::Negative(format!(
                    "only {} of {count} lines arrived",
                    tally.read.lines
                )));
            }
            _ => {}
        }
        if reported_at.elapsed() >= REPORT_PERIOD {
            reported_at = Instant::now();
            tell(&Report::Reading(tally.report(&participant)))?;
        }
    }
    undecodable(&reader)?;
    tell(&Report::HasRead(tally.report(&participant)))
}

/// The number of lines to expect, once the parent has told it.
fn listen_to_parent() -> Result<Arc<AtomicU64>, Failure> {
    let expected = Arc::new(AtomicU64::new(UNKNOWN));
    let told = Arc::clone(&expected);
    thread::Builder::new()
        .name("parent".into())
        .spawn(move || {
            for line in std::io::stdin().lock().lines().map_while(Result::ok) {
                if let Ok(count) = line.trim().parse() {
                    told.store(count, Ordering::Relaxed);
                }
            }
            told.store(STOP, Ordering::Relaxed);
        })
        .map_err(Failure::setup("starting a thread"))?;
    Ok(expected)
}

fn undecodable(reader: &DataReader<LogLine>) -> Result<(), Failure> {
    match reader.undecodable_samples() {
        0 => Ok(()),
        count => Err(Failure::Negative(format!(
            "{count} lines could not be decoded"
        ))),
    }
}

/// What has arrived.
struct Tally {
    read: Read,
    checksum: Checksum,
    /// The last line of each source.
    sources: BTreeMap<String, u64>,
    /// Lines before this one were published at a steady rate.
    steady_lines: u64,
    recent: Histogram<u64>,
    steady: Histogram<u64>,
    fast: Histogram<u64>,
}

impl Tally {
    fn new(steady_lines: u64) -> Result<Self, Failure> {
        let histogram = || {
            Histogram::new_with_bounds(1, LATENCY_NS_MAX, 3)
                .map_err(Failure::setup("making a histogram"))
        };
        Ok(Self {
            read: Read::default(),
            checksum: Checksum::default(),
            sources: BTreeMap::new(),
            steady_lines,
            recent: histogram()?,
            steady: histogram()?,
            fast: histogram()?,
        })
    }

    /// Takes everything that has arrived since the last time. The lines of one source come in
    /// their order; together they are the next ones of the file, since all come from one writer.
    fn add(&mut self, mut lines: Vec<LogLine>, now: u64) -> Result<(), Failure> {
        for line in &lines {
            let last = self.sources.insert(line.source.clone(), line.number);
            if last.is_some_and(|last| last >= line.number) {
                return Err(Failure::Negative(format!(
                    "line {} of {} arrived after line {}",
                    line.number,
                    line.source,
                    last.unwrap_or_default()
                )));
            }
        }
        lines.sort_by_key(|line| line.number);
        lines.iter().try_for_each(|line| self.add_next(line, now))
    }

    fn add_next(&mut self, line: &LogLine, now: u64) -> Result<(), Failure> {
        if line.number != self.read.lines {
            return Err(Failure::Negative(format!(
                "line {} arrived where {} was due",
                line.number, self.read.lines
            )));
        }
        let source = super::log::source_of(&line.text);
        if line.source != source {
            return Err(Failure::Negative(format!(
                "line {} of {source} arrived as one of {}",
                line.number, line.source
            )));
        }
        self.checksum.add(&line.text);
        let latency = now.saturating_sub(line.sent_ns);
        let phase = if line.number < self.steady_lines {
            &mut self.steady
        } else {
            &mut self.fast
        };
        phase.saturating_record(latency);
        self.recent.saturating_record(latency);
        self.read.lines += 1;
        Ok(())
    }

    fn report(&mut self, participant: &DomainParticipant) -> Read {
        self.read.recent = latency(&self.recent);
        self.recent.reset();
        self.read.steady = latency(&self.steady);
        self.read.fast = latency(&self.fast);
        self.read.sources = self.sources.len();
        self.read.checksum = self.checksum.0;
        self.read.wire_bytes = participant.diagnostics().sent.1;
        self.read.clone()
    }
}

fn latency(histogram: &Histogram<u64>) -> Latency {
    let micros = |nanos: u64| (nanos / 100) as f64 / 10.0;
    Latency {
        samples: histogram.len(),
        p50_us: micros(histogram.value_at_quantile(0.5)),
        p99_us: micros(histogram.value_at_quantile(0.99)),
        max_us: micros(histogram.max()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(number: u64, text: &str) -> LogLine {
        LogLine {
            source: super::super::log::source_of(text).into(),
            number,
            sent_ns: 0,
            text: text.into(),
        }
    }

    fn check(batches: &[&[(u64, &str)]]) -> Result<u64, Failure> {
        let mut tally = Tally::new(1)?;
        for batch in batches {
            let lines = batch.iter().map(|(number, text)| line(*number, text));
            tally.add(lines.collect(), 1)?;
        }
        Ok(tally.read.lines)
    }

    #[test]
    fn latencies_are_in_microseconds() {
        let mut tally = Tally::new(2).unwrap();
        tally.add(vec![line(0, "a: 1")], 5_000).unwrap();
        tally.add(vec![line(1, "a: 2")], 70_000).unwrap();
        tally.add(vec![line(2, "a: 3")], 9_000_000).unwrap();
        let steady = latency(&tally.steady);
        assert_eq!((steady.samples, steady.p50_us), (2, 5.0));
        assert!((steady.max_us - 70.0).abs() < 0.2);
        assert_eq!(latency(&tally.fast).samples, 1);
    }

    #[test]
    fn order_is_that_of_each_source_and_of_all() {
        let mixed: &[&[_]] = &[&[(0, "a: 1"), (2, "a: 3"), (1, "b: 2")], &[(3, "b: 4")]];
        assert_eq!(check(mixed).unwrap(), 4);
        assert!(check(&[&[(1, "a: 2"), (0, "a: 1")]]).is_err());
        assert!(check(&[&[(0, "a: 1")], &[(2, "a: 3")]]).is_err());
        assert!(check(&[&[(0, "a: 1")], &[(0, "a: 1")]]).is_err());
        let mut wrong = line(0, "a: 1");
        wrong.source = "b".into();
        assert!(Tally::new(1).unwrap().add(vec![wrong], 1).is_err());
    }
}
