//! The public API on loopback.

mod exchange;
mod raw;

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use whimbrel::{DdsType, DomainParticipant};

/// Long enough for a loaded machine; nothing here waits that long unless it fails.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(DdsType, Clone, Debug, PartialEq)]
struct Position {
    #[dds(key)]
    vehicle: String,
    x: i32,
    y: i32,
}

#[derive(DdsType, Clone, Debug, PartialEq)]
struct Blob {
    number: u32,
    bytes: Vec<u8>,
}

/// Two participants alone in a part of the domain that no other test shares.
fn pair() -> (DomainParticipant, DomainParticipant) {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let tag = format!(
        "it-{}-{}",
        std::process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    );
    let join = || {
        let builder = DomainParticipant::builder(77)
            .domain_tag(&tag)
            .interfaces("lo");
        builder.build().unwrap()
    };
    (join(), join())
}

fn position(vehicle: &str, x: i32) -> Position {
    Position {
        vehicle: vehicle.into(),
        x,
        y: -x,
    }
}
