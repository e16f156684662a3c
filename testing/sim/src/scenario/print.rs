//! A scenario as the text that [`script::read`] reads.

use std::fmt;

use super::script::{kind_text, span_text};
use super::*;

/// Collects `name=value` words.
struct Line(String);

impl Line {
    fn new(first: &str) -> Self {
        Self(String::from(first))
    }

    fn word(mut self, name: &str, value: impl fmt::Display) -> Self {
        self.0.push_str(&format!(" {name}={value}"));
        self
    }

    fn unless<T: fmt::Display + PartialEq>(self, name: &str, value: T, default: T) -> Self {
        if value == default {
            self
        } else {
            self.word(name, value)
        }
    }

    fn some(self, name: &str, value: Option<impl fmt::Display>) -> Self {
        match value {
            Some(value) => self.word(name, value),
            None => self,
        }
    }

    fn span(self, name: &str, value: Duration, default: Duration) -> Self {
        self.unless(name, span_text(value), span_text(default))
    }

    fn flag(mut self, name: &str, is_set: bool) -> Self {
        if is_set {
            self.0.push_str(&format!(" {name}"));
        }
        self
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}", self.seed)?;
        writeln!(f, "{}", self.network_line())?;
        let list: Vec<_> = self.keyless.iter().map(usize::to_string).collect();
        let list = (!list.is_empty()).then(|| list.join(","));
        let topics = Line::new("topics").some("keys", self.keys);
        writeln!(f, "{}", topics.some("keyless", list).0)?;
        for node in 0..self.hosts.len() {
            let line = Line::new("node")
                .word("host", self.hosts[node])
                .unless("process", self.processes[node], node)
                .unless("subnet", self.subnets[node], 0)
                .flag("deaf", self.deaf.contains(&node))
                .flag("anonymous", self.anonymous.contains(&node))
                .flag("heedless", self.heedless.contains(&node))
                .unless("origin-ns", self.clocks[node].origin_ns, 0)
                .unless("drift-ppm", self.clocks[node].drift_ppm, 0);
            writeln!(f, "{}", line.0)?;
        }
        for (from, to) in &self.blocked {
            let way = Line::new("link").word("from", from).word("to", to);
            let line = way.flag("closed", true);
            let faults = self.faults[from * self.hosts.len() + to];
            writeln!(f, "{}", faults_words(line, &faults).0)?;
        }
        for (index, faults) in self.faults.iter().enumerate() {
            let (from, to) = (index / self.hosts.len(), index % self.hosts.len());
            if *faults != Faults::NONE && !self.blocked.contains(&(from, to)) {
                let line = Line::new("link").word("from", from).word("to", to);
                writeln!(f, "{}", faults_words(line, faults).0)?;
            }
        }
        for plan in &self.writers {
            writeln!(f, "{}", writer_line(plan).0)?;
        }
        for plan in &self.readers {
            writeln!(f, "{}", reader_line(plan).0)?;
        }
        for (at, action) in &self.actions {
            let at = span_text(at.since(START));
            writeln!(f, "at {at} {}", action_line(action).0)?;
        }
        Ok(())
    }
}

impl Scenario {
    fn network_line(&self) -> String {
        let empty = Self::empty();
        Line::new("network")
            .flag("discovery", self.discovery)
            .flag("forms", self.forms)
            .flag("multicast", self.multicast)
            .flag("multicast-data", self.multicast_data)
            .flag("loopback", self.loopback)
            .word("datagram-bytes", self.datagram_bytes_max)
            .unless("queue-bytes", self.queue_bytes_max, empty.queue_bytes_max)
            .flag("queue-told", self.queue_told)
            .flag("in-process", self.in_process)
            .span("service", self.service, Duration::ZERO)
            .span("news-delay", self.news_delay, Duration::ZERO)
            .span("lease", self.lease, empty.lease)
            .span("announce", self.announce_period, empty.announce_period)
            .word("heals", span_text(self.heals_at.since(START)))
            .0
    }
}

