//! One setting: who said it, and how it is shown.

use std::fmt;

use whimbrel_net::interfaces::InterfaceFilter;

use super::super::environment::{Environment, Variable};
use super::super::values::{self, Fault, Peer};
use crate::error::Error;

/// Who said what a setting is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SettingSource {
    /// Nobody.
    Default,
    /// This variable of the environment.
    Environment(&'static str),
    /// The program, by [`crate::domain::DomainParticipantBuilder`].
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

/// A value and where it comes from.
#[derive(Clone, Copy, Debug)]
pub(in crate::domain) struct Sourced<T> {
    pub(in crate::domain) value: T,
    pub(super) source: SettingSource,
}

impl<T> Sourced<T> {
    pub(super) fn of_builder(value: Option<T>, default: T) -> Self {
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

/// What the program said, else the environment, else the type's default.
pub(super) fn either<T: Default>(
    said: Option<T>,
    environment: &Environment,
    variable: Variable,
    read: fn(&str) -> Result<T, Fault>,
) -> Result<Sourced<T>, Error> {
    either_or(said, environment, variable, read, T::default())
}

/// What the program said, else the environment, else `default`.
pub(super) fn either_or<T>(
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
pub(super) fn off_unless(
    said: Option<bool>,
    environment: &Environment,
    variable: Variable,
) -> Result<Sourced<bool>, Error> {
    either_or(said, environment, variable, values::switch, false)
}

/// As [`off_unless`], else on.
pub(super) fn on_unless(
    said: Option<bool>,
    environment: &Environment,
    variable: Variable,
) -> Result<Sourced<bool>, Error> {
    either_or(said, environment, variable, values::switch, true)
}

pub(super) fn said<T>(
    name: &str,
    text: &str,
    read: fn(&str) -> Result<T, Fault>,
) -> Result<T, Error> {
    read(text).map_err(|fault| refuse(name, text, &fault))
}

pub(super) fn peers_said(texts: &[String]) -> Result<Vec<Peer>, Error> {
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

pub(super) fn of_variable<T>(
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

pub(super) fn plain<T>(
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

pub(super) fn on_or_off(on: &bool) -> String {
    if *on { "on" } else { "off" }.into()
}

pub(super) fn interfaces_text(filter: &InterfaceFilter) -> String {
    let text = filter.to_string();
    if text.is_empty() { "all".into() } else { text }
}

pub(super) fn peers_text(peers: &[Peer]) -> String {
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

/// Octets of a buffer.
pub(super) fn buffer_text(bytes: &Option<usize>) -> String {
    bytes.map_or_else(|| "system".into(), |it| it.to_string())
}
