//! The settings in force: what the program said, else the environment, else the default.

use std::fmt::Display;
use std::ops::RangeInclusive;

use whimbrel_base::guid::GuidPrefix;
use whimbrel_base::limits::Limits;
use whimbrel_base::time::Duration;
use whimbrel_net::interfaces::InterfaceFilter;
use whimbrel_proto::ParticipantConfig;

use super::environment::{
    AUTOMATIC_BUNDLING, BATCHED_RECEIVE, BATCHED_SEND, BULK_SOCKET, CONNECTED_SOCKETS,
    DISCOVERY_RATE, DOMAIN, Environment, IN_PROCESS, INTERFACES, IP, LOG, MESSAGE_BYTES,
    MULTICAST_DATA, PACKET_BYTES, PEERS, PROCESSOR_COUNTER, RECEIVE_BUFFER, RECEIVE_CREDIT,
    SEGMENTATION_OFFLOAD, SEND_BUFFER, STATISTICS, WAITING,
};
use super::in_process::InProcess;
use super::ip::IpVersions;
use super::offload::SegmentationOffload;
use super::values::{self, Peer};
use super::waiting::Waiting;
use crate::driver::network::{
    DataGroup, PACKET_BYTES_MAX, RECEIVE_BUFFER_BYTES, SEND_BUFFER_BYTES,
};
use crate::driver::ports;
use crate::error::Error;

mod sourced;

pub(super) use sourced::Sourced;
pub use sourced::{Setting, SettingSource};

use sourced::{
    buffer_text, either, either_or, interfaces_text, of_variable, off_unless, on_or_off, on_unless,
    peers_said, peers_text, plain, said,
};

/// Shortest lease of a participant.
const LEASE_MIN: Duration = Duration::from_millis(100);

/// Shortest time between announcements.
const PERIOD_MIN: Duration = Duration::from_millis(10);

const DURATION: &str = "a span of time";
const SWITCH: &str = "on or off";
const TEXT: &str = "any text";

/// What the program said, if anything.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    pub(super) domain: Option<u32>,
    pub(super) domain_tag: Option<String>,
    pub(super) name: Option<String>,
    pub(super) interfaces: Option<String>,
    pub(super) peers: Option<Vec<String>>,
    pub(super) ip: Option<IpVersions>,
    pub(super) in_process: Option<InProcess>,
    pub(super) multicast: Option<bool>,
    pub(super) data_group: Option<DataGroup>,
    pub(super) loopback_probing: Option<bool>,
    pub(super) waiting: Option<Waiting>,
    pub(super) lease: Option<Duration>,
    pub(super) announce_period: Option<Duration>,
    pub(super) unserved_patience: Option<Duration>,
    pub(super) discovery_bytes_per_s_max: Option<u64>,
    pub(super) message_bytes_max: Option<usize>,
    pub(super) packet_bytes_max: Option<u32>,
    pub(super) segmentation_offload: Option<SegmentationOffload>,
    pub(super) automatic_bundling: Option<bool>,
    pub(super) connected_sockets: Option<bool>,
    pub(super) batched_receive: Option<bool>,
    pub(super) batched_send: Option<bool>,
    pub(super) receive_credit: Option<bool>,
    pub(super) bulk_socket: Option<bool>,
    pub(super) processor_counter: Option<bool>,
    pub(super) receive_buffer_bytes: Option<Option<usize>>,
    pub(super) send_buffer_bytes: Option<Option<usize>>,
    pub(super) statistics: Option<bool>,
    pub(super) log: Option<bool>,
    pub(super) limits: Option<Limits>,
}

