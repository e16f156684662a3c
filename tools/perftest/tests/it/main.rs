//! Both roles as processes on loopback, each test in a domain of its own.

mod hosts;
mod multicast;
mod pairs;
mod refusals;
mod scripts;

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use whimbrel_rig::network::Network;

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

/// A running process.
struct Running {
    child: Kept,
    out: Said,
    err: Said,
}

/// What a process says, while it does.
struct Said {
    text: Arc<Mutex<String>>,
    reading: JoinHandle<()>,
}

impl Said {
    fn by(mut from: impl Read + Send + 'static) -> Self {
        let text = Arc::new(Mutex::new(String::new()));
        let noted = Arc::clone(&text);
        let reading = thread::spawn(move || {
            let mut bytes = Vec::new();
            let mut room = [0; 4096];
            while let Ok(count @ 1..) = from.read(&mut room) {
                bytes.extend_from_slice(&room[..count]);
                *noted.lock().unwrap() = String::from_utf8_lossy(&bytes).into_owned();
            }
        });
        Self { text, reading }
    }

    fn whole(self) -> String {
        self.reading.join().unwrap();
        let text = self.text.lock().unwrap();
        text.clone()
    }
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

    /// On one of the two hosts of [`Network::pair`].
    fn on(network: &Network, host: &str, line: &str) -> Self {
        let mut command = network.program(host, Path::new(PROGRAM));
        command.env("WHIMBREL_INTERFACES", format!("v{host}"));
        Self::of(command, line.split_whitespace())
    }

    /// By `command`, which has the program in it.
    fn of<'a>(mut command: Command, words: impl Iterator<Item = &'a str>) -> Self {
        let mut child = command
            .args(words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let out = Said::by(child.stdout.take().unwrap());
        let err = Said::by(child.stderr.take().unwrap());
        let child = Kept(child);
        Self { child, out, err }
    }

    fn signal(&self, name: &str) {
        let kill = Command::new("kill")
            .args(["-s", name, &self.child.0.id().to_string()])
            .status();
        assert!(kill.unwrap().success());
    }

    /// Waits until its standard error has `words`.
    fn wait_until(&self, words: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !self.err.text.lock().unwrap().contains(words) {
            assert!(Instant::now() < deadline, "it does not say {words}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn end(mut self) -> Ended {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.0.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < deadline, "it does not end");
            thread::sleep(Duration::from_millis(10));
        };
        let (out, err) = (self.out.whole(), self.err.whole());
        Ended { status, out, err }
    }
}

/// Killed when dropped.
struct Kept(Child);

impl Drop for Kept {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
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
