//! One case with one pair of peers: start, watch, judge, end.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use super::cases::{Case, Course, Pair, Peer, Place, limit};
use super::child::Child;
use super::command::{Lines, Role};
use super::hosts::Hosts;
use super::outcome::Verdict;
use super::samples;
use super::shared::lock;

/// How long a case may take: longer than the peers' own timeout, for a busy machine.
const CASE: Duration = Duration::from_secs(40);

/// How soon a departure must be noticed: sooner than any lease would end.
const FAREWELL: Duration = Duration::from_secs(6);

/// How soon a killed peer with a lease of 2 s must be noticed.
const LEASE: Duration = Duration::from_secs(9);

const UNSUPPORTED: i32 = 4;
const POLL: Duration = Duration::from_millis(5);

/// Captures of peers that closed them. Who captures sends and receives each datagram by a call of
/// its own, and nothing past the network.
#[derive(Debug)]
pub(crate) struct Captures {
    closed: Mutex<Vec<PathBuf>>,
    are_wanted: bool,
}

impl Captures {
    /// None yet, and none ever unless they `are_wanted`.
    pub(crate) fn new(are_wanted: bool) -> Self {
        Self {
            closed: Mutex::default(),
            are_wanted,
        }
    }

    /// All of them.
    pub(crate) fn take(&self) -> Vec<PathBuf> {
        std::mem::take(&mut *lock(&self.closed))
    }
}

/// Everything one case needs.
#[derive(Debug)]
pub(crate) struct Stage<'a> {
    lines: Lines<'a>,
    work: &'a Path,
    captures: &'a Captures,
}

/// Why a case did not pass.
#[derive(Debug)]
enum Stop {
    Failed(String),
    /// A peer said that it cannot.
    Unsupported,
}

struct Peers {
    publisher: Child,
    subscriber: Option<Child>,
}

impl<'a> Stage<'a> {
    /// The case with this pair; `number` is different for each.
    pub(crate) fn new(
        case: &'a Case,
        pair: Pair,
        number: usize,
        peers_dir: &'a Path,
        work: &'a Path,
        captures: &'a Captures,
    ) -> Self {
        let lines = Lines {
            case,
            pair,
            number,
            seed: 1,
            peers_dir,
        };
        Self {
            lines,
            work,
            captures,
        }
    }

    /// Loses by another seed.
    pub(crate) const fn seed(mut self, seed: usize) -> Self {
        self.lines.seed = seed;
        self
    }

    /// Plays and judges.
    pub(crate) fn play(&self) -> Verdict {
        let limit = limit(self.lines.case.name, self.lines.pair);
        if let Some(limit) = limit.filter(|limit| !limit.said) {
            return Verdict::NotApplicable(limit.why);
        }
        match (self.try_play(), limit) {
            (Ok(()), None) => Verdict::Passed,
            (Err(Stop::Unsupported), Some(limit)) => Verdict::NotApplicable(limit.why),
            (Err(Stop::Unsupported), None) => {
                Verdict::Failed("a peer says that it cannot (exit code 4)".into())
            }
            (Err(Stop::Failed(why)), _) => Verdict::Failed(why),
            (Ok(()), Some(limit)) => {
                Verdict::Failed(format!("passes, so this is no longer true: {}", limit.why))
            }
        }
    }

    fn try_play(&self) -> Result<(), Stop> {
        let hosts = match self.lines.case.place {
            Place::Loopback => None,
            place => {
                let hosts = Hosts::up(self.lines.number, place == Place::Multicast);
                Some(hosts.map_err(Stop::Failed)?)
            }
        };
        let late = self.lines.case.course == Course::Late;
        let mut peers = Peers {
            publisher: self.start(Role::Publisher, hosts.as_ref())?,
            subscriber: None,
        };
        if !late {
            peers.subscriber = Some(self.start(Role::Subscriber, hosts.as_ref())?);
        }
        let outcome = self.follow(&mut peers, hosts.as_ref());
        self.end(peers, &outcome);
        outcome
    }

    fn start(&self, role: Role, hosts: Option<&Hosts>) -> Result<Child, Stop> {
        let capture = self.capture(role);
        let command = self.lines.command(role, hosts, capture.as_ref());
        let own = self.lines.peer(role).leaves_on_request();
        command
            .and_then(|command| Child::start(command, own))
            .map_err(Stop::Failed)
    }

    /// Where Whimbrel in this role captures its traffic.
    fn capture(&self, role: Role) -> Option<PathBuf> {
        let killed = self.lines.case.course == Course::PublisherKilled && role == Role::Publisher;
        let can = self.lines.peer(role) == Peer::Whimbrel && !killed;
        if !(can && self.captures.are_wanted) {
            return None;
        }
        let pair = self.lines.pair;
        let (name, publisher) = (self.lines.case.name, pair.publisher.name());
        let subscriber = pair.subscriber.name();
        let file = format!("{name}-{publisher}-{subscriber}-{role:?}.pcapng");
        Some(self.work.join(file.to_lowercase()))
    }

