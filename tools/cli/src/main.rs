//! The `whimbrel` command: looks at a running bus, joins it, and shows that it works.
//!
//! One module per subcommand; [`bus`] joins the domain, [`output`] writes text or JSON lines.
//! Nothing here does what a program could not do with the public API of the `whimbrel` crate.
#![forbid(unsafe_code)]

mod bus;
mod demo;
mod doctor;
mod failure;
mod glob;
mod known;
mod ls;
mod options;
mod output;
mod policies;
mod ps;
mod shapes;
mod signal;
mod source;
mod stop;
mod sub;
mod time;
mod trace;
mod why;

use std::io;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::failure::Failure;
use crate::options::{Command, Options};
use crate::output::Output;

fn main() -> ExitCode {
    let options = match Options::try_parse() {
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
