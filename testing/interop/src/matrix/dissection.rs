//! tshark reads everything that was captured: nothing we send may be malformed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::cases::{Pair, Peer};
use super::outcome::{Outcome, Verdict};
use super::shared::tool;

/// Its name in the table.
pub(crate) const NAME: &str = "dissection";

/// Cases without which the dissection would have too little to look at.
pub(crate) const NEEDS: &[&str] = &[
    "best-effort-reader",
    "1MiB-late",
    "late-joiner-newest",
    "xcdr2-appendable",
    "dispose",
    "unregister",
    "departure",
    "lossy",
    "lossy-1MiB",
    "lossy-newest",
];

/// Our vendor id as tshark prints it.
const VENDOR: &str = "0x0177";

/// Submessages that must be among what we sent, or nothing was proved. RTPS 2.5 §9.4.5.1.1.
const WANTED: &[(&str, &str)] = &[
    ("0x06", "ACKNACK"),
    ("0x07", "HEARTBEAT"),
    ("0x08", "GAP"),
    ("0x09", "INFO_TS"),
    ("0x0e", "INFO_DST"),
    ("0x12", "NACK_FRAG"),
    ("0x15", "DATA"),
    ("0x16", "DATA_FRAG"),
];

/// What tshark is asked for of each packet.
const FIELDS: &[&str] = &[
    "rtps.vendorId",
    "frame.number",
    "rtps.sm.id",
    "rtps.param.status_info",
    "_ws.malformed",
    "_ws.expert.severity",
    "_ws.expert.message",
];

/// Severities that fail: warnings, which is what tshark makes of most wrong lengths in RTPS, and
/// errors. No warning is known to be harmless.
const REFUSED: &[&str] = &["6291456", "8388608"];

/// Dissects the captures of a run.
pub(crate) fn judge(captures: &[PathBuf], work: &Path) -> Outcome {
    let begin = Instant::now();
    let verdict = match dissect(captures, work) {
        Ok(summary) => {
            println!("dissection: {summary}");
            Verdict::Passed
        }
        Err(why) => Verdict::Failed(why),
    };
    Outcome {
        case: NAME,
        pair: Pair {
            publisher: Peer::Whimbrel,
            subscriber: Peer::Whimbrel,
        },
        verdict,
        took: begin.elapsed(),
    }
}

fn dissect(captures: &[PathBuf], work: &Path) -> Result<String, String> {
    if captures.is_empty() {
        return Err("no captures: no case of this run made one".into());
    }
    let merged = work.join("all.pcapng");
    let mut merge = Command::new("mergecap");
    merge.arg("-w").arg(&merged).args(captures);
    tool(&mut merge)?;
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(&merged).args(["-Y", "rtps"]);
    tshark.args(["-T", "fields", "-E", "separator=|", "-E", "occurrence=a"]);
    tshark.args(FIELDS.iter().flat_map(|field| ["-e", field]));
    let text = tool(&mut tshark)?;
    let summary = summarize(&text)?;
    for file in captures.iter().chain([&merged]) {
        let _ = fs::remove_file(file);
    }
    Ok(format!("{} captures, {summary}", captures.len()))
}

/// Counts what we sent, and refuses the first packet of ours with an error or a warning.
fn summarize(text: &str) -> Result<String, String> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut packets = 0u64;
    let mut changes_of_state = 0u64;
    let mut errors = Vec::new();
    for line in text.lines() {
        let mut fields = line.splitn(FIELDS.len(), '|');
        let mut next = || fields.next().unwrap_or_default();
        let (vendor, frame, ids, status) = (next(), next(), next(), next());
        if !vendor.split(',').any(|it| it == VENDOR) {
            continue;
        }
        packets += 1;
        changes_of_state += u64::from(!status.is_empty());
        for id in ids.split(',').filter(|it| !it.is_empty()) {
            *counts.entry(id).or_default() += 1;
        }
        let (malformed, severity, message) = (next(), next(), next());
        if !malformed.is_empty() || severity.split(',').any(|it| REFUSED.contains(&it)) {
            errors.push(format!("frame {frame}: {malformed} {message}"));
        }
    }
    if let Some(first) = errors.first() {
        return Err(format!(
            "{} of {packets} packets in error, {first}",
            errors.len()
        ));
    }
    for (id, name) in WANTED {
        if !counts.contains_key(id) {
            return Err(format!(
                "no {name} among {packets} packets of ours: nothing proved"
            ));
        }
    }
    if changes_of_state == 0 {
        return Err("no status info among the packets of ours: nothing proved".into());
    }
    let counts: Vec<String> = WANTED
        .iter()
        .map(|(id, name)| format!("{name} {}", counts.get(id).copied().unwrap_or(0)))
        .collect();
    Ok(format!(
        "{packets} packets of ours, none malformed: {}, status info {changes_of_state}",
        counts.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "0x0177|1|0x09,0x15,0x07,0x0e|0x00000001|||\n\
                        0x0177|2|0x06,0x08,0x12,0x16||||\n\
                        0x0110|3|0x06||Malformed Packet|8388608|from others\n";

    /// What tshark says of a HEARTBEAT that states 20 octets.
    const WRONG_LENGTH: &str = "0x0177|1|0x0e,0x07,0x00|||6291456|(Error: should be >= 28)\n";

    /// Notes fail nothing: a dissector tells by them what it put together, for example.
    #[test]
    fn notes_are_accepted() {
        let note = format!("{GOOD}0x0177|6|0x15|||4194304|a note\n");
        assert!(summarize(&note).is_ok());
    }

    #[test]
    fn only_our_packets_count() {
        let summary = summarize(GOOD).unwrap();
        assert!(summary.starts_with("2 packets"), "{summary}");
    }

    #[test]
    fn errors_and_absences_are_refused() {
        let malformed = format!("{GOOD}0x0177|4|0x15||Malformed Packet||\n");
        assert!(summarize(&malformed).unwrap_err().contains("frame 4"));
        let error = format!("{GOOD}0x0177|5|0x15|||4194304,8388608|bad length\n");
        assert!(summarize(&error).unwrap_err().contains("bad length"));
        let warning = format!("{GOOD}{WRONG_LENGTH}");
        assert!(
            summarize(&warning)
                .unwrap_err()
                .contains("1 of 3 packets in error, frame 1:  (Error: should be >= 28)")
        );
        assert!(summarize("").is_err());
        let without = GOOD.replace("0x12,", "");
        assert!(summarize(&without).unwrap_err().contains("NACK_FRAG"));
    }
}
