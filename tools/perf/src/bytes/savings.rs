//! What ZLIB saves of a log, line by line and in batches: of the payload by arithmetic, on the wire
//! by what a writer's sockets sent, with batches of the bus.

use std::time::Duration;

use whimbrel::domain::InProcess;
use whimbrel::qos::{Batch, Bundling, CompressionIds};
use whimbrel::{DataReaderQos, DataWriterQos, DdsType, DomainParticipant, Error};
use whimbrel_bench::goal::{Goal, Side};
use whimbrel_compress::{Codec, CodecKind, Level};
use whimbrel_payload::{LogLines, SEED};

use crate::failure::Failure;
use crate::stop;

/// Lines in a batch, and what was published of them in percent.
const PUBLISHED: [(usize, f64); 4] = [(1, 23.87), (2, 46.57), (5, 68.12), (10, 75.42)];
/// By how many percent of the payload a saving may fall short of what was published.
const SHORT_PERCENT: f64 = 2.0;
/// Lines of the seeded log.
const LINES: usize = 20_000;
/// Lines that travel, for what is on the wire.
const WIRE_LINES: usize = 3000;
/// Octets in front of a compressed block: encapsulation header and length.
const BLOCK_HEAD_BYTES: usize = 8;
/// Octets around a datagram: UDP 8, IPv4 20, Ethernet 14.
const PACKET_BYTES: u64 = 42;
/// The log that this project wrote itself.
const OWN_LOG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/whimbrel-demo.log");
/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// The sample of the benchmark.
#[derive(DdsType, Debug, Default)]
struct Line {
    text: String,
}

/// The goals of the seeded log; what is saved of the other is printed only.
pub(super) fn measure() -> Result<Vec<Goal>, Failure> {
    let seeded: Vec<String> = LogLines::new(SEED).take(LINES).collect();
    let mut goals = Vec::new();
    for (together, published) in PUBLISHED {
        stop::check()?;
        let payload = payload_saved(&seeded, together)?;
        let wire = wire_saved(&seeded, together).map_err(Failure::Broke)?;
        goals.push(Goal {
            name: format!("bytes.zlib-payload-saved-percent.batch-{together}"),
            measured: payload,
            at: format!("seeded log; {wire:.1} % on the wire, {published} % published"),
            side: Side::AtLeast,
            bound: published - SHORT_PERCENT,
        });
    }
    let text = std::fs::read_to_string(OWN_LOG)
        .map_err(|error| Failure::Setup(format!("{OWN_LOG}: {error}")))?;
    let own: Vec<String> = text.lines().map(|line| format!("{line}\n")).collect();
    for (together, _) in PUBLISHED {
        stop::check()?;
        let payload = payload_saved(&own, together)?;
        let wire = wire_saved(&own, together).map_err(Failure::Broke)?;
        println!(
            "bytes.own-log.batch-{together}: ZLIB saves {payload:.1} % of the payload, {wire:.1} % \
             on the wire"
        );
    }
    Ok(goals)
}

fn percent(before: u64, after: u64) -> f64 {
    100.0 - 100.0 * after as f64 / before.max(1) as f64
}

fn zlib() -> Result<Box<dyn Codec>, Failure> {
    let codec = CodecKind::Zlib.codec(Level::BEST);
    codec.ok_or_else(|| Failure::Setup("ZLIB is not built in".into()))
}

/// What is saved of the octets of so many `lines` at a time.
fn payload_saved(lines: &[String], together: usize) -> Result<f64, Failure> {
    let mut codec = zlib()?;
    let (mut before, mut after) = (0, 0);
    for group in lines.chunks(together) {
        let plain = group.concat().into_bytes();
        let mut out = vec![0; plain.len()];
        let packed = codec.compress(&plain, &mut out);
        let packed = packed.map_or(plain.len(), |it| it + BLOCK_HEAD_BYTES);
        before += plain.len() as u64;
        after += packed.min(plain.len()) as u64;
    }
    Ok(percent(before, after))
}

/// What is saved of all octets that a writer of batches of so many lines sends, headers, heartbeats
/// and what surrounds datagrams included.
fn wire_saved(lines: &[String], together: usize) -> Result<f64, String> {
    let lines = &lines[..lines.len().min(WIRE_LINES)];
    let plain = bytes_on_the_wire(lines, together, None).map_err(|it| it.to_string())?;
    let packed = bytes_on_the_wire(lines, together, Some(CompressionIds::ZLIB));
    Ok(percent(plain, packed.map_err(|it| it.to_string())?))
}

/// All octets that the sockets of a writer send for `lines`, so many in a batch, with headers,
/// heartbeats and what surrounds datagrams.
///
/// # Errors
/// What the bus says.
pub(crate) fn bytes_on_the_wire(
    lines: &[String],
    together: usize,
    codec: Option<CompressionIds>,
) -> Result<u64, Error> {
    // Another run on this host must not be heard.
    let thread = std::thread::current().id();
    let tag = format!("savings-{}-{thread:?}", std::process::id());
    let open = || {
        let builder = DomainParticipant::builder(84).interfaces("lo");
        builder.domain_tag(&tag).in_process(InProcess::Off).build()
    };
    let (writing, reading) = (open()?, open()?);
    let topic = |of: &DomainParticipant| of.create_topic::<Line>("lines");
    let reader = DataReaderQos::default().reliable().keep_all();
    let reader = reading.create_datareader(&topic(&reading)?, reader)?;
    let mut qos = DataWriterQos::default().reliable().keep_all();
    qos = match together {
        1 => qos.bundling(Bundling::Off),
        _ => qos.batch(Batch::of_samples(
            u32::try_from(together).unwrap_or(u32::MAX),
        )),
    };
    let compression = &mut qos.data_representation.compression;
    compression.compression_ids = codec;
    compression.writer_compression_threshold = Some(0);
    let writer = writing.create_datawriter(&topic(&writing)?, qos)?;
    writer.wait_for_matched(1, PATIENCE)?;
    let before = writing.diagnostics().sent;
    for line in lines {
        writer.write(&Line { text: line.clone() })?;
    }
    writer.flush();
    writer.wait_for_acknowledgments(PATIENCE)?;
    let after = writing.diagnostics().sent;
    let samples = reader.take(usize::MAX)?;
    let text: String = samples
        .iter()
        .filter_map(|it| it.data().map(|it| it.text.as_str()))
        .collect();
    assert_eq!(text, lines.concat(), "what was written arrives");
    Ok(after.1 - before.1 + PACKET_BYTES * (after.0 - before.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_save_more_on_both_sides_of_the_socket() {
        let lines: Vec<String> = LogLines::new(SEED).take(300).collect();
        let mut last = (0.0, 0.0);
        for together in [1, 10] {
            let payload = payload_saved(&lines, together).unwrap();
            let wire = wire_saved(&lines, together).unwrap();
            assert!(payload > last.0 && wire > last.1, "{payload} {wire}");
            last = (payload, wire);
        }
    }
}
