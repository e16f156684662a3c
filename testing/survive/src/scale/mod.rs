//! Scale of discovery on one host: pains 4, 14 and 25 of the users.
//!
//! Each participant writes and reads every topic of its crowd, so that everybody is matched with
//! everybody: the worst there is. The short form has fewer participants, and bounds in proportion.
//! All live in network namespaces with nothing but loopback, which takes root.

mod child;
mod crowd;
mod usage;

use std::time::{Duration, Instant};

use child::Shape;
use crowd::{Crowd, Host};
use usage::Usage;
use whimbrel_rig::network::Network;

use crate::proof::{Figure, Proof, Share};

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

/// Processor time that one more participant may cost each other one, in milliseconds.
const JOIN_CPU_MS_MAX: f64 = 5.0;

/// Discovery octets that a participant may send per second when all are matched, between rounds of
/// probes.
const STEADY_BYTES_PER_S_MAX: f64 = 1000.0;

/// Well-known ports of a domain.
const INDICES: u64 = 120;

/// Endpoints of the process that does nothing, and what it may cost.
const IDLE_TOPICS: usize = 50;
const IDLE_CORE_SHARE_MAX: f64 = 0.001;
const IDLE_WATCH_MIN: Duration = Duration::from_secs(15);

/// Windows in which its processor time is looked at, each with an announcement. The middle one
/// counts: Linux books to whoever runs what it receives for others meanwhile, and what the host
/// gives to another guest, so that one wake-up at the wrong moment costs what hundreds do.
const IDLE_WINDOWS: u32 = 5;
const THREADS_MAX: usize = 3;

/// Announcements per second, each at most a tenth too early.
const ANNOUNCEMENTS_PER_S: f64 = 1.0 / 3.0 * 1.1;

/// Everybody announces itself twice in that time, give or take.
const WATCH_MIN: Duration = Duration::from_secs(6);

/// The hosts whose loopback carries multicast, and those whose does not: for the crowds, and for
/// processes that do nothing.
const WITH: &str = "a";
const WITHOUT: &str = "b";
const IDLE_WITH: &str = "c";
const IDLE_WITHOUT: &str = "d";

/// The domain of everybody; each part of the proof ends its processes.
const DOMAIN: u32 = 20;

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
        Self {
            processes: 125,
            watch: share.time.div_f64(6.0).max(WATCH_MIN),
            ..Self::fifth()
        }
    }

    /// A fifth of the participants in a fifth of the time.
    fn fifth() -> Self {
        Self {
            crowd: (8, 5),
            matched_within: Duration::from_secs(2),
            processes: 0,
            watch: WATCH_MIN,
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
    /// What a part of the proof finds.
    fn of(part: &str, run: impl FnOnce(&mut Self) -> Result<(), String>) -> Self {
        let mut findings = Self::default();
        findings.run(part, run);
        findings
    }

    /// Runs one part; what keeps it from its end is told at once.
    fn run(&mut self, part: &str, run: impl FnOnce(&mut Self) -> Result<(), String>) {
        let begin = Instant::now();
        if let Err(why) = run(self) {
            let seconds = begin.elapsed().as_secs_f64();
            self.add(false, format!("{part}: {why} (after {seconds:.1} s)"));
        }
    }

    fn take(&mut self, part: Self) {
        self.words.extend(part.words);
        self.missed |= part.missed;
    }

    fn add(&mut self, held: bool, words: String) {
        println!("{}: {words}", if held { "held" } else { "MISSED" });
        self.missed |= !held;
        self.words.push(words);
    }
}

fn run(share: &Share) -> Figure {
    let size = Size::of(share);
    let network = match network() {
        Ok(network) => network,
        Err(why) => return Figure::missed(why),
    };
    let host = |letter| Host {
        network: &network,
        letter,
    };
    let mut findings = Findings::default();
    println!("load before: {}", load());
    let bare = |it: &mut Findings| crowd(&Size::fifth(), host(WITHOUT), it);
    // Beside the crowd: on a virtual machine that has slept 3 s a trivial program pays 0.3 to 2 ms
    // for its first steps, which is the host's cost and not the bus's.
    let quiet = |it: &mut Findings| idle(&size, host(IDLE_WITHOUT), host(IDLE_WITH), it);
    std::thread::scope(|scope| {
        let mut beside = vec![scope.spawn(|| Findings::of("idle", quiet))];
        if !share.full {
            beside.push(scope.spawn(|| Findings::of("crowd without multicast", bare)));
        }
        findings.run("crowd", |it| crowd(&size, host(WITH), it));
        if share.full {
            findings.run("crowd without multicast", bare);
        }
        findings.run("processes", |it| processes(&size, host(WITH), it));
        for part in beside {
            match part.join() {
                Ok(part) => findings.take(part),
                Err(_) => findings.add(false, "a part of the proof has panicked".to_owned()),
            }
        }
    });
    let text = findings.words.join("; ");
    if findings.missed {
        Figure::missed(text)
    } else {
        Figure::held(text)
    }
}

/// Hosts with nothing but loopback.
fn network() -> Result<Network, String> {
    let network = Network::of_hosts([WITH, WITHOUT, IDLE_WITH, IDLE_WITHOUT])?;
    for host in [WITH, IDLE_WITH] {
        network.on(host, "ip link set lo multicast on")?;
    }
    Ok(network)
}

/// What else this machine does: processes that run, on average of a minute.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let first = text.split_whitespace().next();
    first.unwrap_or("unknown").to_owned()
}

