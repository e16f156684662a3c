//! Joining the bus, and knowing who is who on it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use whimbrel::DomainParticipant;
use whimbrel::base::guid::{Guid, GuidPrefix};
use whimbrel::domain::{DiscoveredParticipant, DomainParticipantBuilder};

use crate::failure::Failure;
use crate::options::BusOptions;
use crate::output::clean;
use crate::stop;

/// Nothing new for this long means that everybody has been heard.
const QUIET: Duration = Duration::from_millis(700);

/// Others get at least this long to answer.
const LOOK_MIN: Duration = Duration::from_millis(1200);

/// Where news never end, this is enough.
const LOOK_MAX: Duration = Duration::from_secs(4);

/// Settings of a participant that does `what`.
pub(crate) fn builder(
    options: &BusOptions,
    what: &str,
) -> Result<DomainParticipantBuilder, Failure> {
    let mut builder = DomainParticipantBuilder::default().name(format!("whimbrel {what}"));
    if let Some(domain) = options.domain {
        builder = builder.domain(domain);
    }
    if let Some(tag) = &options.tag {
        builder = builder.domain_tag(tag);
    }
    if let Some(interfaces) = &options.interfaces {
        builder = builder.interfaces(interfaces);
    }
    if !options.peer.is_empty() {
        builder = builder.peers(&options.peer);
    }
    if let Some(ip) = &options.ip {
        builder = builder.ip(ip.parse()?);
    }
    Ok(builder)
}

/// Joins the domain to do `what`.
pub(crate) fn join(options: &BusOptions, what: &str) -> Result<DomainParticipant, Failure> {
    Ok(builder(options, what)?.build()?)
}

/// Joins the domain and looks around.
pub(crate) fn look(options: &BusOptions, what: &str) -> Result<DomainParticipant, Failure> {
    let participant = join(options, what)?;
    settle(&participant, options.wait)?;
    Ok(participant)
}

/// Waits for `wait`, or until discovery brings nothing new.
fn settle(participant: &DomainParticipant, wait: Option<Duration>) -> Result<(), Failure> {
    if let Some(wait) = wait {
        return stop::sleep_until(Instant::now() + wait);
    }
    let started = Instant::now();
    while started.elapsed() < LOOK_MAX {
        let known = size(participant);
        let news = stop::within(QUIET, |slice| {
            participant.wait_for_discovery(slice, |it| size(it) != known)
        })?;
        if !news && started.elapsed() >= LOOK_MIN {
            break;
        }
    }
    Ok(())
}

fn size(participant: &DomainParticipant) -> (usize, usize, usize) {
    (
        participant.discovered_participants().len(),
        participant.discovered_writers().len(),
        participant.discovered_readers().len(),
    )
}

/// The participants of the bus by identity.
pub(crate) struct Directory {
    ours: GuidPrefix,
    others: BTreeMap<GuidPrefix, DiscoveredParticipant>,
}

impl Directory {
    pub(crate) fn of(participant: &DomainParticipant) -> Self {
        let others = participant.discovered_participants().into_iter();
        Self {
            ours: participant.guid().prefix,
            others: others.map(|it| (it.guid.prefix, it)).collect(),
        }
    }

    /// Where an endpoint lives: the host's name, or else its address.
    pub(crate) fn host(&self, guid: Guid) -> String {
        if guid.prefix == self.ours {
            return "this process".into();
        }
        let Some(found) = self.others.get(&guid.prefix) else {
            return "unknown".into();
        };
        match (&found.host, found.address.ip()) {
            (Some(host), _) => clean(host),
            (None, Some(ip)) => ip.to_string(),
            (None, None) => "unknown".into(),
        }
    }

    /// Which implementation an endpoint runs.
    pub(crate) fn vendor(&self, guid: Guid) -> String {
        let found = self.others.get(&guid.prefix);
        found.map_or_else(|| "Whimbrel".into(), |it| vendor_name(it.vendor))
    }
}

/// A vendor's name, or its number where we know none.
pub(crate) fn vendor_name(vendor: whimbrel::base::vendor::VendorId) -> String {
    match vendor.name() {
        "unknown" => format!("vendor {:02x}{:02x}", vendor.0[0], vendor.0[1]),
        name => name.to_owned(),
    }
}