/// All settings that have variables or defaults.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) domain: Sourced<u32>,
    pub(super) domain_tag: Sourced<String>,
    pub(super) name: Sourced<String>,
    pub(super) interfaces: Sourced<InterfaceFilter>,
    pub(super) peers: Sourced<Vec<Peer>>,
    pub(super) ip: Sourced<IpVersions>,
    pub(super) in_process: Sourced<InProcess>,
    pub(super) multicast: Sourced<bool>,
    pub(super) data_group: Sourced<DataGroup>,
    pub(super) loopback_probing: Sourced<bool>,
    pub(super) waiting: Sourced<Waiting>,
    pub(super) lease: Sourced<Duration>,
    pub(super) announce_period: Sourced<Duration>,
    pub(super) unserved_patience: Sourced<Duration>,
    pub(super) discovery_bytes_per_s_max: Sourced<u64>,
    pub(super) message_bytes_max: Sourced<usize>,
    pub(super) packet_bytes_max: Sourced<u32>,
    pub(super) segmentation_offload: Sourced<SegmentationOffload>,
    pub(super) automatic_bundling: Sourced<bool>,
    pub(super) connected_sockets: Sourced<bool>,
    pub(super) batched_receive: Sourced<bool>,
    pub(super) batched_send: Sourced<bool>,
    pub(super) receive_credit: Sourced<bool>,
    pub(super) bulk_socket: Sourced<bool>,
    pub(super) processor_counter: Sourced<bool>,
    pub(super) receive_buffer_bytes: Sourced<Option<usize>>,
    pub(super) send_buffer_bytes: Sourced<Option<usize>>,
    pub(super) statistics: Sourced<bool>,
    pub(super) log: Sourced<bool>,
    pub(super) limits: Sourced<Limits>,
}

impl Settings {
    /// # Errors
    /// Values that make no sense, whether or not another takes their place.
    pub(super) fn resolve(asked: &Asked, environment: &Environment) -> Result<Self, Error> {
        environment.check()?;
        let defaults = ParticipantConfig::new(GuidPrefix::UNKNOWN, 0);
        let interfaces = asked.interfaces.as_deref();
        let interfaces = interfaces.map(|text| said("interfaces", text, values::interfaces));
        let interfaces = interfaces.transpose()?;
        let peers = asked.peers.as_deref().map(peers_said);
        let [receive_buffer_bytes, send_buffer_bytes] = buffers(asked, environment)?;
        let [bundles, connects, receives, sends, credit, bulk, counter] =
            switches(asked, environment)?;
        let patience = defaults.unserved_patience;
        let settings = Self {
            domain: either(asked.domain, environment, DOMAIN, values::domain)?,
            domain_tag: Sourced::of_builder(asked.domain_tag.clone(), String::new()),
            name: Sourced::of_builder(asked.name.clone(), String::new()),
            interfaces: either(interfaces, environment, INTERFACES, values::interfaces)?,
            peers: either(peers.transpose()?, environment, PEERS, values::peers)?,
            ip: either(asked.ip, environment, IP, values::ip)?,
            in_process: either(
                asked.in_process,
                environment,
                IN_PROCESS,
                values::in_process,
            )?,
            multicast: Sourced::of_builder(asked.multicast, true),
            data_group: either_or(
                asked.data_group,
                environment,
                MULTICAST_DATA,
                values::data_group,
                DataGroup::Off,
            )?,
            loopback_probing: Sourced::of_builder(asked.loopback_probing, true),
            waiting: either(asked.waiting, environment, WAITING, values::waiting)?,
            lease: Sourced::of_builder(asked.lease, defaults.lease),
            announce_period: Sourced::of_builder(asked.announce_period, defaults.announce_period),
            unserved_patience: Sourced::of_builder(asked.unserved_patience, patience),
            discovery_bytes_per_s_max: either_or(
                asked.discovery_bytes_per_s_max,
                environment,
                DISCOVERY_RATE,
                values::discovery_rate,
                defaults.discovery_bytes_per_s_max,
            )?,
            message_bytes_max: message_bytes(asked, environment, defaults.message_bytes_max)?,
            packet_bytes_max: packet_bytes(asked, environment)?,
            segmentation_offload: offload(asked, environment)?,
            automatic_bundling: bundles,
            connected_sockets: connects,
            batched_receive: receives,
            batched_send: sends,
            receive_credit: credit,
            bulk_socket: bulk,
            processor_counter: counter,
            receive_buffer_bytes,
            send_buffer_bytes,
            statistics: off_unless(asked.statistics, environment, STATISTICS)?,
            log: either_or(asked.log, environment, LOG, values::log, true)?,
            limits: Sourced::of_builder(asked.limits, Limits::DEFAULT),
        };
        settings.checked()
    }

