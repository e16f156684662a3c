//! Reading the values of settings, with the place of what is wrong.

use std::fmt::Display;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::str::FromStr;

use whimbrel_net::interfaces::InterfaceFilter;

use super::in_process::InProcess;
use super::ip::IpVersions;
use super::nearest::nearest;
use super::offload::SegmentationOffload;
use super::waiting::Waiting;
use crate::driver::network::DataGroup;
use crate::driver::ports;
use crate::error::Error;

/// What is wrong with a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Fault {
    /// The first character at fault, counted from 1.
    pub(super) at: usize,
    /// What is wrong there.
    pub(super) what: String,
}

/// A host to announce ourselves to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Peer {
    /// On this port.
    Socket(SocketAddr),
    /// On the well-known ports of the first participants.
    Host(IpAddr),
}

/// The terms of a list that commas separate, each with the place where it starts.
fn terms(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 1;
    text.split(',').filter_map(move |part| {
        let blanks = part.chars().take_while(|c| c.is_whitespace()).count();
        let at = start + blanks;
        start += part.chars().count() + 1;
        let term = part.trim();
        (!term.is_empty()).then_some((at, term))
    })
}

pub(super) fn domain(text: &str) -> Result<u32, Fault> {
    let number = text.trim().parse::<u32>().ok();
    number
        .filter(|number| *number <= ports::DOMAIN_MAX)
        .ok_or_else(|| Fault {
            at: 1,
            what: format!("{text:?} is not a domain"),
        })
}

/// Least rate of discovery, in octets per second: an announcement takes some hundred.
pub(super) const DISCOVERY_BYTES_PER_S_MIN: u64 = 1000;

pub(super) fn discovery_rate(text: &str) -> Result<u64, Fault> {
    let number = text.trim().parse::<u64>().ok();
    number
        .filter(|number| *number >= DISCOVERY_BYTES_PER_S_MIN)
        .ok_or_else(|| Fault {
            at: 1,
            what: format!("{text:?} is not a rate of at least {DISCOVERY_BYTES_PER_S_MIN}"),
        })
}

/// What a message may be limited to: what every host takes, to what fits a datagram.
pub(super) const MESSAGE_BYTES: RangeInclusive<usize> = 508..=65_507;

/// What the buffer of a socket may be told to be, in octets.
pub(super) const BUFFER_BYTES: RangeInclusive<usize> = 4096..=1 << 30;

/// What packets to other hosts may be limited to: what every host takes, to the largest there are.
pub(super) const PACKET_BYTES: RangeInclusive<u32> = 576..=65_535;

pub(super) fn message_bytes(text: &str) -> Result<usize, Fault> {
    octets(text, &MESSAGE_BYTES)
}

pub(super) fn packet_bytes(text: &str) -> Result<u32, Fault> {
    octets(text, &PACKET_BYTES)
}

fn octets<N: FromStr + PartialOrd + Display>(
    text: &str,
    allowed: &RangeInclusive<N>,
) -> Result<N, Fault> {
    let number = text.trim().parse::<N>().ok();
    number
        .filter(|number| allowed.contains(number))
        .ok_or_else(|| Fault {
            at: 1,
            what: format!(
                "{text:?} is not a number of octets from {} to {}",
                allowed.start(),
                allowed.end()
            ),
        })
}

pub(super) fn interfaces(text: &str) -> Result<InterfaceFilter, Fault> {
    for (at, term) in terms(text) {
        term.parse::<InterfaceFilter>().map_err(|error| Fault {
            at,
            what: error.to_string(),
        })?;
    }
    text.parse::<InterfaceFilter>().map_err(|error| Fault {
        at: 1,
        what: error.to_string(),
    })
}

pub(super) fn peers(text: &str) -> Result<Vec<Peer>, Fault> {
    let read = |(at, term): (usize, &str)| {
        peer(term).ok_or_else(|| Fault {
            at,
            what: format!("{term:?} is not an IP address, with or without port"),
        })
    };
    terms(text).map(read).collect()
}

pub(super) fn peer(text: &str) -> Option<Peer> {
    let socket = text.parse().map(Peer::Socket).ok();
    socket.or_else(|| text.parse().map(Peer::Host).ok())
}

pub(super) fn ip(text: &str) -> Result<IpVersions, Fault> {
    text.parse().map_err(|error: Error| Fault {
        at: 1,
        what: error.to_string(),
    })
}

