//! The report: a line as each case ends, then the table, the reasons and the totals.

use super::cases::{CASES, Pair};
use super::dissection;
use super::outcome::{Outcome, Verdict};

/// A line as soon as a case has ended.
pub(crate) fn progress(outcome: &Outcome) {
    let (word, why) = match &outcome.verdict {
        Verdict::Passed => ("ok", ""),
        Verdict::Failed(why) => ("FAILED", why.as_str()),
        Verdict::NotApplicable(why) => ("n/a", *why),
    };
    let seconds = outcome.took.as_secs_f64();
    let pair = outcome.pair.to_string();
    println!(
        "{word:<6} {seconds:>5.1} s  {:<20} {pair:<22} {why}",
        outcome.case
    );
}

/// Prints everything; true when nothing failed and something passed.
pub(crate) fn report(outcomes: &[Outcome]) -> bool {
    println!("\nseconds by case and pair of publisher and subscriber:");
    print!("{}", table(outcomes));
    let mut reasons: Vec<&str> = Vec::new();
    for outcome in outcomes {
        match &outcome.verdict {
            Verdict::Passed => {}
            Verdict::Failed(why) => println!("FAILED {} {}: {why}", outcome.case, outcome.pair),
            Verdict::NotApplicable(why) => reasons.push(why),
        }
    }
    let skipped = reasons.len();
    let passed = outcomes
        .iter()
        .filter(|it| matches!(it.verdict, Verdict::Passed))
        .count();
    let failed = outcomes.len() - passed - skipped;
    if skipped > 0 {
        reasons.sort_unstable();
        reasons.dedup();
        println!("{skipped} not applicable: {}", reasons.join("; "));
    }
    let word = if failed == 0 { "ok" } else { "FAILED" };
    println!("test result: {word}. {passed} passed; {failed} failed; {skipped} not applicable");
    println!("{passed} passed, {failed} failed");
    failed == 0 && passed > 0
}

fn table(outcomes: &[Outcome]) -> String {
    let previous = Pair::with_previous();
    let is_played = |pair: &&Pair| outcomes.iter().any(|it| it.pair == **pair);
    let pairs: Vec<&Pair> = Pair::ALL
        .iter()
        .chain(&previous)
        .filter(is_played)
        .collect();
    let mut text = format!("{:<20}", "");
    for pair in &pairs {
        text += &format!(" {:>11}", format!("{} >", pair.publisher.name()));
    }
    text += &format!("\n{:<20}", "");
    for pair in &pairs {
        text += &format!(" {:>11}", pair.subscriber.name());
    }
    text.push('\n');
    let names = CASES.iter().map(|case| case.name);
    for name in names.chain([dissection::NAME]) {
        let row: Vec<&Outcome> = outcomes.iter().filter(|it| it.case == name).collect();
        if row.is_empty() {
            continue;
        }
        text += &format!("{name:<20}");
        for pair in &pairs {
            let cell = row.iter().find(|it| it.pair == **pair);
            text += &format!(" {:>11}", cell.map(|it| word(it)).unwrap_or_default());
        }
        text.push('\n');
    }
    text
}

fn word(outcome: &Outcome) -> String {
    match outcome.verdict {
        Verdict::Passed => format!("{:.1}", outcome.took.as_secs_f64()),
        Verdict::Failed(_) => "FAILED".into(),
        Verdict::NotApplicable(_) => "n/a".into(),
    }
}
