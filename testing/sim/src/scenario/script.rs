//! Scenarios as text, to be read by people, kept in files and played again.
//!
//! One line says one thing: a word, then `name=value` and flags in any order. What is left out has
//! the value that does nothing. `#` begins a comment. Times are counted from the beginning and
//! have a unit: `ns`, `us`, `ms` or `s`.
//!
//! ```text
//! seed 17
//! network discovery forms multicast datagram-bytes=1472 heals=2s lease=3s
//! topics keys=5 keyless=1
//! node host=0 subnet=0
//! node host=0 subnet=0 process=0
//! node host=1 subnet=0 deaf anonymous heedless drift-ppm=20 origin-ns=5000
//! link from=0 to=2 loss=200 delay=5ms
//! link from=2 to=1 closed
//! writer node=0 topic=0 reliable durable depth=3
//! reader node=2 topic=0 reliable
//! at 0s start writer=0
//! at 0s start reader=0
//! at 10ms write writer=0 kind=alive key=1 bytes=40
//! at 1s crash node=2 down=500ms same-prefix
//! ```

use super::*;
use crate::network::Bursts;

mod words;

use self::words::Words;
pub(super) use self::words::span_text;

/// Reads a scenario.
///
/// # Errors
/// Which line makes no sense, and why.
pub fn read(text: &str) -> Result<Scenario, String> {
    let mut scenario = Scenario::empty();
    let mut links = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if !line.is_empty() {
            read_line(&mut scenario, &mut links, line)
                .map_err(|why| format!("line {}: {why}", index + 1))?;
        }
    }
    let nodes = scenario.hosts.len();
    scenario.faults = vec![Faults::NONE; nodes * nodes];
    for (from, to, faults) in links {
        let index = from * nodes + to;
        *scenario
            .faults
            .get_mut(index)
            .ok_or(format!("no node {from} or {to}"))? = faults;
    }
    scenario.check()?;
    Ok(scenario)
}

type LinkLine = (NodeIndex, NodeIndex, Faults);

