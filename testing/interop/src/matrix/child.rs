//! A peer's process: its lines as they come, its end, and its certain death.

use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child as Process, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::shared::lock;

/// Most octets of error output that are kept.
const STDERR_BYTES_MAX: u64 = 4096;

/// How long a peer that was asked to leave may take.
const LEAVE: Duration = Duration::from_secs(5);

/// A running peer. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Child {
    process: Process,
    stdin: Option<ChildStdin>,
    lines: Arc<Mutex<Vec<String>>>,
    stderr: Arc<Mutex<String>>,
    readers: Vec<JoinHandle<()>>,
}

impl Child {
    /// Starts `command`; `asks_to_leave` for a peer that goes when its standard input ends.
    pub(crate) fn start(mut command: Command, asks_to_leave: bool) -> Result<Self, String> {
        let stdin = if asks_to_leave {
            Stdio::piped()
        } else {
            Stdio::null()
        };
        let program = command.get_program().to_string_lossy().into_owned();
        let mut process = command
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{program}: {error} (cargo xtask setup builds the peers)"))?;
        let lines = Arc::new(Mutex::new(Vec::new()));
        let stderr = Arc::new(Mutex::new(String::new()));
        let mut readers = Vec::new();
        if let Some(out) = process.stdout.take() {
            let lines = Arc::clone(&lines);
            readers.push(thread::spawn(move || {
                let mut out = BufReader::new(out);
                while let Some(line) = whole_line(&mut out) {
                    lock(&lines).push(line);
                }
            }));
        }
        if let Some(mut err) = process.stderr.take() {
            let text = Arc::clone(&stderr);
            readers.push(thread::spawn(move || {
                let mut kept = Vec::new();
                let _ = err.by_ref().take(STDERR_BYTES_MAX).read_to_end(&mut kept);
                *lock(&text) = String::from_utf8_lossy(&kept).into_owned();
                let _ = io::copy(&mut err, &mut io::sink());
            }));
        }
        Ok(Self {
            stdin: process.stdin.take(),
            process,
            lines,
            stderr,
            readers,
        })
    }

    /// All lines so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        lock(&self.lines).clone()
    }

    /// True once a line is exactly this.
    pub(crate) fn said(&self, wanted: &str) -> bool {
        lock(&self.lines).iter().any(|line| line == wanted)
    }

    /// The number of lines that begin so.
    pub(crate) fn count(&self, beginning: &str) -> usize {
        let lines = lock(&self.lines);
        lines.iter().filter(|it| it.starts_with(beginning)).count()
    }

    /// How it ended, once it has; all its lines are there then.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        let status = self.process.try_wait().ok().flatten()?;
        for reader in self.readers.drain(..) {
            let _ = reader.join();
        }
        Some(status)
    }

    /// Ends it at once, as a crash would.
    pub(crate) fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// Lets it leave where it can, else kills it; true when it left by itself.
    pub(crate) fn leave(&mut self) -> bool {
        let asked = self.stdin.take().is_some();
        let end = Instant::now() + LEAVE;
        while asked && Instant::now() < end {
            if self.ended().is_some() {
                return true;
            }
            thread::sleep(Duration::from_millis(5));
        }
        let by_itself = self.ended().is_some();
        self.kill();
        by_itself
    }

    /// Its last words, for a report.
    pub(crate) fn last_words(&mut self) -> String {
        let status = self
            .ended()
            .map_or_else(|| "running".to_owned(), |status| status.to_string());
        let lines = self.lines();
        let last = lines
            .get(lines.len().saturating_sub(3)..)
            .unwrap_or_default();
        let stderr = lock(&self.stderr);
        let complaint = stderr.lines().next_back().unwrap_or_default();
        format!("{status}: {} {complaint}", last.join(" | "))
    }
}

/// The next line of `out`. What a process had not finished when it was killed is none.
fn whole_line(out: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    out.read_line(&mut line).ok()?;
    line.strip_suffix('\n').map(str::to_owned)
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_had_not_finished_is_no_line() {
        let mut out = "received 1 RED 0a\nreceived 2 RED".as_bytes();
        assert_eq!(whole_line(&mut out).as_deref(), Some("received 1 RED 0a"));
        assert_eq!(whole_line(&mut out), None);
    }
}
