//! `whimbrel-perftest`: takes the options of RTI Perftest 4.3, talks as it does, prints as it does.
//!
//! [`options`] knows the words, [`settings`] what they mean together, [`publisher`] and
//! [`subscriber`] are the two roles, [`printer`] the three forms of output. Data goes to standard
//! output or a file, everything else to standard error. Options that Whimbrel has no behaviour for
//! are refused by name, never passed over.
#![forbid(unsafe_code)]

mod bus;
mod clock;
mod cpu;
mod failure;
mod file;
mod filter;
mod message;
mod options;
mod printer;
mod publisher;
mod reception;
mod settings;
mod stop;
mod subscriber;

use std::process::ExitCode;

use crate::failure::Failure;
use crate::message::{Keyed, KeyedLarge, Large, Message, Plain};
use crate::options::Given;
use crate::settings::{EXECUTION_TIME_MAX, Role, Settings};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    eprintln!(
        "Whimbrel Perftest {}, in the manner of RTI Perftest 4.3",
        env!("CARGO_PKG_VERSION")
    );
    if options::asks_for_help(&words) {
        print!("{}", options::help());
        return ExitCode::SUCCESS;
    }
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            failure.code()
        }
    }
}

fn run(words: &[String]) -> Result<(), Failure> {
    let mut settings = Settings::new(&Given::parse(words)?)?;
    if let Ok(seconds) = std::env::var(EXECUTION_TIME_MAX) {
        settings.shorten(&seconds)?;
    }
    stop::install()?;
    settings.describe();
    match (settings.keyed, settings.unbounded) {
        (false, false) => play::<Plain>(&settings),
        (false, true) => play::<Large>(&settings),
        (true, false) => play::<Keyed>(&settings),
        (true, true) => play::<KeyedLarge>(&settings),
    }
}

fn play<M: Message>(settings: &Settings) -> Result<(), Failure> {
    let outcome = match settings.role {
        Role::Publisher => publisher::run::<M>(settings),
        Role::Subscriber => subscriber::run::<M>(settings),
    };
    eprintln!("Test ended.");
    outcome
}
