//! Ping-pong: of all products, and of samples with content over a slow cable.

use super::figures::{add_latencies, ledger};
use super::setting::{Extent, Setting};
use crate::contestant::{Contestant, Product};
use crate::failure::Failure;
use crate::measure::{Race, floor_us, test_link};
use crate::progress::Progress;
use crate::report::Histograms;
use crate::report::model::{Floor, Section};
use crate::world::{Link, Place, World};

/// Sizes of the comparison of 2019, in octets.
const S3_SIZES: &[usize] = &[16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384];
/// Sizes of the compression benchmark, in octets.
const S0_SIZES: &[usize] = &[
    32, 64, 128, 256, 512, 1024, 8192, 63_000, 100_000, 500_000, 1_048_576, 1_548_576, 4_194_304,
    10_485_760,
];

/// All products, in `place`.
pub(super) fn peers(
    setting: &Setting,
    place: Place,
    section: &mut Section,
    histograms: &mut Histograms,
) -> Result<(), Failure> {
    let mut contestants = Vec::new();
    for product in Product::ALL {
        if place == Place::Intra && product == Product::Raw {
            continue;
        }
        match setting.programs.missing(product) {
            None => contestants.push(Contestant::plain(product)),
            Some(why) => section
                .notes
                .push(format!("without {}: {why}", product.name())),
        }
    }
    section.notes.push(
        "OpenSplice 6.9 was the third product of 2019; it cannot be built from registries, and is \
         here by what was published only."
            .into(),
    );
    let (rounds, per_round) = match setting.extent {
        Extent::Miniature => (5, 20),
        Extent::Quick => (8, 250),
        Extent::Full => (20, 500),
    };
    let race = Race {
        contestants,
        sizes: setting.sizes(&[16], &[16, 64, 256, 1024, 4096, 16384], S3_SIZES),
        rounds,
        per_round,
        domain: 1,
        link: None,
    };
    let world = World::new(place).map_err(Failure::Setup)?;
    run(setting, &world, &race, section, histograms)
}

/// Samples of the payload over `link`.
pub(super) fn compressed(
    setting: &Setting,
    link: Link,
    section: &mut Section,
    histograms: &mut Histograms,
) -> Result<(), Failure> {
    let world = World::new(Place::Dual(Some(link))).map_err(Failure::Setup)?;
    let label = match test_link(&world, &setting.programs, link) {
        Ok(text) => format!("{}: {text}", link.name()),
        Err(text) => format!(
            "the cable does not earn the name {}: {text}; read the figures as those of a slow \
             cable of unknown rate",
            link.name()
        ),
    };
    section.notes.push(label);
    section.notes.push(format!(
        "samples below {} octets pass the cable unslowed: their rows show no wire time",
        link.burst_bytes
    ));
    section
        .notes
        .push(super::codecs::describe(&setting.payload)?);
    section.notes.push(
        "LZ4, ZLIB and BZIP2 wait for compression in the bus; comp-codec has what they cost and \
         save"
            .into(),
    );
    let none = Contestant {
        product: Product::Whimbrel,
        variant: "none".into(),
        words: vec!["--payload".into(), setting.payload.clone()],
    };
    let (rounds, per_round) = match setting.extent {
        Extent::Miniature => (5, 10),
        Extent::Quick => (6, 100),
        Extent::Full => (10, 500),
    };
    let race = Race {
        contestants: vec![none],
        sizes: setting.sizes(&[1024], &[1024, 8192, 63_000, 100_000, 1_048_576], S0_SIZES),
        rounds,
        per_round,
        domain: 1,
        link: Some(link),
    };
    run(setting, &world, &race, section, histograms)
}

fn run(
    setting: &Setting,
    world: &World,
    race: &Race,
    section: &mut Section,
    histograms: &mut Histograms,
) -> Result<(), Failure> {
    section.notes.extend(world.notes.iter().cloned());
    let has_floor = world.place != Place::Intra;
    let floor = |domain| floor_us(world, &setting.programs, domain).map_err(Failure::Broke);
    let first = has_floor.then(|| floor(911)).transpose()?;
    let progress = Progress::new(&section.name, race.turns());
    let outcome = race.run(world, &setting.programs, &progress, &mut |rows| {
        add_latencies(section, histograms, rows);
    });
    drop(progress);
    section.notes.extend(ledger(&section.latencies));
    outcome?;
    if let Some(first_us) = first {
        let last_us = floor(912)?;
        section.floor = Some(Floor { first_us, last_us });
    }
    Ok(())
}
