//! How a participant is set up.

use std::env;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use whimbrel_base::guid::GuidPrefix;
use whimbrel_base::limits::Limits;
use whimbrel_base::locator::Locator;
use whimbrel_base::qos::DomainParticipantQos;
use whimbrel_base::time::Duration;
use whimbrel_base::vendor::VendorId;
use whimbrel_net::capture::CaptureWriter;
use whimbrel_net::decorate::{CaptureTap, Faults, Tap};
use whimbrel_net::interfaces::{self, Interface, InterfaceFilter};
use whimbrel_proto::ParticipantConfig;

use super::participant::{DomainParticipant, ParticipantInner};
use crate::driver::network::{Families, Network};
use crate::driver::participant::ParticipantCore;
use crate::driver::ports;
use crate::driver::sockets::Sockets;
use crate::driver::warning::Warnings;
use crate::error::Error;

/// Shortest lease of a participant.
const LEASE_MIN: Duration = Duration::from_millis(100);

/// Shortest time between announcements.
const PERIOD_MIN: Duration = Duration::from_millis(10);

/// Participant indices that peers given without a port are asked for.
const PROBED_INDICES: u32 = 32;

/// Which IP versions a participant uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum IpVersions {
    /// IPv4 only, which every implementation understands.
    #[default]
    V4,
    /// IPv6 only.
    V6,
    /// Both.
    Both,
}

impl FromStr for IpVersions {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text.trim() {
            "4" => Ok(Self::V4),
            "6" => Ok(Self::V6),
            "46" | "64" => Ok(Self::Both),
            other => Err(Error::BadParameter(format!(
                "IP version {other:?} is none of \"4\", \"6\" and \"46\" (check WHIMBREL_IP)"
            ))),
        }
    }
}

/// Settings of a participant, before it joins its domain.
///
/// What is not set here comes from the environment: `WHIMBREL_INTERFACES` (names, globs, networks,
/// separated by commas, `!` excludes), `WHIMBREL_PEERS` (addresses with or without port, separated
/// by commas), `WHIMBREL_IP` (`4`, `6` or `46`).
#[derive(Debug)]
pub struct DomainParticipantBuilder {
    domain: u32,
    name: String,
    qos: DomainParticipantQos,
    interfaces: Option<String>,
    peers: Option<Vec<String>>,
    ip: Option<IpVersions>,
    multicast: bool,
    probing: bool,
    lease: Duration,
    announce_period: Duration,
    unserved_patience: Duration,
    domain_tag: String,
    capture: Option<PathBuf>,
    faults: Option<(u16, u16, u64)>,
    limits: Limits,
}

impl DomainParticipant {
    /// Joins `domain` with default settings.
    ///
    /// # Errors
    /// As [`DomainParticipantBuilder::build`].
    pub fn new(domain: u32) -> Result<Self, Error> {
        Self::builder(domain).build()
    }

    /// Settings for a participant of `domain`.
    pub fn builder(domain: u32) -> DomainParticipantBuilder {
        DomainParticipantBuilder::new(domain)
    }
}

impl DomainParticipantBuilder {
    fn new(domain: u32) -> Self {
        let defaults = ParticipantConfig::new(GuidPrefix::UNKNOWN, domain);
        Self {
            domain,
            name: String::new(),
            qos: DomainParticipantQos::default(),
            interfaces: None,
            peers: None,
            ip: None,
            multicast: true,
            probing: true,
            lease: defaults.lease,
            announce_period: defaults.announce_period,
            unserved_patience: defaults.unserved_patience,
            domain_tag: String::new(),
            capture: None,
            faults: None,
            limits: Limits::DEFAULT,
        }
    }

    /// A name for people, shown by tools.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// QoS of the participant.
    #[must_use]
    pub fn qos(mut self, qos: DomainParticipantQos) -> Self {
        self.qos = qos;
        self
    }

    /// Which network interfaces to use, as in `WHIMBREL_INTERFACES`; all usable ones by default.
    #[must_use]
    pub fn interfaces(mut self, filter: impl Into<String>) -> Self {
        self.interfaces = Some(filter.into());
        self
    }

    /// Hosts to announce this participant to, for networks without multicast: IP addresses, with
    /// a port or without. Those without are asked on the ports of participant indices 0 to 31: one
    /// with a higher index, or on another port, is found only by its own announcements, or with its
    /// port given.
    #[must_use]
    pub fn peers<I: IntoIterator<Item: Into<String>>>(mut self, peers: I) -> Self {
        self.peers = Some(peers.into_iter().map(Into::into).collect());
        self
    }

