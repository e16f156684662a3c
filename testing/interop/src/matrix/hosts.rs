//! Two hosts on one machine: two network namespaces joined by `testing/interop/netns.sh`.

use std::process::Command;

use super::shared::root;

/// One of the two hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    A,
    B,
}

impl Side {
    /// The other one.
    pub(crate) const fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }

    /// Its address.
    pub(crate) const fn address(self) -> &'static str {
        match self {
            Self::A => "10.77.0.1",
            Self::B => "10.77.0.2",
        }
    }

    /// Its interface.
    pub(crate) const fn interface(self) -> &'static str {
        match self {
            Self::A => "va",
            Self::B => "vb",
        }
    }

    const fn letter(self) -> &'static str {
        match self {
            Self::A => "a",
            Self::B => "b",
        }
    }
}

/// The namespaces, until dropped; whoever runs inside must have ended before.
#[derive(Debug)]
pub(crate) struct Hosts {
    name: String,
}

impl Hosts {
    /// Makes both hosts.
    pub(crate) fn up(number: usize, multicast: bool) -> Result<Self, String> {
        let hosts = Self {
            name: format!("interop{}x{number}", std::process::id()),
        };
        let option: &[&str] = if multicast { &[] } else { &["--no-multicast"] };
        hosts.script("up", option).map_err(no_namespaces)?;
        Ok(hosts)
    }

    /// Makes both hosts, and a place between them where a program decides what is passed on.
    pub(crate) fn bridged(number: usize) -> Result<Self, String> {
        let hosts = Self {
            name: format!("interop{}x{number}", std::process::id()),
        };
        hosts.script("bridged", &[]).map_err(no_namespaces)?;
        Ok(hosts)
    }

    /// `words` run between the two hosts of [`Hosts::bridged`].
    pub(crate) fn between(&self, words: Vec<String>) -> Vec<String> {
        self.within("m", words)
    }

    /// `words` run on `side`.
    pub(crate) fn inside(&self, side: Side, words: Vec<String>) -> Vec<String> {
        self.within(side.letter(), words)
    }

    fn within(&self, letter: &str, words: Vec<String>) -> Vec<String> {
        let name = format!("{}-{letter}", self.name);
        let mut all = ["ip", "netns", "exec", &name].map(str::to_owned).to_vec();
        all.extend(words);
        all
    }

    /// From now on both hosts lose so many of a hundred datagrams that come in, at random. What
    /// the kernel cut into IP fragments is whole again at that point: one datagram, one throw.
    pub(crate) fn lose(&self, percent: u32) -> Result<(), String> {
        let rules = format!(
            "table inet loss {{\nchain incoming {{\ntype filter hook input priority 0\n\
             meta l4proto udp numgen random mod 100 < {percent} counter drop\n}}\n}}"
        );
        for side in [Side::A, Side::B] {
            let words = self.inside(side, vec!["nft".into(), rules.clone()]);
            output(words)?;
        }
        Ok(())
    }

    /// Datagrams that were lost on both hosts.
    pub(crate) fn lost(&self) -> Result<u64, String> {
        let mut sum = 0;
        for side in [Side::A, Side::B] {
            let words = ["nft", "list", "table", "inet", "loss"].map(str::to_owned);
            let text = output(self.inside(side, words.to_vec()))?;
            let mut words = text
                .split_whitespace()
                .skip_while(|word| *word != "packets");
            let packets = words.nth(1).and_then(|word| word.parse::<u64>().ok());
            sum += packets.ok_or_else(|| format!("nft counts nothing: {text}"))?;
        }
        Ok(sum)
    }

    fn script(&self, verb: &str, options: &[&str]) -> Result<(), String> {
        let output = Command::new("sh")
            .arg(root().join("testing/interop/netns.sh"))
            .args([verb, &self.name])
            .args(options)
            .output()
            .map_err(|error| error.to_string())?;
        if output.status.success() {
            return Ok(());
        }
        let complaint = String::from_utf8_lossy(&output.stderr);
        Err(complaint
            .lines()
            .next_back()
            .unwrap_or("netns.sh")
            .to_owned())
    }
}

fn no_namespaces(why: String) -> String {
    format!("no network namespaces, which need root and iproute2: {why}")
}

/// The output of a command that must succeed.
fn output(words: Vec<String>) -> Result<String, String> {
    let line = words.join(" ");
    let mut all = words.into_iter();
    let output = Command::new(all.next().unwrap_or_default())
        .args(all)
        .output()
        .map_err(|error| format!("{line}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    Err(format!("{line}: {complaint}"))
}

impl Drop for Hosts {
    fn drop(&mut self) {
        if let Err(why) = self.script("down", &[]) {
            eprintln!("{}: not removed: {why}", self.name);
        }
    }
}
