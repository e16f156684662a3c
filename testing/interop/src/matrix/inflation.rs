//! tshark inflates what a writer compressed with ZLIB: it must find what was written.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use whimbrel::domain::InProcess;
use whimbrel::qos::{Bundling, CompressionIds};
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

/// Octets of samples: all fit a datagram, as tshark inflates no fragments.
const SAMPLE_BYTES: [usize; 8] = [100, 101, 102, 103, 1000, 5000, 20_000, 60_000];

/// What tshark is asked for of each packet.
const FIELDS: [&str; 3] = [
    "rtps.param.compression_class_id",
    "rtps.param.uncompressed_serialized_length",
    "rtps.issueData",
];

/// ZLIB among the classes.
const ZLIB: &str = "1";

/// tshark shows as many octets of what it inflates as there are compressed ones: at least this
/// share of all must be among them, or little was compared.
const SHOWN_PERCENT_MIN: usize = 40;

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
    let outcome = capture(&file).and_then(|sent| compare(&file, &sent));
    let _ = std::fs::remove_file(&file);
    let verdict = match outcome {
        Ok(summary) => {
            println!("inflation: {summary}");
            Verdict::Passed
        }
        Err(why) => Verdict::Failed(why),
    };
    Outcome {
        case: NAME,
        pair: Pair::to(Peer::Whimbrel),
        verdict,
        took: begin.elapsed(),
    }
}

/// Has samples written and captured; what they were.
fn capture(file: &Path) -> Result<Vec<Blob>, String> {
    let samples: Vec<Blob> = (1..)
        .zip(SAMPLE_BYTES)
        .map(|(number, bytes)| Blob::new(number, bytes))
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
        let writer = here.create_datawriter(&here.create_topic::<Blob>("blobs")?, qos)?;
        let qos = DataReaderQos::default().reliable().keep_all();
        let topic = there.create_topic::<Blob>("blobs")?;
        let _reader = there.create_datareader(&topic, qos)?;
        writer.wait_for_matched(1, PATIENCE)?;
        samples.iter().try_for_each(|it| writer.write(it))?;
        writer.wait_for_acknowledgments(PATIENCE)
    };
    exchange().map_err(|error| error.to_string())?;
    Ok(samples)
}

fn compare(file: &Path, sent: &[Blob]) -> Result<String, String> {
    let mut tshark = Command::new("tshark");
    tshark
        .arg("-r")
        .arg(file)
        .args(["-Y", FIELDS[0], "-T", "fields"]);
    tshark.args(FIELDS.iter().flat_map(|field| ["-e", field]));
    let text = tool(&mut tshark)?;
    let seen: Vec<&str> = text.lines().collect();
    if seen.len() != sent.len() {
        return Err(format!("{} compressed of {}", seen.len(), sent.len()));
    }
    let (mut shown, mut all) = (0, 0);
    for (line, sent) in seen.iter().zip(sent) {
        let plain = sent.plain();
        shown += check(line, &plain).map_err(|why| format!("sample {}: {why}", sent.number))?;
        all += plain.len();
    }
    if shown * 100 < all * SHOWN_PERCENT_MIN {
        return Err(format!("only {shown} of {all} octets were compared"));
    }
    Ok(format!(
        "{} samples, {shown} of {all} octets as tshark inflates them",
        sent.len()
    ))
}

/// How many octets of `plain` a line of tshark's shows, all of them the same.
fn check(line: &str, plain: &[u8]) -> Result<usize, String> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [ZLIB, length, hex] = fields[..] else {
        return Err(format!("not inflated: {line:.80}"));
    };
    if length.parse() != Ok(plain.len()) {
        return Err(format!("{length} octets instead of {}", plain.len()));
    }
    let octets: Option<Vec<u8>> = (0..hex.len() / 2)
        .map(|at| u8::from_str_radix(hex.get(2 * at..2 * at + 2)?, 16).ok())
        .collect();
    let octets = octets.filter(|it| !it.is_empty());
    let octets = octets.ok_or_else(|| format!("no octets: {hex:.80}"))?;
    match plain.starts_with(&octets) {
        true => Ok(octets.len()),
        false => Err("tshark finds other octets".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_seen() {
        let plain = Blob::new(7, 3).plain();
        assert_eq!(plain[..8], [7, 0, 0, 0, 3, 0, 0, 0]);
        assert_eq!(check("1\t11\t0700000003", &plain), Ok(5));
        for line in [
            "1\t11\t0700000004",
            "1\t12\t0700000003",
            "2\t11\t0700000003",
            "1\t11\t",
            "1\t11",
            "",
        ] {
            assert!(check(line, &plain).is_err(), "{line}");
        }
    }
}
