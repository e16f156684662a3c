//! What applications write, and when.

use super::*;

impl Scenario {
    pub(super) fn add_writes(&mut self, random: &mut Random, lasts: Duration) {
        let bulk = random.chance(200);
        for writer in 0..self.writers.len() {
            let count = random
                .pick(&[1u64, 5, 20, 60, 150, 400])
                .min(if bulk { 30 } else { 400 });
            let mut at = START.after(random.span(lasts.divided_by(4)));
            self.actions.push((START, Action::StartWriter(writer)));
            let pace = lasts.divided_by(count as u32);
            for _ in 0..count {
                // Some in one go, others far apart.
                if !random.chance(400) {
                    at = at.after(random.span(pace));
                }
                let (kind, key) = self.change(random);
                let bytes = sample_bytes(random, bulk, self.datagram_bytes_max);
                self.actions.push((
                    at,
                    Action::Write {
                        writer,
                        kind,
                        key,
                        bytes,
                    },
                ));
            }
        }
    }

    fn change(&self, random: &mut Random) -> (ChangeKind, u32) {
        let Some(keys) = self.keys else {
            return (ChangeKind::Alive, 0);
        };
        let kind = match random.below(20) {
            0 | 1 => ChangeKind::Disposed,
            2 => ChangeKind::Unregistered,
            3 => ChangeKind::DisposedUnregistered,
            _ => ChangeKind::Alive,
        };
        (kind, random.below(u64::from(keys)) as u32)
    }
}

fn sample_bytes(random: &mut Random, bulk: bool, datagram_bytes_max: usize) -> usize {
    let bytes = match random.below(if bulk { 20 } else { 40 }) {
        0 => 0,
        1 => random.between(1, 300_000),
        2..=5 => random.between(1, 5_000),
        6 => datagram_bytes_max as u64 - random.below(250),
        7..=9 if bulk => random.between(1, 60_000),
        _ => random.between(1, 200),
    };
    bytes.min(300_000) as usize
}
