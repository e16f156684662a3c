//! Samples on a schedule.

use super::figures::add_schedules;
use super::setting::{Extent, Setting};
use crate::failure::Failure;
use crate::measure::open_loop;
use crate::progress::Progress;
use crate::report::Histograms;
use crate::report::model::Section;
use crate::world::{Place, World};

/// Octets of a sample.
const SIZE: usize = 64;

/// Latency at fixed rates.
pub(super) fn rates(
    setting: &Setting,
    section: &mut Section,
    histograms: &mut Histograms,
) -> Result<(), Failure> {
    let world = World::new(Place::Inter).map_err(Failure::Setup)?;
    section.notes.extend(world.notes.iter().cloned());
    section
        .notes
        .push("RELIABLE, KEEP_LAST 1: what a newer sample replaces is lost".into());
    section
        .notes
        .push("of the products only Whimbrel knows schedules here".into());
    let rates: &[u64] = match setting.extent {
        Extent::Miniature => &[200, 1000],
        Extent::Quick => &[100, 1000, 5000, 20_000],
        Extent::Full => &[
            100, 300, 1000, 3000, 10_000, 20_000, 30_000, 50_000, 100_000,
        ],
    };
    let size = setting.sizes.first().copied().unwrap_or(SIZE);
    let progress = Progress::new(&section.name, rates.len() as u64);
    let rows = open_loop(&world, &setting.programs, size, rates, &progress)?;
    add_schedules(section, histograms, rows);
    Ok(())
}
