//! What the parent and its two processes agree on.

use std::time::Duration;

use whimbrel::{DomainParticipant, DomainParticipantBuilder};

use crate::failure::Failure;
use crate::options::DemoChild;
use crate::time;

/// The topic of the lines.
pub(super) const TOPIC: &str = "whimbrel/demo/log";

/// Lines per second of the steady part.
pub(super) const STEADY_RATE: u32 = 2000;

/// Lines at full speed, unless the file has more.
pub(super) const FAST_LINES_MAX: u64 = 100_000;

/// How long anything may take that takes no time when all is well.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// How long the two may take to find one another: where the one probe of this host's ports by which
/// they meet is among the datagrams that are lost, the next comes within 15 s.
pub(super) const MEETING_PATIENCE: Duration = Duration::from_secs(20);

/// Datagrams lost on purpose, of a thousand.
pub(super) const LOSS_PER_MILLE: u16 = 50;

/// How many lines the steady part has.
pub(super) fn steady_lines(time: Duration) -> u64 {
    let lines = time.as_secs_f64() * f64::from(STEADY_RATE);
    (lines as u64).max(1)
}

/// Joins the demo's part of the domain.
pub(super) fn join(args: &DemoChild, what: &str) -> Result<DomainParticipant, Failure> {
    let mut builder = DomainParticipantBuilder::default()
        .name(format!("whimbrel demo {what}"))
        .interfaces("lo")
        .statistics(true)
        .domain_tag(&args.domain_tag);
    if let Some(domain) = args.in_domain {
        builder = builder.domain(domain);
    }
    if args.bad_network {
        builder = builder.faults(LOSS_PER_MILLE, 0, time::now_ns());
    }
    Ok(builder.build()?)
}
