//! The race of one placement: everybody starts, then takes turns.

use whimbrel_rig::process::Usage;

use super::plan::{Kind, Part};
use super::rows::Row;
use crate::contestant::{Contestant, Programs};
use crate::host::Host;
use crate::machine::Ticks;
use crate::pair::Pair;
use crate::placement::Placement;
use crate::stage::Stage;
use crate::turns;

/// Nanoseconds of a tick of `/proc/stat`. proc_stat(5).
const TICK_NS: f64 = 1e7;

/// What was found in one placement.
pub(super) struct Found {
    pub(super) rows: Vec<Row>,
    /// Share of all cores in percent that others used meanwhile.
    pub(super) others_percent: f64,
    pub(super) host: Host,
}

/// Races in one placement.
///
/// # Errors
/// Somebody is missing, does not start or stalls.
pub(super) fn run(part: &Part, programs: &Programs, placement: Placement) -> Result<Found, String> {
    let stage = Stage::new(placement)?;
    let seats = stage.seats();
    let fitting = part.contestants.iter().filter(|it| it.fits(placement));
    let fitting: Vec<Contestant> = fitting.copied().collect();
    let sizes = part.sizes.iter();
    let mut rows: Vec<Vec<Row>> = sizes
        .map(|size| {
            let all = fitting.iter();
            all.map(|it| Row::new(*it, placement, *size)).collect()
        })
        .collect();
    let before = Ticks::now();
    let mut ours = Usage::default();
    let mut host = match part.kind {
        Kind::InProcess => Host::of_a_process(),
        Kind::Usual | Kind::Large => Host::of(placement),
    };
    for start in 0..part.starts {
        let mut runners = Pair::start_all(&fitting, programs, &seats)?;
        for (size, of_size) in part.sizes.iter().zip(&mut rows) {
            let order = part.order(*size);
            // Whatever a size does once happens before any counts, to everybody.
            for runner in &mut runners {
                ours = ours.plus(runner.round(order)?.1);
            }
            let (rounds, count) = (part.rounds_of(start), runners.len());
            for at in rounds.flat_map(|round| turns::of_round(round, count)) {
                let (trips, used) = host.undisturbed(|| {
                    let (trips, used) = runners[at].round(order)?;
                    ours = ours.plus(used);
                    Ok((trips, used))
                })?;
                of_size[at].add(&trips, used, order);
            }
            if start + 1 == part.starts {
                for row in of_size {
                    eprintln!("{}", row.progress());
                }
            }
        }
        runners.iter().try_for_each(Pair::rested)?;
    }
    let after = Ticks::now();
    let others = (after.worked - before.worked) as f64 - ours.cpu_ns as f64 / TICK_NS;
    let whole = (after.all - before.all).max(1) as f64;
    Ok(Found {
        rows: rows.into_iter().flatten().collect(),
        others_percent: (100.0 * others / whole).max(0.0),
        host,
    })
}
