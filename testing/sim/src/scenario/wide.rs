//! Scenarios of the kind [`Kind::Wide`](super::Kind::Wide).

use super::sharing::{hands_over, heedless, tells_queue};
use super::trouble::links;
use super::*;

/// How far wall clocks jump.
const HOUR_NS: i64 = 3_600_000_000_000;

impl Scenario {
    /// The scenario of `seed` with two to twelve nodes.
    pub(super) fn wide(seed: u64) -> Self {
        let mut random = Random::new(seed ^ 0x71de_0000_0000);
        let nodes = random.pick(&[2, 2, 2, 3, 3, 3, 4, 4, 5, 6, 8, 12]);
        let lasts = Duration::from_millis(random.pick(&[2000, 4000, 8000, 15_000]));
        let heavy = random.chance(20);
        let mtu = random.pick(&[508, 1200, 1472, 1472, 1472, 8952, 65_507]);
        let mut scenario = Self {
            seed,
            forms: true,
            discovery: true,
            hosts: vec![0; nodes],
            processes: (0..nodes).collect(),
            keys: random.chance(600).then(|| random.pick(&[1, 2, 5, 30])),
            keyless: if random.chance(300) { vec![1] } else { vec![] },
            subnets: vec![0; nodes],
            deaf: Vec::new(),
            anonymous: Vec::new(),
            heedless: heedless(seed, nodes),
            blocked: Vec::new(),
            clocks: vec![ClockPlan::default(); nodes],
            lease: Duration::from_millis(random.pick(&[2000, 3000, 5000])),
            announce_period: Duration::from_millis(random.pick(&[300, 700, 1000])),
            multicast_data: false,
            multicast: random.chance(700),
            loopback: random.chance(500),
            datagram_bytes_max: mtu,
            queue_bytes_max: random.pick(&[208 << 10, 208 << 10, 4 << 20]),
            queue_told: tells_queue(seed),
            in_process: hands_over(seed),
            service: Duration::from_micros(random.pick(&[0, 0, 2, 20])),
            faults: Vec::new(),
            writers: Vec::new(),
            readers: Vec::new(),
            actions: Vec::new(),
            news_delay: Duration::ZERO,
            heals_at: START.after(lasts),
        };
        scenario.place(&mut random, nodes);
        scenario.faults = links(&mut random, nodes, Faults::NONE.datagram_bytes_max);
        scenario.spoil_links(&mut random);
        scenario.add_wide_endpoints(&mut random, nodes);
        scenario.share_host();
        scenario.share_node();
        scenario.join_processes();
        scenario.add_writes(&mut random, lasts);
        scenario.add_trouble(&mut random, lasts, nodes);
        scenario.add_wide_trouble(&mut random, lasts);
        scenario.part_processes(lasts);
        if heavy && nodes < 5 {
            scenario.add_heavy_writes(&mut random, lasts);
        }
        scenario.actions.sort_by_key(|(at, _)| *at);
        scenario
    }

    /// Puts nodes on hosts and hosts in subnets, and sets their clocks.
    fn place(&mut self, random: &mut Random, nodes: usize) {
        let subnets = random.pick(&[1, 1, 2, 3]);
        let routed = random.chance(850);
        for node in 0..nodes {
            if node > 0 && random.chance(250) {
                let neighbour = random.below(node as u64) as usize;
                self.hosts[node] = self.hosts[neighbour];
                self.subnets[node] = self.subnets[neighbour];
            } else {
                self.hosts[node] = node;
                self.subnets[node] = random.below(subnets) as usize;
            }
            if random.chance(100) {
                self.deaf.push(node);
            }
            if random.chance(200) {
                self.anonymous.push(node);
            }
        }
        for from in 0..nodes {
            for to in 0..from {
                let far = self.subnets[from] != self.subnets[to] && !routed;
                let near = self.hosts[from] == self.hosts[to];
                match random.below(60) {
                    0 if !near => self.blocked.push((from, to)),
                    1 if !near => self.blocked.push((to, from)),
                    _ if far => self.blocked.extend([(from, to), (to, from)]),
                    _ => {}
                }
            }
        }
        if random.chance(500) {
            for clock in &mut self.clocks {
                clock.origin_ns = random.below(1 << 50);
                clock.drift_ppm = random.between(0, 400) as i32 - 200;
            }
        }
    }

    /// Narrow links, and some that damage what they carry.
    fn spoil_links(&mut self, random: &mut Random) {
        let narrow = random.chance(100);
        let garbage = random.chance(150);
        let flips = random.chance(40);
        for link in &mut self.faults {
            // What takes too long for anybody to converge says nothing.
            link.loss_permille = link.loss_permille.min(300);
            if narrow && random.chance(500) {
                link.bytes_per_second = Some(random.pick(&[32_000, 125_000, 1_250_000]));
            }
            if garbage {
                link.garbage_permille = random.below(50) as u32;
            }
            if flips {
                link.flip_permille = random.below(30) as u32;
            }
        }
    }

