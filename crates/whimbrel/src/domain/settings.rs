//! The settings in force: what the program said, else the environment, else the default.

use std::fmt;

use whimbrel_base::guid::GuidPrefix;
use whimbrel_base::limits::Limits;
use whimbrel_base::time::Duration;
use whimbrel_net::interfaces::InterfaceFilter;
use whimbrel_proto::ParticipantConfig;

use super::environment::{
    CONNECTED_SOCKETS, DISCOVERY_RATE, DOMAIN, Environment, IN_PROCESS, INTERFACES, IP, LOG,
    MESSAGE_BYTES, MULTICAST_DATA, PEERS, SEGMENTATION_OFFLOAD, STATISTICS, Variable, WAITING,
};
use super::in_process::InProcess;
use super::ip::IpVersions;
use super::values::{self, Fault, Peer};
use super::waiting::Waiting;
use crate::driver::network::{DataGroup, Offload};
use crate::driver::ports;
use crate::error::Error;

/// Shortest lease of a participant.
const LEASE_MIN: Duration = Duration::from_millis(100);

/// Shortest time between announcements.
const PERIOD_MIN: Duration = Duration::from_millis(10);

const DURATION: &str = "a span of time";
const SWITCH: &str = "on or off";
const TEXT: &str = "any text";

/// Who said what a setting is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SettingSource {
    /// Nobody.
    Default,
    /// This variable of the environment.
    Environment(&'static str),
    /// The program, by [`super::DomainParticipantBuilder`].
    Builder,
}

impl fmt::Display for SettingSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Builder => f.write_str("builder"),
        }
    }
}

/// A setting as it is in force.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Setting {
    /// Its name: that of the builder's method, for limits that of the field.
    pub name: &'static str,
    /// Its value, for people.
    pub value: String,
    /// Who said so.
    pub source: SettingSource,
    /// The variable that sets it where the program does not.
    pub variable: Option<&'static str>,
    /// The values that make sense, in words.
    pub allowed: &'static str,
}

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
    pub(super) segmentation_offload: Option<Offload>,
    pub(super) connected_sockets: Option<bool>,
    pub(super) statistics: Option<bool>,
    pub(super) log: Option<bool>,
    pub(super) limits: Option<Limits>,
}

/// A value and where it comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sourced<T> {
    pub(super) value: T,
    source: SettingSource,
}

