//! Network namespaces of a run: nothing of it reaches another network, and nobody's traffic
//! reaches it. Needs root and `ip`. They go when a [`Stage`] is dropped; what a killed run left
//! goes with the next one.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::placement::Placement;

const PREFIX: &str = "wbench";

/// Where one of the two processes runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seat {
    space: String,
    /// The only interface to use.
    pub interface: &'static str,
    /// Its IPv4 address.
    pub address: &'static str,
    core: Option<u32>,
}

impl Seat {
    /// `program` on this seat.
    pub fn program(&self, program: &Path) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.space]);
        if let Some(core) = self.core {
            command.args(["taskset", "--cpu-list", &core.to_string()]);
        }
        command.arg(program);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("WHIMBREL_") {
                command.env_remove(name);
            }
        }
        command.env("WHIMBREL_INTERFACES", self.interface);
        command
    }
}

/// The namespaces of one placement.
#[derive(Debug)]
pub struct Stage {
    spaces: Vec<String>,
    placement: Placement,
}

impl Stage {
    /// Builds what `placement` needs.
    ///
    /// # Errors
    /// The system refuses, most likely for want of root.
    pub fn new(placement: Placement) -> Result<Self, String> {
        remove_leftovers()?;
        let mut stage = Self {
            spaces: Vec::new(),
            placement,
        };
        stage.host("a", "lo")?;
        if placement == Placement::TwoHosts {
            stage.host("b", "lo")?;
            let (a, b) = (stage.space("a"), stage.space("b"));
            ip(&format!(
                "-n {a} link add va type veth peer name vb netns {b}"
            ))?;
            for (space, interface, address) in [(&a, "va", "10.78.0.1"), (&b, "vb", "10.78.0.2")] {
                ip(&format!("-n {space} addr add {address}/24 dev {interface}"))?;
                carry_multicast(space, interface)?;
            }
        } else {
            carry_multicast(&stage.space("a"), "lo")?;
        }
        Ok(stage)
    }

    /// The seats of the process that measures and of the one that answers.
    pub fn seats(&self) -> [Seat; 2] {
        let cores = self.placement.cores();
        let seat = |letter: &str, interface, address, at: usize| Seat {
            space: self.space(letter),
            interface,
            address,
            core: cores.map(|cores| cores[at]),
        };
        match self.placement {
            Placement::TwoHosts => [
                seat("a", "va", "10.78.0.1", 0),
                seat("b", "vb", "10.78.0.2", 1),
            ],
            _ => [0, 1].map(|at| seat("a", "lo", "127.0.0.1", at)),
        }
    }

    fn host(&mut self, letter: &str, loopback: &str) -> Result<(), String> {
        let space = self.space(letter);
        ip(&format!("netns add {space}"))?;
        self.spaces.push(space.clone());
        ip(&format!("-n {space} link set {loopback} up"))
    }

    fn space(&self, letter: &str) -> String {
        format!("{PREFIX}{}-{letter}", std::process::id())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        for space in &self.spaces {
            // The next run tries again.
            let _ = ip(&format!("netns del {space}"));
        }
    }
}

fn carry_multicast(space: &str, interface: &str) -> Result<(), String> {
    ip(&format!("-n {space} link set {interface} up multicast on"))?;
    ip(&format!("-n {space} route add 224.0.0.0/4 dev {interface}"))
}

fn remove_leftovers() -> Result<(), String> {
    let output = Command::new("ip")
        .args(["netns", "list"])
        .output()
        .map_err(|error| format!("ip: {error}: cargo xtask setup"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for name in text
        .lines()
        .filter_map(|line| line.split_whitespace().next())
    {
        if owner(name).is_some_and(|it| !Path::new(&format!("/proc/{it}")).exists()) {
            ip(&format!("netns del {name}"))?;
        }
    }
    Ok(())
}

/// The process that made the namespace `name`, if it is one of ours.
fn owner(name: &str) -> Option<u32> {
    name.strip_prefix(PREFIX)?.split('-').next()?.parse().ok()
}

/// Runs `ip` with `line`, words separated by single spaces.
fn ip(line: &str) -> Result<(), String> {
    let output = Command::new("ip")
        .args(line.split(' '))
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("ip: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let why = String::from_utf8_lossy(&output.stderr);
    Err(format!("ip {line}: {} (the bench needs root)", why.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_namespaces_have_an_owner() {
        assert_eq!(owner("wbench123-a"), Some(123));
        for name in ["wsv12x0-a", "wbench-a", "wbenchx-a", ""] {
            assert_eq!(owner(name), None, "{name}");
        }
    }

    #[test]
    fn seats_follow_the_placement() {
        let seats = |placement| {
            let spaces = Vec::new();
            Stage { spaces, placement }.seats()
        };
        let [a, b] = seats(Placement::OneCore);
        assert_eq!((a.core, b.core), (Some(0), Some(0)));
        assert_eq!(a.space, b.space);
        let [a, b] = seats(Placement::TwoHosts);
        assert_eq!((a.core, b.core), (Some(0), Some(1)));
        assert_ne!((a.space, a.address), (b.space, b.address));
        assert_eq!(seats(Placement::Free)[1].core, None);
    }
}