    fn add_wide_endpoints(&mut self, random: &mut Random, nodes: usize) {
        let topics = random.pick(&[1, 1, 2, 3]);
        let reliable = random.chance(700);
        let durable = random.chance(400);
        let partitioned = random.chance(250);
        for _ in 0..random.between(1, 3 + nodes as u64 / 3) {
            let mut plan = writer_plan(random, nodes, reliable, durable);
            plan.topic = random.below(topics) as usize;
            plan.partitions = if partitioned {
                random.pick(&[0, 1, 2, 3])
            } else {
                0
            };
            self.writers.push(plan);
        }
        for _ in 0..random.between(1, 3 + nodes as u64 / 2) {
            let mut plan = reader_plan(random, nodes, reliable);
            plan.topic = random.below(topics) as usize;
            plan.partitions = if partitioned {
                random.pick(&[0, 1, 2, 3, 4, 5])
            } else {
                0
            };
            self.readers.push(plan);
        }
    }

    fn add_wide_trouble(&mut self, random: &mut Random, lasts: Duration) {
        let nodes = self.hosts.len() as u64;
        let lease = self.lease;
        let when = |random: &mut Random| START.after(random.span(lasts));
        let node = |random: &mut Random| random.below(nodes) as usize;
        for _ in 0..random.pick(&[0, 1, 2]) {
            let step_ns = random.between(0, 2 * HOUR_NS as u64) as i64 - HOUR_NS;
            let node = random.chance(800).then(|| node(random));
            self.actions
                .push((when(random), Action::SetWallClock { node, step_ns }));
        }
        // Late ones are away from the beginning.
        for late in 0..nodes as usize {
            if random.chance(100) {
                let crash = Action::Crash {
                    node: late,
                    down: random.span(lasts),
                    same_prefix: false,
                };
                self.actions.insert(0, (START, crash));
            }
        }
        for _ in 0..random.pick(&[0, 0, 1, 1, 3]) {
            let same_prefix = random.chance(300);
            let node = node(random);
            // Who does not say that it is another may not be told from its former life until that
            // is forgotten.
            let after = self.anonymous.contains(&node) || random.chance(200);
            let least = if same_prefix && after {
                lease.after_secs(1)
            } else {
                Duration::ZERO
            };
            let down = random.span(lease).as_nanos() + least.as_nanos();
            let crash = Action::Crash {
                node,
                down: Duration::from_nanos(down),
                same_prefix,
            };
            let at = when(random);
            if !same_prefix || at.after(Duration::from_nanos(down)) < self.heals_at {
                self.actions.push((at, crash));
            }
        }
        if random.chance(100) {
            let leave = Action::Leave { node: node(random) };
            self.actions.push((when(random), leave));
        }
        if random.chance(200) {
            let span = Duration::from_nanos(random.span(lease).as_nanos() * 2);
            let pause = Action::Pause {
                node: node(random),
                span,
            };
            self.actions.push((when(random), pause));
        }
        if random.chance(150) {
            self.split(random, when, lease);
        }
    }

    /// Two halves that do not hear each other for a while.
    fn split(
        &mut self,
        random: &mut Random,
        when: impl Fn(&mut Random) -> Instant,
        lease: Duration,
    ) {
        let at = when(random);
        let span = Duration::from_nanos(random.span(lease).as_nanos() * 3);
        let nodes = self.hosts.len();
        let half = random.between(1, nodes as u64 - 1) as usize;
        for from in 0..half {
            for to in half..nodes {
                for (from, to) in [(from, to), (to, from)] {
                    self.actions
                        .push((at, Action::Partition { from, to, span }));
                }
            }
        }
    }

    /// A few samples of some megabytes over links that are not too bad.
    fn add_heavy_writes(&mut self, random: &mut Random, lasts: Duration) {
        for link in &mut self.faults {
            link.loss_permille = link.loss_permille.min(50);
            link.bursts = None;
            link.bytes_per_second = None;
        }
        self.datagram_bytes_max = self.datagram_bytes_max.max(1472);
        for _ in 0..2 {
            let writer = random.below(self.writers.len() as u64) as usize;
            let at = START.after(random.span(lasts.divided_by(2)));
            let write = Action::Write {
                writer,
                kind: ChangeKind::Alive,
                key: 0,
                bytes: random.between(1 << 20, 3 << 20) as usize,
            };
            self.actions.push((at, write));
        }
    }
}
