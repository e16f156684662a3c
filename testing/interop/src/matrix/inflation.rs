//! tshark inflates what a writer compressed with ZLIB: it must find what was written.
//!
//! Of a lone sample, whole or put together of fragments, tshark 4.0 inflates all, but shows only as
//! many octets as the compressed form has: those are compared, and the length of all. Of batches it
//! shows every octet of every sample: there the comparison is whole, and the block is made by the
//! same codec.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use whimbrel::domain::InProcess;
use whimbrel::qos::{Batch, Bundling, CompressionIds};
use whimbrel::{DataReaderQos, DataWriterQos, DdsType, DomainParticipant, Error};

use super::cases::{Pair, Peer};
use super::outcome::{Outcome, Verdict};
use super::shared::tool;

/// Its name in the table.
pub(crate) const NAME: &str = "inflation";

/// A domain of its own, above those of the cases.
const DOMAIN: u32 = 104;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// ZLIB among the classes.
const ZLIB: &str = "1";

/// So much of lone samples must be among what is shown: half of each does not come again.
const SHOWN_PERCENT_MIN: usize = 40;

/// How samples leave, and what of it tshark shows.
struct Way {
    name: &'static str,
    batch: Option<Batch>,
    sample_bytes: &'static [usize],
    /// Which packets tell of a compressed whole.
    filter: &'static str,
    /// Where its octets are.
    field: &'static str,
}

const WAYS: [Way; 4] = [
    Way {
        name: "samples",
        batch: None,
        sample_bytes: &[100, 101, 102, 103, 1000, 5000, 20_000, 60_000],
        filter: "rtps.sm.id == 0x15 && rtps.param.compression_class_id",
        field: "rtps.issueData",
    },
    Way {
        name: "fragments",
        batch: None,
        // Their halves that do not come again fill more than two datagrams, and many.
        sample_bytes: &[300_000, 300_001, 1_000_003],
        filter: "rtps.reassembled.length",
        field: "rtps.issueData",
    },
    Way {
        name: "batches of one",
        batch: Some(Batch::of_samples(1)),
        sample_bytes: &[100, 101, 102, 103, 1000, 5000, 20_000, 59_000],
        filter: "rtps.sm.id == 0x18",
        field: "rtps.serialized_data",
    },
    Way {
        name: "batches of five",
        batch: Some(Batch::of_samples(5)),
        sample_bytes: &[100, 101, 102, 103, 104, 1000, 3000, 1001, 5000, 7],
        filter: "rtps.sm.id == 0x18",
        field: "rtps.serialized_data",
    },
];

#[derive(DdsType, Clone, PartialEq, Debug)]
#[dds(final)]
struct Blob {
    number: u32,
    bytes: Vec<u8>,
}

impl Blob {
    /// Half of it comes again.
    fn new(number: u32, bytes: usize) -> Self {
        let mut state = number.wrapping_mul(0x9e37_79b9) | 1;
        let mut noise = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        let bytes = (0..bytes).map(|at| if at % 16 < 8 { b'=' } else { noise() });
        Self {
            number,
            bytes: bytes.collect(),
        }
    }

    /// What it is in XCDR1, little-endian, without the encapsulation header.
    fn plain(&self) -> Vec<u8> {
        let len = self.bytes.len() as u32;
        let head = [self.number.to_le_bytes(), len.to_le_bytes()];
        [head.as_flattened(), &self.bytes].concat()
    }
}

/// Writes, captures and compares.
pub(crate) fn judge(work: &Path) -> Outcome {
    let begin = Instant::now();
    let file = work.join("inflation.pcapng");
    let played = WAYS.iter().try_for_each(|way| {
        let summary = capture(&file, way).and_then(|sent| compare(&file, way, &sent));
        let _ = std::fs::remove_file(&file);
        let name = way.name;
        println!(
            "inflation: {}",
            summary.map_err(|why| format!("{name}: {why}"))?
        );
        Ok(())
    });
    Outcome {
        case: NAME,
        pair: Pair::to(Peer::Whimbrel),
        verdict: played.map_or_else(Verdict::Failed, |()| Verdict::Passed),
        took: begin.elapsed(),
    }
}

/// Has samples written and captured; what they were.
fn capture(file: &Path, way: &Way) -> Result<Vec<Blob>, String> {
    let numbered = (1..).zip(way.sample_bytes);
    let samples: Vec<Blob> = numbered
        .map(|(number, bytes)| Blob::new(number, *bytes))
        .collect();
    let exchange = || -> Result<(), Error> {
        let join = || {
            let builder = DomainParticipant::builder(DOMAIN).interfaces("lo");
            builder.in_process(InProcess::Off)
        };
        let (here, there) = (join().capture(file).build()?, join().build()?);
        let mut qos = DataWriterQos::default().reliable().keep_all();
        qos = qos
            .compression_ids(CompressionIds::ZLIB)
            .bundling(Bundling::Off);
        qos = qos.writer_compression_threshold(Some(0));
        qos.batch = way.batch;
        let writer = here.create_datawriter(&here.create_topic::<Blob>("blobs")?, qos)?;
        let qos = DataReaderQos::default().reliable().keep_all();
        let topic = there.create_topic::<Blob>("blobs")?;
        let _reader = there.create_datareader(&topic, qos)?;
        writer.wait_for_matched(1, PATIENCE)?;
        samples.iter().try_for_each(|it| writer.write(it))?;
        writer.flush();
        writer.wait_for_acknowledgments(PATIENCE)
    };
    exchange().map_err(|error| error.to_string())?;
    as_connext(file).map_err(|error| error.to_string())?;
    Ok(samples)
}

