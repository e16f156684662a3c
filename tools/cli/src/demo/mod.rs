//! `whimbrel demo`: a log file from one process to another, and proof that all of it arrived.
//!
//! The parent starts a publisher and a subscriber, which meet on loopback, in a part of the domain
//! that nobody else joins. They report over pipes; [`show`] prints what they say.

mod log;
mod message;
mod plan;
pub(crate) mod publisher;
mod show;
pub(crate) mod subscriber;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use self::log::Log;
use self::message::{Read, Report, Written};
use self::plan::MEETING_PATIENCE;
use self::show::Show;
use crate::bus;
use crate::failure::Failure;
use crate::options::{BusOptions, DemoOptions};
use crate::output::Output;
use crate::stop;
use crate::time;

/// How long the demo may take beside meeting and publishing.
const OVERHEAD_MAX: Duration = Duration::from_secs(8);

/// How long a process may take to leave.
const FAREWELL: Duration = Duration::from_secs(2);

/// How often it is looked whether a process has ended.
const TURN: Duration = Duration::from_millis(5);

/// Which process a report comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    Publisher,
    Subscriber,
}

pub(crate) fn run(
    options: &BusOptions,
    args: &DemoOptions,
    output: &mut Output,
) -> Result<(), Failure> {
    // What is wrong with the settings is found before anything is said.
    bus::builder(options, "demo")?.settings()?;
    let log = Log::load(args.file.as_deref())?;
    let time = if args.quick {
        Duration::from_millis(500)
    } else {
        args.seconds
    };
    let tag = format!("demo-{}-{}", std::process::id(), time::now_ns() % 1_000_000);
    let (reports, inbox) = mpsc::channel();
    let start = |role| start(role, options, args, time, &tag, &reports);
    let mut subscriber = start(Role::Subscriber)?;
    let mut publisher = start(Role::Publisher)?;
    drop(reports);
    let mut show = Show::new(output, &log, args.bad_network, time);
    show.begin()?;
    if args.smaller.is_asked_for() {
        let domain = options.domain.map(|it| format!(" --domain {it}"));
        show.how_to_watch(&tag, &domain.unwrap_or_default())?;
    }
    let deadline = Instant::now() + MEETING_PATIENCE + 2 * time + OVERHEAD_MAX;
    let result = follow(&inbox, &mut subscriber, &mut show, deadline);
    show.clear();
    let (written, read) = result?;
    publisher.end();
    verify(&log, &written, &read)?;
    show.conclude(&written, &read)
}

/// A process of ours, which does not outlive us.
struct Process {
    child: Child,
}

impl Process {
    /// Closes its standard input, which has it leave; ends it where it does not.
    fn end(&mut self) {
        drop(self.child.stdin.take());
        let deadline = Instant::now() + FAREWELL;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
            thread::sleep(TURN);
        }
        // It may have ended already, and what becomes of it now changes nothing.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

fn start(
    role: Role,
    options: &BusOptions,
    args: &DemoOptions,
    time: Duration,
    tag: &str,
    reports: &Sender<(Role, Option<Report>)>,
) -> Result<Process, Failure> {
    let program = std::env::current_exe().map_err(Failure::setup("finding this program"))?;
    let mut command = Command::new(program);
    command.arg(match role {
        Role::Publisher => "demo-publisher",
        Role::Subscriber => "demo-subscriber",
    });
    command.args(["--domain-tag", tag]);
    if let Some(domain) = options.domain {
        command.args(["--in-domain", &domain.to_string()]);
    }
    let seconds = time.as_secs_f64().to_string();
    command.args(["--steady", &seconds, "--fast", &seconds]);
    if args.bad_network {
        command.arg("--bad-network");
    }
    let smaller = &args.smaller;
    for (option, value) in [
        (
            "--compress",
            smaller.compress.and_then(|it| it.name()).map(Into::into),
        ),
        ("--bundle", smaller.bundle.map(|it| it.to_string())),
        ("--batch", smaller.batch.map(|it| it.to_string())),
    ] {
        command.args(value.into_iter().flat_map(|it| [option.to_owned(), it]));
    }
    if let (Some(file), Role::Publisher) = (&args.file, role) {
        command.arg("--").arg(file);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command
        .spawn()
        .map_err(Failure::setup("starting a process of this program"))?;
    let lines = child.stdout.take().map(|it| BufReader::new(it).lines());
    let reports = reports.clone();
    let read = move || {
        for line in lines.into_iter().flatten().map_while(Result::ok) {
            let report = serde_json::from_str(&line).unwrap_or(Report::Failed(line));
            // The parent has stopped listening.
            let _ = reports.send((role, Some(report)));
        }
        let _ = reports.send((role, None));
    };
    let process = Process { child };
    thread::Builder::new()
        .name("reports".into())
        .spawn(read)
        .map_err(Failure::setup("starting a thread"))?;
    Ok(process)
}

/// Follows both processes to their end.
fn follow(
    inbox: &Receiver<(Role, Option<Report>)>,
    subscriber: &mut Process,
    show: &mut Show<'_>,
    deadline: Instant,
) -> Result<(Written, Read), Failure> {
    let mut written = None;
    loop {
        let received = inbox.recv_timeout(stop::slice(Some(deadline))?);
        // What stops us may have stopped them.
        stop::check()?;
        let (role, report) = match received {
            Ok(report) => report,
            Err(RecvTimeoutError::Timeout) if Instant::now() < deadline => continue,
            Err(RecvTimeoutError::Timeout) => {
                return Err(Failure::Negative("the demo took too long".into()));
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Failure::Negative("both processes ended early".into()));
            }
        };
        match report {
            Some(Report::Matched) => {}
            Some(Report::Writing(it)) => show.writing(it)?,
            Some(Report::Reading(it)) => show.reading(it)?,
            Some(Report::HasWritten(it)) => {
                written = Some(it);
                show.writing(it)?;
                if let Some(stdin) = &mut subscriber.child.stdin {
                    // Where it has ended, its last report says why.
                    let _ = writeln!(stdin, "{}", it.lines);
                }
            }
            Some(Report::HasRead(read)) => {
                let early = || Failure::Negative("the subscriber ended before its time".into());
                return Ok((written.ok_or_else(early)?, read));
            }
            Some(Report::Failed(text)) => return Err(Failure::Negative(text)),
            None => {
                let who = match role {
                    Role::Publisher => "publisher",
                    Role::Subscriber => "subscriber",
                };
                return Err(Failure::Negative(format!("the {who} process died")));
            }
        }
    }
}

/// Compares what arrived with what the file says.
fn verify(log: &Log, written: &Written, read: &Read) -> Result<(), Failure> {
    if read.lines != written.lines {
        return Err(Failure::Negative(format!(
            "{} lines were published, {} arrived",
            written.lines, read.lines
        )));
    }
    let expected = log.checksum(written.lines);
    if read.checksum != expected {
        return Err(Failure::Negative(format!(
            "the lines that arrived have checksum {:016x}, those of the file {expected:016x}",
            read.checksum
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_file_passes() {
        let log = Log::load(None).unwrap();
        let lines = 10;
        let written = Written {
            lines,
            ..Written::default()
        };
        let read = |lines, checksum| Read {
            lines,
            checksum,
            ..Read::default()
        };
        assert!(verify(&log, &written, &read(lines, log.checksum(lines))).is_ok());
        assert!(verify(&log, &written, &read(9, log.checksum(9))).is_err());
        assert!(verify(&log, &written, &read(lines, log.checksum(9))).is_err());
    }
}
