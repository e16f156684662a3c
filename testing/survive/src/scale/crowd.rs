//! Many processes on one host, and what they cost.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use whimbrel_rig::network::Network;

use super::child::Shape;
use super::usage::Usage;

/// Where a crowd lives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Host<'a> {
    pub(super) network: &'a Network,
    pub(super) letter: &'static str,
}

/// A process of the crowd.
pub(super) struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

/// What all participants of a process, or of many, have sent and received since their start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Report {
    pub(super) sent_bytes: u64,
    pub(super) sent: u64,
    pub(super) received_bytes: u64,
    pub(super) received: u64,
    /// Datagrams lost for want of room.
    pub(super) lost: u64,
    /// Participants with a well-known port.
    pub(super) indices: u64,
    /// Pairs of a writer of theirs and a reader, theirs or another's.
    pub(super) matches: u64,
}

impl Report {
    fn parse(line: &str) -> Option<Self> {
        let numbers: Vec<u64> = line
            .split_whitespace()
            .map_while(|word| word.parse().ok())
            .collect();
        let [
            sent_bytes,
            sent,
            received_bytes,
            received,
            lost,
            indices,
            matches,
        ] = numbers[..]
        else {
            return None;
        };
        Some(Self {
            sent_bytes,
            sent,
            received_bytes,
            received,
            lost,
            indices,
            matches,
        })
    }

    fn plus(self, more: Self) -> Self {
        Self {
            sent_bytes: self.sent_bytes + more.sent_bytes,
            sent: self.sent + more.sent,
            received_bytes: self.received_bytes + more.received_bytes,
            received: self.received + more.received,
            lost: self.lost + more.lost,
            indices: self.indices + more.indices,
            matches: self.matches + more.matches,
        }
    }
}

impl Process {
    /// Starts a process on `host` that is to hold `shape`.
    fn spawn(shape: Shape, host: Host<'_>) -> Result<Self, String> {
        let mut command = host.network.this_program(host.letter)?;
        command
            .args(["child", "scale"])
            .args(shape.words())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().ok_or("no standard output")?;
        Ok(Self {
            child,
            stdin,
            stdout: BufReader::new(stdout),
        })
    }

    fn line(&mut self) -> Result<String, String> {
        let mut line = String::new();
        match self.stdout.read_line(&mut line) {
            Ok(0) => Err("a process of the crowd has ended".to_owned()),
            Ok(_) => Ok(line.trim().to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn ask(&mut self, question: &str) -> Result<String, String> {
        let stdin = self.stdin.as_mut().ok_or("the process was told to end")?;
        writeln!(stdin, "{question}").map_err(|error| error.to_string())?;
        self.line()
    }

    fn expect(&mut self, question: Option<&str>, answer: &str) -> Result<(), String> {
        let said = match question {
            Some(question) => self.ask(question)?,
            None => self.line()?,
        };
        if said == answer { Ok(()) } else { Err(said) }
    }

    fn report(&mut self) -> Result<Report, String> {
        let line = self.ask("report")?;
        Report::parse(&line).ok_or(line)
    }

    fn usage(&self) -> Usage {
        Usage::of(self.child.id())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The end of its input ends the process.
        drop(self.stdin.take());
        let deadline = Instant::now() + Duration::from_secs(20);
        while let Ok(None) = self.child.try_wait() {
            if Instant::now() > deadline {
                let _ = self.child.kill();
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Processes of one shape in one domain.
pub(super) struct Crowd<'a> {
    shape: Shape,
    host: Host<'a>,
    processes: Vec<Process>,
}

impl<'a> Crowd<'a> {
    /// Nobody yet.
    pub(super) fn new(shape: Shape, host: Host<'a>) -> Self {
        Self {
            shape,
            host,
            processes: Vec::new(),
        }
    }

    /// Starts `count` more processes and waits until each has its entities.
    pub(super) fn grow(&mut self, count: usize) -> Result<(), String> {
        let first = self.processes.len();
        for _ in 0..count {
            self.processes.push(Process::spawn(self.shape, self.host)?);
        }
        for process in self.processes.iter_mut().skip(first) {
            process.expect(None, "ready")?;
        }
        Ok(())
    }

    /// Ends the `count` processes that started first.
    pub(super) fn shrink(&mut self, count: usize) {
        let mut ending: Vec<Process> = self.processes.drain(..count).collect();
        for process in &mut ending {
            drop(process.stdin.take());
        }
    }

    /// Where it lives.
    pub(super) fn host(&self) -> Host<'a> {
        self.host
    }

    pub(super) fn participants(&self) -> usize {
        self.processes.len() * self.shape.participants
    }

    /// Waits until every endpoint is matched with its counterparts of all participants.
    pub(super) fn wait(&mut self) -> Result<(), String> {
        self.wait_for(self.participants())
    }

    /// Waits until every endpoint is matched with its counterparts of `participants`.
    pub(super) fn wait_for(&mut self, participants: usize) -> Result<(), String> {
        let question = format!("wait {participants}");
        for process in &mut self.processes {
            process.expect(Some(&question), "matched")?;
        }
        Ok(())
    }

    /// What all have sent and received.
    pub(super) fn report(&mut self) -> Result<Report, String> {
        let mut sum = Report::default();
        for process in &mut self.processes {
            sum = sum.plus(process.report()?);
        }
        Ok(sum)
    }

    /// What each process has used.
    pub(super) fn usage(&self) -> Vec<Usage> {
        self.processes.iter().map(Process::usage).collect()
    }
}

impl Drop for Crowd<'_> {
    fn drop(&mut self) {
        // All at once: each is waited for when it is dropped.
        for process in &mut self.processes {
            drop(process.stdin.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_understood_and_added() {
        let report = Report::parse("1 2 3 4 5 6 7").unwrap();
        let sum = report.plus(report);
        assert_eq!((sum.sent_bytes, sum.lost, sum.matches), (2, 10, 14));
        assert_eq!(Report::parse("1 2 3"), None);
        assert_eq!(Report::parse("failed: no index"), None);
    }
}
