//! A scenario being played: nodes on a network, and the model that watches.

mod acts;
mod applications;
mod clock;
mod crashes;
mod discovery;
mod handed;
mod health;
mod in_process;
mod lives;
mod outcome;
mod plan;
mod processes;
mod recovery;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use whimbrel_base::guid::{EntityId, EntityKind, Guid, GuidPrefix};
use whimbrel_base::locator::Locator;
use whimbrel_base::qos::{History, ResourceLimits};
use whimbrel_base::time::{Duration, Instant, Timestamp};
use whimbrel_base::vendor::VendorId;
use whimbrel_proto::cache::{CacheConfig, Selector};
use whimbrel_proto::change::ChangeKind;
use whimbrel_proto::peer::{MatchedReader, MatchedWriter};
use whimbrel_proto::writer::NewChange;
use whimbrel_proto::{
    Reader, ReaderConfig, ReaderEvent, WriteError, Writer, WriterConfig, WriterEvent,
};
use whimbrel_wire::pretty;

use self::handed::Handed;
pub use self::outcome::Outcome;
use self::plan::{Planned, Todo};
use self::processes::Processes;
use self::recovery::Recovery;
use crate::addresses::{address, addresses, data_group, groups};
use crate::forms;
use crate::model::{Model, ReaderFacts, ReaderId, WriterFacts, WriterId, Written};
use crate::network::{Network, NodeIndex, NodeSettings};
use crate::node::{Node, ReaderSlot, Report, WriterSlot};
use crate::payload::{self, Keys};
use crate::random::Random;
use crate::scenario::{Action, START, Scenario};
use crate::sent::Sent;

/// Everything must be quiet so long after all faults have ended.
const QUIET_AFTER: Duration = Duration::from_secs(40);

/// Steps after which a scenario is taken for endless.
const STEPS_MAX: u64 = 5_000_000;

/// What a small sample costs beside its octets: headers, and its part of heartbeats and answers.
const SAMPLE_OVERHEAD_BYTES: u64 = 100;

/// A scenario at some moment.
pub struct World {
    scenario: Scenario,
    network: Network,
    model: Model,
    nodes: Vec<Node>,
    next_of_node: Vec<Option<Instant>>,
    lives: Vec<u8>,
    processes: Processes,
    todos: BinaryHeap<Reverse<Planned>>,
    order: u64,
    now: Instant,
    wall_offsets_ns: Vec<i64>,
    /// Nodes that are away, and the plans of writers and readers that come back with them.
    away: BTreeMap<NodeIndex, (Vec<usize>, Vec<usize>)>,
    recovery: Recovery,
    timer_steps: u64,
    healed: bool,
    at_rest: bool,
    writer_ids: BTreeMap<Guid, WriterId>,
    reader_ids: BTreeMap<Guid, ReaderId>,
    random: Random,
    useful_bytes: u64,
    shared_messages: u64,
    handed: Handed,
    trace: bool,
}

/// Plays `scenario` to its end; `trace` prints everything that happens.
pub fn play(scenario: &Scenario, trace: bool) -> Outcome {
    World::new(scenario.clone(), trace).run()
}

fn entity(plan: usize, kind: EntityKind) -> EntityId {
    EntityId::user(plan as u32 + 1, kind)
}

impl World {
    fn new(scenario: Scenario, trace: bool) -> Self {
        let mut random = Random::new(scenario.seed.wrapping_add(0x77));
        let count = scenario.hosts.len();
        let settings = |node: NodeIndex| NodeSettings {
            host: scenario.hosts[node],
            subnet: scenario.subnets[node],
            addresses: addresses(&scenario, node),
            groups: groups(&scenario, node),
            queue_bytes_max: scenario.queue_bytes_max,
            service: scenario.service,
        };
        let nodes = (0..count).map(settings).collect();
        let mut network = Network::new(nodes, scenario.faults[0], random.fork());
        for from in 0..count {
            for to in 0..count {
                network.set_faults(from, to, scenario.faults[from * count + to]);
            }
        }
        for (from, to) in &scenario.blocked {
            network.close(*from, *to);
        }
        let model = Model::new(scenario.lies());
        let mut world = Self {
            network,
            model,
            nodes: (0..count)
                .map(|node| Node::new(prefix(node, 0), forms::heard_by_node(&scenario, node)))
                .collect(),
            next_of_node: vec![None; count],
            lives: vec![0; count],
            processes: Processes::default(),
            todos: BinaryHeap::new(),
            order: 0,
            now: START,
            wall_offsets_ns: vec![1_700_000_000_000_000_000; count],
            away: BTreeMap::new(),
            recovery: Recovery::of(&scenario),
            timer_steps: 0,
            healed: false,
            at_rest: false,
            writer_ids: BTreeMap::new(),
            reader_ids: BTreeMap::new(),
            random,
            useful_bytes: 0,
            shared_messages: 0,
            handed: Handed::default(),
            trace,
            scenario,
        };
        for (at, action) in world.scenario.actions.clone() {
            world.plan(at, Todo::Act(action));
        }
        world.plan(world.scenario.heals_at, Todo::Heal);
        if world.scenario.discovery {
            (0..count).for_each(|node| world.start_participant(node));
            let soon = world.scenario.heals_at.after(Duration::from_millis(250));
            world.plan(soon, Todo::Rest);
        }
        world
    }

