//! A against B: whether one is faster, and from which size on.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::contestant::{Contestant, Product, Programs};
use crate::failure::Failure;
use crate::measure::{Race, Verdict, bisect, floor_us, judge, judge_apart, test_link};
use crate::options::{Racing, Where};
use crate::passport;
use crate::progress::Progress;
use crate::scenario::{describe, peers_folder};
use crate::world::{Link, Place, World};

/// Sizes are told apart down to this ratio.
const NEAR: f64 = 1.05;
/// Steps of the search.
const STEPS: usize = 12;

/// Two configurations, and where they take turns.
struct Bout {
    programs: Programs,
    world: World,
    race: Race,
}

impl Bout {
    fn new([a, b]: [&str; 2], racing: &Racing, sizes: Vec<usize>) -> Result<Self, Failure> {
        let (place, link) = match racing.place {
            Where::Inter => (Place::Inter, None),
            Where::Intra => (Place::Intra, None),
            Where::Dual => (Place::Dual(None), None),
            Where::FastEthernet => (
                Place::Dual(Some(Link::FAST_ETHERNET)),
                Some(Link::FAST_ETHERNET),
            ),
            Where::Gigabit => (Place::Dual(Some(Link::GIGABIT)), Some(Link::GIGABIT)),
        };
        let peers = racing.peers.clone().unwrap_or_else(peers_folder);
        let programs = Programs::new(&peers).map_err(Failure::Setup)?;
        let contestant = |text| contestant(text, racing, place, &programs).map_err(Failure::Setup);
        let contestants = vec![contestant(a)?, contestant(b)?];
        if contestants[0] == contestants[1] {
            return Err(Failure::Setup(format!("{a} and {b} are the same")));
        }
        println!("of Whimbrel's samples, {}", describe(&racing.payload)?);
        let world = World::new(place).map_err(Failure::Setup)?;
        if let Some(link) = link {
            match test_link(&world, &programs, link) {
                Ok(text) => println!("{}: {text}", link.name()),
                Err(text) => println!("the cable does not earn the name {}: {text}", link.name()),
            }
        }
        Ok(Self {
            programs,
            world,
            race: Race {
                contestants,
                sizes,
                rounds: racing.rounds as usize,
                per_round: racing.per_round as usize,
                domain: 1,
                link,
            },
        })
    }

    /// The verdict on A against B at each size; `bar` is its progress.
    fn run(&self, race: &Race, bar: &Progress) -> Result<Vec<(usize, Verdict, String)>, Failure> {
        let mut found = Vec::new();
        race.run(&self.world, &self.programs, bar, &mut |rows| {
            let [a, b] = &rows[..] else { return };
            let judged = judge(a.spread.rounds(), b.spread.rounds());
            let names = [a.contestant.name(), b.contestant.name()];
            let text = format!(
                "{}; medians {:.2} and {:.2} µs one way, {} rounds in turn",
                sentence(names.each_ref().map(String::as_str), a.size, judged),
                a.spread.p50_us(),
                b.spread.p50_us(),
                a.spread.rounds().len()
            );
            found.push((a.size, judged.0, text));
        })?;
        Ok(found)
    }

    fn floor(&self, domain: u32) -> Result<Option<f64>, Failure> {
        if self.world.place == Place::Intra {
            return Ok(None);
        }
        let us = floor_us(&self.world, &self.programs, domain).map_err(Failure::Broke)?;
        Ok(Some(us))
    }
}

fn contestant(
    text: &str,
    racing: &Racing,
    place: Place,
    programs: &Programs,
) -> Result<Contestant, String> {
    let mut contestant = Contestant::parse(text)?;
    if place == Place::Intra && !contestant.product.stays_within_a_process() {
        return Err(format!("{text}: it is not measured within one process"));
    }
    if let Some(why) = programs.missing(contestant.product) {
        return Err(format!("{text}: {why}"));
    }
    if contestant.product == Product::Whimbrel {
        let payload: whimbrel_payload::Payload =
            racing.payload.parse().map_err(|it| format!("{it}"))?;
        payload.octets(0, 1).map_err(|it| it.to_string())?;
        let words = ["--payload".to_owned(), racing.payload.clone()];
        contestant.words.extend(words);
    }
    Ok(contestant)
}

