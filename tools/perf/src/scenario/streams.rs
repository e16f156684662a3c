//! Streams over sizes.

use super::figures::add_streams;
use super::setting::{Extent, NO_BATCHES, Setting};
use crate::contestant::{Contestant, Product};
use crate::failure::Failure;
use crate::measure::sweep;
use crate::progress::Progress;
use crate::report::model::Section;
use crate::world::{Place, World};

/// Sizes in octets.
const SIZES: &[usize] = &[
    8, 16, 32, 64, 128, 256, 512, 1024, 1400, 2048, 4096, 5000, 8192, 16384,
];

/// One writer as fast as it goes.
pub(super) fn bundles(setting: &Setting, section: &mut Section) -> Result<(), Failure> {
    let world = World::new(Place::Inter).map_err(Failure::Setup)?;
    section.notes.extend(world.notes.iter().cloned());
    section
        .notes
        .push(format!("limits of 1400 and 5000 octets wait: {NO_BATCHES}"));
    let of = |product, variant: &str| Contestant {
        product,
        variant: variant.into(),
        words: Vec::new(),
    };
    let mut contestants = vec![
        (of(Product::Whimbrel, "reliable"), "reliable"),
        (of(Product::Whimbrel, "best effort"), "best-effort"),
    ];
    match setting.programs.missing(Product::Cyclone) {
        None => contestants.push((of(Product::Cyclone, "reliable"), "reliable")),
        Some(why) => section.notes.push(format!("without Cyclone DDS: {why}")),
    }
    let (bursts, ms) = match setting.extent {
        Extent::Miniature => (1, 100),
        Extent::Quick => (3, 300),
        Extent::Full => (7, 2000),
    };
    let sizes = setting.sizes(&[64], &[8, 64, 256, 1024, 1400, 5000, 16384], SIZES);
    let steps = sizes.len() * bursts * contestants.len();
    let progress = Progress::new(&section.name, steps as u64);
    for size in sizes {
        let order = (size, bursts, ms);
        let rows = sweep(&world, &setting.programs, &contestants, order, &progress)?;
        add_streams(section, &rows);
    }
    Ok(())
}