impl<T> Sourced<T> {
    fn of_builder(value: Option<T>, default: T) -> Self {
        match value {
            Some(value) => Self {
                value,
                source: SettingSource::Builder,
            },
            None => Self {
                value: default,
                source: SettingSource::Default,
            },
        }
    }
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
    pub(super) segmentation_offload: Sourced<Offload>,
    pub(super) connected_sockets: Sourced<bool>,
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
        let peers = asked.peers.as_deref().map(peers_said);
        let settings = Self {
            domain: either(asked.domain, environment, DOMAIN, values::domain)?,
            domain_tag: Sourced::of_builder(asked.domain_tag.clone(), String::new()),
            name: Sourced::of_builder(asked.name.clone(), String::new()),
            interfaces: either(
                interfaces.transpose()?,
                environment,
                INTERFACES,
                values::interfaces,
            )?,
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
            unserved_patience: Sourced::of_builder(
                asked.unserved_patience,
                defaults.unserved_patience,
            ),
            discovery_bytes_per_s_max: either_or(
                asked.discovery_bytes_per_s_max,
                environment,
                DISCOVERY_RATE,
                values::discovery_rate,
                defaults.discovery_bytes_per_s_max,
            )?,
            message_bytes_max: either_or(
                asked.message_bytes_max,
                environment,
                MESSAGE_BYTES,
                values::message_bytes,
                defaults.message_bytes_max,
            )?,
            segmentation_offload: either_or(
                asked.segmentation_offload,
                environment,
                SEGMENTATION_OFFLOAD,
                values::offload,
                Offload::default(),
            )?,
            connected_sockets: on_unless(asked.connected_sockets, environment, CONNECTED_SOCKETS)?,
            statistics: off_unless(asked.statistics, environment, STATISTICS)?,
            log: either_or(asked.log, environment, LOG, values::log, true)?,
            limits: Sourced::of_builder(asked.limits, Limits::DEFAULT),
        };
        settings.check()?;
        Ok(settings)
    }

    fn check(&self) -> Result<(), Error> {
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
        let message = self.message_bytes_max.value;
        if !values::MESSAGE_BYTES.contains(&message) {
            return Err(Error::BadParameter(format!(
                "message_bytes_max={message}: from {} to {} octets",
                values::MESSAGE_BYTES.start(),
                values::MESSAGE_BYTES.end()
            )));
        }
        Ok(())
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

    fn list_sending(&self) -> [Setting; 3] {
        [
            of_variable(
                "message_bytes_max",
                &self.message_bytes_max,
                MESSAGE_BYTES,
                usize::to_string,
            ),
            of_variable(
                "segmentation_offload",
                &self.segmentation_offload,
                SEGMENTATION_OFFLOAD,
                ToString::to_string,
            ),
            of_variable(
                "connected_sockets",
                &self.connected_sockets,
                CONNECTED_SOCKETS,
                on_or_off,
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

/// What the program said, else the environment, else the type's default.
fn either<T: Default>(
    said: Option<T>,
    environment: &Environment,
    variable: Variable,
    read: fn(&str) -> Result<T, Fault>,
) -> Result<Sourced<T>, Error> {
    either_or(said, environment, variable, read, T::default())
}

/// What the program said, else the environment, else `default`.
fn either_or<T>(
    said: Option<T>,
    environment: &Environment,
    variable: Variable,
    read: fn(&str) -> Result<T, Fault>,
    default: T,
) -> Result<Sourced<T>, Error> {
    match (said, environment.text(variable)) {
        (None, Some(text)) => Ok(Sourced {
            value: read(text).map_err(|fault| refuse(variable.name, text, &fault))?,
            source: SettingSource::Environment(variable.name),
        }),
        (said, _) => Ok(Sourced::of_builder(said, default)),
    }
}

/// What the program said, else the environment, else off.
fn off_unless(
    said: Option<bool>,
    environment: &Environment,
    variable: Variable,
) -> Result<Sourced<bool>, Error> {
    either_or(said, environment, variable, values::switch, false)
}

/// As [`off_unless`], else on.
fn on_unless(
    said: Option<bool>,
    environment: &Environment,
    variable: Variable,
) -> Result<Sourced<bool>, Error> {
    either_or(said, environment, variable, values::switch, true)
}

fn said<T>(name: &str, text: &str, read: fn(&str) -> Result<T, Fault>) -> Result<T, Error> {
    read(text).map_err(|fault| refuse(name, text, &fault))
}

fn peers_said(texts: &[String]) -> Result<Vec<Peer>, Error> {
    let texts = texts.iter().map(|text| text.trim());
    let read = |text: &str| {
        values::peer(text).ok_or_else(|| {
            Error::BadParameter(format!(
                "peer {text:?} is not an IP address, with or without port"
            ))
        })
    };
    texts.filter(|text| !text.is_empty()).map(read).collect()
}

fn refuse(name: &str, text: &str, fault: &Fault) -> Error {
    let Fault { at, what } = fault;
    Error::BadParameter(format!("{name}={text:?}: at character {at}: {what}"))
}

fn of_variable<T>(
    name: &'static str,
    sourced: &Sourced<T>,
    variable: Variable,
    text: impl Fn(&T) -> String,
) -> Setting {
    Setting {
        variable: Some(variable.name),
        ..plain(name, sourced, variable.allowed, text)
    }
}

fn plain<T>(
    name: &'static str,
    sourced: &Sourced<T>,
    allowed: &'static str,
    text: impl Fn(&T) -> String,
) -> Setting {
    Setting {
        name,
        value: text(&sourced.value),
        source: sourced.source,
        variable: None,
        allowed,
    }
}

fn on_or_off(on: &bool) -> String {
    if *on { "on" } else { "off" }.into()
}

fn interfaces_text(filter: &InterfaceFilter) -> String {
    let text = filter.to_string();
    if text.is_empty() { "all".into() } else { text }
}

fn peers_text(peers: &[Peer]) -> String {
    let text = |peer: &Peer| match peer {
        Peer::Socket(addr) => addr.to_string(),
        Peer::Host(ip) => ip.to_string(),
    };
    let texts: Vec<String> = peers.iter().map(text).collect();
    if texts.is_empty() {
        "none".into()
    } else {
        texts.join(",")
    }
}

#[cfg(test)]
mod tests;
