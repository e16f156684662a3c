//! Hosts on one machine: network namespaces and the links between them. Needs root, `ip` and `tc`,
//! and `nft` where packets are to be lost; whatever was made goes when [`Network`] is dropped, and
//! what a killed run left behind goes with the next one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

/// Begins the names of all namespaces made here.
const PREFIX: &str = "wrig";

/// How often a link is looked at until it is up.
const UP_TRIES: u32 = 200;

/// A namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space(String);

impl Space {
    /// The one of this name.
    pub fn named(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// Where the system shows it: a thread that opens this can enter it. ip-netns(8).
    pub fn path(&self) -> PathBuf {
        Path::new("/run/netns").join(&self.0)
    }

    /// A command in it whose program and arguments are to be added, with no `WHIMBREL_` setting of
    /// the environment.
    pub fn enter(&self) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.0]);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("WHIMBREL_") {
                command.env_remove(name);
            }
        }
        command
    }
}

/// Namespaces of one run.
#[derive(Debug)]
pub struct Network {
    name: String,
    spaces: Vec<Space>,
}

impl Network {
    /// A network without hosts.
    ///
    /// # Errors
    /// What is missing to make one: root, or a tool.
    pub fn new() -> Result<Self, String> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        check_tools()?;
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        if number == 0 {
            remove_leftovers()?;
        }
        Ok(Self {
            name: format!("{PREFIX}{}x{number}", std::process::id()),
            spaces: Vec::new(),
        })
    }

    /// These hosts, with nothing but loopback.
    ///
    /// # Errors
    /// As [`Network::new`], or the system refuses.
    pub fn of_hosts<const N: usize>(letters: [&str; N]) -> Result<Self, String> {
        let mut network = Self::new()?;
        letters.into_iter().try_for_each(|it| network.host(it))?;
        Ok(network)
    }

    /// Adds the host `letter`, with nothing but loopback.
    ///
    /// # Errors
    /// The system refuses.
    pub fn host(&mut self, letter: &str) -> Result<(), String> {
        let space = self.space(letter);
        run("ip", &["netns", "add", &space.0])?;
        self.spaces.push(space);
        self.on(letter, "ip link set lo up")
    }

    /// Joins two hosts by a cable: each end is (host, interface, address with prefix length).
    ///
    /// # Errors
    /// The system refuses, or the link does not come up.
    pub fn cable(&self, a: [&str; 3], b: [&str; 3]) -> Result<(), String> {
        let Space(far) = self.space(b[0]);
        self.on(
            a[0],
            &format!(
                "ip link add {} type veth peer name {} netns {far}",
                a[1], b[1]
            ),
        )?;
        for [host, interface, address] in [a, b] {
            self.on(host, &format!("ip addr add {address} dev {interface}"))?;
            self.on(host, &format!("ip link set {interface} up"))?;
        }
        self.wait_until_up(a[0], a[1])?;
        self.wait_until_up(b[0], b[1])
    }

    /// Two hosts, `a` with 10.77.0.1 on `va` and `b` with 10.77.0.2 on `vb`, with multicast.
    ///
    /// # Errors
    /// The system refuses.
    pub fn pair() -> Result<Self, String> {
        let network = Self::of_hosts(["a", "b"])?;
        network.cable(["a", "va", "10.77.0.1/24"], ["b", "vb", "10.77.0.2/24"])?;
        network.carry_multicast("a", "va")?;
        network.carry_multicast("b", "vb")?;
        Ok(network)
    }

    /// Lets `interface` of `host` carry multicast, loopback too, and sends all of it there.
    ///
    /// # Errors
    /// The system refuses.
    pub fn carry_multicast(&self, host: &str, interface: &str) -> Result<(), String> {
        self.on(host, &format!("ip link set {interface} multicast on"))?;
        self.on(host, &format!("ip route add 224.0.0.0/4 dev {interface}"))
    }

    /// Waits until the kernel calls `interface` up.
    ///
    /// # Errors
    /// It does not come up.
    pub fn wait_until_up(&self, host: &str, interface: &str) -> Result<(), String> {
        for _ in 0..UP_TRIES {
            let text = self.read(host, &format!("ip -o link show dev {interface}"))?;
            if text.contains("state UP") {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(10));
        }
        Err(format!("{interface} of {host} does not come up"))
    }

    /// Runs `line`, words separated by single spaces, on `host`.
    ///
    /// # Errors
    /// It failed; the text says how.
    pub fn on(&self, host: &str, line: &str) -> Result<(), String> {
        self.read(host, line).map(drop)
    }

    /// As [`Network::on`], and gives back what it printed.
    ///
    /// # Errors
    /// It failed.
    pub fn read(&self, host: &str, line: &str) -> Result<String, String> {
        let Space(space) = self.space(host);
        let mut words = vec!["netns", "exec", &space];
        words.extend(line.split(' '));
        run("ip", &words)
    }

    /// This program on `host`, with the settings of nobody's environment.
    ///
    /// # Errors
    /// The system does not tell where this program is.
    pub fn this_program(&self, host: &str) -> Result<Command, String> {
        let program = std::env::current_exe().map_err(|e| format!("this program: {e}"))?;
        Ok(self.program(host, &program))
    }

    /// `program` on `host`, with the settings of nobody's environment.
    pub fn program(&self, host: &str, program: &Path) -> Command {
        let mut command = self.space(host).enter();
        command.arg(program);
        command
    }

    /// Of all packets that arrive at `host` for UDP, drops `percent` at random and counts them.
    ///
    /// # Errors
    /// The system refuses.
    pub fn lose(&self, host: &str, percent: u32) -> Result<(), String> {
        check_installed("nft")?;
        self.on(host, "nft add table inet lossy")?;
        self.on(
            host,
            "nft add chain inet lossy in { type filter hook prerouting priority -300 ; }",
        )?;
        self.on(
            host,
            &format!(
                "nft add rule inet lossy in meta l4proto udp numgen random mod 100 < {percent} \
                 counter drop"
            ),
        )
    }

    /// Ends [`Network::lose`] at `host`, and forgets what it has counted.
    ///
    /// # Errors
    /// Nothing is lost there.
    pub fn keep(&self, host: &str) -> Result<(), String> {
        self.on(host, "nft delete table inet lossy")
    }

    /// Packets and octets that [`Network::lose`] has dropped at `host`.
    ///
    /// # Errors
    /// There is no such rule.
    pub fn lost(&self, host: &str) -> Result<(u64, u64), String> {
        let text = self.read(host, "nft list chain inet lossy in")?;
        counters(&text).ok_or(format!("no counter in {text}"))
    }

    /// The namespace of `host`.
    pub fn space(&self, host: &str) -> Space {
        Space(format!("{}-{host}", self.name))
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for space in &self.spaces {
            // The next run tries again.
            let _ = run("ip", &["netns", "del", &space.0]);
        }
    }
}