/// `A is faster than B at SIZE: …`.
fn sentence([a, b]: [&str; 2], size: usize, (verdict, ratio): (Verdict, [f64; 3])) -> String {
    let [low, middle, high] = ratio;
    let said = match verdict {
        Verdict::CannotTell => format!("{size} B: cannot tell {a} from {b}"),
        other => format!("{size} B: {a} is {} than {b}", other.text()),
    };
    let within = if high.is_finite() {
        format!("95 % within {low:.3} … {high:.3}")
    } else {
        "too few rounds".into()
    };
    format!("{said}: latency × {middle:.3} ({within})")
}

/// Compares two configurations or two reports.
///
/// # Errors
/// What cannot be compared, and a verdict other than the one expected.
pub(crate) fn compare(
    [a, b]: [&str; 2],
    racing: &Racing,
    sizes: &[u32],
    expect: Option<Verdict>,
) -> Result<(), Failure> {
    let is_report = |it: &str| it.ends_with(".json");
    let verdicts = match (is_report(a), is_report(b)) {
        (true, true) => reports([a, b])?,
        (false, false) => {
            let sizes = sizes.iter().map(|it| *it as usize).collect();
            configurations([a, b], racing, sizes)?
        }
        _ => {
            let why = format!("{a} and {b}: a report can be compared with a report only");
            return Err(Failure::Setup(why));
        }
    };
    for (_, text) in &verdicts {
        println!("{text}");
    }
    let Some(wanted) = expect else { return Ok(()) };
    let other = verdicts.iter().filter(|it| it.0 != wanted);
    let other: Vec<&str> = other.map(|it| it.1.as_str()).collect();
    if other.is_empty() {
        return Ok(());
    }
    let (wanted, other) = (wanted.text(), other.join("; "));
    Err(Failure::Missed(format!("expected {wanted}: {other}")))
}

fn configurations(
    names: [&str; 2],
    racing: &Racing,
    sizes: Vec<usize>,
) -> Result<Vec<(Verdict, String)>, Failure> {
    let bout = Bout::new(names, racing, sizes)?;
    let first = bout.floor(911)?;
    let bar = Progress::new("compare", bout.race.turns());
    let found = bout.run(&bout.race, &bar)?;
    drop(bar);
    if let (Some(first), Some(last)) = (first, bout.floor(912)?) {
        println!("noise floor: {first:.2} µs one way before, {last:.2} µs after");
    }
    Ok(found
        .into_iter()
        .map(|(_, verdict, text)| (verdict, text))
        .collect())
}

/// Searches the size from which B is faster than A.
///
/// # Errors
/// What cannot be measured.
pub(crate) fn crossover(
    names: [&str; 2],
    racing: &Racing,
    [from, to]: [u32; 2],
) -> Result<(), Failure> {
    if from >= to {
        return Err(Failure::Setup(format!(
            "--from {from} is not below --to {to}"
        )));
    }
    let ends = [from as usize, to as usize];
    let bout = Bout::new(names, racing, ends.to_vec())?;
    let turns = bout.race.turns();
    let bar = Progress::new("crossover", turns + turns / 2 * STEPS as u64);
    let found = bout.run(&bout.race, &bar)?;
    for (_, _, text) in &found {
        println!("{text}");
    }
    let wins: Vec<bool> = found.iter().map(|it| it.1 == Verdict::Slower).collect();
    let [a, b] = names;
    match wins[..] {
        [false, true] => {}
        [true, true] => {
            println!("{b} is faster than {a} at both ends");
            return Ok(());
        }
        _ => {
            println!("{b} is not faster than {a} at {to} B");
            return Ok(());
        }
    }
    let [low, high] = bisect(ends, STEPS, NEAR, |size| {
        let race = Race {
            sizes: vec![size],
            ..bout.race.clone()
        };
        let found = bout.run(&race, &bar)?;
        Ok(found.iter().all(|it| it.1 == Verdict::Slower))
    })?;
    drop(bar);
    println!("{b} is faster than {a} from {low} B to {high} B on");
    Ok(())
}

