//! Whether multicast that leaves by an interface comes back by it.

use std::time::{Duration, Instant};

use whimbrel::DomainParticipant;
use whimbrel::base::guid::Guid;
use whimbrel::domain::{DomainParticipantBuilder, Interface};

use crate::bus;
use crate::failure::Failure;
use crate::options::BusOptions;
use crate::stop;

/// How long an announcement may take to come back.
const PATIENCE: Duration = Duration::from_millis(800);

/// What became of the announcements of one interface.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Echo {
    pub(super) interface: String,
    pub(super) came_back: bool,
}

/// Announces a participant of its own on each multicast interface, in a part of the domain that
/// nobody else joins, and looks whether it hears itself.
pub(super) fn test(options: &BusOptions, used: &[Interface]) -> Result<Vec<Echo>, Failure> {
    let started = Instant::now();
    let candidates = used.iter().filter(|it| it.is_multicast);
    let probes: Vec<_> = candidates
        .filter_map(|it| Some((it.name.clone(), probe(options, it)?)))
        .collect();
    let heard = |it: &DomainParticipant| it.diagnostics().discovery.own_heard > 0;
    while started.elapsed() < PATIENCE && !probes.iter().all(|(_, probe)| heard(probe)) {
        stop::sleep_until(Instant::now() + Duration::from_millis(20))?;
    }
    let echo = |(interface, probe): &(String, DomainParticipant)| Echo {
        interface: interface.clone(),
        came_back: heard(probe),
    };
    Ok(probes.iter().map(echo).collect())
}

/// A participant of a part of the domain that nobody else joins; it looks for nobody.
pub(super) fn aside(options: &BusOptions) -> Result<DomainParticipantBuilder, Failure> {
    let none: [String; 0] = [];
    let builder = bus::builder(options, "doctor's multicast test")?
        .peers(none)
        .loopback_probing(false)
        .domain_tag(format!("whimbrel doctor {}", std::process::id()));
    Ok(builder)
}

fn probe(options: &BusOptions, interface: &Interface) -> Option<DomainParticipant> {
    let participant = aside(options)
        .ok()?
        .interfaces(&interface.name)
        .announce_period(whimbrel::Duration::from_millis(200))
        .build()
        .ok()?;
    debug_assert_ne!(participant.guid(), Guid::UNKNOWN);
    Some(participant)
}
