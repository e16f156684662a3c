//! From settings to a running participant.

use std::env;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use whimbrel_base::guid::GuidPrefix;
use whimbrel_base::locator::Locator;
use whimbrel_base::qos::DomainParticipantQos;
use whimbrel_base::vendor::VendorId;
use whimbrel_net::capture::CaptureWriter;
use whimbrel_net::decorate::{CaptureTap, Tap};
use whimbrel_net::interfaces::{self, InterfaceFilter, NothingSelected, Selection};
use whimbrel_proto::ParticipantConfig;

use super::ip::IpVersions;
use super::settings::Settings;
use super::values::Peer;
use crate::driver::network::Families;
use crate::driver::ports;
use crate::error::Error;

/// Participant indices that peers given without a port are asked for.
const PROBED_INDICES: u32 = 32;

/// The interfaces that the filter chooses.
pub(super) fn select(filter: &InterfaceFilter) -> Result<Selection, Error> {
    let existing = interfaces::list().map_err(Error::io("listing network interfaces"))?;
    let refused = |nothing: NothingSelected| {
        if *filter == InterfaceFilter::default() {
            // Nobody asked for any; this host has none.
            Error::PreconditionNotMet(nothing.to_string())
        } else {
            Error::BadParameter(nothing.to_string())
        }
    };
    filter.select(&existing).map_err(refused)
}

/// Writes the file `path` with all that is sent and received.
pub(super) fn tap(path: &Path) -> Result<Arc<dyn Tap>, Error> {
    let what = format!("writing the capture {}", path.display());
    let file = std::fs::File::create(path).map_err(Error::io(what.clone()))?;
    // Not buffered: a process that is killed must leave whole packets.
    let writer = CaptureWriter::new(file).map_err(Error::io(what))?;
    Ok(Arc::new(CaptureTap::new(writer)))
}

/// What the control machine is told.
pub(super) fn config(
    settings: &Settings,
    qos: &DomainParticipantQos,
) -> Result<ParticipantConfig, Error> {
    let domain = settings.domain.value;
    let mut random = [0u8; 20];
    getrandom::fill(&mut random)
        .map_err(|error| Error::io("asking the system for randomness")(io::Error::other(error)))?;
    let (prefix, seed) = random.split_at(12);
    let mut config = ParticipantConfig::new(guid_prefix(prefix), domain);
    config.seed = seed
        .iter()
        .fold(0, |sum, byte| (sum << 8) | u64::from(*byte));
    config.domain_tag.clone_from(&settings.domain_tag.value);
    config.name.clone_from(&settings.name.value);
    config.user_data.clone_from(&qos.user_data.value);
    config.properties = host_properties();
    config.lease = settings.lease.value;
    config.announce_period = settings.announce_period.value;
    config.unserved_patience = settings.unserved_patience.value;
    config.discovery_bytes_per_s_max = settings.discovery_bytes_per_s_max.value;
    config.message_bytes_max = settings.message_bytes_max.value;
    config.limits = settings.limits.value;
    Ok(config)
}

/// The IP versions as the driver takes them.
pub(super) fn families(ip: IpVersions) -> Families {
    Families {
        v4: ip != IpVersions::V6,
        v6: ip != IpVersions::V4,
    }
}

/// Where the hosts to announce ourselves to listen.
pub(super) fn peer_locators(settings: &Settings) -> Vec<Locator> {
    let domain = settings.domain.value;
    let locators = |peer: &Peer| match *peer {
        Peer::Socket(addr) => vec![Locator::from(addr)],
        Peer::Host(ip) => {
            let port = |index| ports::unicast(domain, index);
            (0..PROBED_INDICES)
                .map(|index| SocketAddr::new(ip, port(index)).into())
                .collect()
        }
    };
    settings.peers.value.iter().flat_map(locators).collect()
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