fn faults_words(line: Line, faults: &Faults) -> Line {
    let none = Faults::NONE;
    let bursts = faults.bursts;
    line.unless("loss", faults.loss_permille, 0)
        .some("burst-enter", bursts.map(|it| it.enter_permille))
        .some("burst-leave", bursts.map(|it| it.leave_permille))
        .some("burst-loss", bursts.map(|it| it.loss_permille))
        .unless("duplicate", faults.duplicate_permille, 0)
        .unless("reorder", faults.reorder_permille, 0)
        .span("delay", faults.delay, none.delay)
        .span("jitter", faults.jitter, none.jitter)
        .span("late", faults.late, none.late)
        .unless(
            "datagram-bytes",
            faults.datagram_bytes_max,
            none.datagram_bytes_max,
        )
        .some("bytes-per-second", faults.bytes_per_second)
        .unless("garbage", faults.garbage_permille, 0)
        .unless("flip", faults.flip_permille, 0)
}

fn writer_line(plan: &WriterPlan) -> Line {
    Line::new("writer")
        .word("node", plan.node)
        .unless("topic", plan.topic, 0)
        .flag("reliable", plan.reliable)
        .flag("durable", plan.durable)
        .some("depth", plan.depth)
        .some("samples", plan.samples_max)
        .some("samples-per-instance", plan.samples_per_instance_max)
        .unless(
            "unacknowledged-bytes",
            plan.unacknowledged_bytes_max,
            1 << 20,
        )
        .span("nack-response", plan.nack_response_delay, Duration::ZERO)
        .span("nack-suppression", plan.nack_suppression, Duration::ZERO)
        .unless("partitions", plan.partitions, 0)
}

fn reader_line(plan: &ReaderPlan) -> Line {
    Line::new("reader")
        .word("node", plan.node)
        .unless("topic", plan.topic, 0)
        .flag("reliable", plan.reliable)
        .flag("durable", plan.durable)
        .some("depth", plan.depth)
        .some("samples", plan.samples_max)
        .some("samples-per-instance", plan.samples_per_instance_max)
        .span("take", plan.take_period, Duration::ZERO)
        .unless("reorder-samples", plan.reorder_samples_max, 4096)
        .unless("reassembly-samples", plan.reassembly_samples_max, 16)
        .span(
            "heartbeat-response",
            plan.heartbeat_response_delay,
            Duration::ZERO,
        )
        .unless("partitions", plan.partitions, 0)
}

fn action_line(action: &Action) -> Line {
    match *action {
        Action::StartWriter(plan) => Line::new("start").word("writer", plan),
        Action::StopWriter(plan) => Line::new("stop").word("writer", plan),
        Action::StartReader(plan) => Line::new("start").word("reader", plan),
        Action::StopReader(plan) => Line::new("stop").word("reader", plan),
        Action::Write {
            writer,
            kind,
            key,
            bytes,
        } => Line::new("write")
            .word("writer", writer)
            .unless("kind", kind_text(kind), "alive")
            .unless("key", key, 0)
            .word("bytes", bytes),
        Action::Partition { from, to, span } => Line::new("partition")
            .word("from", from)
            .word("to", to)
            .word("span", span_text(span)),
        Action::Pause { node, span } => Line::new("pause")
            .word("node", node)
            .word("span", span_text(span)),
        Action::Restart { node, same_prefix } => Line::new("restart")
            .word("node", node)
            .flag("same-prefix", same_prefix),
        Action::SetWallClock { node, step_ns } => Line::new("clock")
            .some("node", node)
            .word("step-ns", step_ns),
        Action::Crash {
            node,
            down,
            same_prefix,
        } => Line::new("crash")
            .word("node", node)
            .word("down", span_text(down))
            .flag("same-prefix", same_prefix),
        Action::Leave { node } => Line::new("leave").word("node", node),
    }
}