/// The numbers of `counter packets N bytes M`.
fn counters(text: &str) -> Option<(u64, u64)> {
    let mut words = text.split_whitespace().skip_while(|it| *it != "counter");
    let packets = words.nth(2)?.parse().ok()?;
    Some((packets, words.nth(1)?.parse().ok()?))
}

fn check_tools() -> Result<(), String> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let root = status
        .lines()
        .find_map(|line| line.strip_prefix("Uid:"))
        .is_some_and(|ids| ids.split_whitespace().nth(1) == Some("0"));
    if !root {
        return Err("network namespaces need root".into());
    }
    check_installed("ip")?;
    check_installed("tc")
}

fn check_installed(tool: &str) -> Result<(), String> {
    let there = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"]
        .iter()
        .any(|folder| Path::new(folder).join(tool).exists());
    if there {
        Ok(())
    } else {
        Err(format!("`{tool}` is not installed: cargo xtask setup"))
    }
}

/// Namespaces of runs that have ended without tidying up.
fn remove_leftovers() -> Result<(), String> {
    for line in run("ip", &["netns", "list"])?.lines() {
        let name = line.split_whitespace().next().unwrap_or_default();
        if owner(name).is_some_and(|it| !Path::new(&format!("/proc/{it}")).exists()) {
            run("ip", &["netns", "del", name])?;
        }
    }
    Ok(())
}

/// The process that made the namespace `name`, if it is one of ours.
fn owner(name: &str) -> Option<u32> {
    let (process, _) = name.strip_prefix(PREFIX)?.split_once('x')?;
    process.parse().ok()
}

fn run(program: &str, words: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .args(words)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let why = String::from_utf8_lossy(&output.stderr);
    Err(format!("{program} {}: {}", words.join(" "), why.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read() {
        let text = "numgen random mod 100 < 10 counter packets 12 bytes 3400 drop";
        assert_eq!(counters(text), Some((12, 3400)));
        assert_eq!(counters("nothing"), None);
    }

    #[test]
    fn only_our_namespaces_have_an_owner() {
        assert_eq!(owner("wrig123x0-a"), Some(123));
        for name in ["wsv12x0-a", "wrigx0-a", "wrig123-a", "wrigax0", ""] {
            assert_eq!(owner(name), None, "{name}");
        }
    }
}
