//! Makes a scenario in which something was found as short as it gets while that is still found.

use whimbrel_base::time::Duration;

use crate::campaign::try_play;
use crate::network::{Faults, NodeIndex};
use crate::scenario::{Action, ClockPlan, START, Scenario};

/// A finding without its numbers: what stays the same while a scenario shrinks.
pub fn signature(finding: &str) -> String {
    let letters = finding.chars().filter(|it| !it.is_ascii_digit());
    letters.take(40).collect()
}

/// Shrinks `scenario`, of which `found` was the first finding, playing at most `plays` times.
pub fn shrink(scenario: &Scenario, found: &str, plays: usize) -> Scenario {
    let mut shrinker = Shrinker {
        best: scenario.clone(),
        wanted: signature(found),
        plays_left: plays,
    };
    loop {
        let before = size(&shrinker.best);
        shrinker.drop_actions();
        shrinker.drop_nodes();
        shrinker.drop_endpoints();
        shrinker.calm_links();
        shrinker.simplify();
        if shrinker.plays_left == 0 || size(&shrinker.best) >= before {
            return shrinker.best;
        }
    }
}

/// How much there is to read.
fn size(scenario: &Scenario) -> usize {
    scenario.to_string().len()
}

struct Shrinker {
    best: Scenario,
    wanted: String,
    plays_left: usize,
}

impl Shrinker {
    /// Keeps `candidate` where the same is found in it, perhaps by another seed.
    fn consider(&mut self, candidate: Scenario) -> bool {
        for more in 0..2 {
            if self.plays_left == 0 {
                return false;
            }
            self.plays_left -= 1;
            let mut candidate = candidate.clone();
            candidate.seed = candidate.seed.wrapping_add(more);
            let outcome = try_play(&candidate, false);
            let first = outcome.findings.first().map(|it| signature(it));
            if first.as_deref() == Some(self.wanted.as_str()) {
                self.best = candidate;
                return true;
            }
        }
        false
    }

    fn change(&mut self, change: impl FnOnce(&mut Scenario)) -> bool {
        let mut candidate = self.best.clone();
        change(&mut candidate);
        size(&candidate) < size(&self.best) && self.consider(candidate)
    }

    /// Half of what happens, then a quarter, and so on to single actions.
    fn drop_actions(&mut self) {
        let mut chunk = self.best.actions.len().div_ceil(2);
        while chunk > 0 {
            let mut from = 0;
            while from < self.best.actions.len() {
                let to = (from + chunk).min(self.best.actions.len());
                let dropped = self.change(|it| drop(it.actions.drain(from..to)));
                if !dropped {
                    from = to;
                }
            }
            chunk /= 2;
        }
    }

    fn drop_nodes(&mut self) {
        for node in (0..self.best.hosts.len()).rev() {
            if self.best.hosts.len() > 1 {
                self.change(|it| without_node(it, node));
            }
        }
    }

    fn drop_endpoints(&mut self) {
        for plan in (0..self.best.writers.len()).rev() {
            self.change(|it| without_writer(it, plan));
        }
        for plan in (0..self.best.readers.len()).rev() {
            self.change(|it| without_reader(it, plan));
        }
    }

    fn calm_links(&mut self) {
        self.change(|it| it.faults.fill(Faults::NONE));
        for link in 0..self.best.faults.len() {
            self.change(|it| it.faults[link] = Faults::NONE);
            let mut part = |change: fn(&mut Faults)| self.change(|it| change(&mut it.faults[link]));
            part(|it| it.loss_permille = 0);
            part(|it| it.bursts = None);
            part(|it| it.duplicate_permille = 0);
            part(|it| it.reorder_permille = 0);
            part(|it| it.jitter = Duration::ZERO);
            part(|it| it.garbage_permille = 0);
            part(|it| it.flip_permille = 0);
            part(|it| it.bytes_per_second = None);
        }
    }

    fn simplify(&mut self) {
        self.change(|it| it.forms = false);
        let changes: [fn(&mut Scenario); 17] = [
            |it| it.processes = (0..it.hosts.len()).collect(),
            |it| it.clocks.fill(ClockPlan::default()),
            |it| it.subnets.fill(0),
            |it| it.deaf.clear(),
            |it| it.anonymous.clear(),
            |it| it.heedless.clear(),
            |it| it.blocked.clear(),
            |it| (it.keys, it.keyless) = (None, Vec::new()),
            |it| it.service = Duration::ZERO,
            |it| it.news_delay = Duration::ZERO,
            |it| it.loopback = false,
            |it| it.datagram_bytes_max = 1472,
            |it| it.queue_bytes_max = 4 << 20,
            |it| it.queue_told = false,
            |it| it.in_process = false,
            |it| (it.lease, it.announce_period) = (Duration::from_secs(3), Duration::from_secs(1)),
            |it| {
                let last = it.actions.last().map_or(START, |(at, _)| *at);
                it.heals_at = last.after(Duration::from_millis(1));
            },
        ];
        for change in changes {
            self.change(change);
        }
        for plan in 0..self.best.writers.len() {
            let part = |it: &mut Scenario| {
                let plan = &mut it.writers[plan];
                (plan.samples_max, plan.samples_per_instance_max) = (None, None);
                (plan.nack_suppression, plan.nack_response_delay) =
                    (Duration::ZERO, Duration::ZERO);
                plan.partitions = 0;
            };
            self.change(part);
        }
        for plan in 0..self.best.readers.len() {
            let part = |it: &mut Scenario| {
                let plan = &mut it.readers[plan];
                (plan.samples_max, plan.samples_per_instance_max) = (None, None);
                (plan.take_period, plan.heartbeat_response_delay) =
                    (Duration::ZERO, Duration::ZERO);
                plan.partitions = 0;
            };
            self.change(part);
        }
        for index in 0..self.best.actions.len() {
            self.change(|it| {
                if let Action::Write { bytes, key, .. } = &mut it.actions[index].1 {
                    (*bytes, *key) = (8, 0);
                }
            });
        }
    }
}