    fn plan(&mut self, at: Instant, todo: Todo) {
        self.order += 1;
        self.todos.push(Reverse(Planned {
            at,
            order: self.order,
            todo,
        }));
    }

    fn wall(&self, node: NodeIndex) -> Timestamp {
        Timestamp(self.wall_offsets_ns[node] + self.now.0 as i64)
    }

    /// What the clock of `node` that only goes forward shows.
    fn here(&self, node: NodeIndex) -> Instant {
        self.scenario.clocks[node].shown(self.now)
    }

    fn note(&self, text: impl FnOnce() -> String) {
        if self.trace {
            println!("{:>12.6} {}", (self.now.0 - START.0) as f64 / 1e9, text());
        }
    }

    fn run(mut self) -> Outcome {
        let end = self.scenario.heals_at.after(QUIET_AFTER);
        let mut steps = 0;
        while let Some(next) = self.next_at() {
            steps += 1;
            self.now = self.now.max(next);
            if self.now > end || steps > STEPS_MAX {
                let reasons: Vec<_> = self.nodes.iter().map(Node::reasons).collect();
                let text = format!("no rest at {:?} {steps}: {reasons:?}", self.now);
                if steps > STEPS_MAX {
                    self.model.fault(text);
                } else {
                    self.model.finding(text);
                }
                break;
            }
            self.step();
            if self.at_rest || !self.model.findings().is_empty() {
                break;
            }
        }
        self.finish(steps)
    }

    fn next_at(&self) -> Option<Instant> {
        let todo = self.todos.peek().map(|Reverse(planned)| planned.at);
        let own = self
            .next_of_node
            .iter()
            .enumerate()
            .filter_map(|(node, at)| at.map(|at| at.max(self.network.paused_until(node))));
        own.chain(todo).chain(self.network.next_at()).min()
    }

    fn step(&mut self) {
        let now = self.now;
        if self
            .todos
            .peek()
            .is_some_and(|Reverse(planned)| planned.at <= now)
        {
            if let Some(Reverse(planned)) = self.todos.pop() {
                self.act(planned.todo);
            }
        } else if let Some((node, arrived)) = self.network.receive(now) {
            let (here, wall) = (self.here(node), self.wall(node));
            match self.nodes[node].handle(here, wall, &arrived) {
                Err(reject) if !arrived.damaged => self
                    .model
                    .finding(format!("node {node} refuses a datagram: {reject:?}")),
                Ok(()) | Err(_) => {}
            }
            self.settle(node);
        } else {
            for node in 0..self.nodes.len() {
                let due = self.next_of_node[node].is_some_and(|at| at <= now);
                if due && self.network.paused_until(node) <= now {
                    self.timer_steps += 1;
                    self.settle(node);
                }
            }
        }
    }

    fn settle_all(&mut self) {
        for node in 0..self.nodes.len() {
            if self.nodes[node].is_changed() {
                self.settle(node);
            }
        }
    }

    /// Drains the machines of a node and of others in its process and lets their applications act
    /// on what they report, until all rest.
    fn settle(&mut self, node: NodeIndex) {
        let process = self.scenario.process_of(node);
        loop {
            process.iter().for_each(|it| self.settle_alone(*it));
            let rests = !process.iter().any(|it| self.nodes[*it].is_changed());
            if rests || !self.model.findings().is_empty() {
                break;
            }
        }
        for node in process {
            let next = self.nodes[node].next_at();
            self.next_of_node[node] = next.map(|at| self.scenario.clocks[node].reached(at));
        }
    }

    fn settle_alone(&mut self, node: NodeIndex) {
        loop {
            let (mut sent, mut reports) = (Sent::default(), Vec::new());
            let here = self.here(node);
            if let Err(reason) = self.nodes[node].drain(here, &mut sent, &mut reports) {
                self.model
                    .fault(format!("node {node} is called for ever for {reason:?}"));
            }
            self.shared_messages += sent.shared_messages;
            for (to, bytes) in sent.messages {
                self.note(|| format!("node {node} to {to:?} {}", pretty::Dissection(&bytes)));
                let longest = self.scenario.datagram_bytes_max;
                let fits = bytes.len() <= longest || forms::is_batch_of_one(&bytes);
                if !fits && !self.scenario.discovery {
                    let bytes = bytes.len();
                    self.model
                        .finding(format!("node {node} sends a datagram of {bytes} octets"));
                }
                self.network.send(self.now, node, &to, bytes);
            }
            // Who is given up no longer counts for the progress that this makes.
            let given_up = |report: &Report| {
                matches!(report, Report::Writer(_, WriterEvent::ReaderGivenUp(_)))
            };
            reports.sort_by_key(|report| !given_up(report));
            for report in reports {
                self.heed(node, report);
            }
            self.take_due(node);
            let wrote = self.write_pending(node);
            self.take_handed(node);
            self.check_limits(node);
            let done = !wrote && !self.nodes[node].is_changed();
            if done || !self.model.findings().is_empty() {
                break;
            }
        }
    }
}

fn prefix(node: NodeIndex, life: u8) -> GuidPrefix {
    GuidPrefix([0x5e, node as u8 + 1, life, 0, 0, 0, 0, 0, 0, 0, 0, 1])
}