    fn follow(&self, peers: &mut Peers, hosts: Option<&Hosts>) -> Result<(), Stop> {
        let case = self.lines.case;
        let deadline = Instant::now() + CASE;
        match case.course {
            Course::Together if case.lines.is_empty() => {
                wait(peers, deadline, "both to end well", Peers::both_done)?;
            }
            Course::Together => {
                self.all_received(peers, deadline)?;
                self.all_told(peers, deadline)?;
                wait(peers, deadline, case.lines, |it| {
                    it.subscriber_said(case.lines)
                })?;
            }
            Course::Late => {
                self.all_told(peers, deadline)?;
                peers.subscriber = Some(self.start(Role::Subscriber, hosts)?);
                wait(
                    peers,
                    deadline,
                    "the subscriber to end well",
                    Peers::subscriber_done,
                )?;
            }
            Course::PublisherLeaves => {
                wait(
                    peers,
                    deadline,
                    "the publisher to end well",
                    Peers::publisher_done,
                )?;
                let deadline = Instant::now() + FAREWELL;
                wait(peers, deadline, case.lines, |it| {
                    it.subscriber_said(case.lines)
                })?;
            }
            Course::SubscriberLeaves => {
                wait(
                    peers,
                    deadline,
                    "the subscriber to end well",
                    Peers::subscriber_done,
                )?;
                let deadline = Instant::now() + FAREWELL;
                let said = |it: &mut Peers| case.lines.iter().all(|line| it.publisher.said(line));
                wait(peers, deadline, case.lines, said)?;
            }
            Course::PublisherKilled => {
                self.all_received(peers, deadline)?;
                self.all_told(peers, deadline)?;
                if peers.subscriber_said(&case.lines[..1]) {
                    return Err(Stop::Failed(
                        "unmatched before the publisher was killed".into(),
                    ));
                }
                peers.publisher.kill();
                let deadline = Instant::now() + LEASE;
                wait(peers, deadline, case.lines, |it| {
                    it.subscriber_said(case.lines)
                })?;
            }
        }
        let received = peers
            .subscriber
            .as_ref()
            .map(Child::lines)
            .unwrap_or_default();
        samples::compare(&peers.publisher.lines(), &received, case.arrival).map_err(Stop::Failed)
    }

    fn all_received(&self, peers: &mut Peers, deadline: Instant) -> Result<(), Stop> {
        let count = option(self.lines.case, Role::Subscriber, "--count");
        let done = |it: &mut Peers| {
            let subscriber = it.subscriber.as_ref();
            subscriber.is_some_and(|it| it.count("received ") >= count)
        };
        wait(peers, deadline, "all samples to arrive", done)
    }

    /// A sample may arrive before the publisher has said that it is sent.
    fn all_told(&self, peers: &mut Peers, deadline: Instant) -> Result<(), Stop> {
        let count = option(self.lines.case, Role::Publisher, "--count");
        let told = |it: &mut Peers| it.publisher.count("sent ") >= count;
        wait(peers, deadline, "everything to be written", told)
    }

    /// Ends both, and keeps the captures of those that closed them.
    fn end(&self, peers: Peers, outcome: &Result<(), Stop>) {
        let Peers {
            mut publisher,
            subscriber,
        } = peers;
        let mut left = vec![(Role::Publisher, publisher.leave())];
        if let Some(mut subscriber) = subscriber {
            left.push((Role::Subscriber, subscriber.leave()));
        }
        let closed = left.into_iter().filter(|(_, by_itself)| *by_itself);
        let files: Vec<PathBuf> = closed.filter_map(|(role, _)| self.capture(role)).collect();
        if !matches!(outcome, Err(Stop::Unsupported)) {
            lock(&self.captures.closed).extend(files);
        }
    }
}

impl Peers {
    fn publisher_done(&mut self) -> bool {
        self.publisher.ended().is_some()
    }

    fn subscriber_done(&mut self) -> bool {
        self.subscriber
            .as_mut()
            .is_some_and(|it| it.ended().is_some())
    }

    fn both_done(&mut self) -> bool {
        self.publisher_done() && self.subscriber_done()
    }

    fn subscriber_said(&mut self, lines: &[&str]) -> bool {
        let subscriber = self.subscriber.as_ref();
        subscriber.is_some_and(|it| lines.iter().all(|line| it.said(line)))
    }

    /// A peer that ended badly by itself.
    fn complaint(&mut self) -> Option<Stop> {
        let all = [Some(&mut self.publisher), self.subscriber.as_mut()];
        for (child, name) in all.into_iter().zip(["publisher", "subscriber"]) {
            let Some(child) = child else { continue };
            let Some(status) = child.ended() else {
                continue;
            };
            match status.code() {
                Some(0) => {}
                Some(UNSUPPORTED) => return Some(Stop::Unsupported),
                // Killed by the course of the case.
                None if name == "publisher" => {}
                _ => return Some(Stop::Failed(format!("{name} {}", child.last_words()))),
            }
        }
        None
    }
}

/// Waits until `done`; a peer that ends badly stops that at once.
fn wait(
    peers: &mut Peers,
    deadline: Instant,
    what: impl std::fmt::Debug,
    mut done: impl FnMut(&mut Peers) -> bool,
) -> Result<(), Stop> {
    loop {
        let is_done = done(peers);
        if let Some(stop) = peers.complaint() {
            return Err(stop);
        }
        if is_done {
            return Ok(());
        }
        if Instant::now() > deadline {
            let publisher = peers.publisher.last_words();
            let subscriber = peers.subscriber.as_mut().map(Child::last_words);
            let subscriber = subscriber.unwrap_or_default();
            return Err(Stop::Failed(format!(
                "waited in vain for {what:?}; publisher {publisher}; subscriber {subscriber}"
            )));
        }
        thread::sleep(POLL);
    }
}

/// The last value of a number option in a case's words, 10 where the contract's default holds.
fn option(case: &Case, role: Role, name: &str) -> usize {
    let own = match role {
        Role::Publisher => case.publisher,
        Role::Subscriber => case.subscriber,
    };
    let words: Vec<&str> = case.both.split(' ').chain(own.split(' ')).collect();
    let values = words.windows(2).filter(|it| it[0] == name);
    values
        .filter_map(|it| it[1].parse().ok())
        .next_back()
        .unwrap_or(10)
}