pub(super) fn waiting(text: &str) -> Result<Waiting, Fault> {
    text.parse().map_err(|_: Error| Fault {
        at: 1,
        what: Waiting::unknown(text),
    })
}

pub(super) fn in_process(text: &str) -> Result<InProcess, Fault> {
    text.parse().map_err(|error: Error| Fault {
        at: 1,
        what: error.to_string(),
    })
}

/// Whether warnings are said on standard error.
pub(super) fn log(text: &str) -> Result<bool, Fault> {
    one_of(text, ("warn", true), ("off", false), "log level")
}

/// Whether something is done at all.
pub(super) fn switch(text: &str) -> Result<bool, Fault> {
    one_of(
        text,
        ("on", true),
        ("off", false),
        "switch: it is on or off",
    )
}

/// By which group new samples come.
pub(super) fn data_group(text: &str) -> Result<DataGroup, Fault> {
    let group = |text: &str| text.parse().ok().filter(IpAddr::is_multicast);
    match text.trim() {
        "on" => Ok(DataGroup::Standard),
        "off" => Ok(DataGroup::Off),
        other => group(other).map(DataGroup::At).ok_or_else(|| Fault {
            at: 1,
            what: format!("{other:?} is neither on nor off nor a multicast address"),
        }),
    }
}

/// Octets to which the buffer of a socket is raised; `None` where the system's own size stays.
pub(super) fn buffer_bytes(text: &str) -> Result<Option<usize>, Fault> {
    let text = text.trim();
    if text == "system" {
        return Ok(None);
    }
    let bytes = text.parse().ok().filter(|it| BUFFER_BYTES.contains(it));
    bytes.map(Some).ok_or_else(|| Fault {
        at: 1,
        what: format!("{text:?} is neither system nor such a number of octets"),
    })
}

/// Which datagrams leave many by one call.
pub(super) fn offload(text: &str) -> Result<SegmentationOffload, Fault> {
    text.parse().map_err(|_| Fault {
        at: 1,
        what: format!("{:?} is neither on nor off nor auto", text.trim()),
    })
}

fn one_of(
    text: &str,
    one: (&'static str, bool),
    other: (&'static str, bool),
    what: &str,
) -> Result<bool, Fault> {
    let text = text.trim();
    if let Some((_, value)) = [one, other].into_iter().find(|(word, _)| *word == text) {
        return Ok(value);
    }
    let meant = nearest(text, [one.0, other.0]);
    let meant = meant.map_or_else(String::new, |it| format!("; did you mean {it:?}?"));
    Err(Fault {
        at: 1,
        what: format!("{text:?} is no {what}{meant}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_name_their_place() {
        let check = |fault: Result<(), Fault>, at, what: &str| {
            let fault = fault.unwrap_err();
            assert_eq!(fault.at, at, "{fault:?}");
            assert!(fault.what.contains(what), "{fault:?}");
        };
        let dropped = |it: Result<Vec<Peer>, Fault>| it.map(drop);
        check(dropped(peers("10.0.0.7, 10.0.0.x")), 11, "\"10.0.0.x\"");
        check(dropped(peers("größe")), 1, "größe");
        check(dropped(peers("1.2.3.4:70000")), 1, "70000");
        check(dropped(peers(",,\u{e4},")), 3, "address");
        check(interfaces("lo,10.0.0.0/99").map(drop), 4, "network bits");
        check(interfaces("!").map(drop), 1, "excludes nothing");
        check(domain("233").map(drop), 1, "233");
        check(domain("-1").map(drop), 1, "-1");
        check(buffer_bytes("4095").map(drop), 1, "neither system nor");
        check(buffer_bytes("4M").map(drop), 1, "4M");
        check(ip("v4").map(drop), 1, "v4");
        check(
            in_process("direkt").map(drop),
            1,
            "did you mean \"direct\"?",
        );
        check(log("wran").map(drop), 1, "did you mean \"warn\"?");
    }

    #[test]
    fn lists_may_have_blanks_and_empty_terms() {
        let hosts = peers(" 10.0.0.7 ,, [::1]:7412,::1 ").unwrap();
        assert_eq!(hosts.len(), 3);
        assert!(matches!(hosts[1], Peer::Socket(it) if it.port() == 7412));
        assert_eq!(peers("").unwrap(), []);
        assert_eq!(domain(" 232 "), Ok(232));
        assert_eq!(buffer_bytes(" system "), Ok(None));
        assert_eq!(buffer_bytes("212992"), Ok(Some(212_992)));
        assert_eq!(ip("64"), Ok(IpVersions::Both));
    }
}
