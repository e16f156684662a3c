//! Both roles as processes on loopback, each test in a domain of its own.

mod multicast;
mod pairs;
mod refusals;
mod scripts;

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The program.
const PROGRAM: &str = env!("CARGO_BIN_EXE_whimbrel-perftest");
/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a process said, and how it ended.
struct Ended {
    status: ExitStatus,
    out: String,
    err: String,
}

impl Ended {
    fn code(&self) -> Option<i32> {
        self.status.code()
    }
}

/// A running process; killed when dropped.
struct Running {
    child: Child,
    out: Option<JoinHandle<String>>,
    err: Option<JoinHandle<String>>,
}

impl Running {
    fn start(line: &str) -> Self {
        Self::with(line.split_whitespace())
    }

    fn with<'a>(words: impl Iterator<Item = &'a str>) -> Self {
        let mut command = Command::new(PROGRAM);
        command.env("WHIMBREL_INTERFACES", "lo");
        Self::of(command, words)
    }

    /// By `command`, which has the program in it.
    fn of<'a>(mut command: Command, words: impl Iterator<Item = &'a str>) -> Self {
        let mut child = command
            .args(words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let out = Some(reader(child.stdout.take().unwrap()));
        let err = Some(reader(child.stderr.take().unwrap()));
        Self { child, out, err }
    }

    fn signal(&self, name: &str) {
        let kill = Command::new("kill")
            .args(["-s", name, &self.child.id().to_string()])
            .status();
        assert!(kill.unwrap().success());
    }

    fn end(mut self) -> Ended {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < deadline, "it does not end");
            thread::sleep(Duration::from_millis(10));
        };
        Ended {
            status,
            out: self.out.take().unwrap().join().unwrap(),
            err: self.err.take().unwrap().join().unwrap(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn reader(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut text = String::new();
        from.read_to_string(&mut text).unwrap();
        text
    })
}

/// A publisher and a subscriber of `domain` that both end well.
fn pair(domain: u32, publisher: &str, subscriber: &str) -> (Ended, Ended) {
    let sub = Running::start(&format!("-sub -domain {domain} {subscriber}"));
    let publisher = Running::start(&format!("-pub -domain {domain} {publisher}"));
    let (publisher, sub) = (publisher.end(), sub.end());
    for it in [&publisher, &sub] {
        assert_eq!(it.code(), Some(0), "{}{}", it.out, it.err);
    }
    (publisher, sub)
}

/// The numbers of a row of CSV.
fn numbers(row: &str) -> Vec<f64> {
    row.split(',')
        .map(|it| it.trim().parse().unwrap())
        .collect()
}
