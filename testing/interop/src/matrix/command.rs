//! The command lines of peers.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::cases::{Case, Course, Pair, Peer, Place};
use super::hosts::{Hosts, Side};
use super::shared::{previous_dir, previous_versions, root};

/// How long peers may take for everything, in seconds.
const TIMEOUT_S: u32 = 30;

/// The Python peer's interpreter, where `cargo xtask setup` put one.
const PYTHON: &str = ".peers/venv/bin/python";
const PYTHON_SETTING: &str = "WHIMBREL_PEER_PYTHON";

/// Settings of what is only quicker.
const FAST_PATHS: [&str; 12] = [
    "WHIMBREL_IN_PROCESS",
    "WHIMBREL_SEGMENTATION_OFFLOAD",
    "WHIMBREL_CONNECTED_SOCKETS",
    "WHIMBREL_BATCHED_RECEIVE",
    "WHIMBREL_BATCHED_SEND",
    "WHIMBREL_RECEIVE_CREDIT",
    "WHIMBREL_BULK_SOCKET",
    "WHIMBREL_PROCESSOR_COUNTER",
    "WHIMBREL_AUTOMATIC_BUNDLING",
    "WHIMBREL_WAITING",
    "WHIMBREL_RECEIVE_BUFFER_BYTES",
    "WHIMBREL_SEND_BUFFER_BYTES",
];

/// How long peers stay where the runner decides when it is enough, in milliseconds.
const STAY_MS: u32 = 25_000;

/// Outgoing datagrams Whimbrel drops in the lossy cases, of a thousand.
const DROPPED_PER_MILLE: u32 = 100;

/// Other products believe themselves matched before the reader knows of them, in milliseconds.
const SETTLE_MS: u32 = 400;

/// One of the two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Publisher,
    Subscriber,
}

/// What the command lines of a pair have in common.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    pub(crate) case: &'a Case,
    pub(crate) pair: Pair,
    pub(crate) number: usize,
    /// Of what Whimbrel loses in the lossy cases.
    pub(crate) seed: usize,
    pub(crate) peers_dir: &'a Path,
}

impl Lines<'_> {
    /// Who plays `role`.
    pub(crate) fn peer(&self, role: Role) -> Peer {
        match role {
            Role::Publisher => self.pair.publisher,
            Role::Subscriber => self.pair.subscriber,
        }
    }

    /// The command of `role`.
    pub(crate) fn command(
        &self,
        role: Role,
        hosts: Option<&Hosts>,
        capture: Option<&PathBuf>,
    ) -> Result<Command, String> {
        let peer = self.peer(role);
        let mut words = program(peer, self.peers_dir)?;
        words.extend(self.words(role));
        let side = match role {
            Role::Publisher => Side::A,
            Role::Subscriber => Side::B,
        };
        words.extend(network(self.case.place, peer, side));
        if peer.is_whimbrel() {
            words.push("--until-eof".into());
            if let Some(file) = capture {
                words.push("--capture".into());
                words.push(file.display().to_string());
            }
        }
        if let Some(hosts) = hosts {
            words = hosts.inside(side, words);
        }
        let mut command = command_of(words);
        if self.case.place == Place::Peers {
            command.env("WHIMBREL_PEERS", side.other().address());
        }
        Ok(command)
    }

    fn words(&self, role: Role) -> Vec<String> {
        let case = self.case;
        let verb = match role {
            Role::Publisher => "pub",
            Role::Subscriber => "sub",
        };
        let topic = format!("interop_{}_{}", std::process::id(), self.number);
        let domain = domain(self.number);
        let mut text = format!("{verb} --topic {topic} --domain {domain} --timeout-s {TIMEOUT_S} ");
        text += case.both;
        text += " ";
        match role {
            Role::Publisher => {
                text += case.publisher;
                text += &self.waiting();
            }
            Role::Subscriber => text += case.subscriber,
        }
        text += &self.lingering(role);
        let xcdr = if self.pair.other() == Peer::FastDds {
            "1"
        } else {
            "2"
        };
        let peer = self.peer(role);
        let faults = match (peer, peer.is_whimbrel()) {
            (Peer::Whimbrel, _) => {
                format!("--faults {DROPPED_PER_MILLE} --fault-seed {}", self.seed)
            }
            (_, true) => format!("--faults {DROPPED_PER_MILLE}"),
            (_, false) => String::new(),
        };
        let text = text.replace("{xcdr}", xcdr).replace("{faults}", &faults);
        text.split_whitespace().map(str::to_owned).collect()
    }

    /// Whimbrel knows when both sides are matched, others are given time.
    fn waiting(&self) -> String {
        if self.case.course == Course::Late {
            return String::new();
        }
        if self.pair.publisher.is_whimbrel() {
            return " --wait-matched 1".into();
        }
        format!(" --wait-matched 1 --settle-ms {SETTLE_MS}")
    }

    fn lingering(&self, role: Role) -> String {
        let stays = match (self.case.course, role) {
            (Course::Together, _) => !self.case.lines.is_empty(),
            (Course::Late | Course::SubscriberLeaves, Role::Publisher)
            | (Course::PublisherLeaves, Role::Subscriber)
            | (Course::PublisherKilled, _) => true,
            (Course::Late | Course::SubscriberLeaves, Role::Subscriber)
            | (Course::PublisherLeaves, Role::Publisher) => false,
        };
        if stays {
            format!(" --linger-ms {STAY_MS}")
        } else {
            " --linger-ms 200".into()
        }
    }
}