    /// Which IP versions to use.
    #[must_use]
    pub fn ip(mut self, ip: IpVersions) -> Self {
        self.ip = Some(ip);
        self
    }

    /// Whether to use multicast where it exists; on by default.
    #[must_use]
    pub fn multicast(mut self, yes: bool) -> Self {
        self.multicast = yes;
        self
    }

    /// Whether to look for participants on the well-known ports of this host; on by default. Those
    /// are the ports of 120 participant indices: of two participants one must have such a port to
    /// be found, so those that came when all were taken meet each other by multicast or peers only.
    #[must_use]
    pub fn loopback_probing(mut self, yes: bool) -> Self {
        self.probing = yes;
        self
    }

    /// How long others keep this participant without hearing of it; 10 s by default.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// Time between announcements; 3 s by default.
    #[must_use]
    pub fn announce_period(mut self, period: Duration) -> Self {
        self.announce_period = period;
        self
    }

    /// How long a new reader may be without a writer before that is a [`super::Warning`]; 5 s by
    /// default.
    #[must_use]
    pub fn unserved_patience(mut self, patience: Duration) -> Self {
        self.unserved_patience = patience;
        self
    }

    /// Makes a domain within the domain: only participants with the same tag meet.
    /// RTPS 2.5 §8.5.3.2.
    #[must_use]
    pub fn domain_tag(mut self, tag: impl Into<String>) -> Self {
        self.domain_tag = tag.into();
        self
    }

    /// Writes everything sent and received to a pcapng file.
    #[must_use]
    pub fn capture(mut self, file: impl Into<PathBuf>) -> Self {
        self.capture = Some(file.into());
        self
    }

    /// Drops and repeats outgoing datagrams, so and so many of a thousand, as a bad network would:
    /// for tests and demonstrations.
    #[must_use]
    pub fn faults(mut self, drop_per_mille: u16, duplicate_per_mille: u16, seed: u64) -> Self {
        self.faults = Some((drop_per_mille, duplicate_per_mille, seed));
        self
    }

    /// Caps on what peers can make this participant hold.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Joins the domain.
    ///
    /// # Errors
    /// A domain over 232, settings that make no sense or name no interface, QoS that does not
    /// exist yet, or an operating system without interfaces, sockets, threads or randomness.
    pub fn build(self) -> Result<DomainParticipant, Error> {
        if self.domain > ports::DOMAIN_MAX {
            return Err(Error::BadParameter(format!(
                "domain {} has no ports; domains go from 0 to {}",
                self.domain,
                ports::DOMAIN_MAX
            )));
        }
        self.check_times()?;
        self.qos.check()?;
        self.qos.check_supported()?;
        let filter = self.interface_filter()?;
        let existing = interfaces::list().map_err(Error::io("listing network interfaces"))?;
        let interfaces = self.select_interfaces(&filter, &existing)?;
        let ip = self.ip_versions()?;
        let network = Network {
            domain: self.domain,
            loopback_only: filter.is_loopback_only(&existing),
            filter,
            multicast: self.multicast,
            probing: self.probing,
            families: Families {
                v4: ip != IpVersions::V6,
                v6: ip != IpVersions::V4,
            },
            peers: self.peer_locators()?,
            tap: self.tap()?,
            faults: self
                .faults
                .map(|(drop_per_mille, duplicate_per_mille, seed)| Faults {
                    drop_per_mille,
                    duplicate_per_mille,
                    seed,
                }),
        };
        let sockets =
            Sockets::open(&network, &interfaces).map_err(Error::io("opening UDP sockets"))?;
        let warnings = Warnings::new(true);
        let core = ParticipantCore::start(self.config()?, sockets, network, interfaces, warnings)
            .map_err(Error::io("starting the participant"))?;
        let inner = ParticipantInner::new(core, self.domain, self.name, self.qos);
        Ok(DomainParticipant {
            inner: Arc::new(inner),
        })
    }

    fn check_times(&self) -> Result<(), Error> {
        let (lease, period) = (self.lease, self.announce_period);
        if period < PERIOD_MIN || lease < LEASE_MIN || period > lease.divided_by(2) {
            return Err(Error::BadParameter(format!(
                "a lease of {lease} with an announcement every {period}: the lease must be at \
                 least {LEASE_MIN}, the period at least {PERIOD_MIN} and at most half the lease"
            )));
        }
        Ok(())
    }

