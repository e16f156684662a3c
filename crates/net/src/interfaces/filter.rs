//! Choosing interfaces by a text: names, globs and networks, comma separated, `!` excludes.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use super::{Interface, InterfaceAddress};

/// Which interfaces to use. The default, and an empty text, is every one that is up.
///
/// Terms are separated by commas: a name (`lo`), a glob over names (`eth*`, `wlan?`), an address
/// (`192.168.1.7`) or a network (`10.0.0.0/8`). A term with `!` in front excludes. An address is
/// used when a term wants it, or no term wants anything, and no term excludes it. `lo` alone keeps
/// everything on this host.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct InterfaceFilter {
    wanted: Vec<Term>,
    excluded: Vec<Term>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Term {
    Name(String),
    Network { ip: IpAddr, prefix_bits: u8 },
}

/// A filter that cannot be understood.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FilterError {
    /// The term at fault.
    pub term: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "interface filter: `{}` {}", self.term, self.reason)
    }
}

impl std::error::Error for FilterError {}

/// What a filter chose.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Selection {
    /// The chosen interfaces, each with its chosen addresses.
    pub interfaces: Vec<Interface>,
    /// Terms that wanted something which is not there or not up.
    pub unmatched: Vec<String>,
}

/// A filter chose nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NothingSelected {
    /// Terms that wanted something which is not there or not up.
    pub unmatched: Vec<String>,
    /// What there is.
    pub existing: Vec<Interface>,
}

impl fmt::Display for NothingSelected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.unmatched.is_empty() {
            f.write_str("no usable network interface is left")?;
        } else {
            write!(
                f,
                "no usable network interface matches `{}`",
                self.unmatched.join("`, `")
            )?;
        }
        f.write_str("; there are: ")?;
        for (position, interface) in self.existing.iter().enumerate() {
            let separator = if position == 0 { "" } else { ", " };
            write!(f, "{separator}{interface}")?;
        }
        if self.existing.is_empty() {
            f.write_str("none")?;
        }
        Ok(())
    }
}

impl std::error::Error for NothingSelected {}

impl FromStr for InterfaceFilter {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        let mut filter = Self::default();
        for term in text
            .split(',')
            .map(str::trim)
            .filter(|term| !term.is_empty())
        {
            match term.strip_prefix('!') {
                Some(excluded) => filter.excluded.push(Term::parse(excluded.trim())?),
                None => filter.wanted.push(Term::parse(term)?),
            }
        }
        Ok(filter)
    }
}

impl fmt::Display for InterfaceFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wanted = self.wanted.iter().map(|term| ("", term));
        let excluded = self.excluded.iter().map(|term| ("!", term));
        for (position, (mark, term)) in wanted.chain(excluded).enumerate() {
            let separator = if position == 0 { "" } else { "," };
            write!(f, "{separator}{mark}{term}")?;
        }
        Ok(())
    }
}

impl InterfaceFilter {
    /// Chooses among `existing`, usually [`super::list`].
    ///
    /// # Errors
    /// Nothing is left.
    pub fn select(&self, existing: &[Interface]) -> Result<Selection, NothingSelected> {
        let usable = || existing.iter().filter(|interface| interface.is_up);
        let interfaces: Vec<_> = usable()
            .filter_map(|interface| self.keep(interface))
            .collect();
        let matches = |term: &Term| {
            usable().any(|interface| {
                interface
                    .addresses
                    .iter()
                    .any(|a| term.covers(interface, a))
            })
        };
        let unmatched = self.wanted.iter().filter(|term| !matches(term));
        let unmatched = unmatched.map(Term::to_string).collect();
        if interfaces.is_empty() {
            return Err(NothingSelected {
                unmatched,
                existing: existing.to_vec(),
            });
        }
        Ok(Selection {
            interfaces,
            unmatched,
        })
    }

    /// True when this filter can choose loopback addresses only, also when interfaces are added
    /// to the `existing` ones later.
    pub fn is_loopback_only(&self, existing: &[Interface]) -> bool {
        let loopback = |term: &Term| match term {
            Term::Name(name) => existing.iter().any(|it| it.is_loopback && it.name == *name),
            Term::Network { ip, prefix_bits } => match ip {
                IpAddr::V4(v4) => v4.is_loopback() && *prefix_bits >= 8,
                IpAddr::V6(v6) => v6.is_loopback() && *prefix_bits == 128,
            },
        };
        !self.wanted.is_empty() && self.wanted.iter().all(loopback)
    }

    fn keep(&self, interface: &Interface) -> Option<Interface> {
        let mut kept = interface.clone();
        kept.addresses.retain(|address| {
            let covers = |term: &Term| term.covers(interface, address);
            (self.wanted.is_empty() || self.wanted.iter().any(covers))
                && !self.excluded.iter().any(covers)
        });
        (!kept.addresses.is_empty()).then_some(kept)
    }
}

impl Term {
    fn parse(text: &str) -> Result<Self, FilterError> {
        let error = |reason| FilterError {
            term: text.to_owned(),
            reason,
        };
        if text.is_empty() {
            return Err(error("excludes nothing: a name or network must follow `!`"));
        }
        if let Some((ip, bits)) = text.split_once('/') {
            let ip: IpAddr = ip
                .parse()
                .map_err(|_| error("is not an address before `/`"))?;
            let prefix_bits: u8 = bits.parse().map_err(|_| error("has no number after `/`"))?;
            if prefix_bits > width(ip) {
                return Err(error("has more network bits than the address has"));
            }
            return Ok(Self::Network { ip, prefix_bits });
        }
        if let Ok(ip) = text.parse::<IpAddr>() {
            let prefix_bits = width(ip);
            return Ok(Self::Network { ip, prefix_bits });
        }
        if text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '!') {
            return Err(error("is neither an interface name nor a network"));
        }
        Ok(Self::Name(text.to_owned()))
    }

    fn covers(&self, interface: &Interface, address: &InterfaceAddress) -> bool {
        match self {
            Self::Name(pattern) => is_glob_match(pattern.as_bytes(), interface.name.as_bytes()),
            Self::Network { ip, prefix_bits } => is_inside(address.ip, *ip, *prefix_bits),
        }
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Network { ip, prefix_bits } if *prefix_bits == width(*ip) => write!(f, "{ip}"),
            Self::Network { ip, prefix_bits } => write!(f, "{ip}/{prefix_bits}"),
        }
    }
}

const fn width(ip: IpAddr) -> u8 {
    if ip.is_ipv4() { 32 } else { 128 }
}

fn is_inside(ip: IpAddr, network: IpAddr, prefix_bits: u8) -> bool {
    // Both as 128 bits from the top; shifting all of them out leaves nothing to differ.
    let top = |ip: IpAddr| match ip {
        IpAddr::V4(ip) => u128::from(ip.to_bits()) << 96,
        IpAddr::V6(ip) => ip.to_bits(),
    };
    let differing = top(ip) ^ top(network);
    let host_bits = 128 - u32::from(prefix_bits);
    ip.is_ipv4() == network.is_ipv4() && differing.checked_shr(host_bits).unwrap_or(0) == 0
}

/// `*` stands for any characters, `?` for one. Linear but for the last `*`, to which it returns.
fn is_glob_match(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut position) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while position < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, position));
                at += 1;
            }
            Some(wanted) if *wanted == b'?' || *wanted == text[position] => {
                at += 1;
                position += 1;
            }
            _ => match star {
                Some((star_at, from)) => {
                    star = Some((star_at, from + 1));
                    at = star_at + 1;
                    position = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|rest| *rest == b'*')
}
