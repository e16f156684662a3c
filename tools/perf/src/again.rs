//! A kept report, measured again: its command is the scenario.

use std::path::{Path, PathBuf};

use clap::Parser;

use crate::compare;
use crate::failure::Failure;
use crate::options::{Command, How, Options};

/// The command by which `report` was made, with another folder for the new one.
///
/// # Errors
/// It is no report of this program, was not made by scenarios, or is where the new one goes.
pub(crate) fn command(
    report: &Path,
    out: &Path,
    peers: Option<PathBuf>,
) -> Result<Command, Failure> {
    let name = report.display().to_string();
    let refuse = |why: String| Failure::Setup(format!("{name}: {why}"));
    let kept = compare::report(&name)?;
    let whole = |it: &Path| it.canonicalize().ok();
    let kept_in = report.parent().and_then(whole);
    if kept_in.is_some() && whole(out) == kept_in {
        return Err(refuse("--out is where it is kept".into()));
    }
    let line = kept["command"].as_str().unwrap_or_default();
    let read = Options::try_parse_from(line.split_whitespace());
    let read = read.map_err(|error| refuse(format!("its command `{line}`: {error}")))?;
    let anew = |how: How| How {
        out: out.to_owned(),
        peers: peers.or(how.peers.clone()),
        ..how
    };
    match read.command {
        Command::Run { scenarios, how } => Ok(Command::Run {
            scenarios,
            how: anew(how),
        }),
        Command::Reproduce { seed, how } => Ok(Command::Reproduce {
            seed,
            how: anew(how),
        }),
        Command::Goals { how } => Ok(Command::Reproduce {
            seed: "all".into(),
            how: anew(how),
        }),
        _ => Err(refuse(format!("`{line}` runs no scenarios"))),
    }
}

/// What became of the latencies of `report` in `out`, where both are of one machine.
pub(crate) fn compare_with(report: &Path, out: &Path) {
    let new = out.join("report.json");
    let paths = [report, &new].map(|it| it.display().to_string());
    match compare::reports([&paths[0], &paths[1]]) {
        Ok(verdicts) => verdicts.iter().for_each(|(_, text)| println!("{text}")),
        Err(why) => println!("not compared: {why}"),
    }
}
