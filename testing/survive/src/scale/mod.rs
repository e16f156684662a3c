//! Scale of discovery on one host: pains 4, 14 and 25 of the users.
//!
//! Each participant writes and reads every topic of its crowd, so that everybody is matched with
//! everybody: the worst there is. The short form has fewer participants, and bounds in proportion.

mod child;
mod crowd;
mod usage;

use std::time::{Duration, Instant};

use crate::proof::{Figure, Proof, Share};
use child::Shape;
use crowd::Crowd;
use usage::Usage;

/// The proof.
pub const PROOF: Proof = Proof {
    name: "scale",
    claim: "hundreds of participants on one host find one another and cost little",
    run,
    child: Some(child::run),
};

/// How many there are, and how long things may take.
struct Size {
    /// Processes of the crowd, and participants in each.
    crowd: (usize, usize),
    /// Until all of them are matched.
    matched_within: Duration,
    /// Processes that start with defaults, more than there are well-known ports.
    processes: usize,
    /// How long costs are measured.
    watch: Duration,
}

/// Topics of the crowd: five writers and five readers make ten endpoints.
const TOPICS: usize = 5;

/// Processor time that one more participant may cost each other one.
const JOIN_CPU_MAX: Duration = Duration::from_millis(5);

/// Discovery octets that a participant may send per second when all are matched.
const STEADY_BYTES_PER_S_MAX: f64 = 1000.0;

/// Well-known ports of a domain.
const INDICES: u64 = 120;

/// Endpoints of the process that does nothing, and what it may cost.
const IDLE_TOPICS: usize = 50;
const IDLE_WAKES_PER_S_MAX: f64 = 1.0 / 3.0 * 1.1;
const IDLE_CORE_SHARE_MAX: f64 = 0.001;
const THREADS_MAX: usize = 3;

impl Size {
    fn of(share: &Share) -> Self {
        if share.full {
            return Self {
                crowd: (20, 10),
                matched_within: Duration::from_secs(10),
                processes: 500,
                watch: Duration::from_secs(12),
            };
        }
        // A fifth of the participants in a fifth of the time.
        Self {
            crowd: (8, 5),
            matched_within: Duration::from_secs(2),
            processes: 125,
            watch: share.time.div_f64(4.0).max(Duration::from_secs(2)),
        }
    }
}

/// What was measured, in words, and whether each bound held.
#[derive(Default)]
struct Findings {
    words: Vec<String>,
    missed: bool,
}

impl Findings {
    fn add(&mut self, held: bool, words: String) {
        println!("{}: {words}", if held { "held" } else { "MISSED" });
        self.missed |= !held;
        self.words.push(words);
    }
}

fn run(share: &Share) -> Figure {
    let size = Size::of(share);
    // Other runs on this machine have domains of their own, most likely.
    let domain = 20 + std::process::id() % 80;
    let mut findings = Findings::default();
    let parts = [
        idle(&size, domain, &mut findings),
        crowd(&size, domain + 1, &mut findings),
        processes(&size, domain + 2, &mut findings),
    ];
    for part in parts {
        if let Err(why) = part {
            findings.add(false, why);
        }
    }
    let text = findings.words.join("; ");
    if findings.missed {
        Figure::missed(text)
    } else {
        Figure::held(text)
    }
}

/// A process with many endpoints and nobody else.
fn idle(size: &Size, domain: u32, findings: &mut Findings) -> Result<(), String> {
    let shape = Shape {
        domain,
        participants: 1,
        topics: IDLE_TOPICS,
        reliable: false,
    };
    let mut alone = Crowd::new(shape, Some("lo"));
    alone.grow(1)?;
    // The first announcements and the first round of probes are over.
    std::thread::sleep(Duration::from_secs(4));
    let before = alone.usage();
    let watch = size.watch.max(Duration::from_secs(6));
    let begin = Instant::now();
    std::thread::sleep(watch);
    let used = since(&alone.usage(), &before);
    let seconds = begin.elapsed().as_secs_f64();
    // One more, for where the window begins and ends.
    let wakes = used[0].wakes.saturating_sub(1) as f64 / seconds;
    let share = used[0].cpu.as_secs_f64() / seconds;
    let held = used[0].threads <= THREADS_MAX
        && wakes <= IDLE_WAKES_PER_S_MAX
        && share < IDLE_CORE_SHARE_MAX;
    findings.add(
        held,
        format!(
            "idle with {} endpoints: {wakes:.2} wake-ups/s (at most 0.33 + 10 %), {} threads (at \
             most {THREADS_MAX}), {:.3} % of a core (under 0.1)",
            2 * IDLE_TOPICS,
            used[0].threads,
            share * 100.0
        ),
    );
    alone.end();
    Ok(())
}