fn without_node(scenario: &mut Scenario, gone: NodeIndex) {
    for plan in (0..scenario.writers.len()).rev() {
        if scenario.writers[plan].node == gone {
            without_writer(scenario, plan);
        }
    }
    for plan in (0..scenario.readers.len()).rev() {
        if scenario.readers[plan].node == gone {
            without_reader(scenario, plan);
        }
    }
    let nodes = scenario.hosts.len();
    let mut index = 0;
    scenario.faults.retain(|_| {
        let (from, to) = (index / nodes, index % nodes);
        index += 1;
        from != gone && to != gone
    });
    scenario.hosts.remove(gone);
    scenario.processes.remove(gone);
    name_by_first(&mut scenario.processes);
    scenario.subnets.remove(gone);
    scenario.clocks.remove(gone);
    let down = |node: &mut NodeIndex| *node -= usize::from(*node > gone);
    scenario.deaf.retain(|node| *node != gone);
    scenario.deaf.iter_mut().for_each(down);
    scenario.anonymous.retain(|node| *node != gone);
    scenario.anonymous.iter_mut().for_each(down);
    scenario.heedless.retain(|node| *node != gone);
    scenario.heedless.iter_mut().for_each(down);
    scenario
        .blocked
        .retain(|(from, to)| *from != gone && *to != gone);
    for (from, to) in &mut scenario.blocked {
        down(from);
        down(to);
    }
    scenario
        .writers
        .iter_mut()
        .for_each(|plan| down(&mut plan.node));
    scenario
        .readers
        .iter_mut()
        .for_each(|plan| down(&mut plan.node));
    scenario.actions.retain_mut(|(_, action)| match action {
        Action::Partition { from, to, .. } => {
            let stays = *from != gone && *to != gone;
            down(from);
            down(to);
            stays
        }
        Action::Pause { node, .. }
        | Action::Restart { node, .. }
        | Action::Crash { node, .. }
        | Action::Leave { node }
        | Action::SetWallClock {
            node: Some(node), ..
        } => {
            let stays = *node != gone;
            down(node);
            stays
        }
        _ => true,
    });
}

/// Names each process by the first of its nodes.
fn name_by_first(processes: &mut [NodeIndex]) {
    let named = processes.to_vec();
    for it in processes {
        *it = named.iter().position(|other| other == it).unwrap_or(0);
    }
}

fn without_writer(scenario: &mut Scenario, gone: usize) {
    scenario.writers.remove(gone);
    scenario.actions.retain_mut(|(_, action)| match action {
        Action::StartWriter(plan)
        | Action::StopWriter(plan)
        | Action::Write { writer: plan, .. } => {
            let stays = *plan != gone;
            *plan -= usize::from(*plan > gone);
            stays
        }
        _ => true,
    });
}

fn without_reader(scenario: &mut Scenario, gone: usize) {
    scenario.readers.remove(gone);
    scenario.actions.retain_mut(|(_, action)| match action {
        Action::StartReader(plan) | Action::StopReader(plan) => {
            let stays = *plan != gone;
            *plan -= usize::from(*plan > gone);
            stays
        }
        _ => true,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::script;

    /// A link that carries nothing longer than 300 octets although it is whole: samples of 1,000
    /// never arrive.
    const BROKEN: &str = "
        seed 3
        network datagram-bytes=1472 heals=2s
        topics keys=5
        node host=0
        node host=1
        node host=2
        link from=0 to=1 datagram-bytes=300 delay=200us loss=20
        link from=1 to=0 delay=200us duplicate=20
        writer node=0 reliable depth=3
        writer node=2 reliable
        reader node=1 reliable
        reader node=2 reliable
        at 0s start writer=0
        at 0s start writer=1
        at 0s start reader=0
        at 0s start reader=1
        at 100ms write writer=0 key=1 bytes=1000
        at 150ms write writer=1 key=1 bytes=100
        at 200ms write writer=0 key=2 bytes=20
        at 300ms pause node=2 span=100ms
        at 400ms clock step-ns=5000000
        at 500ms write writer=0 key=3 bytes=1000
        ";

    #[test]
    fn what_matters_is_left() {
        let scenario = script::read(BROKEN).unwrap();
        let found = try_play(&scenario, false).findings;
        let small = shrink(&scenario, &found[0], 400);
        let text = small.to_string();
        let again = try_play(&small, false).findings;
        assert_eq!(signature(&again[0]), signature(&found[0]), "{text}");
        assert_eq!(
            (small.hosts.len(), small.writers.len(), small.readers.len()),
            (2, 1, 1),
            "{text}"
        );
        assert_eq!(small.actions.len(), 3, "{text}");
        assert!(
            text.contains("datagram-bytes=300") && !text.contains("clock"),
            "{text}"
        );
    }

    #[test]
    fn signatures_know_no_numbers() {
        let one = signature("ReaderId(3) misses 4 samples of WriterId(0): [1, 2]");
        assert_eq!(
            one,
            signature("ReaderId(12) misses 1 samples of WriterId(7): [9]")
        );
        assert_ne!(one, signature("node 3 is called for ever for Pace"));
    }
}
