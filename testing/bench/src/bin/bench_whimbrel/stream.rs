//! A stream of samples as fast as it goes.

use std::sync::Arc;

use whimbrel::qos::ResourceLimits;
use whimbrel::{DataReaderQos, DataWriterQos, DomainParticipant, Duration, StatusKind};
use whimbrel_bench::protocol::{option, serve_lines};
use whimbrel_bench::stream::{Arrivals, Burst, Count, is_reliable};

use crate::ends::{Msg, PATIENCE};

/// Payloads above this many octets are large: few of them are kept.
const LARGE_BYTES: usize = 100_000;

pub(crate) fn write(domain: u32, mode: &str, words: &[String]) -> Result<(), String> {
    let size: usize = option(words, "--size")?.parse().map_err(|_| "bad size")?;
    let readers: usize = option(words, "--number")?
        .parse()
        .map_err(|_| "bad number")?;
    let reliable = is_reliable(mode)?;
    let open = || {
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
        writer.wait_for_matched(readers, PATIENCE)?;
        Ok(writer)
    };
    let writer = open().map_err(|error: whimbrel::Error| error.to_string())?;
    let mut sample = Msg {
        seq: 0,
        payload: vec![0x55; size],
    };
    serve_lines(|line| {
        let burst: Burst = line.parse()?;
        let sent = burst.run(|| {
            sample.seq += 1;
            writer.write(&sample).is_ok()
        });
        if reliable {
            let done = writer.wait_for_acknowledgments(PATIENCE);
            done.map_err(|error| format!("acknowledgments: {error}"))?;
        }
        Ok(sent.to_string())
    })
}

pub(crate) fn read(domain: u32, mode: &str, words: &[String]) -> Result<(), String> {
    let size: usize = option(words, "--size")?.parse().map_err(|_| "bad size")?;
    let reliable = is_reliable(mode)?;
    let arrivals = Arc::new(Arrivals::default());
    let open = || {
        let participant = DomainParticipant::new(domain)?;
        let topic = participant.create_topic::<Msg>("stream")?;
        // A bounded history, so that a slow reader holds back the writer.
        let limits = ResourceLimits {
            max_samples: if size > LARGE_BYTES { 64 } else { 4000 }.into(),
            ..ResourceLimits::default()
        };
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
    let _reader = open().map_err(|error: whimbrel::Error| error.to_string())?;
    serve_lines(|_| Ok(arrivals.take().to_string()))
}
