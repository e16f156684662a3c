//! The same seed is the same bytes, on any machine.
//!
//! `pinned.txt` holds a hash of what the generators make of some seeds, and one of everything that
//! was sent when they were played: bytes, addresses and times. The first changes only with the
//! generators, the second with any behaviour of the protocol machines. Whoever changes one of them
//! on purpose writes the file anew and commits it with the change:
//!
//! ```sh
//! WHIMBREL_SIM_PIN=1 cargo test -p whimbrel-sim pinned
//! ```

use std::path::Path;

use whimbrel_sim::random::TrafficHash;
use whimbrel_sim::scenario::{Kind, Scenario};
use whimbrel_sim::world::play;

const KINDS: [Kind; 3] = [Kind::Given, Kind::Discovery, Kind::Wide];

fn scenarios_hash() -> u64 {
    let mut hash = TrafficHash::EMPTY;
    for kind in KINDS {
        for seed in 0..100 {
            hash.add_bytes(Scenario::of(kind, seed).to_string().as_bytes());
        }
    }
    hash.value()
}

fn traffic_hash() -> u64 {
    let mut hash = TrafficHash::EMPTY;
    for kind in KINDS {
        for seed in 0..12 {
            hash.add(play(&Scenario::of(kind, seed), false).hash);
        }
    }
    hash.value()
}

#[test]
fn seeds_are_pinned() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/pinned.txt");
    let now = format!(
        "scenarios {:016x}\ntraffic {:016x}\n",
        scenarios_hash(),
        traffic_hash()
    );
    if std::env::var_os("WHIMBREL_SIM_PIN").is_some() {
        std::fs::write(&file, &now).expect("pinned.txt is written");
    }
    let pinned = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(now, pinned, "see the head of determinism.rs");
}