fn read_line(scenario: &mut Scenario, links: &mut Vec<LinkLine>, line: &str) -> Result<(), String> {
    let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
    let mut words = Words::new(rest);
    match first {
        "seed" => scenario.seed = rest.trim().parse().map_err(|_| "no number")?,
        "network" => read_network(scenario, &mut words)?,
        "topics" => {
            scenario.keys = words.some("keys")?;
            scenario.keyless = words.list("keyless")?;
        }
        "node" => {
            let node = scenario.hosts.len();
            scenario.hosts.push(words.number("host", node)?);
            scenario.processes.push(words.number("process", node)?);
            scenario.subnets.push(words.number("subnet", 0)?);
            if words.flag("deaf") {
                scenario.deaf.push(node);
            }
            if words.flag("anonymous") {
                scenario.anonymous.push(node);
            }
            if words.flag("heedless") {
                scenario.heedless.push(node);
            }
            scenario.clocks.push(ClockPlan {
                origin_ns: words.number("origin-ns", 0)?,
                drift_ppm: words.number("drift-ppm", 0)?,
            });
        }
        "link" => {
            let (from, to) = (words.needed("from")?, words.needed("to")?);
            if words.flag("closed") {
                scenario.blocked.push((from, to));
            }
            links.push((from, to, read_faults(&mut words)?));
        }
        "writer" => scenario.writers.push(read_writer(&mut words)?),
        "reader" => scenario.readers.push(read_reader(&mut words)?),
        "at" => {
            let (at, rest) = rest.split_once(' ').ok_or("nothing happens")?;
            let (what, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            words = Words::new(rest);
            let at = START.after(words::span(at)?);
            let action = read_action(what, &mut words)?;
            scenario.actions.push((at, action));
        }
        _ => return Err(format!("what is {first}?")),
    }
    if first == "seed" {
        return Ok(());
    }
    words.end()
}

fn read_network(scenario: &mut Scenario, words: &mut Words<'_>) -> Result<(), String> {
    scenario.discovery = words.flag("discovery");
    scenario.forms = words.flag("forms");
    scenario.multicast = words.flag("multicast");
    scenario.multicast_data = words.flag("multicast-data");
    scenario.loopback = words.flag("loopback");
    let bytes = &mut scenario.datagram_bytes_max;
    *bytes = words.number("datagram-bytes", *bytes)?;
    scenario.queue_bytes_max = words.number("queue-bytes", scenario.queue_bytes_max)?;
    scenario.queue_told = words.flag("queue-told");
    scenario.in_process = words.flag("in-process");
    scenario.service = words.span("service", Duration::ZERO)?;
    scenario.news_delay = words.span("news-delay", Duration::ZERO)?;
    scenario.lease = words.span("lease", scenario.lease)?;
    scenario.announce_period = words.span("announce", scenario.announce_period)?;
    scenario.heals_at = START.after(words.span("heals", Duration::from_secs(1))?);
    Ok(())
}

fn read_faults(words: &mut Words<'_>) -> Result<Faults, String> {
    let none = Faults::NONE;
    let enter_permille = words.some("burst-enter")?;
    let bursts = Bursts {
        enter_permille: enter_permille.unwrap_or(0),
        leave_permille: words.number("burst-leave", 0)?,
        loss_permille: words.number("burst-loss", 0)?,
    };
    Ok(Faults {
        loss_permille: words.number("loss", 0)?,
        bursts: enter_permille.map(|_| bursts),
        duplicate_permille: words.number("duplicate", 0)?,
        reorder_permille: words.number("reorder", 0)?,
        delay: words.span("delay", none.delay)?,
        jitter: words.span("jitter", none.jitter)?,
        late: words.span("late", none.late)?,
        datagram_bytes_max: words.number("datagram-bytes", none.datagram_bytes_max)?,
        bytes_per_second: words.some("bytes-per-second")?,
        garbage_permille: words.number("garbage", 0)?,
        flip_permille: words.number("flip", 0)?,
    })
}

fn read_writer(words: &mut Words<'_>) -> Result<WriterPlan, String> {
    Ok(WriterPlan {
        node: words.needed("node")?,
        topic: words.number("topic", 0)?,
        reliable: words.flag("reliable"),
        durable: words.flag("durable"),
        depth: words.some("depth")?,
        samples_max: words.some("samples")?,
        samples_per_instance_max: words.some("samples-per-instance")?,
        unacknowledged_bytes_max: words.number("unacknowledged-bytes", 1 << 20)?,
        nack_response_delay: words.span("nack-response", Duration::ZERO)?,
        nack_suppression: words.span("nack-suppression", Duration::ZERO)?,
        partitions: words.number("partitions", 0)?,
        form: None,
    })
}

fn read_reader(words: &mut Words<'_>) -> Result<ReaderPlan, String> {
    Ok(ReaderPlan {
        node: words.needed("node")?,
        topic: words.number("topic", 0)?,
        reliable: words.flag("reliable"),
        durable: words.flag("durable"),
        depth: words.some("depth")?,
        samples_max: words.some("samples")?,
        samples_per_instance_max: words.some("samples-per-instance")?,
        take_period: words.span("take", Duration::ZERO)?,
        reorder_samples_max: words.number("reorder-samples", 4096)?,
        reassembly_samples_max: words.number("reassembly-samples", 16)?,
        heartbeat_response_delay: words.span("heartbeat-response", Duration::ZERO)?,
        partitions: words.number("partitions", 0)?,
    })
}

fn read_action(what: &str, words: &mut Words<'_>) -> Result<Action, String> {
    Ok(match what {
        "start" | "stop" => {
            let starts = what == "start";
            match (words.some("writer")?, words.some("reader")?) {
                (Some(plan), None) if starts => Action::StartWriter(plan),
                (Some(plan), None) => Action::StopWriter(plan),
                (None, Some(plan)) if starts => Action::StartReader(plan),
                (None, Some(plan)) => Action::StopReader(plan),
                _ => return Err(format!("{what} which writer or reader?")),
            }
        }
        "write" => Action::Write {
            writer: words.needed("writer")?,
            kind: read_kind(&words.number("kind", String::from("alive"))?)?,
            key: words.number("key", 0)?,
            bytes: words.number("bytes", 0)?,
        },
        "partition" => Action::Partition {
            from: words.needed("from")?,
            to: words.needed("to")?,
            span: words.span("span", Duration::ZERO)?,
        },
        "pause" => Action::Pause {
            node: words.needed("node")?,
            span: words.span("span", Duration::ZERO)?,
        },
        "restart" => Action::Restart {
            node: words.needed("node")?,
            same_prefix: words.flag("same-prefix"),
        },
        "clock" => Action::SetWallClock {
            node: words.some("node")?,
            step_ns: words.needed("step-ns")?,
        },
        "crash" => Action::Crash {
            node: words.needed("node")?,
            down: words.span("down", Duration::ZERO)?,
            same_prefix: words.flag("same-prefix"),
        },
        "leave" => Action::Leave {
            node: words.needed("node")?,
        },
        _ => return Err(format!("what is it to {what}?")),
    })
}

const KINDS: [(ChangeKind, &str); 4] = [
    (ChangeKind::Alive, "alive"),
    (ChangeKind::Disposed, "disposed"),
    (ChangeKind::Unregistered, "unregistered"),
    (ChangeKind::DisposedUnregistered, "disposed-unregistered"),
];

fn read_kind(name: &str) -> Result<ChangeKind, String> {
    let kind = KINDS.iter().find(|(_, it)| *it == name);
    kind.map(|(kind, _)| *kind).ok_or(format!("no kind {name}"))
}

/// What `print` calls a kind.
pub(super) fn kind_text(kind: ChangeKind) -> &'static str {
    let named = KINDS.iter().find(|(it, _)| *it == kind);
    named.map_or("alive", |(_, name)| name)
}

