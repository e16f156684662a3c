//! A stream of samples as fast as it goes.

use std::sync::Arc;
use std::time::Duration as StdDuration;

use whimbrel::qos::ResourceLimits;
use whimbrel::{DataReaderQos, DataWriterQos, DomainParticipant, Duration, Error, StatusKind};
use whimbrel_bench::protocol::serve_lines;
use whimbrel_bench::stream::{Arrivals, Burst, Count, is_reliable};

use super::ends::{Msg, PATIENCE, Sample};
use super::words::number;

/// Samples that a reader holds: a slow one holds back a reliable writer.
const HELD_MAX: u32 = 4000;

pub(super) fn write(domain: u32, mode: &str, words: &[String]) -> Result<(), String> {
    let mut sample = Sample::new(words)?.of(number(words, "--size")?)?;
    let reliable = is_reliable(mode)?;
    let open = || -> Result<_, Error> {
        let participant = DomainParticipant::new(domain)?;
        let topic = participant.create_topic::<Msg>("stream")?;
        let qos = DataWriterQos::default().keep_all();
        let qos = if reliable {
            qos.reliable()
        } else {
            qos.best_effort()
        };
        let qos = qos.max_blocking_time(Duration::from_secs(1));
        let writer = participant.create_datawriter(&topic, qos)?;
        writer.wait_for_matched(1, PATIENCE)?;
        Ok(writer)
    };
    let writer = open().map_err(|error| error.to_string())?;
    serve_lines(|line| {
        let burst: Burst = line.parse()?;
        let sent = burst.run(|| {
            sample.seq = sample.seq.wrapping_add(1);
            writer.write(&sample).is_ok()
        });
        if reliable {
            let done = writer.wait_for_acknowledgments(PATIENCE * 3);
            done.map_err(|error| format!("acknowledgments: {error}"))?;
        } else {
            std::thread::sleep(StdDuration::from_millis(50));
        }
        Ok(sent.to_string())
    })
}

pub(super) fn read(domain: u32, mode: &str) -> Result<(), String> {
    let reliable = is_reliable(mode)?;
    let arrivals = Arc::new(Arrivals::default());
    let open = || -> Result<_, Error> {
        let participant = DomainParticipant::new(domain)?;
        let topic = participant.create_topic::<Msg>("stream")?;
        let limits = ResourceLimits::UNLIMITED.max_samples(HELD_MAX);
        let qos = DataReaderQos::default().keep_all().resource_limits(limits);
        let qos = if reliable {
            qos.reliable()
        } else {
            qos.best_effort()
        };
        let reader = participant.create_datareader(&topic, qos)?;
        let count = Count(Arc::clone(&arrivals));
        reader.set_listener(Some(Box::new(count)), StatusKind::DataAvailable);
        Ok(reader)
    };
    let _reader = open().map_err(|error| error.to_string())?;
    serve_lines(|_| Ok(arrivals.take().to_string()))
}