/// The verdicts on what both reports have, if they are of one machine.
///
/// # Errors
/// They cannot be read or compared.
pub(crate) fn reports(paths: [&str; 2]) -> Result<Vec<(Verdict, String)>, Failure> {
    let [a, b] = paths.map(report);
    let (a, b) = (a?, b?);
    let unlike = passport::unlike(&a["passport"], &b["passport"]);
    if !unlike.is_empty() {
        return Err(Failure::Setup(format!(
            "these reports cannot be compared: {}",
            unlike.join("; ")
        )));
    }
    let (a, b) = (rows(&a), rows(&b));
    let verdicts: Vec<(Verdict, String)> = a
        .iter()
        .filter_map(|(key, rounds)| {
            let (_, others) = b.iter().find(|it| it.0 == *key)?;
            let (scenario, who, size) = key;
            let judged = judge_apart(rounds, others);
            let sides = ["the first", "the second"];
            let text = sentence(sides, *size, judged);
            Some((
                judged.0,
                format!("{scenario}, {who}, {text}, measured apart"),
            ))
        })
        .collect();
    if verdicts.is_empty() {
        return Err(Failure::Setup(
            "the reports have no latencies in common".into(),
        ));
    }
    Ok(verdicts)
}

/// A report of this program.
///
/// # Errors
/// There is none at `path`, or it has another schema.
pub(crate) fn report(path: &str) -> Result<Value, Failure> {
    let refuse = |why: String| Failure::Setup(format!("{path}: {why}"));
    let text = fs::read_to_string(Path::new(path)).map_err(|it| refuse(it.to_string()))?;
    let report: Value = serde_json::from_str(&text).map_err(|it| refuse(it.to_string()))?;
    let schema = report["schema"].as_str().unwrap_or_default();
    if schema != crate::report::model::SCHEMA {
        return Err(refuse(format!(
            "schema `{schema}` is not that of this program"
        )));
    }
    Ok(report)
}

/// Scenario, contestant and size.
type Key = (String, String, usize);

/// The medians of rounds of everything in `report`.
fn rows(report: &Value) -> Vec<(Key, Vec<f64>)> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut rows = Vec::new();
    for section in list(&report["sections"]) {
        let scenario = section["name"].as_str().unwrap_or_default();
        for it in list(&section["latencies"]) {
            let who = it["contestant"].as_str().unwrap_or_default();
            let size = it["size"].as_u64().unwrap_or(0) as usize;
            let rounds = list(&it["rounds_us"]);
            let rounds = rounds.iter().filter_map(Value::as_f64).collect();
            rows.push(((scenario.to_owned(), who.to_owned(), size), rounds));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_sentences() {
        let ratio = [0.4, 0.5, 0.6];
        let text = sentence(["A", "B"], 64, (Verdict::Faster, ratio));
        assert_eq!(
            text,
            "64 B: A is faster than B: latency × 0.500 (95 % within 0.400 … 0.600)"
        );
        let unknown = [0.0, 1.0, f64::INFINITY];
        let text = sentence(["A", "B"], 64, (Verdict::CannotTell, unknown));
        assert_eq!(
            text,
            "64 B: cannot tell A from B: latency × 1.000 (too few rounds)"
        );
    }

    #[test]
    fn rows_of_reports_are_found() {
        let text = r#"{"sections":[{"name":"lat3-inter","latencies":[
            {"contestant":"Whimbrel","size":64,"rounds_us":[1.5,2.5]}]}, {"name":"cft"}]}"#;
        let report: Value = serde_json::from_str(text).unwrap();
        let key = ("lat3-inter".to_owned(), "Whimbrel".to_owned(), 64);
        assert_eq!(rows(&report), [(key, vec![1.5, 2.5])]);
        assert!(rows(&Value::Null).is_empty());
    }
}
