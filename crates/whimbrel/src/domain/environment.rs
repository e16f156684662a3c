//! The `WHIMBREL_…` variables of a process: all are known and understood, or refused.

use std::collections::BTreeMap;
use std::env;
use std::fmt;

use super::nearest::nearest;
use super::values::{self, Fault};
use super::waiting::Waiting;
use crate::error::Error;

/// With what the names of our variables begin.
const PREFIX: &str = "WHIMBREL_";

/// Prefix of variables that programs may use around the tests of this repository.
const TEST_PREFIX: &str = "WHIMBREL_TEST_";

/// Variables that belong to tools of this repository, not to the bus.
const OF_TOOLS: &[&str] = &["WHIMBREL_PEER_PYTHON", "WHIMBREL_REPLAY_BOUNDED"];

/// What is no setting of a participant but QoS of its writers, by a part of what it may be called.
const OF_WRITERS: &[(&str, &str)] = &[
    ("COMPRESS", COMPRESSION),
    ("CODEC", COMPRESSION),
    (
        "BUNDL",
        "`bundling`; WHIMBREL_AUTOMATIC_BUNDLING=off undoes what none of them says",
    ),
    ("BATCH", "`batch`"),
];

const COMPRESSION: &str =
    "`compression_ids`, `writer_compression_level`, `writer_compression_threshold`";

/// A variable that is a setting.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variable {
    pub(super) name: &'static str,
    /// The values that make sense, in words.
    pub(super) allowed: &'static str,
    check: fn(&str) -> Result<(), Fault>,
}

pub(super) const DOMAIN: Variable = Variable {
    name: "WHIMBREL_DOMAIN",
    allowed: "a number from 0 to 232",
    check: |text| values::domain(text).map(drop),
};

pub(super) const INTERFACES: Variable = Variable {
    name: "WHIMBREL_INTERFACES",
    allowed: "names, globs, addresses and networks, separated by commas; `!` in front excludes",
    check: |text| values::interfaces(text).map(drop),
};

pub(super) const PEERS: Variable = Variable {
    name: "WHIMBREL_PEERS",
    allowed: "IP addresses, with or without port, separated by commas",
    check: |text| values::peers(text).map(drop),
};

pub(super) const IN_PROCESS: Variable = Variable {
    name: "WHIMBREL_IN_PROCESS",
    allowed: "direct, queued, encoded or off",
    check: |text| values::in_process(text).map(drop),
};

pub(super) const IP: Variable = Variable {
    name: "WHIMBREL_IP",
    allowed: "4, 6 or 46",
    check: |text| values::ip(text).map(drop),
};

pub(super) const LOG: Variable = Variable {
    name: "WHIMBREL_LOG",
    allowed: "warn or off",
    check: |text| values::log(text).map(drop),
};

pub(super) const DISCOVERY_RATE: Variable = Variable {
    name: "WHIMBREL_DISCOVERY_BYTES_PER_S_MAX",
    allowed: "a number of octets per second, at least 1000",
    check: |text| values::discovery_rate(text).map(drop),
};

pub(super) const MESSAGE_BYTES: Variable = Variable {
    name: "WHIMBREL_MESSAGE_BYTES_MAX",
    allowed: "a number of octets from 508 to 65507",
    check: |text| values::message_bytes(text).map(drop),
};

pub(super) const PACKET_BYTES: Variable = Variable {
    name: "WHIMBREL_PACKET_BYTES_MAX",
    allowed: "a number of octets from 576 to 65535",
    check: |text| values::packet_bytes(text).map(drop),
};

pub(super) const MULTICAST_DATA: Variable = Variable {
    name: "WHIMBREL_MULTICAST_DATA",
    allowed: "on, off or a multicast address",
    check: |text| values::data_group(text).map(drop),
};

pub(super) const CONNECTED_SOCKETS: Variable = Variable {
    name: "WHIMBREL_CONNECTED_SOCKETS",
    allowed: "on or off",
    check: |text| values::switch(text).map(drop),
};

