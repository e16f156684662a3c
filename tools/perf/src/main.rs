//! `whimbrel-perf`: measures Whimbrel beside its peers and the raw socket, honestly.
//!
//! [`scenario`] says what is measured, [`world`] builds the hosts, [`contestant`] starts processes,
//! [`measure`] lets them take turns, [`report`] writes what came of it, [`claims`] judges what the
//! founding documents say. Processes of our own are this program in a [`role`].
#![forbid(unsafe_code)]

mod again;
mod bytes;
mod claims;
mod compare;
mod contestant;
mod criteria;
mod failure;
mod goals;
mod live;
mod measure;
mod options;
mod passport;
mod progress;
mod report;
mod role;
mod run;
mod scenario;
mod stop;
mod world;

use std::process::ExitCode;

use clap::Parser;

use options::{Command, Options};

fn main() -> ExitCode {
    let options = Options::parse();
    if let Command::Role { words } = &options.command {
        return match role::play(words) {
            Ok(()) => ExitCode::SUCCESS,
            Err(why) => {
                eprintln!("whimbrel-perf role {}: {why}", words.join(" "));
                ExitCode::FAILURE
            }
        };
    }
    match run::command(options.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("whimbrel-perf: {failure}");
            failure.code()
        }
    }
}
