//! What sending fewer bytes must come to: `cargo xtask bench bytes`. Every figure that is a promise
//! is printed as a `goal:` line, the others beside them.

mod bundles;
mod cable;
mod ping_pong;
mod savings;

pub(crate) use savings::bytes_on_the_wire;
use whimbrel_bench::goal::Goal;

use crate::failure::Failure;
use crate::report;
use crate::scenario::Setting;

/// Measures everything; pictures go to the folder `out`.
///
/// # Errors
/// A process does not start or answer, there is no second host to be had, or a goal was missed.
pub(crate) fn run(setting: &Setting, out: &std::path::Path) -> Result<(), Failure> {
    report::check(out)?;
    let mut goals = savings::measure()?;
    goals.extend(bundles::measure(setting, out)?);
    goals.extend(cable::measure(setting)?);
    for goal in &goals {
        println!("{goal}");
    }
    if goals.iter().all(Goal::met) {
        return Ok(());
    }
    Err(Failure::Missed("a goal of fewer bytes".into()))
}