    /// # Errors
    /// Values that make no sense.
    fn checked(self) -> Result<Self, Error> {
        let domain = self.domain.value;
        if domain > ports::DOMAIN_MAX {
            return Err(Error::BadParameter(format!(
                "domain {domain} has no ports; domains go from 0 to {}",
                ports::DOMAIN_MAX
            )));
        }
        if let DataGroup::At(group) = self.data_group.value
            && !group.is_multicast()
        {
            return Err(Error::BadParameter(format!(
                "multicast_data={group} is no multicast address"
            )));
        }
        let waiting = self.waiting.value;
        if matches!(waiting, Waiting::Automatic { budget } if budget > Waiting::BUDGET_MAX) {
            return Err(Error::BadParameter(format!(
                "waiting={waiting}: the budget must be at most {:?}",
                Waiting::BUDGET_MAX
            )));
        }
        let (lease, period) = (self.lease.value, self.announce_period.value);
        if period < PERIOD_MIN || lease < LEASE_MIN || period > lease.divided_by(2) {
            return Err(Error::BadParameter(format!(
                "a lease of {lease} with an announcement every {period}: the lease must be at \
                 least {LEASE_MIN}, the period at least {PERIOD_MIN} and at most half the lease"
            )));
        }
        let rate = self.discovery_bytes_per_s_max.value;
        if rate < values::DISCOVERY_BYTES_PER_S_MIN {
            return Err(Error::BadParameter(format!(
                "discovery_bytes_per_s_max={rate}: at least {} octets per second",
                values::DISCOVERY_BYTES_PER_S_MIN
            )));
        }
        let (message, packet) = (self.message_bytes_max.value, self.packet_bytes_max.value);
        within("message_bytes_max", message, &values::MESSAGE_BYTES)?;
        within("packet_bytes_max", packet, &values::PACKET_BYTES)?;
        for (name, bytes) in [
            ("receive_buffer_bytes", self.receive_buffer_bytes.value),
            ("send_buffer_bytes", self.send_buffer_bytes.value),
        ] {
            if bytes.is_some_and(|it| !values::BUFFER_BYTES.contains(&it)) {
                return Err(Error::BadParameter(format!(
                    "{name}={}: {}",
                    buffer_text(&bytes),
                    super::environment::BUFFER
                )));
            }
        }
        Ok(self)
    }

    /// All of them, for people.
    pub(super) fn list(&self) -> Vec<Setting> {
        let domain = DOMAIN;
        let mut list = vec![
            of_variable("domain", &self.domain, domain, u32::to_string),
            plain("domain_tag", &self.domain_tag, TEXT, |it| it.clone()),
            plain("name", &self.name, TEXT, |it| it.clone()),
            of_variable("interfaces", &self.interfaces, INTERFACES, interfaces_text),
            of_variable("peers", &self.peers, PEERS, |it| peers_text(it)),
            of_variable("ip", &self.ip, IP, IpVersions::to_string),
            of_variable(
                "in_process",
                &self.in_process,
                IN_PROCESS,
                InProcess::to_string,
            ),
            plain("multicast", &self.multicast, SWITCH, on_or_off),
            of_variable(
                "multicast_data",
                &self.data_group,
                MULTICAST_DATA,
                ToString::to_string,
            ),
            plain(
                "loopback_probing",
                &self.loopback_probing,
                SWITCH,
                on_or_off,
            ),
            of_variable("waiting", &self.waiting, WAITING, Waiting::to_string),
            plain("lease", &self.lease, DURATION, Duration::to_string),
            plain(
                "announce_period",
                &self.announce_period,
                "a span of time, at most half the lease",
                Duration::to_string,
            ),
            plain(
                "unserved_patience",
                &self.unserved_patience,
                DURATION,
                Duration::to_string,
            ),
            of_variable(
                "discovery_bytes_per_s_max",
                &self.discovery_bytes_per_s_max,
                DISCOVERY_RATE,
                u64::to_string,
            ),
        ];
        list.extend(self.list_sending());
        list.extend([
            of_variable("statistics", &self.statistics, STATISTICS, on_or_off),
            of_variable("log", &self.log, LOG, |aloud| {
                if *aloud { "warn" } else { "off" }.into()
            }),
        ]);
        list.extend(self.list_limits());
        list
    }

