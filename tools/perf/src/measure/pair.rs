//! Two processes of Whimbrel, of which one asks and the other answers.

use std::process::Command;

use whimbrel_bench::protocol::READY;
use whimbrel_rig::process::Process;

use super::MEETING;
use crate::contestant::{Contestant, Part, Programs};
use crate::world::World;

/// Starts who answers, then who asks, by listeners, for `bench` in `domain`; `adapt` may add
/// options to the command of who asks. Both are called `name`. The one that asks comes first, and
/// is still to be waited for.
///
/// # Errors
/// They do not start, or who answers is not ready in time.
pub(super) fn start_pair(
    (world, programs): (&World, &Programs),
    whimbrel: &Contestant,
    (bench, domain): (&'static str, u32),
    name: &str,
    adapt: impl FnOnce(&mut Command),
) -> Result<[Process; 2], String> {
    let [a, b] = world.seats();
    let command = |role, seats| {
        let part = Part {
            bench,
            role,
            mode: "listener",
            domain,
        };
        programs.command(world, seats, whimbrel, part)
    };
    let answering = Process::start(name, &mut command("pong", [&b, &a]))?;
    answering.wait_until(READY, MEETING)?;
    let mut asking = command("ping", [&a, &b]);
    adapt(&mut asking);
    Ok([Process::start(name, &mut asking)?, answering])
}
