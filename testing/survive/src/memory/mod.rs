//! Memory stays flat: writes without end, keys that come and go, peers that join and leave.
//!
//! Each stage does the same thing again and again between two live participants on loopback, each
//! time until everything is acknowledged and taken. What the process holds at such stops must not
//! grow from the second third of them to the last; the first is the warm-up. Bursts come last: what
//! one of them took must be given back when it is over.

mod bursts;
mod gauge;
mod stages;

use crate::proof::{Figure, Proof, Share};

use gauge::Growth;

/// The row of this proof.
pub const PROOF: Proof = Proof {
    name: "memory",
    claim: "no memory is kept of writes, short-lived keys and peers that are over",
    run,
    child: None,
};

fn run(share: &Share) -> Figure {
    let stages = stages::STAGES;
    let parts = u32::try_from(stages.len()).unwrap_or(1);
    let bursts = if share.full { 10 } else { 2 };
    let mut texts = Vec::new();
    let mut held = true;
    for stage in stages {
        match stage.run(share.time / parts, share.full) {
            Ok((done, growth)) => {
                println!("{}: {done} {}; {growth}", stage.name, stage.what);
                held &= growth.is_flat(share.full);
                texts.push(format!("{done} {}: {growth}", stage.what));
            }
            Err(why) => {
                println!("{}: {why}", stage.name);
                held = false;
                texts.push(format!("{}: {why}", stage.name));
            }
        }
    }
    match bursts::run(bursts) {
        Ok((text, given_back)) => {
            println!("bursts: {text}");
            held &= given_back;
            texts.push(text);
        }
        Err(why) => {
            println!("bursts: {why}");
            held = false;
            texts.push(format!("bursts: {why}"));
        }
    }
    let resident_slack_bytes = if share.full {
        Growth::RESIDENT_SLACK_BYTES
    } else {
        Growth::RESIDENT_SLACK_SHORT_BYTES
    };
    let text = format!(
        "{}; bound +{} %, or {} KiB resident and {} KiB of heap where that is more",
        texts.join("; "),
        Growth::PERCENT_MAX,
        resident_slack_bytes >> 10,
        Growth::HEAP_SLACK_BYTES >> 10
    );
    Figure { text, held }
}