    fn interface_text(&self) -> Option<String> {
        let text = self
            .interfaces
            .clone()
            .or_else(|| env::var("WHIMBREL_INTERFACES").ok())?;
        let text = text.trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    fn interface_filter(&self) -> Result<InterfaceFilter, Error> {
        match self.interface_text() {
            None => Ok(InterfaceFilter::default()),
            Some(text) => text
                .parse()
                .map_err(|error| Error::BadParameter(format!("interfaces {text:?}: {error}"))),
        }
    }

    fn select_interfaces(
        &self,
        filter: &InterfaceFilter,
        existing: &[Interface],
    ) -> Result<Vec<Interface>, Error> {
        let refused = |nothing: interfaces::NothingSelected| match self.interface_text() {
            Some(_) => Error::BadParameter(nothing.to_string()),
            // Nobody asked for any; this host has none.
            None => Error::PreconditionNotMet(nothing.to_string()),
        };
        Ok(filter.select(existing).map_err(refused)?.interfaces)
    }

    fn ip_versions(&self) -> Result<IpVersions, Error> {
        match (self.ip, env::var("WHIMBREL_IP")) {
            (Some(ip), _) => Ok(ip),
            (None, Ok(text)) if !text.trim().is_empty() => text.parse(),
            (None, _) => Ok(IpVersions::default()),
        }
    }

    fn tap(&self) -> Result<Option<Arc<dyn Tap>>, Error> {
        let Some(path) = &self.capture else {
            return Ok(None);
        };
        let what = format!("writing the capture {}", path.display());
        let file = std::fs::File::create(path).map_err(Error::io(what.clone()))?;
        let writer = CaptureWriter::new(io::BufWriter::new(file)).map_err(Error::io(what))?;
        Ok(Some(Arc::new(CaptureTap::new(writer))))
    }

    fn config(&self) -> Result<ParticipantConfig, Error> {
        let mut random = [0u8; 20];
        getrandom::fill(&mut random).map_err(|error| {
            Error::io("asking the system for randomness")(io::Error::other(error))
        })?;
        let (prefix, seed) = random.split_at(12);
        let mut config = ParticipantConfig::new(guid_prefix(prefix), self.domain);
        config.seed = seed
            .iter()
            .fold(0, |sum, byte| (sum << 8) | u64::from(*byte));
        config.domain_tag.clone_from(&self.domain_tag);
        config.name.clone_from(&self.name);
        config.user_data.clone_from(&self.qos.user_data.value);
        config.properties = host_properties();
        config.lease = self.lease;
        config.announce_period = self.announce_period;
        config.unserved_patience = self.unserved_patience;
        config.limits = self.limits;
        Ok(config)
    }

    fn peer_locators(&self) -> Result<Vec<Locator>, Error> {
        let peers = self.peers.clone().unwrap_or_else(|| {
            let text = env::var("WHIMBREL_PEERS").unwrap_or_default();
            text.split(',').map(str::to_owned).collect()
        });
        let mut locators = Vec::new();
        for peer in peers
            .iter()
            .map(|peer| peer.trim())
            .filter(|peer| !peer.is_empty())
        {
            if let Ok(addr) = peer.parse::<SocketAddr>() {
                locators.push(addr.into());
            } else if let Ok(ip) = peer.parse::<IpAddr>() {
                let port = |index| ports::unicast(self.domain, index);
                let all = (0..PROBED_INDICES)
                    .map(|index| Locator::from(SocketAddr::new(ip, port(index))));
                locators.extend(all);
            } else {
                return Err(Error::BadParameter(format!(
                    "peer {peer:?} is not an IP address, with or without port"
                )));
            }
        }
        Ok(locators)
    }
}

/// Vendor first, as the standard asks; the rest is random. RTPS 2.5 §9.3.1.5.
fn guid_prefix(random: &[u8]) -> GuidPrefix {
    let mut prefix = [0; 12];
    for (to, from) in prefix.iter_mut().zip(random) {
        *to = *from;
    }
    prefix[..2].copy_from_slice(&VendorId::WHIMBREL.0);
    GuidPrefix(prefix)
}

fn host_properties() -> Vec<(String, String)> {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname")
        .ok()
        .or_else(|| env::var("HOSTNAME").ok())
        .unwrap_or_default();
    let program = env::current_exe()
        .ok()
        .and_then(|path| {
            path.file_name()
                .map(|name| name.to_string_lossy().into_owned())
        })
        .unwrap_or_default();
    [
        ("dds.sys_info.hostname", host.trim().to_owned()),
        ("dds.sys_info.process_id", std::process::id().to_string()),
        ("dds.sys_info.executable_filepath", program),
    ]
    .into_iter()
    .filter(|(_, value)| !value.is_empty())
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}