/// Many participants with ten endpoints each, then one more.
fn crowd(size: &Size, domain: u32, findings: &mut Findings) -> Result<(), String> {
    let shape = Shape {
        domain,
        participants: size.crowd.1,
        topics: TOPICS,
        reliable: false,
    };
    let begin = Instant::now();
    let mut crowd = Crowd::new(shape, Some("lo"));
    crowd.grow(size.crowd.0)?;
    crowd.wait()?;
    let took = begin.elapsed();
    let all = crowd.participants();
    let cpu: Duration = crowd.usage().iter().map(|it| it.cpu).sum();
    let report = crowd.report()?;
    findings.add(
        took < size.matched_within,
        format!(
            "{all} participants in {} processes with 10 endpoints each, {} pairs: all matched in \
             {:.1} s (under {:.0}), {:.1} s of processor time, {:.1} MB in {} datagrams",
            size.crowd.0,
            report.matches,
            took.as_secs_f64(),
            size.matched_within.as_secs_f64(),
            cpu.as_secs_f64(),
            report.sent_bytes as f64 / 1e6,
            report.sent
        ),
    );
    // Past the last of the quick announcements.
    std::thread::sleep(Duration::from_secs(4));
    let (before, sent) = (crowd.usage(), crowd.report()?);
    let begin = Instant::now();
    std::thread::sleep(size.watch);
    let idle = since(&crowd.usage(), &before);
    let window = begin.elapsed();
    let sent = crowd.report()?.sent_bytes - sent.sent_bytes;
    let rate = sent as f64 / window.as_secs_f64() / all as f64;
    findings.add(
        rate < STEADY_BYTES_PER_S_MAX,
        format!("steady {rate:.0} B/s sent per participant (under 1000)"),
    );
    let before = crowd.usage();
    let begin = Instant::now();
    let mut more = Crowd::new(
        Shape {
            participants: 1,
            ..shape
        },
        Some("lo"),
    );
    more.grow(1)?;
    more.wait_for(all + 1)?;
    std::thread::sleep(window.saturating_sub(begin.elapsed()));
    let used = since(&crowd.usage(), &before);
    let costs = used.iter().zip(&idle).map(|(used, idle)| {
        used.cpu.saturating_sub(idle.cpu) / u32::try_from(size.crowd.1).unwrap_or(1)
    });
    let most = costs.max().unwrap_or_default();
    findings.add(
        most < JOIN_CPU_MAX,
        format!(
            "one more costs each other at most {:.2} ms (under 5)",
            most.as_secs_f64() * 1e3
        ),
    );
    more.end();
    crowd.end();
    Ok(())
}

/// More processes than there are well-known ports, on loopback alone.
fn processes(size: &Size, domain: u32, findings: &mut Findings) -> Result<(), String> {
    let shape = Shape {
        domain,
        participants: 1,
        topics: 1,
        reliable: false,
    };
    let begin = Instant::now();
    let mut crowd = Crowd::new(shape, Some("lo"));
    crowd.grow(size.processes)?;
    let started = begin.elapsed();
    crowd.wait()?;
    let matched = begin.elapsed();
    let cpu: Duration = crowd.usage().iter().map(|it| it.cpu).sum();
    let report = crowd.report()?;
    findings.add(
        report.indices == INDICES.min(size.processes as u64),
        format!(
            "{} processes: all started in {:.1} s, {} on well-known ports, all found one another \
             in {:.1} s, {:.1} s of processor time, {} datagrams lost for want of room",
            size.processes,
            started.as_secs_f64(),
            report.indices,
            matched.as_secs_f64(),
            cpu.as_secs_f64(),
            report.lost
        ),
    );
    // Those that started first have the ports.
    let leave = 10;
    crowd.shrink(leave);
    crowd.grow(leave)?;
    crowd.wait()?;
    let again = crowd.report()?.indices;
    findings.add(
        again == INDICES.min(size.processes as u64),
        format!("{leave} left and {leave} came: {again} on well-known ports again"),
    );
    crowd.end();
    Ok(())
}

fn since(now: &[Usage], before: &[Usage]) -> Vec<Usage> {
    let both = now.iter().zip(before);
    both.map(|(now, before)| now.since(*before)).collect()
}
