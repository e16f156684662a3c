//! The demo's publisher: a process of its own.

use std::time::{Duration, Instant};

use whimbrel::qos::{Batch, ResourceLimits};
use whimbrel::{DataWriter, DataWriterQos, DomainParticipant};

use super::log::{Log, source_of};
use super::message::{Report, Smaller, Written, child, tell};
use super::plan::{
    FAST_LINES_MAX, MEETING_PATIENCE, PATIENCE, STEADY_RATE, TOPIC, join, steady_lines,
};
use crate::failure::Failure;
use crate::known::LogLine;
use crate::options::{self, DemoChild};
use crate::stop;
use crate::time::now_ns;

/// Lines that may wait for acknowledgement.
const UNACKNOWLEDGED_MAX: u32 = 4096;

/// Time between reports.
const REPORT_PERIOD: Duration = Duration::from_millis(100);

/// How long a line waits for others of its batch.
const BATCH_DELAY: Duration = Duration::from_millis(5);

/// Lines written at full speed between looks at the clock.
const BURST: u64 = 64;

pub(crate) fn run(args: &DemoChild) -> Result<(), Failure> {
    child(|| publish(args))
}

struct Publisher<'a> {
    log: &'a Log,
    participant: &'a DomainParticipant,
    writer: &'a DataWriter<LogLine>,
    /// Octets sent before the first line.
    wire_bytes_before: u64,
    written: Written,
    reported_at: Instant,
}

fn publish(args: &DemoChild) -> Result<(), Failure> {
    stop::with_input()?;
    let log = Log::load(args.file.as_deref())?;
    let participant = join(args, "publisher")?;
    let topic = participant.create_topic::<LogLine>(TOPIC)?;
    let qos = DataWriterQos::default()
        .reliable()
        .keep_all()
        .max_blocking_time(whimbrel::Duration::from(PATIENCE))
        .resource_limits(ResourceLimits::UNLIMITED.max_samples(UNACKNOWLEDGED_MAX));
    let writer = participant.create_datawriter(&topic, made_smaller(qos, &args.smaller))?;
    if !stop::within(MEETING_PATIENCE, |slice| {
        writer.wait_for_matched(1, slice).is_ok()
    })? {
        let text = "the publisher has not found the subscriber on loopback";
        return Err(Failure::Setup(text.into()));
    }
    tell(&Report::Matched)?;
    let mut publisher = Publisher {
        log: &log,
        participant: &participant,
        writer: &writer,
        wire_bytes_before: participant.diagnostics().sent.1,
        written: Written::default(),
        reported_at: Instant::now(),
    };
    publisher.steady(steady_lines(args.steady))?;
    publisher.fast(args.fast)?;
    writer.flush();
    let acknowledged = |slice| writer.wait_for_acknowledgments(slice).is_ok();
    if !stop::within(PATIENCE, acknowledged)? {
        let text = "the subscriber has not acknowledged all lines in time";
        return Err(Failure::Negative(text.into()));
    }
    publisher.count();
    tell(&Report::HasWritten(publisher.written))?;
    // The subscriber may still be reading; the parent tells us when it is done.
    loop {
        stop::sleep_until(Instant::now() + PATIENCE)?;
    }
}

/// `qos` with compression, bundles and batches as they were asked for. Lines are short, so no
/// threshold keeps them plain.
fn made_smaller(mut qos: DataWriterQos, smaller: &options::Smaller) -> DataWriterQos {
    if let Some(codec) = smaller.compress.filter(|it| !it.is_empty()) {
        let compression = &mut qos.data_representation.compression;
        compression.compression_ids = Some(codec);
        compression.writer_compression_threshold = Some(0);
    }
    qos.bundling = smaller.bundle.or(qos.bundling);
    qos.batch = smaller.batch.map(|samples| Batch {
        max_flush_delay: whimbrel::Duration::from(BATCH_DELAY),
        ..Batch::of_samples(samples)
    });
    qos
}

impl Publisher<'_> {
    /// Publishes `count` lines at a steady rate.
    fn steady(&mut self, count: u64) -> Result<(), Failure> {
        let started = Instant::now();
        let mut next = started;
        for _ in 0..count {
            stop::sleep_until(next)?;
            next += Duration::from_secs(1) / STEADY_RATE;
            self.write()?;
            self.written.steady_seconds = started.elapsed().as_secs_f64();
            self.report()?;
        }
        Ok(())
    }

    /// Publishes as fast as possible, for `time` at most.
    fn fast(&mut self, time: Duration) -> Result<(), Failure> {
        let started = Instant::now();
        let end = self.written.lines + FAST_LINES_MAX.max(self.log.len() as u64);
        while self.written.lines < end && started.elapsed() < time {
            stop::check()?;
            for _ in 0..BURST.min(end - self.written.lines) {
                self.write()?;
            }
            self.written.fast_seconds = started.elapsed().as_secs_f64();
            self.report()?;
        }
        Ok(())
    }

    fn write(&mut self) -> Result<(), Failure> {
        let number = self.written.lines;
        let text = self.log.line(number);
        let line = LogLine {
            source: source_of(text).to_owned(),
            number,
            text: text.to_owned(),
            sent_ns: now_ns(),
        };
        self.writer
            .write(&line)
            .map_err(Failure::setup(format!("writing line {number}")))?;
        self.written.lines += 1;
        Ok(())
    }

    fn count(&mut self) {
        let statistics = self.writer.statistics();
        self.written.payload_bytes = statistics.written_bytes;
        self.written.repairs = statistics.repairs;
        let compression = self.writer.compression_statistics();
        let whole = self.writer.bundle_compression_statistics();
        self.written.smaller = Smaller {
            compressed: compression.samples + whole.bundles,
            plain_bytes: compression.plain_bytes + whole.plain_bytes,
            compressed_bytes: compression.compressed_bytes + whole.compressed_bytes,
            below_threshold: compression.below_threshold,
            incompressible: compression.incompressible,
            not_taken: compression.not_taken,
            seconds: (compression.time_spent + whole.time_spent).as_secs_f64(),
            bundles: statistics.bundling.bundles,
            bundled: statistics.bundling.samples,
            batches: statistics.batches,
        };
        let sent = self.participant.diagnostics().sent.1;
        self.written.wire_bytes = sent - self.wire_bytes_before;
    }

    fn report(&mut self) -> Result<(), Failure> {
        if self.reported_at.elapsed() < REPORT_PERIOD {
            return Ok(());
        }
        self.reported_at = Instant::now();
        self.count();
        tell(&Report::Writing(self.written))
    }
}