    fn list_sending(&self) -> [Setting; 12] {
        [
            of_variable(
                "message_bytes_max",
                &self.message_bytes_max,
                MESSAGE_BYTES,
                usize::to_string,
            ),
            of_variable(
                "packet_bytes_max",
                &self.packet_bytes_max,
                PACKET_BYTES,
                u32::to_string,
            ),
            of_variable(
                "segmentation_offload",
                &self.segmentation_offload,
                SEGMENTATION_OFFLOAD,
                ToString::to_string,
            ),
            of_variable(
                "automatic_bundling",
                &self.automatic_bundling,
                AUTOMATIC_BUNDLING,
                on_or_off,
            ),
            of_variable(
                "connected_sockets",
                &self.connected_sockets,
                CONNECTED_SOCKETS,
                on_or_off,
            ),
            of_variable(
                "batched_receive",
                &self.batched_receive,
                BATCHED_RECEIVE,
                on_or_off,
            ),
            of_variable("batched_send", &self.batched_send, BATCHED_SEND, on_or_off),
            of_variable(
                "receive_credit",
                &self.receive_credit,
                RECEIVE_CREDIT,
                on_or_off,
            ),
            of_variable("bulk_socket", &self.bulk_socket, BULK_SOCKET, on_or_off),
            of_variable(
                "processor_counter",
                &self.processor_counter,
                PROCESSOR_COUNTER,
                on_or_off,
            ),
            of_variable(
                "receive_buffer_bytes",
                &self.receive_buffer_bytes,
                RECEIVE_BUFFER,
                buffer_text,
            ),
            of_variable(
                "send_buffer_bytes",
                &self.send_buffer_bytes,
                SEND_BUFFER,
                buffer_text,
            ),
        ]
    }

    fn list_limits(&self) -> impl Iterator<Item = Setting> {
        let defaults = Limits::DEFAULT.entries();
        let limits = self.limits.value.entries();
        limits.into_iter().zip(defaults).map(|(entry, default)| {
            let source = if entry == default {
                SettingSource::Default
            } else {
                self.limits.source
            };
            Setting {
                name: entry.0,
                value: entry.1.to_string(),
                source,
                variable: None,
                allowed: "a number",
            }
        })
    }
}

/// # Errors
/// The value of `name` is outside.
fn within<N: PartialOrd + Display>(
    name: &str,
    value: N,
    allowed: &RangeInclusive<N>,
) -> Result<(), Error> {
    if allowed.contains(&value) {
        return Ok(());
    }
    let (from, to) = (allowed.start(), allowed.end());
    Err(Error::BadParameter(format!(
        "{name}={value}: from {from} to {to} octets"
    )))
}

/// Whether samples leave together by themselves, whether sockets connect, receive and send many
/// datagrams by one call, and heed receive buffers, whether parts of large samples have a socket of
/// their own, and whether time is kept by the processor's counter.
fn switches(asked: &Asked, environment: &Environment) -> Result<[Sourced<bool>; 7], Error> {
    let of = |asked, variable| on_unless(asked, environment, variable);
    Ok([
        of(asked.automatic_bundling, AUTOMATIC_BUNDLING)?,
        of(asked.connected_sockets, CONNECTED_SOCKETS)?,
        of(asked.batched_receive, BATCHED_RECEIVE)?,
        of(asked.batched_send, BATCHED_SEND)?,
        of(asked.receive_credit, RECEIVE_CREDIT)?,
        of(asked.bulk_socket, BULK_SOCKET)?,
        of(asked.processor_counter, PROCESSOR_COUNTER)?,
    ])
}

fn message_bytes(
    asked: &Asked,
    environment: &Environment,
    default: usize,
) -> Result<Sourced<usize>, Error> {
    either_or(
        asked.message_bytes_max,
        environment,
        MESSAGE_BYTES,
        values::message_bytes,
        default,
    )
}

fn packet_bytes(asked: &Asked, environment: &Environment) -> Result<Sourced<u32>, Error> {
    either_or(
        asked.packet_bytes_max,
        environment,
        PACKET_BYTES,
        values::packet_bytes,
        PACKET_BYTES_MAX,
    )
}

fn offload(
    asked: &Asked,
    environment: &Environment,
) -> Result<Sourced<SegmentationOffload>, Error> {
    either_or(
        asked.segmentation_offload,
        environment,
        SEGMENTATION_OFFLOAD,
        values::offload,
        SegmentationOffload::default(),
    )
}

/// The wanted sizes of receive and send buffers.
fn buffers(asked: &Asked, environment: &Environment) -> Result<[Sourced<Option<usize>>; 2], Error> {
    let of = |asked, variable, default| {
        either_or(
            asked,
            environment,
            variable,
            values::buffer_bytes,
            Some(default),
        )
    };
    Ok([
        of(
            asked.receive_buffer_bytes,
            RECEIVE_BUFFER,
            RECEIVE_BUFFER_BYTES,
        )?,
        of(asked.send_buffer_bytes, SEND_BUFFER, SEND_BUFFER_BYTES)?,
    ])
}

#[cfg(test)]
mod tests;