pub(super) const BULK_SOCKET: Variable = Variable {
    name: "WHIMBREL_BULK_SOCKET",
    allowed: "on or off",
    check: |text| values::switch(text).map(drop),
};

pub(super) const PROCESSOR_COUNTER: Variable = Variable {
    name: "WHIMBREL_PROCESSOR_COUNTER",
    allowed: "on or off",
    check: |text| values::switch(text).map(drop),
};

pub(super) const AUTOMATIC_BUNDLING: Variable = Variable {
    name: "WHIMBREL_AUTOMATIC_BUNDLING",
    allowed: "on or off",
    check: |text| values::switch(text).map(drop),
};

pub(super) const BATCHED_RECEIVE: Variable = Variable {
    name: "WHIMBREL_BATCHED_RECEIVE",
    allowed: "on or off",
    check: |text| values::switch(text).map(drop),
};

pub(super) const BATCHED_SEND: Variable = Variable {
    name: "WHIMBREL_BATCHED_SEND",
    allowed: "on or off",
    check: |text| values::switch(text).map(drop),
};

pub(super) const RECEIVE_CREDIT: Variable = Variable {
    name: "WHIMBREL_RECEIVE_CREDIT",
    allowed: "on or off",
    check: |text| values::switch(text).map(drop),
};

/// What the sizes of buffers may be.
pub(super) const BUFFER: &str = "a number of octets from 4096 to 1073741824, or system";

pub(super) const RECEIVE_BUFFER: Variable = Variable {
    name: "WHIMBREL_RECEIVE_BUFFER_BYTES",
    allowed: BUFFER,
    check: |text| values::buffer_bytes(text).map(drop),
};

pub(super) const SEND_BUFFER: Variable = Variable {
    name: "WHIMBREL_SEND_BUFFER_BYTES",
    allowed: BUFFER,
    check: |text| values::buffer_bytes(text).map(drop),
};

pub(super) const SEGMENTATION_OFFLOAD: Variable = Variable {
    name: "WHIMBREL_SEGMENTATION_OFFLOAD",
    allowed: "on, off or auto",
    check: |text| values::offload(text).map(drop),
};

pub(super) const STATISTICS: Variable = Variable {
    name: "WHIMBREL_STATISTICS",
    allowed: "on or off",
    check: |text| values::switch(text).map(drop),
};

pub(super) const WAITING: Variable = Variable {
    name: "WHIMBREL_WAITING",
    allowed: Waiting::ALLOWED,
    check: |text| values::waiting(text).map(drop),
};

const VARIABLES: &[Variable] = &[
    AUTOMATIC_BUNDLING,
    BATCHED_RECEIVE,
    BATCHED_SEND,
    BULK_SOCKET,
    CONNECTED_SOCKETS,
    DISCOVERY_RATE,
    DOMAIN,
    INTERFACES,
    IN_PROCESS,
    IP,
    LOG,
    MESSAGE_BYTES,
    MULTICAST_DATA,
    PACKET_BYTES,
    PEERS,
    PROCESSOR_COUNTER,
    RECEIVE_BUFFER,
    RECEIVE_CREDIT,
    SEGMENTATION_OFFLOAD,
    SEND_BUFFER,
    STATISTICS,
    WAITING,
];

/// A variable of the environment that is not understood.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct EnvironmentProblem {
    /// Its name.
    pub variable: String,
    /// Its value.
    pub value: String,
    /// The first character of the value at fault, counted from 1; `None` where the variable as a
    /// whole is.
    pub position: Option<usize>,
    /// What is wrong, and what was meant, where that can be guessed.
    pub what: String,
    /// What is allowed.
    pub allowed: String,
}

impl fmt::Display for EnvironmentProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={:?}: ", self.variable, self.value)?;
        if let Some(position) = self.position {
            write!(f, "at character {position}: ")?;
        }
        write!(f, "{}; allowed: {}", self.what, self.allowed)
    }
}

