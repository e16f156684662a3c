//! Runs the program again under a bound on its memory.

use std::process::{Command, ExitCode};

/// Address space of the run in KiB: far above what inputs need, far below what they claim.
const MEMORY_KIB: &str = "524288";

const BOUNDED: &str = "WHIMBREL_REPLAY_BOUNDED";

/// True in a program that runs under the bound.
pub fn is_bounded() -> bool {
    std::env::var_os(BOUNDED).is_some()
}

/// Starts this program again under the shell's memory limit, so that an allocation by a claimed
/// size ends it.
pub fn run_again() -> ExitCode {
    let script = format!("ulimit -v {MEMORY_KIB} && exec \"$0\" \"$@\"");
    let me = std::env::current_exe();
    let status = me.and_then(|me| {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &script])
            .arg(me)
            .args(std::env::args_os().skip(1));
        shell.env(BOUNDED, "1").status()
    });
    match status {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(status) => {
            eprintln!("the bounded run: {status}");
            ExitCode::FAILURE
        }
        Err(why) => {
            eprintln!("the bounded run: {why}");
            ExitCode::FAILURE
        }
    }
}