/// A command of these words, without the settings of whoever runs the matrix, but for those of
/// fast paths: the matrix is run with them and without.
pub(crate) fn command_of(words: Vec<String>) -> Command {
    let mut all = words.into_iter();
    let mut command = Command::new(all.next().unwrap_or_default());
    command.args(all);
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(is_foreign) {
            command.env_remove(name);
        }
    }
    let python = root().join(PYTHON);
    if std::env::var_os(PYTHON_SETTING).is_none() && python.exists() {
        command.env(PYTHON_SETTING, python);
    }
    command
}

/// True for settings that would change what the matrix is about.
fn is_foreign(name: &str) -> bool {
    let is_ours = name.starts_with("WHIMBREL_") && name != PYTHON_SETTING;
    is_ours && !FAST_PATHS.contains(&name)
}

/// The settings of fast paths that whoever runs the matrix has made, to be said beside its rows.
pub(crate) fn fast_paths_set() -> Vec<String> {
    let set = FAST_PATHS.iter().filter_map(|name| {
        let value = std::env::var_os(name)?;
        Some(format!("{name}={}", value.display()))
    });
    set.collect()
}

/// The words that start `peer`, before its options.
pub(crate) fn program(peer: Peer, peers_dir: &Path) -> Result<Vec<String>, String> {
    if peer == Peer::Whimbrel {
        let own = std::env::current_exe().map_err(|error| format!("own program: {error}"))?;
        return Ok(vec![own.display().to_string(), "peer".into()]);
    }
    if peer.is_whimbrel() {
        let number = usize::from(peer == Peer::PreviousButOne);
        let version = previous_versions().nth(number);
        let version = version.ok_or("there is no such release yet")?;
        let path = previous_dir().join(format!("whimbrel-{version}"));
        return Ok(vec![path.display().to_string(), "peer".into()]);
    }
    let path = peers_dir.join(format!("peer_{}", peer.name()));
    if !path.exists() {
        let path = path.display();
        return Err(format!("{path} is missing: cargo xtask setup builds it"));
    }
    Ok(vec![path.display().to_string()])
}

/// Domains of their own for those that run at the same time, below the ephemeral ports.
pub(crate) fn domain(number: usize) -> usize {
    40 + number % 60
}

pub(crate) fn network(place: Place, peer: Peer, side: Side) -> Vec<String> {
    let interface = side.interface();
    let text = match (place, peer) {
        (Place::Loopback, _) => String::new(),
        (_, peer) if peer.is_whimbrel() => "--interface any".into(),
        (Place::Multicast, _) => format!("--interface {interface} --multicast"),
        (Place::Peers, _) => {
            let there = side.other().address();
            format!("--interface {interface} --peer {there}")
        }
    };
    text.split_whitespace().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_fast_paths_reach_the_programs_and_no_others() {
        assert!(!is_foreign("WHIMBREL_WAITING") && !is_foreign(PYTHON_SETTING));
        assert!(is_foreign("WHIMBREL_INTERFACES") && is_foreign("WHIMBREL_LOG"));
        assert!(!is_foreign("PATH"));
    }
}
