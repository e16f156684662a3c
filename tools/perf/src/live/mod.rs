//! Roles in one process that anybody can join, with a line each second in which something happened.

mod options;
mod peers;
mod roles;
mod tally;

use std::process;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use whimbrel::DomainParticipant;
use whimbrel_rig::process::{Holding, Usage};

use crate::failure::Failure;
use crate::report::model::Section;
use crate::stop;
pub(crate) use options::Live;
use options::{LOOK, Role};
use roles::Playing;
use tally::{Answers, Arrivals};

/// Time between lines.
const TICK: Duration = Duration::from_secs(1);

/// Plays until the time is over or a signal comes, then judges.
///
/// # Errors
/// The bus refuses, or a criterion was missed.
pub(crate) fn run(live: &Live) -> Result<(), Failure> {
    let participant = DomainParticipant::new(live.domain)
        .map_err(|error| Failure::Setup(format!("joining domain {}: {error}", live.domain)))?;
    let arrivals = Arc::new(Arrivals::default());
    let answers = Arc::new(Answers::default());
    let playing = Playing::start(&participant, live, &arrivals, &answers)?;
    let mut lines = Lines::new();
    let begun = Instant::now();
    let mut next = begun + TICK;
    let mut matched = false;
    let ended = loop {
        thread::sleep(LOOK.min(next.saturating_duration_since(Instant::now())));
        let elapsed = begun.elapsed();
        let others = participant.discovered_participants().len();
        matched |= live.matches_min.is_none_or(|it| others >= it);
        if let Err(Failure::Signal(number)) = stop::check() {
            break Some(number);
        }
        if live
            .seconds
            .is_some_and(|it| elapsed.as_secs() >= u64::from(it))
        {
            break None;
        }
        if !matched && elapsed.as_secs() >= u64::from(live.match_within) {
            return Err(alone(live, others));
        }
        if Instant::now() >= next {
            next += TICK;
            lines.print(begun, &participant, &arrivals, &answers, playing.repairs());
        }
    };
    playing.stop();
    lines.print(begun, &participant, &arrivals, &answers, playing.repairs());
    let section = summary(live, begun.elapsed(), &arrivals, &answers);
    summarize(&section);
    if !matched {
        return Err(alone(live, participant.discovered_participants().len()));
    }
    live.criteria.check(&[section])?;
    // Whoever ends it by Ctrl-C after no time in particular has what it wanted.
    match ended {
        Some(number) if live.seconds.is_some() => Err(Failure::Signal(number)),
        _ => Ok(()),
    }
}

/// Fewer were there than had to be.
fn alone(live: &Live, others: usize) -> Failure {
    let (wanted, within) = (live.matches_min.unwrap_or(0), live.match_within);
    let time = live.seconds.map_or(within, |it| it.min(within));
    Failure::Missed(format!(
        "{others} other participants instead of {wanted} in {time} s"
    ))
}

/// What was printed last.
struct Lines {
    usage: Usage,
    repairs: u64,
}

impl Lines {
    fn new() -> Self {
        Self {
            usage: Usage::of(process::id()),
            repairs: 0,
        }
    }

    /// Prints what has happened since the last time; nothing where nothing has.
    fn print(
        &mut self,
        begun: Instant,
        participant: &DomainParticipant,
        arrivals: &Arrivals,
        answers: &Answers,
        repairs: u64,
    ) {
        let at = begun.elapsed().as_secs_f64();
        let mut lines: Vec<String> = arrivals.line().into_iter().collect();
        lines.extend(answers.lines(|writer| peers::name(participant, writer)));
        let again = repairs - self.repairs;
        self.repairs = repairs;
        let now = Usage::of(process::id());
        let used = now.since(self.usage);
        self.usage = now;
        if lines.is_empty() && again == 0 {
            return;
        }
        let held = Holding::of(process::id()).map_or(0, |it| it.resident_kib);
        lines.push(format!(
            "use   rss {:.1} MiB, cpu {:.1} % of a core, {} waits, {} preempted, {again} sent \
             again",
            held as f64 / 1024.0,
            used.cpu_ns as f64 / 1e7,
            used.waits,
            used.preempted
        ));
        for line in lines {
            println!("{at:9.3} {line}");
        }
    }
}

fn summary(live: &Live, time: Duration, arrivals: &Arrivals, answers: &Answers) -> Section {
    let held = Holding::of(process::id()).map_or(0, |it| it.resident_kib);
    let mut section = Section {
        name: "live".into(),
        ..Section::default()
    };
    if live.roles.contains(&Role::Sub) {
        section.streams.push(arrivals.figure(time));
    }
    section.latencies = answers.figures(held);
    section
}

fn summarize(section: &Section) {
    for it in &section.streams {
        println!(
            "all of sub: {:.0} samples/s of {} B (entropy 0.00 bits for each), {:.3} % lost",
            it.samples_per_s, it.size, it.lost_percent
        );
    }
    for it in &section.latencies {
        println!(
            "all of ping: {} B, {} answers, one way min {:.1}, mean {:.1}, 50 % {:.1}, max {:.1} \
             µs",
            it.size, it.count, it.min_us, it.mean_us, it.p50_us, it.max_us
        );
    }
}
