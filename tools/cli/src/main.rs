//! The `whimbrel` command: looks at a running bus, joins it, and shows that it works.
//!
//! One module per subcommand; [`bus`] joins the domain, [`output`] writes text or JSON lines.
//! Nothing here does what a program could not do with the public API of the `whimbrel` crate.
#![forbid(unsafe_code)]

mod bus;
mod config;
mod demo;
mod doctor;
mod failure;
mod features;
mod glob;
mod known;
mod ls;
mod mem;
mod options;
mod output;
mod policies;
mod ps;
mod shapes;
mod signal;
mod source;
mod statistics;
mod stop;
mod sub;
mod time;
mod trace;
mod why;

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::failure::Failure;
use crate::options::{Command, Options};
use crate::output::Output;

fn main() -> ExitCode {
    let options = match Options::try_parse_from(without_doubled_dashes(std::env::args_os())) {
        Ok(options) => options,
        Err(error) => return refuse(&error),
    };
    let json = options.bus.json;
    match run(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(json),
    }
}

fn run(options: Options) -> Result<(), Failure> {
    let Options {
        bus,
        color,
        command,
    } = options;
    let mut output = Output::new(bus.json, command.color().or(color));
    let output = &mut output;
    stop::install()?;
    match command {
        Command::Ps(_) => ps::run(&bus, output),
        Command::Ls(args) => ls::run(&bus, &args, output),
        Command::Why(args) => why::run(&bus, &args, output),
        Command::Mem(_) => mem::run(&bus, output),
        Command::Config(args) => config::run(&bus, args.task, output),
        Command::Features(args) => features::run(&args, output),
        Command::Doctor(_) => doctor::run(&bus, output),
        Command::Sub(args) => sub::run(&bus, &args, output),
        Command::Trace(args) => trace::run(&bus, &args, output),
        Command::Shapes(args) => shapes::run(&bus, &args, output),
        Command::Demo(args) => demo::run(&bus, &args, output),
        Command::DemoPublisher(args) => demo::publisher::run(&args),
        Command::DemoSubscriber(args) => demo::subscriber::run(&args),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Options::command(), "whimbrel", &mut script);
            Ok(io::Write::write_all(&mut io::stdout(), &script)?)
        }
    }
}

/// The arguments without a `--` directly after `demo`: the alias `cargo demo` has one of its own,
/// so `cargo demo -- --bad-network` brings a second, which would make a file name of the option.
fn without_doubled_dashes(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.collect();
    if arguments.get(1).is_some_and(|it| it == "demo")
        && arguments.get(2).is_some_and(|it| it == "--")
    {
        arguments.remove(2);
    }
    arguments
}

/// Says what is wrong with the arguments, or prints the help or version that was asked for.
fn refuse(error: &clap::Error) -> ExitCode {
    let json = error.use_stderr() && std::env::args_os().any(|argument| argument == "--json");
    if json {
        return Failure::Usage(error.render().to_string()).report(true);
    }
    // Nobody reads a closed pipe.
    let _ = error.print();
    u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(given: &[&str], expected: &[&str]) {
        let given = given.iter().map(OsString::from);
        assert_eq!(without_doubled_dashes(given), expected);
    }

    #[test]
    fn cargo_demo_takes_options_with_and_without_dashes() {
        check(&["w", "demo", "--", "--x"], &["w", "demo", "--x"]);
        check(&["w", "demo", "--x", "--"], &["w", "demo", "--x", "--"]);
        check(&["w", "demo", "--"], &["w", "demo"]);
        check(&["w", "demo"], &["w", "demo"]);
    }

    #[test]
    fn other_commands_keep_their_dashes() {
        check(&["w", "sub", "--", "-t"], &["w", "sub", "--", "-t"]);
    }
}
