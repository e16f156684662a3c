//! The built program on loopback, each test in a part of the domain of its own.

mod arguments;
mod bus;
mod config;
mod features;
mod signals;
mod smaller;

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Long enough for a loaded machine; nothing here takes that long unless it fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a run of the program gave.
#[derive(Debug)]
struct Run {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Run {
    /// Standard output as JSON lines.
    fn objects(&self) -> Vec<Value> {
        let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
        self.stdout.lines().map(parse).collect()
    }

    fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }
}

/// A part of a domain for one test.
struct Place {
    domain: u32,
    tag: String,
}

impl Place {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self {
            domain: 150 + number % 80,
            tag: format!("cli {} {number}", std::process::id()),
        }
    }

    /// Another part of the same domain.
    fn beside(&self) -> Self {
        Self {
            domain: self.domain,
            tag: format!("{} beside", self.tag),
        }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = program(args);
        let domain = self.domain.to_string();
        command.args([
            "--domain",
            &domain,
            "--tag",
            &self.tag,
            "--interfaces",
            "lo",
        ]);
        command
    }

    /// Runs the program to its end.
    fn run(&self, args: &[&str]) -> Run {
        finish(self.command(args))
    }

    /// Runs the program to its end in the background.
    fn start(&self, args: &[&str]) -> thread::JoinHandle<Run> {
        let command = self.command(args);
        thread::spawn(move || finish(command))
    }

    /// Runs the program until the guard is dropped.
    fn spawn(&self, args: &[&str]) -> Running {
        let mut command = self.command(args);
        command.stdout(Stdio::null());
        Running(command.spawn().unwrap())
    }
}

/// A program that runs; it ends with this value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn program(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whimbrel"));
    command.args(args).stdin(Stdio::null());
    for name in ["DOMAIN", "INTERFACES", "PEERS", "IP", "LOG"] {
        command.env_remove(format!("WHIMBREL_{name}"));
    }
    command
}

fn finish(mut command: Command) -> Run {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let stdout = collect(child.stdout.take().unwrap());
    let stderr = collect(child.stderr.take().unwrap());
    let status = wait(&mut child, &command);
    Run {
        code: status.code().unwrap_or(-1),
        stdout: stdout.join().unwrap(),
        stderr: stderr.join().unwrap(),
    }
}

fn collect(mut stream: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    })
}

fn wait(child: &mut Child, command: &Command) -> ExitStatus {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if started.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("{command:?} does not end");
        }
        thread::sleep(Duration::from_millis(10));
    }
}
