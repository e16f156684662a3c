//! A process of a proof, and talking to it by lines: it answers each with one line.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Words and values of an answer such as `stream.last=7 rss=1234`.
pub type Answer = BTreeMap<String, String>;

/// A running process; killed when dropped.
#[derive(Debug)]
pub struct Peer {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

impl Peer {
    /// Starts `command`.
    ///
    /// # Errors
    /// The system refuses.
    pub fn start(command: &mut Command) -> Result<Self, String> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{command:?}: {error}"))?;
        let input = child.stdin.take().ok_or("no input")?;
        let output = child.stdout.take().ok_or("no output")?;
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self {
            child,
            input,
            lines,
        })
    }

    /// Says `line` and waits for the answer.
    ///
    /// # Errors
    /// It has ended or does not answer.
    pub fn ask(&mut self, line: &str) -> Result<Answer, String> {
        writeln!(self.input, "{line}").map_err(|error| format!("{line}: {error}"))?;
        let answer = self
            .lines
            .recv_timeout(PATIENCE)
            .map_err(|error| format!("no answer to {line}: {error}"))?;
        let words = answer
            .split_whitespace()
            .filter_map(|it| it.split_once('='));
        Ok(words
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect())
    }

    /// Sends the signal `name`. `ip netns exec` becomes the program, so this reaches it.
    ///
    /// # Errors
    /// It has ended.
    pub fn signal(&self, name: &str) -> Result<(), String> {
        let id = self.child.id().to_string();
        let status = Command::new("kill").args(["-s", name, &id]).status();
        match status {
            Ok(status) if status.success() => Ok(()),
            other => Err(format!("kill -s {name} {id}: {other:?}")),
        }
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
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
