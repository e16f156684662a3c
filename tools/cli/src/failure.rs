//! How a command ends when it does not end well.

use std::fmt::Display;
use std::io;
use std::process::ExitCode;

use crate::signal::Signal;

/// Why a command ends early. Each kind has its exit code, as `--help` lists them.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Nothing was found, or a check failed: 1.
    Negative(String),
    /// As `Negative`, and everything there is to say has been said.
    Said,
    /// The arguments make no sense: 2.
    Usage(String),
    /// The bus could not be joined, or something of this host refused: 3.
    Setup(String),
    /// Whoever read our output has stopped reading: that is no failure, 0.
    Unread,
    /// A signal: 128 and its number, as shells count.
    Stopped(Signal),
}

impl Failure {
    /// Says it on standard error, and gives the exit code.
    pub(crate) fn report(self, json: bool) -> ExitCode {
        let (text, code) = match self {
            Self::Unread => return ExitCode::SUCCESS,
            Self::Said => return ExitCode::from(1),
            Self::Stopped(signal) => return stopped(signal, json),
            Self::Negative(text) => (text, 1),
            Self::Usage(text) => (text, 2),
            Self::Setup(text) => (text, 3),
        };
        let line = if json {
            serde_json::json!({ "error": text }).to_string()
        } else {
            format!("whimbrel: {text}")
        };
        say(&line);
        ExitCode::from(code)
    }

    /// What went wrong, in words.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Negative(text) | Self::Usage(text) | Self::Setup(text) => text.clone(),
            Self::Said | Self::Unread => String::new(),
            Self::Stopped(signal) => signal.text().into(),
        }
    }

    /// For what this host refuses; `what` was tried.
    pub(crate) fn setup<E: Display>(what: impl Display) -> impl FnOnce(E) -> Self {
        move |error| Self::Setup(format!("{what}: {error}"))
    }
}

fn stopped(signal: Signal, json: bool) -> ExitCode {
    let text = signal.text();
    if json {
        say(&serde_json::json!({ "stopped": text }).to_string());
    } else {
        let line_break = signal.line_break();
        say(&format!("{line_break}whimbrel: stopped by {text}"));
    }
    ExitCode::from(signal.exit_code())
}

fn say(line: &str) {
    // There is nowhere left to complain to.
    let _ = io::Write::write_all(&mut io::stderr(), format!("{line}\n").as_bytes());
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::Unread
        } else {
            Self::Setup(error.to_string())
        }
    }
}

impl From<whimbrel::Error> for Failure {
    fn from(error: whimbrel::Error) -> Self {
        let text = error.to_string();
        match error {
            whimbrel::Error::BadParameter(_) => Self::Usage(text),
            _ => Self::Setup(text),
        }
    }
}