impl Scenario {
    /// A scenario in which there is nobody and nothing happens.
    pub(super) fn empty() -> Self {
        Self {
            seed: 0,
            forms: false,
            discovery: false,
            hosts: Vec::new(),
            processes: Vec::new(),
            keys: None,
            keyless: Vec::new(),
            subnets: Vec::new(),
            deaf: Vec::new(),
            anonymous: Vec::new(),
            heedless: Vec::new(),
            blocked: Vec::new(),
            clocks: Vec::new(),
            lease: Duration::from_secs(3),
            announce_period: Duration::from_secs(1),
            multicast_data: false,
            multicast: false,
            loopback: false,
            datagram_bytes_max: 1472,
            queue_bytes_max: 4 << 20,
            queue_told: false,
            in_process: false,
            service: Duration::ZERO,
            faults: Vec::new(),
            writers: Vec::new(),
            readers: Vec::new(),
            actions: Vec::new(),
            news_delay: Duration::ZERO,
            heals_at: START,
        }
    }

    /// Everybody who is named must exist.
    fn check(&self) -> Result<(), String> {
        let nodes = self.hosts.len();
        let node = |node: usize| node < nodes;
        let mut right = nodes > 0 && self.blocked.iter().all(|(a, b)| node(*a) && node(*b));
        let first = |(index, of): (usize, &usize)| *of <= index && self.processes[*of] == *of;
        right &= self.processes.iter().enumerate().all(first);
        right &= self.writers.iter().all(|plan| node(plan.node));
        right &= self.readers.iter().all(|plan| node(plan.node));
        for (_, action) in &self.actions {
            right &= match *action {
                Action::StartWriter(plan) | Action::StopWriter(plan) => plan < self.writers.len(),
                Action::StartReader(plan) | Action::StopReader(plan) => plan < self.readers.len(),
                Action::Write { writer, .. } => writer < self.writers.len(),
                Action::Partition { from, to, .. } => node(from) && node(to),
                Action::SetWallClock { node: it, .. } => it.is_none_or(node),
                Action::Pause { node: it, .. }
                | Action::Restart { node: it, .. }
                | Action::Crash { node: it, .. }
                | Action::Leave { node: it } => node(it),
            };
        }
        if right {
            Ok(())
        } else {
            Err(String::from("somebody is named who does not exist"))
        }
    }
}

#[cfg(test)]
mod tests;
