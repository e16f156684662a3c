//! Child processes: their output as text, or line by line under a time limit.
//!
//! A child that is watched gets a process group of its own, and the whole group is ended by its
//! number when the child ends or its time is over; nothing is ever ended by name.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// How long output is still read after the child has ended.
const DRAIN: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(50);

/// How a watched child ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Exit code zero.
    Success,
    /// Another exit code, or a signal.
    Failure(String),
    /// The limit passed and the group was ended.
    TimedOut,
}

/// Runs a command and returns its standard output; the error holds its standard error.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let shown = format!("{command:?}");
    let done = command
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("{shown}: {e}"))?;
    if !done.status.success() {
        let why = String::from_utf8_lossy(&done.stderr);
        return Err(format!("{shown}: {}\n{}", done.status, why.trim_end()));
    }
    String::from_utf8(done.stdout).map_err(|e| format!("{shown}: {e}"))
}

/// Runs a command without input and hands on each line it prints, until it ends or `limit` passes.
pub(crate) fn watch(
    command: &mut Command,
    limit: Duration,
    mut on_line: impl FnMut(&str),
) -> Result<End, String> {
    let shown = format!("{command:?}");
    let begin = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|e| format!("{shown}: {e}"))?;
    let (lines, received) = mpsc::channel();
    forward(child.stdout.take(), lines.clone());
    forward(child.stderr.take(), lines);
    let end = loop {
        if let Ok(line) = received.recv_timeout(POLL) {
            on_line(&line);
        }
        match child.try_wait().map_err(|e| format!("{shown}: {e}"))? {
            Some(status) if status.success() => break End::Success,
            Some(status) => break End::Failure(status.to_string()),
            None if begin.elapsed() > limit => break End::TimedOut,
            None => {}
        }
    };
    end_group(child.id());
    child.wait().map_err(|e| format!("{shown}: {e}"))?;
    let drained = Instant::now();
    while drained.elapsed() < DRAIN {
        match received.recv_timeout(POLL) {
            Ok(line) => on_line(&line),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    Ok(end)
}

/// Sends each line of a pipe, whatever its bytes, from a thread of its own.
fn forward(pipe: Option<impl Read + Send + 'static>, lines: Sender<String>) {
    let Some(pipe) = pipe else { return };
    std::thread::spawn(move || {
        for line in BufReader::new(pipe).split(b'\n').map_while(Result::ok) {
            if lines
                .send(String::from_utf8_lossy(&line).into_owned())
                .is_err()
            {
                return;
            }
        }
    });
}

/// Ends what is left of the process group; an empty group is no error.
fn end_group(group: u32) {
    // The shell's own `kill` is there even where no such program is installed.
    let _ = Command::new("sh")
        .args(["-c", "kill -s KILL -- \"-$0\"", &group.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(script: &str, limit: Duration) -> (End, Vec<String>) {
        let mut lines = Vec::new();
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let end = watch(&mut command, limit, |line| lines.push(line.to_owned()));
        lines.sort();
        (end.unwrap(), lines)
    }

    #[test]
    fn lines_of_both_pipes_arrive() {
        let (end, lines) = check("echo b; echo a >&2; printf c", Duration::from_secs(20));
        assert_eq!(
            (end, lines),
            (End::Success, vec!["a".into(), "b".into(), "c".into()])
        );
    }

    #[test]
    fn failure_is_told() {
        let (end, _) = check("exit 3", Duration::from_secs(20));
        assert_eq!(end, End::Failure("exit status: 3".into()));
    }

    #[test]
    fn the_whole_group_ends_with_the_limit() {
        let begin = Instant::now();
        let (end, lines) = check("sleep 60 & echo $!; sleep 60", Duration::from_millis(300));
        assert_eq!(end, End::TimedOut);
        assert!(begin.elapsed() < Duration::from_secs(20));
        let gone = output(Command::new("sh").args(["-c", "! kill -0 \"$0\"", &lines[0]]));
        assert!(
            gone.is_ok() || is_zombie(&lines[0]),
            "the grandchild still runs"
        );
    }

    fn is_zombie(process: &str) -> bool {
        std::fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|s| s.contains(") Z "))
    }

    #[test]
    fn output_of_a_failing_command_is_its_error() {
        let why = output(Command::new("sh").args(["-c", "echo why >&2; exit 1"])).unwrap_err();
        assert!(why.ends_with("why"), "{why}");
        assert!(output(&mut Command::new("no such program")).is_err());
    }
}
