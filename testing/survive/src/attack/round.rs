//! Plays the cases and adds up what came of them.

use std::collections::BTreeSet;
use std::panic::{self, AssertUnwindSafe};
use std::time::{Duration, Instant};

use whimbrel_base::cursor::Endian;
use whimbrel_base::reject::{RejectCounters, RejectKind};
use whimbrel_fuzz_targets::station::MEMORY_BYTES_MAX;

use super::case::{Attack, Case};
use super::live::{Live, wait_for};
use super::model::Model;
use super::watch::{Costs, STEP_MAX};
use crate::proof::{Figure, Share};

/// Both byte orders.
const ENDIANS: [Endian; 2] = [Endian::Little, Endian::Big];

/// With shares below this, each case is played live in one byte order only, taking turns.
const LIVE_IN_BOTH: Duration = Duration::from_secs(20);

/// What came of many cases.
#[derive(Default)]
struct Tally {
    runs: u64,
    refused: u64,
    costs: Costs,
    live_runs: u64,
    failures: Vec<String>,
}

/// Plays every case in virtual time, then live, then again in virtual time until the share is
/// used up.
pub(super) fn run(classes: &[&[Case]], share: &Share) -> Figure {
    let begin = Instant::now();
    let mut tally = Tally::default();
    panic::set_hook(Box::new(|_| {}));
    virtual_round(classes, &mut tally, true);
    live_round(
        classes,
        &mut tally,
        share.full || share.time >= LIVE_IN_BOTH,
    );
    while begin.elapsed() < share.time && tally.failures.is_empty() {
        virtual_round(classes, &mut tally, false);
    }
    let _ = panic::take_hook();
    for failure in &tally.failures {
        println!("attack: {failure}");
    }
    figure(classes, &tally)
}

fn figure(classes: &[&[Case]], tally: &Tally) -> Figure {
    let cases = classes.iter().map(|class| class.len()).sum::<usize>();
    let Tally {
        runs,
        refused,
        costs,
        live_runs,
        ..
    } = tally;
    let slowest_us = costs.slowest.as_micros();
    let text = format!(
        "attack: {cases} cases in {} classes, {runs} runs in virtual time in both byte orders, \
         {live_runs} live: {} failed; {} steps, slowest {slowest_us} us of {} ms processor time, \
         {} KiB held of {} KiB allowed, {refused} refusals counted as expected",
        classes.len(),
        tally.failures.len(),
        costs.steps,
        STEP_MAX.as_millis(),
        costs.held_bytes_max / 1024,
        MEMORY_BYTES_MAX / 1024,
    );
    match tally.failures.is_empty() {
        true => Figure::held(text),
        false => Figure::missed(text),
    }
}

fn virtual_round(classes: &[&[Case]], tally: &mut Tally, says: bool) {
    for case in classes.iter().copied().flatten() {
        for endian in ENDIANS {
            match play(case, endian, true) {
                Ok((costs, refused)) => {
                    tally.costs.join(&costs);
                    tally.refused += refused;
                    if says {
                        let us = costs.slowest.as_micros();
                        let (steps, held) = (costs.steps, costs.held_bytes_max);
                        println!(
                            "{:<44} {endian:?}: {steps} steps, slowest {us} us, {held} octets \
                             held, {refused} refused",
                            case.name
                        );
                    }
                }
                Err(why) => tally
                    .failures
                    .push(format!("{} {endian:?}: {why}", case.name)),
            }
            tally.runs += 1;
        }
    }
}

/// Plays a case in virtual time; what it has cost, and how much was refused.
pub(super) fn play(case: &Case, endian: Endian, watched: bool) -> Result<(Costs, u64), String> {
    panic::catch_unwind(AssertUnwindSafe(|| play_once(case, endian, watched)))
        .unwrap_or_else(|cause| Err(text_of(&*cause)))
}

fn play_once(case: &Case, endian: Endian, watched: bool) -> Result<(Costs, u64), String> {
    let mut model = Model::new(watched)?;
    let before = model.rejects();
    model.begin();
    (case.run)(&mut Attack::new(model.scene(endian), &mut model))?;
    if let Some(fault) = model.faults.first() {
        return Err(fault.clone());
    }
    let costs = model.costs;
    let (found, refused) = growth(&before, &model.rejects());
    let wanted: BTreeSet<RejectKind> = case.refused.iter().copied().collect();
    if found != wanted {
        return Err(format!("refused {found:?} instead of {wanted:?}"));
    }
    model.still_moves()?;
    Ok((costs, refused))
}

fn live_round(classes: &[&[Case]], tally: &mut Tally, both: bool) {
    let mut live = match Live::new() {
        Ok(live) => live,
        Err(why) => return tally.failures.push(format!("live: {why}")),
    };
    let live_cases = classes.iter().copied().flatten().filter(|case| case.live);
    for (index, case) in live_cases.enumerate() {
        let one = &ENDIANS[index % 2..=index % 2];
        for endian in if both { &ENDIANS[..] } else { one } {
            let endian = *endian;
            tally.live_runs += 1;
            if let Err(why) = play_live(case, endian, &mut live) {
                tally
                    .failures
                    .push(format!("{} {endian:?}, live: {why}", case.name));
            }
        }
    }
}

/// Plays a case at a live participant.
fn play_live(case: &Case, endian: Endian, live: &mut Live) -> Result<(), String> {
    live.renew(None)?;
    let before = live.rejects();
    (case.run)(&mut Attack::new(live.scene(endian), live))?;
    let wanted: BTreeSet<RejectKind> = case.refused.iter().copied().collect();
    let counted = || {
        wanted
            .is_subset(&growth(&before, &live.rejects()).0)
            .then_some(())
    };
    if wait_for(counted).is_none() {
        let (found, _) = growth(&before, &live.rejects());
        return Err(format!("refused {found:?} instead of {wanted:?}"));
    }
    live.still_moves()
}

/// Which kinds were refused between two counts, and how often all of them.
fn growth(before: &RejectCounters, after: &RejectCounters) -> (BTreeSet<RejectKind>, u64) {
    let grown = |(kind, count): (RejectKind, u64)| {
        let more = count.saturating_sub(before.of(kind));
        (more > 0).then_some((kind, more))
    };
    let all: Vec<_> = after.iter().filter_map(grown).collect();
    let kinds = all.iter().map(|(kind, _)| *kind).collect();
    (kinds, all.iter().map(|(_, more)| more).sum())
}

fn text_of(cause: &(dyn std::any::Any + Send)) -> String {
    let text = cause.downcast_ref::<String>().cloned();
    let text = text.or_else(|| cause.downcast_ref::<&str>().map(|s| (*s).to_owned()));
    format!("panicked: {}", text.unwrap_or_default())
}
