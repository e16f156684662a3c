//! Scenarios of the kinds [`Kind::Given`] and [`Kind::Discovery`].

use super::sharing::{hands_over, heedless, tells_queue};
use super::trouble::links;
use super::*;

impl Scenario {
    /// The scenario of `seed` with two to four nodes.
    pub fn new(seed: u64, discovery: bool) -> Self {
        let mut random = Random::new(seed ^ if discovery { 0x5c1e_7000_0000 } else { 0 });
        let nodes = random.between(2, 4) as usize;
        let lasts = Duration::from_millis(random.pick(&[300, 1000, 3000, 6000, 20_000]) as i64);
        let lasts = if discovery {
            lasts.after_secs(2)
        } else {
            lasts
        };
        let keys = random.chance(600).then(|| random.pick(&[1, 2, 5, 30]));
        let mtu = random.pick(&[508, 1200, 1472, 1472, 8952, 65_507]);
        let mut scenario = Self {
            seed,
            forms: true,
            discovery,
            hosts: (0..nodes)
                .map(|node| if random.chance(300) { 0 } else { node })
                .collect(),
            processes: (0..nodes).collect(),
            keys,
            keyless: Vec::new(),
            subnets: vec![0; nodes],
            deaf: Vec::new(),
            anonymous: Vec::new(),
            heedless: heedless(seed, nodes),
            blocked: Vec::new(),
            clocks: vec![ClockPlan::default(); nodes],
            lease: Duration::from_secs(3),
            announce_period: Duration::from_secs(1),
            multicast_data: !discovery && random.chance(250),
            multicast: random.chance(600),
            loopback: false,
            datagram_bytes_max: mtu,
            queue_bytes_max: random.pick(&[64 << 10, 208 << 10, 4 << 20]),
            queue_told: tells_queue(seed),
            in_process: hands_over(seed),
            service: Duration::from_micros(random.pick(&[0, 0, 2, 20])),
            faults: Vec::new(),
            writers: Vec::new(),
            readers: Vec::new(),
            actions: Vec::new(),
            news_delay: Duration::from_millis(random.pick(&[0, 5, 100, 800])),
            heals_at: START.after(lasts),
        };
        scenario.faults = links(&mut random, nodes, mtu);
        scenario.add_endpoints(&mut random, nodes);
        scenario.share_host();
        scenario.share_node();
        scenario.join_processes();
        scenario.add_writes(&mut random, lasts);
        scenario.add_trouble(&mut random, lasts, nodes);
        scenario.part_processes(lasts);
        if discovery {
            scenario.prepare_discovery(&mut random);
        }
        scenario.actions.sort_by_key(|(at, _)| *at);
        scenario
    }

    /// Two topics, and packets that IP takes apart where they are too long for a link.
    fn prepare_discovery(&mut self, random: &mut Random) {
        self.loopback = random.chance(500);
        for plan in &mut self.writers {
            plan.topic = usize::from(random.chance(150));
        }
        for plan in &mut self.readers {
            plan.topic = usize::from(random.chance(150));
        }
        for faults in &mut self.faults {
            faults.datagram_bytes_max = Faults::NONE.datagram_bytes_max;
        }
    }

    fn add_endpoints(&mut self, random: &mut Random, nodes: usize) {
        let all_reliable = random.chance(700);
        let all_durable = random.chance(400);
        for _ in 0..random.pick(&[1, 1, 1, 2, 3]) {
            self.writers
                .push(writer_plan(random, nodes, all_reliable, all_durable));
        }
        for _ in 0..random.pick(&[1, 1, 2, 3, 4]) {
            self.readers.push(reader_plan(random, nodes, all_reliable));
        }
    }
}
