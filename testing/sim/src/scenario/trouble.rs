//! What goes wrong: links that lose, endpoints that come late or go, nodes that stand still.

use super::*;
use crate::network::Bursts;

impl Scenario {
    pub(super) fn add_trouble(&mut self, random: &mut Random, lasts: Duration, nodes: usize) {
        let when = |random: &mut Random| START.after(random.span(lasts));
        for reader in 0..self.readers.len() {
            let late = random.chance(350);
            let starts = if late { when(random) } else { START };
            self.actions.push((starts, Action::StartReader(reader)));
            if random.chance(100) {
                let span = random.span(lasts);
                self.actions.push((
                    starts.after(span).min(self.heals_at),
                    Action::StopReader(reader),
                ));
            }
        }
        if random.chance(100) {
            let writer = random.below(self.writers.len() as u64) as usize;
            self.actions
                .push((when(random), Action::StopWriter(writer)));
        }
        let node = |random: &mut Random| random.below(nodes as u64) as usize;
        for _ in 0..random.pick(&[0, 0, 1, 3]) {
            let (from, to) = (node(random), node(random));
            let longest = random.pick(&[100, 2500, 2500, 20_000]);
            let span = random.span(Duration::from_millis(longest));
            self.actions
                .push((when(random), Action::Partition { from, to, span }));
        }
        for _ in 0..random.pick(&[0, 0, 1, 3]) {
            let span = random.span(Duration::from_millis(1500));
            self.actions.push((
                when(random),
                Action::Pause {
                    node: node(random),
                    span,
                },
            ));
        }
        if random.chance(250) {
            let same_prefix = random.chance(300);
            self.actions.push((
                when(random),
                Action::Restart {
                    node: node(random),
                    same_prefix,
                },
            ));
        }
        if random.chance(100) {
            let step_ns = random.between(0, 200_000_000_000) as i64 - 100_000_000_000;
            self.actions.push((
                when(random),
                Action::SetWallClock {
                    node: None,
                    step_ns,
                },
            ));
        }
    }
}

pub(super) fn links(random: &mut Random, nodes: usize, datagram_bytes_max: usize) -> Vec<Faults> {
    let mood = random.below(4);
    let link = |_| {
        let delay = Duration::from_micros(random.pick(&[20, 200, 5_000]));
        let calm = Faults {
            delay,
            datagram_bytes_max,
            ..Faults::NONE
        };
        if mood == 0 {
            return calm;
        }
        let bursts = Bursts {
            enter_permille: random.between(1, 50) as u32,
            leave_permille: random.between(20, 300) as u32,
            loss_permille: random.between(500, 1000) as u32,
        };
        Faults {
            loss_permille: if random.chance(300) {
                0
            } else {
                random.between(0, 400) as u32
            },
            bursts: random.chance(300).then_some(bursts),
            duplicate_permille: if random.chance(500) {
                0
            } else {
                random.below(100) as u32
            },
            reorder_permille: if random.chance(500) {
                0
            } else {
                random.below(200) as u32
            },
            jitter: Duration::from_micros(random.pick(&[0, 100, 2_000])),
            late: Duration::from_millis(random.pick(&[1, 5, 50])),
            ..calm
        }
    };
    (0..nodes * nodes).map(link).collect()
}
