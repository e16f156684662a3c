//! Ping-pong of all products.

use std::process::Command;

use super::account;
use super::figures::{add_latencies, vendor};
use super::setting::{Extent, Setting};
use crate::contestant::{Contestant, Product};
use crate::failure::Failure;
use crate::measure::{DDSPERF, Race, ddsperf, floor_us, ping_pong};
use crate::progress::Progress;
use crate::report::Histograms;
use crate::report::model::{Floor, Section};
use crate::world::{Place, World};

/// Sizes of the comparison of 2019, in octets.
const S3_SIZES: &[usize] = &[16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384];
/// How the comparison of 2019 measured, and why this is another measurement.
const METHOD_OF_2019: &str = "S3 took one tool of each maker: Fast-RTPS's LatencyTest (a steady \
    clock in fractions of µs, the cost of reading it subtracted, a listener), Cyclone DDS's \
    roundtrip example (the wall clock in whole µs, halved as an integer, a wait set, so a thread \
    more on the way each time; its makers say not to compare it) and OpenSplice's ping and pong, \
    patched. Here all have one clock, one echo and one rule for percentiles, and a listener on \
    each side; “by wait set” is Cyclone DDS as its example waits. The products are those of today \
    (see the passport), not of September 2019";

/// All products, in `place`.
pub(super) fn peers(
    setting: &Setting,
    place: Place,
    section: &mut Section,
    histograms: &mut Histograms,
) -> Result<(), Failure> {
    let mut contestants = Vec::new();
    for product in Product::ALL {
        if place == Place::Intra && !product.stays_within_a_process() {
            let name = product.name();
            let note = format!("without {name}: it has no ping-pong within a process here");
            section.notes.push(note);
            continue;
        }
        match setting.programs.missing(product) {
            None => contestants.push(Contestant::plain(product)),
            Some(why) => section
                .notes
                .push(format!("without {}: {why}", product.name())),
        }
    }
    if place != Place::Intra {
        contestants.insert(2, Contestant::without_polling());
        if setting.programs.missing(Product::Cyclone).is_none() {
            contestants.push(Contestant::by_wait_set());
        }
    }
    section.notes.push(METHOD_OF_2019.into());
    section.notes.push(
        "OpenSplice 6.9 was the third product of 2019; it cannot be built from registries, and is \
         here by what was published only; of that the charts are lost, so that only its orderings \
         are left."
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
    run(setting, &world, &race, section, histograms)?;
    if place == Place::Intra {
        // Nothing is sent there.
        return Ok(());
    }
    account::add(setting, &world, &race, section)?;
    vendors(setting, &world, &race, section)
}

/// What the tool that comes with Cyclone DDS says, where both are there.
fn vendors(
    setting: &Setting,
    world: &World,
    race: &Race,
    section: &mut Section,
) -> Result<(), Failure> {
    if setting.programs.missing(Product::Cyclone).is_some() {
        return Ok(());
    }
    let Some(program) = ddsperf() else {
        let note = format!("without {DDSPERF}: it is not installed (cargo xtask setup)");
        section.notes.push(note);
        return Ok(());
    };
    let package = Command::new("dpkg-query")
        .args(["--show", "--showformat=${Version}", "cyclonedds-tools"])
        .output();
    let version = package.map(|it| it.stdout).unwrap_or_default();
    let version = String::from_utf8_lossy(&version);
    let note = match version.trim() {
        "" => format!("{DDSPERF}: {}, of an unknown version", program.display()),
        known => format!("{DDSPERF}: that of the package cyclonedds-tools {known}"),
    };
    section.notes.push(note);
    let rows = ping_pong(world, &program, &race.sizes)?;
    section.vendors.extend(rows.iter().map(vendor));
    Ok(())
}

/// Runs `race`, with the noise floor before and after it.
pub(super) fn run(
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
    outcome?;
    if let Some(first_us) = first {
        let last_us = floor(912)?;
        section.floor = Some(Floor { first_us, last_us });
    }
    Ok(())
}
