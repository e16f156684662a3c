//! The lines that the referee and a contestant exchange.
//!
//! Both processes of a contestant print `ready` when they have what they need. The one that
//! measures then answers each line `SIZE COUNT WARM` with `rtt_ns` and COUNT round trips. All end
//! with their input.

use std::fmt;
use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::str::FromStr;

use crate::clock;

/// The word that says that a process can begin.
pub const READY: &str = "ready";

/// The word of a program whose sample was answered.
pub const ANSWERED: &str = "answered";

/// The word before round trips in nanoseconds.
pub const ROUND_TRIPS: &str = "rtt_ns";

/// First octet of the payload of the last sample of a block: who spins may rest until the next one.
pub const LAST: u8 = 1;

/// Octets of the bench's sample besides its payload: number and length of the sequence.
pub const SAMPLE_BYTES: usize = 8;

/// Octets of RTPS around a sample: header 20, INFO_TS 12, DATA 24, encapsulation 4.
/// RTPS 2.5 §9.4.
pub const RTPS_BYTES: usize = 60;

/// One block of a ping-pong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Octets of payload.
    pub size: usize,
    /// Round trips that count.
    pub count: usize,
    /// Round trips before them.
    pub warm: usize,
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.size, self.count, self.warm)
    }
}

impl FromStr for Order {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let words: Result<Vec<usize>, _> = line.split_whitespace().map(str::parse).collect();
        match words.as_deref() {
            Ok([size, count, warm]) => Ok(Self {
                size: *size,
                count: *count,
                warm: *warm,
            }),
            _ => Err(format!("not SIZE COUNT WARM: {line}")),
        }
    }
}

/// Has `run` do what the words of the command line say; what went wrong is told in the name of
/// `program`.
pub fn run_program(program: &str, run: impl FnOnce(&[String]) -> Result<(), String>) -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{program} {}: {why}", words.join(" "));
            ExitCode::FAILURE
        }
    }
}

/// Says `ready`, then answers each line of the input with what `answer` gives.
///
/// # Errors
/// What `answer` gives.
pub fn serve_lines(mut answer: impl FnMut(&str) -> Result<String, String>) -> Result<(), String> {
    say(READY)?;
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        say(&answer(&line)?)?;
    }
    Ok(())
}

/// Has `block` run what each line of the input orders, and answers with its round trips.
///
/// # Errors
/// A line that is no order, or what `block` gives.
pub fn serve(mut block: impl FnMut(Order) -> Result<Vec<u64>, String>) -> Result<(), String> {
    // The clock finds out how fast it counts, busy for 20 ms, in which nobody is to be measured.
    clock::now_ns();
    serve_lines(|line| {
        let mut answer = ROUND_TRIPS.to_owned();
        for ns in block(line.parse()?)? {
            answer.push(' ');
            answer.push_str(&ns.to_string());
        }
        Ok(answer)
    })
}

/// Has `act` do what each line of the input, a number, asks for, and answers `ready`.
///
/// # Errors
/// A line that is no number, or what `act` gives.
pub fn serve_numbers(mut act: impl FnMut(usize) -> Result<(), String>) -> Result<(), String> {
    serve_lines(|line| {
        let number = line.trim().parse();
        act(number.map_err(|_| format!("not a number: {line}"))?)?;
        Ok(READY.to_owned())
    })
}

/// Says `ready` and waits for the input to end.
///
/// # Errors
/// Nobody listens.
pub fn stand_by() -> Result<(), String> {
    say(READY)?;
    std::io::stdin()
        .lock()
        .lines()
        .map_while(Result::ok)
        .for_each(drop);
    Ok(())
}

/// The round trips of an answer.
///
/// # Errors
/// It is none.
pub fn round_trips(answer: &str) -> Result<Vec<u64>, String> {
    let mut words = answer.split_whitespace();
    let numbers = (words.next() == Some(ROUND_TRIPS))
        .then(|| words.map(str::parse).collect::<Result<Vec<u64>, _>>().ok())
        .flatten();
    numbers.ok_or_else(|| format!("not round trips: {answer:.80}"))
}

fn say(line: &str) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")
        .and_then(|()| out.flush())
        .map_err(|error| format!("standard output: {error}"))
}

/// The value after `--key` among `words`.
///
/// # Errors
/// There is none.
pub fn option<'a>(words: &'a [String], key: &str) -> Result<&'a str, String> {
    words
        .iter()
        .position(|word| word == key)
        .and_then(|at| words.get(at + 1))
        .map(String::as_str)
        .ok_or_else(|| format!("{key} is missing"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_as_written() {
        let order = Order {
            size: 63_000,
            count: 500,
            warm: 20,
        };
        assert_eq!(order.to_string().parse(), Ok(order));
        for line in ["", "1 2", "1 2 3 4", "16 x 1", "-1 2 3"] {
            assert!(line.parse::<Order>().is_err(), "{line}");
        }
    }

    #[test]
    fn only_round_trips_are_taken_for_them() {
        assert_eq!(round_trips("rtt_ns 10 20"), Ok(vec![10, 20]));
        assert_eq!(round_trips("rtt_ns"), Ok(vec![]));
        for line in ["", "10 20", "rtt_ns 1.5", "stalled at 7"] {
            assert!(round_trips(line).is_err(), "{line}");
        }
    }

    #[test]
    fn a_missing_option_is_named() {
        let words = ["--domain", "3", "--interface"].map(str::to_owned);
        assert_eq!(option(&words, "--domain"), Ok("3"));
        assert_eq!(
            option(&words, "--interface"),
            Err("--interface is missing".to_owned())
        );
    }
}