/// The variables with our prefix, without those of tools.
#[derive(Clone, Debug, Default)]
pub(super) struct Environment {
    values: BTreeMap<String, String>,
    unreadable: Vec<EnvironmentProblem>,
}

impl Environment {
    /// Those of this process.
    pub(super) fn of_process() -> Self {
        let mut environment = Self::default();
        for (name, value) in env::vars_os() {
            let Some(name) = name.to_str().filter(|name| is_ours(name)) else {
                continue;
            };
            match value.into_string() {
                Ok(value) => {
                    environment.values.insert(name.to_owned(), value);
                }
                Err(value) => environment.unreadable.push(EnvironmentProblem {
                    variable: name.to_owned(),
                    value: value.to_string_lossy().into_owned(),
                    position: None,
                    what: "the value is not UTF-8".into(),
                    allowed: "text".into(),
                }),
            }
        }
        environment
    }

    #[cfg(test)]
    pub(super) fn of(pairs: &[(&str, &str)]) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self {
            values: pairs.iter().map(owned).collect(),
            unreadable: Vec::new(),
        }
    }

    /// The value of `variable`, where it is set and not empty.
    pub(super) fn text(&self, variable: Variable) -> Option<&str> {
        let text = self.values.get(variable.name)?;
        (!text.trim().is_empty()).then_some(text)
    }

    /// Everything that is not understood, in the order of the names.
    pub(super) fn problems(&self) -> Vec<EnvironmentProblem> {
        let judged = self
            .values
            .iter()
            .filter_map(|(name, value)| judge(name, value));
        let mut problems: Vec<_> = judged.chain(self.unreadable.iter().cloned()).collect();
        problems.sort_by(|one, two| one.variable.cmp(&two.variable));
        problems
    }

    /// Refuses everything that is not understood.
    pub(super) fn check(&self) -> Result<(), Error> {
        let problems: Vec<String> = self.problems().iter().map(ToString::to_string).collect();
        if problems.is_empty() {
            return Ok(());
        }
        Err(Error::BadParameter(problems.join("\n")))
    }
}

/// Every `WHIMBREL_…` variable of this process that is not understood, in the order of their
/// names. Participants are not made while there is one.
pub fn environment_problems() -> Vec<EnvironmentProblem> {
    Environment::of_process().problems()
}

fn is_ours(name: &str) -> bool {
    name.starts_with(PREFIX) && !name.starts_with(TEST_PREFIX) && !OF_TOOLS.contains(&name)
}

fn judge(name: &str, value: &str) -> Option<EnvironmentProblem> {
    let problem = |position, what, allowed: String| EnvironmentProblem {
        variable: name.to_owned(),
        value: value.to_owned(),
        position,
        what,
        allowed,
    };
    let names = || VARIABLES.iter().map(|it| it.name);
    let Some(variable) = VARIABLES.iter().find(|it| it.name == name) else {
        let all = names().collect::<Vec<_>>().join(", ");
        return Some(problem(None, format!("no such setting{}", hint(name)), all));
    };
    if value.trim().is_empty() {
        return None;
    }
    let fault = (variable.check)(value).err()?;
    Some(problem(Some(fault.at), fault.what, variable.allowed.into()))
}

