//! Starting peers, and watching them until something is true.

use std::fmt::Debug;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::matrix::cases::{Peer, Place};
use crate::matrix::child::Child;
use crate::matrix::command::{command_of, domain, network, program};
use crate::matrix::hosts::{Hosts, Side};

const POLL: Duration = Duration::from_millis(5);

/// Where one case is played.
#[derive(Debug)]
pub(crate) struct Stage<'a> {
    /// Different for each case that is played.
    pub(crate) number: usize,
    /// Where the programs of other products are.
    pub(crate) peers_dir: &'a Path,
}

impl<'a> Stage<'a> {
    /// For the case with this number.
    pub(crate) const fn new(number: usize, peers_dir: &'a Path) -> Self {
        Self { number, peers_dir }
    }

    /// The topic of this case.
    pub(crate) fn topic(&self) -> String {
        format!("depth_{}_{}", std::process::id(), self.number)
    }

    /// Two hosts for this case alone.
    pub(crate) fn hosts(&self) -> Result<Hosts, String> {
        Hosts::up(1000 + self.number, true)
    }

    /// Two hosts for this case alone, and a place between them.
    pub(crate) fn bridged_hosts(&self) -> Result<Hosts, String> {
        Hosts::bridged(1000 + self.number)
    }

    /// A program between two hosts; it leaves when its standard input ends.
    pub(crate) fn start_between(&self, hosts: &Hosts, words: Vec<String>) -> Result<Child, String> {
        Child::start(command_of(hosts.between(words)), true)
    }

    /// A peer on this host's loopback.
    pub(crate) fn start(&self, peer: Peer, words: &str) -> Result<Child, String> {
        self.start_at(peer, words, None)
    }

    /// A peer on one of two hosts.
    pub(crate) fn start_at(
        &self,
        peer: Peer,
        words: &str,
        place: Option<(&Hosts, Side)>,
    ) -> Result<Child, String> {
        let mut all = program(peer, self.peers_dir)?;
        all.extend(words.split_whitespace().map(str::to_owned));
        let (topic, domain) = (self.topic(), domain(self.number));
        let common = format!("--topic {topic} --domain {domain}");
        all.extend(common.split_whitespace().map(str::to_owned));
        let own = peer.leaves_on_request();
        if own {
            all.push("--until-eof".into());
        }
        if let Some((hosts, side)) = place {
            all.extend(network(Place::Multicast, peer, side));
            all = hosts.inside(side, all);
        }
        Child::start(command_of(all), own)
    }
}

/// Waits until `done`; what ended badly meanwhile, or the end of `patience`, fails.
pub(crate) fn wait(
    children: &mut [&mut Child],
    patience: Duration,
    what: impl Debug,
    mut done: impl FnMut(&mut [&mut Child]) -> bool,
) -> Result<(), String> {
    let deadline = Instant::now() + patience;
    loop {
        let is_done = done(children);
        let bad = |it: &mut &mut Child| it.ended().is_some_and(|status| !status.success());
        if let Some(number) = children.iter_mut().position(bad) {
            return Err(format!("peer {number} ended; {}", words(children)));
        }
        if is_done {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(format!("waited in vain for {what:?}; {}", words(children)));
        }
        thread::sleep(POLL);
    }
}

fn words(children: &mut [&mut Child]) -> String {
    let each = children.iter_mut().enumerate();
    let each: Vec<String> = each
        .map(|(number, it)| format!("peer {number} {}", it.last_words()))
        .collect();
    each.join("; ")
}