/// Puts Connext's vendor number in place of ours: only of Connext does tshark read batches.
/// Everything else stays as it was sent.
fn as_connext(file: &Path) -> std::io::Result<()> {
    let mut octets = std::fs::read(file)?;
    let ours = b"RTPS\x02\x05\x01\x77";
    for at in 0..octets.len().saturating_sub(ours.len()) {
        if octets[at..].starts_with(ours) {
            octets[at + 7] = 0x01;
        }
    }
    std::fs::write(file, octets)
}

fn compare(file: &Path, way: &Way, sent: &[Blob]) -> Result<String, String> {
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(file);
    for setting in [
        "enable_rtps_reassembly:TRUE",
        "max_batch_samples_dissected:0",
    ] {
        tshark.args(["-o", &format!("rtps.{setting}")]);
    }
    tshark.args(["-Y", way.filter, "-T", "fields"]);
    for field in [
        "rtps.param.compression_class_id",
        "rtps.param.uncompressed_serialized_length",
        way.field,
    ] {
        tshark.args(["-e", field]);
    }
    let text = tool(&mut tshark)?;
    let mut sent = sent.iter().map(Blob::plain);
    let (mut wholes, mut shown, mut all) = (0, 0, 0);
    for line in text.lines() {
        let seen = Seen::read(line)?;
        let plain: Vec<Vec<u8>> = sent.by_ref().take(seen.parts.len()).collect();
        seen.check(&plain, way.batch.is_some())
            .map_err(|why| format!("whole {wholes}: {why}"))?;
        wholes += 1;
        shown += seen.parts.iter().map(Vec::len).sum::<usize>();
        all += plain.iter().map(Vec::len).sum::<usize>();
    }
    if way.batch.is_none() && shown * 100 < all * SHOWN_PERCENT_MIN {
        return Err(format!("only {shown} of {all} octets were compared"));
    }
    let left = sent.count();
    if left > 0 || wholes == 0 {
        return Err(format!("{left} samples are nowhere compressed"));
    }
    Ok(format!(
        "{}: {wholes} compressed, {shown} of {all} octets as tshark inflates them",
        way.name
    ))
}

/// Something compressed, as tshark shows it.
#[derive(PartialEq, Debug)]
struct Seen {
    /// Octets that it says it has.
    plain_bytes: usize,
    /// The octets of each sample that are shown.
    parts: Vec<Vec<u8>>,
}

impl Seen {
    fn read(line: &str) -> Result<Self, String> {
        let fields: Vec<&str> = line.split('\t').collect();
        let [class, length, octets] = fields[..] else {
            return Err(format!("not three fields: {line:.80}"));
        };
        // The first fragment says it of itself, and the sample again.
        if class.split(',').any(|it| it != ZLIB) {
            return Err(format!("not ZLIB: {line:.80}"));
        }
        let length = length.rsplit(',').next().unwrap_or_default();
        let unread = |_| format!("no length: {line:.80}");
        let parts = octets.split(',').map(octets_of).collect::<Option<_>>();
        Ok(Self {
            plain_bytes: length.parse().map_err(unread)?,
            parts: parts.ok_or_else(|| format!("no octets: {line:.80}"))?,
        })
    }

    /// The error unless it is `plain`: all of it, or as much as is shown.
    fn check(&self, plain: &[Vec<u8>], is_whole: bool) -> Result<(), String> {
        let bytes: usize = plain.iter().map(Vec::len).sum();
        if self.plain_bytes != bytes {
            return Err(format!("{} octets instead of {bytes}", self.plain_bytes));
        }
        let same = |(shown, plain): (&Vec<u8>, &Vec<u8>)| match is_whole {
            true => shown == plain,
            false => !shown.is_empty() && plain.starts_with(shown),
        };
        match self.parts.len() == plain.len() && self.parts.iter().zip(plain).all(same) {
            true => Ok(()),
            false => Err("tshark finds other octets".into()),
        }
    }
}

/// What hexadecimal digits say.
fn octets_of(hex: &str) -> Option<Vec<u8>> {
    let pair = |at| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
    (0..hex.len()).step_by(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_seen() {
        let plain = Blob::new(7, 3).plain();
        assert_eq!(plain[..8], [7, 0, 0, 0, 3, 0, 0, 0]);
        let check = |line: &str, is_whole| {
            let seen = Seen::read(line)?;
            seen.check(std::slice::from_ref(&plain), is_whole)
        };
        assert_eq!(check("1\t11\t0700000003", false), Ok(()));
        assert_eq!(check("1\t11\t07000000030000003d3d3d", true), Ok(()));
        for line in [
            "1\t11\t0700000004",
            "1\t12\t0700000003",
            "2\t11\t0700000003",
            "1\t11\t",
            "1\t11",
            "1\t11\t0700000003,07",
            "",
        ] {
            assert!(check(line, false).is_err(), "{line}");
        }
        assert!(check("1\t11\t0700000003", true).is_err());
    }
}
