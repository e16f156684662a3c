//! Whimbrel as a live peer: the command line and the lines of `testing/interop/README.md`.
//!
//! It is written on the public API alone, as a user would.

mod beside;
mod end;
mod mesh;
mod options;
mod publish;
mod setup;
mod subscribe;
mod values;
mod watch;

use std::process::ExitCode;

use self::end::End;
use self::options::{Kind, Options, Task};
use self::values::{Keyless, ShapeType, Telemetry, Value};

/// Runs a publisher, a subscriber or a member of a mesh.
pub(crate) fn main(words: &[String]) -> ExitCode {
    let outcome = Options::parse(words).and_then(|options| match options.kind {
        Kind::Shape => run::<ShapeType>(&options),
        Kind::Keyless => run::<Keyless>(&options),
        Kind::Telemetry => run::<Telemetry>(&options),
    });
    let (code, text) = match outcome {
        Ok(count) => {
            println!("done {count}");
            return ExitCode::SUCCESS;
        }
        Err(End::Failure(text)) => (1, text),
        Err(End::Usage(text)) => (2, text),
        Err(End::Timeout(text)) => (3, text),
    };
    println!("error {text}");
    ExitCode::from(code)
}

/// The number of samples sent or received.
fn run<T: Value>(options: &Options) -> Result<u32, End> {
    let participant = setup::participant(options)?;
    match options.task {
        Task::Publish => publish::run::<T>(options, &participant),
        Task::Subscribe => subscribe::run::<T>(options, &participant),
        Task::Mesh => mesh::run::<T>(options, &participant),
    }
}
