//! One writer that compresses, in bundles or not, read by every product at the same time: each gets
//! everything as it was written, and those that know how get it compressed.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::cases::{Arrival, Pair, Peer};
use super::child::Child;
use super::command::{command_of, program};
use super::outcome::{Outcome, Verdict};
use super::samples;

/// Its name in the table.
pub(crate) const NAME: &str = "compressed-among-all";

/// A domain of its own, above those of the cases.
const DOMAIN: u32 = 103;

/// How long one way may take: longer than the peers' own timeout.
const PATIENCE: Duration = Duration::from_secs(40);

/// Who reads, besides the reader in the writer's own process.
const READERS: [Peer; 4] = [
    Peer::Cyclone,
    Peer::CyclonePy,
    Peer::FastDds,
    Peer::Whimbrel,
];

/// What all peers are told.
const BOTH: &str = "--timeout-s 30 --type keyless --keep-all --linger-ms 200";

/// How many samples, and what the writer does with them: they leave in bundles, alone, or in
/// fragments.
const WAYS: [(u32, &str); 5] = [
    (300, "--size 3000 --compress zlib --bundle 20000"),
    (300, "--size 200 --compress lz4 --bundle 1400"),
    (
        300,
        "--size 600 --compress zlib --bundle 20000 --faults 100 --fault-seed 1",
    ),
    (300, "--size 1200 --compress lz4"),
    (30, "--size 200000 --compress zlib"),
];

/// Plays all ways.
pub(crate) fn judge(peers_dir: &Path) -> Outcome {
    let begin = Instant::now();
    let played = WAYS.iter().enumerate().try_for_each(|(at, (count, way))| {
        let outcome = play(peers_dir, (at, *count), way);
        outcome.map_err(|why| format!("{way}: {why}"))
    });
    Outcome {
        case: NAME,
        pair: Pair::to(Peer::Whimbrel),
        verdict: played.map_or_else(Verdict::Failed, |()| Verdict::Passed),
        took: begin.elapsed(),
    }
}

fn play(peers_dir: &Path, (at, count): (usize, u32), way: &str) -> Result<(), String> {
    let start = |peer: Peer, does: &str| {
        let topic = format!("interop_{}_mixed_{at}", std::process::id());
        let own = if peer.is_whimbrel() {
            "--until-eof"
        } else {
            ""
        };
        let text = format!("{does} --topic {topic} --domain {DOMAIN} {BOTH} --count {count} {own}");
        let mut words = program(peer, peers_dir)?;
        words.extend(text.split_whitespace().map(str::to_owned));
        Child::start(command_of(words), peer.leaves_on_request())
    };
    let wanted = READERS.len();
    let does = format!("pub --period-ms 0 --wait-matched {wanted} --beside {way}");
    let mut writer = start(Peer::Whimbrel, &does)?;
    let readers = READERS.map(|peer| start(peer, "sub").map(|child| (peer.name(), child)));
    let mut readers = readers.into_iter().collect::<Result<Vec<_>, _>>()?;
    let end = Instant::now() + PATIENCE;
    // It fails where nothing left compressed, or no bundles did.
    finish("writer", &mut writer, end)?;
    for (name, reader) in &mut readers {
        finish(name, reader, end)?;
        samples::compare(&writer.lines(), &reader.lines(), Arrival::All)
            .map_err(|why| format!("{name}: {why}"))?;
    }
    Ok(())
}

/// Waits until a peer has ended well.
fn finish(name: &str, child: &mut Child, end: Instant) -> Result<(), String> {
    loop {
        match child.ended().map(|it| it.success()) {
            Some(true) => return Ok(()),
            None if Instant::now() < end => thread::sleep(Duration::from_millis(5)),
            _ => return Err(format!("{name}: {}", child.last_words())),
        }
    }
}
