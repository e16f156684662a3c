//! A process of a proof, whose answers are words with values.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use whimbrel_rig::process::Process;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Words and values of an answer such as `stream.last=7 rss=1234`.
pub type Answer = BTreeMap<String, String>;

/// A running process; killed when dropped.
#[derive(Debug)]
pub struct Peer(Process);

impl Peer {
    /// Starts `command`.
    ///
    /// # Errors
    /// The system refuses.
    pub fn start(command: &mut Command) -> Result<Self, String> {
        Process::start("peer", command).map(Self)
    }

    /// Says `line` and waits for the answer.
    ///
    /// # Errors
    /// It has ended or does not answer.
    pub fn ask(&mut self, line: &str) -> Result<Answer, String> {
        let answer = self.0.ask(line, PATIENCE)?;
        let words = answer
            .split_whitespace()
            .filter_map(|it| it.split_once('='));
        Ok(words
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect())
    }

    /// Sends the signal `name`.
    ///
    /// # Errors
    /// It has ended.
    pub fn signal(&self, name: &str) -> Result<(), String> {
        self.0.signal(name)
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.0.id()
    }
}

/// The number called `name` in `answer`.
///
/// # Errors
/// There is none.
pub fn number(answer: &Answer, name: &str) -> Result<i64, String> {
    answer
        .get(name)
        .and_then(|text| text.parse().ok())
        .ok_or(format!("no {name} in {answer:?}"))
}