/// Processes with many endpoints and nobody else, one on each host.
fn idle(
    size: &Size,
    without: Host<'_>,
    with: Host<'_>,
    findings: &mut Findings,
) -> Result<(), String> {
    let shape = Shape {
        domain: DOMAIN,
        participants: 1,
        topics: IDLE_TOPICS,
        reliable: false,
    };
    let mut alone = [Crowd::new(shape, without), Crowd::new(shape, with)];
    for crowd in &mut alone {
        crowd.grow(1)?;
    }
    // The first announcements are over, and readers have been told that they have no writer.
    std::thread::sleep(Duration::from_secs(6));
    let begin = Instant::now();
    let mut looks = vec![alone.each_ref().map(Crowd::usage)];
    for _ in 0..IDLE_WINDOWS {
        std::thread::sleep(size.watch.max(IDLE_WATCH_MIN) / IDLE_WINDOWS);
        looks.push(alone.each_ref().map(Crowd::usage));
    }
    let (first, last) = (&looks[0], &looks[looks.len() - 1]);
    let seconds = begin.elapsed().as_secs_f64();
    // An announcement to a group comes back to whoever sent it, which takes one more.
    let kinds = [("without", 1.0), ("with", 2.0)];
    for (which, (kind, each)) in kinds.into_iter().enumerate() {
        let used = last[which][0].since(first[which][0]);
        let windows = looks.windows(2).map(|pair| {
            let used = pair[1][which][0].since(pair[0][which][0]);
            used.cpu.as_secs_f64() / seconds * f64::from(IDLE_WINDOWS)
        });
        let mut windows: Vec<f64> = windows.collect();
        windows.sort_by(f64::total_cmp);
        let share = windows[windows.len() / 2];
        // One more, for where the watch begins and ends.
        let announced = ANNOUNCEMENTS_PER_S * seconds + 1.0;
        let held = used.threads <= THREADS_MAX
            && used.wakes as f64 <= announced * each
            && share < IDLE_CORE_SHARE_MAX;
        findings.add(
            held,
            format!(
                "idle with {} endpoints, {kind} multicast: {:.2} wake-ups/s (at most {each} for \
                 each announcement, one in 3 s), {} threads (at most {THREADS_MAX}), {:.3} % of a \
                 core (under 0.1; most in one of {IDLE_WINDOWS} windows {:.3} %)",
                2 * IDLE_TOPICS,
                used.wakes as f64 / seconds,
                used.threads,
                share * 100.0,
                windows[windows.len() - 1] * 100.0,
            ),
        );
    }
    Ok(())
}

