//! Streams over sizes.

use super::figures::add_streams;
use super::published::NO_CHARTS;
use super::setting::{Extent, Setting};
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

/// Who takes part: product, variant and mode.
const CONTESTANTS: &[(Product, &str, &str)] = &[
    (Product::Whimbrel, "off", "reliable+off"),
    (Product::Whimbrel, "1400", "reliable+1400"),
    (Product::Whimbrel, "5000", "reliable+5000"),
    (Product::Whimbrel, "automatic", "reliable"),
    (Product::Whimbrel, "best effort, off", "best-effort+off"),
    (Product::Whimbrel, "best effort, 1400", "best-effort+1400"),
    (Product::Whimbrel, "best effort, 5000", "best-effort+5000"),
    (Product::Cyclone, "", "reliable"),
    (Product::FastDds, "", "reliable"),
];

/// One writer as fast as it goes.
pub(super) fn bundles(setting: &Setting, section: &mut Section) -> Result<(), Failure> {
    let world = World::new(Place::Inter).map_err(Failure::Setup)?;
    section.notes.extend(world.notes.iter().cloned());
    section.notes.push(
        "reliable but where it says best effort; limits are octets of a message, headers \
         included; what waits for others does so for 1 ms at most. “automatic” is Whimbrel's \
         default: samples that come faster than they can be sent share messages. The peers run \
         without the batching that they have for programs that ask for it"
            .into(),
    );
    section.notes.push(NO_CHARTS.into());
    section
        .notes
        .push("RustDDS and Dust DDS have no streams here, only ping-pong".into());
    let mut contestants = Vec::new();
    for (product, variant, mode) in CONTESTANTS {
        if let Some(why) = setting.programs.missing(*product) {
            let name = product.name();
            section.notes.push(format!("without {name}: {why}"));
            continue;
        }
        let contestant = Contestant {
            variant: (*variant).into(),
            ..Contestant::plain(*product)
        };
        contestants.push((contestant, *mode));
    }
    let (bursts, ms) = match setting.extent {
        Extent::Miniature => (1, 100),
        Extent::Quick => (3, 300),
        Extent::Full => (3, 1000),
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