/// What may have been meant by `name`, which is no setting.
fn hint(name: &str) -> String {
    let own = |name: &'static str| name.strip_prefix(PREFIX).unwrap_or(name);
    // The prefix is always right, and makes no word any nearer.
    let word = name.strip_prefix(PREFIX).unwrap_or(name);
    if let Some(meant) = nearest(word, VARIABLES.iter().map(|it| own(it.name))) {
        return format!("; did you mean {PREFIX}{meant}?");
    }
    let of_writer = OF_WRITERS.iter().find(|(part, _)| word.contains(part));
    of_writer.map_or_else(String::new, |(_, what)| {
        format!("; each writer says that by its QoS: {what}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pairs: &[(&str, &str)], expected: &[&str]) {
        let problems = Environment::of(pairs).problems();
        let texts: Vec<_> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn what_is_not_understood_is_named_with_its_place() {
        check(&[("WHIMBREL_IP", "46"), ("WHIMBREL_PEERS", "")], &[]);
        check(
            &[("WHIMBREL_PEERS", "10.0.0.7,10.0.0.x")],
            &[
                "WHIMBREL_PEERS=\"10.0.0.7,10.0.0.x\": at character 10: \"10.0.0.x\" is not an IP \
               address, with or without port; allowed: IP addresses, with or without port, \
               separated by commas",
            ],
        );
        check(
            &[("WHIMBREL_INTERFACE", "lo"), ("WHIMBREL_LOG", "of")],
            &[
                "WHIMBREL_INTERFACE=\"lo\": no such setting; did you mean WHIMBREL_INTERFACES?; \
                 allowed: WHIMBREL_AUTOMATIC_BUNDLING, \
                 WHIMBREL_BATCHED_RECEIVE, WHIMBREL_BATCHED_SEND, \
                 WHIMBREL_BULK_SOCKET, WHIMBREL_CONNECTED_SOCKETS, \
                 WHIMBREL_DISCOVERY_BYTES_PER_S_MAX, \
                 WHIMBREL_DOMAIN, WHIMBREL_INTERFACES, WHIMBREL_IN_PROCESS, WHIMBREL_IP, \
                 WHIMBREL_LOG, WHIMBREL_MESSAGE_BYTES_MAX, WHIMBREL_MULTICAST_DATA, \
                 WHIMBREL_PACKET_BYTES_MAX, WHIMBREL_PEERS, WHIMBREL_PROCESSOR_COUNTER, \
                 WHIMBREL_RECEIVE_BUFFER_BYTES, \
                 WHIMBREL_RECEIVE_CREDIT, WHIMBREL_SEGMENTATION_OFFLOAD, \
                 WHIMBREL_SEND_BUFFER_BYTES, WHIMBREL_STATISTICS, WHIMBREL_WAITING",
                "WHIMBREL_LOG=\"of\": at character 1: \"of\" is no log level; did you mean \
                 \"off\"?; allowed: warn or off",
            ],
        );
    }

    #[test]
    fn what_was_meant_is_guessed_by_the_word_behind_the_prefix() {
        let check = |name, expected: &str| assert_eq!(hint(name), expected, "{name}");
        check("WHIMBREL_PEER", "; did you mean WHIMBREL_PEERS?");
        check("WHIMBREL_DOMIAN", "; did you mean WHIMBREL_DOMAIN?");
        check("WHIMBREL_LATENCY", "");
        let bundling = "; each writer says that by its QoS: `bundling`; \
                        WHIMBREL_AUTOMATIC_BUNDLING=off undoes what none of them says";
        for name in [
            "WHIMBREL_BUNDLING",
            "WHIMBREL_BUNDLE",
            "WHIMBREL_BUNDLE_BYTES",
        ] {
            check(name, bundling);
        }
        check(
            "WHIMBREL_BATCH",
            "; each writer says that by its QoS: `batch`",
        );
        for name in [
            "WHIMBREL_COMPRESS",
            "WHIMBREL_COMPRESSION",
            "WHIMBREL_COMPRESSION_LEVEL",
            "WHIMBREL_CODEC",
        ] {
            let hint = hint(name);
            assert!(hint.contains("QoS: `compression_ids`, "), "{name}{hint}");
        }
    }

    #[test]
    fn all_problems_are_one_error() {
        let environment = Environment::of(&[("WHIMBREL_IP", "5"), ("WHIMBREL_DOMAIN", "999")]);
        let error = environment.check().unwrap_err().to_string();
        assert_eq!(error.lines().count(), 2, "{error}");
    }

    #[test]
    fn variables_of_tools_are_let_alone() {
        assert!(!is_ours("WHIMBREL_PEER_PYTHON"));
        assert!(!is_ours("WHIMBREL_TEST_SEED"));
        assert!(!is_ours("PATH"));
        assert!(is_ours("WHIMBREL_PEER"));
    }
}