/// Many participants with ten endpoints each, then one more.
fn crowd(size: &Size, host: Host<'_>, findings: &mut Findings) -> Result<(), String> {
    let shape = Shape {
        domain: DOMAIN,
        participants: size.crowd.1,
        topics: TOPICS,
        reliable: false,
    };
    let begin = Instant::now();
    let mut crowd = Crowd::new(shape, host);
    crowd.grow(size.crowd.0)?;
    crowd.wait()?;
    let took = begin.elapsed();
    let all = crowd.participants();
    let cpu: Duration = crowd.usage().iter().map(|it| it.cpu).sum();
    let report = crowd.report()?;
    let kind = if host.letter == WITH {
        "with"
    } else {
        "without"
    };
    findings.add(
        took < size.matched_within,
        format!(
            "{all} participants in {} processes with 10 endpoints each, {kind} multicast, {} \
             pairs: all matched in {:.1} s (under {:.0}; load {}), {:.1} s of processor time, \
             {:.1} MB in {} datagrams",
            size.crowd.0,
            report.matches,
            took.as_secs_f64(),
            size.matched_within.as_secs_f64(),
            load(),
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
    let bound = STEADY_BYTES_PER_S_MAX;
    findings.add(
        rate < bound,
        format!("steady {kind} multicast {rate:.0} B/s sent per participant (under {bound:.0})"),
    );
    one_more(&mut crowd, shape, (&idle, window), findings)
}

/// One more participant, and what that costs those of `crowd`, who used `idle` in `window` before.
fn one_more(
    crowd: &mut Crowd<'_>,
    shape: Shape,
    (idle, window): (&[Usage], Duration),
    findings: &mut Findings,
) -> Result<(), String> {
    let shape_of_one = Shape {
        participants: 1,
        ..shape
    };
    let before = crowd.usage();
    let begin = Instant::now();
    let mut more = Crowd::new(shape_of_one, crowd.host());
    more.grow(1)?;
    more.wait_for(crowd.participants() + 1)?;
    std::thread::sleep(window.saturating_sub(begin.elapsed()));
    let used = since(&crowd.usage(), &before);
    let milliseconds = |it: &Usage| it.cpu.as_secs_f64() * 1e3 / shape.participants as f64;
    let costs: Vec<(f64, f64)> = used
        .iter()
        .zip(idle)
        .map(|(used, idle)| (milliseconds(used), milliseconds(idle)))
        .collect();
    let most = costs.iter().map(|(used, idle)| used - idle);
    let most = most.fold(f64::NEG_INFINITY, f64::max);
    let mean = |of: fn(&(f64, f64)) -> f64| costs.iter().map(of).sum::<f64>() / costs.len() as f64;
    let (used, idle) = (mean(|it| it.0), mean(|it| it.1));
    findings.add(
        most < JOIN_CPU_MS_MAX,
        format!(
            "one more costs each other {:.3} ms of processor time, {most:.3} ms in the process \
             where it costs most (under 5; mean of {:.1} s with it {used:.3} ms, without \
             {idle:.3} ms)",
            used - idle,
            window.as_secs_f64()
        ),
    );
    Ok(())
}

/// More processes than there are well-known ports.
fn processes(size: &Size, host: Host<'_>, findings: &mut Findings) -> Result<(), String> {
    let shape = Shape {
        domain: DOMAIN,
        participants: 1,
        topics: 1,
        reliable: false,
    };
    let begin = Instant::now();
    let mut crowd = Crowd::new(shape, host);
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
             in {:.1} s (load {}), {:.1} s of processor time, {} datagrams lost for want of room",
            size.processes,
            started.as_secs_f64(),
            report.indices,
            matched.as_secs_f64(),
            load(),
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
    Ok(())
}

fn since(now: &[Usage], before: &[Usage]) -> Vec<Usage> {
    let both = now.iter().zip(before);
    both.map(|(now, before)| now.since(*before)).collect()
}
