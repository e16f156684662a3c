//! What it takes of the cores that a thread waits and is woken.
//!
//! By subtraction: a raw socket that sends to itself and receives in one thread makes the same
//! calls as two that take turns, but never waits.

use whimbrel_rig::process::Usage;

use crate::contestant::{Contestant, Mode, Product, Programs};
use crate::pair::Pair;
use crate::placement::Placement;
use crate::protocol::Order;
use crate::stage::Stage;

/// The modes of the raw socket that are compared: who never waits, who always does.
const MODES: [Mode; 2] = [Mode::Calls, Mode::Blocking];

/// Rounds in which the two take turns.
const ROUNDS: usize = 4;

const ORDER: Order = Order {
    size: 16,
    count: 10_000,
    warm: 0,
};

/// Time on cores for one wait with its wake-up, in microseconds.
///
/// # Errors
/// A program is missing, does not start or stalls.
pub(super) fn wait_us(programs: &Programs) -> Result<f64, String> {
    let stage = Stage::new(Placement::TwoCores)?;
    let seats = stage.seats();
    let start = |(at, mode)| {
        let product = Product::Raw;
        Pair::start(Contestant { product, mode }, programs, &seats, at + 1)
    };
    let pairs: Result<Vec<Pair>, String> = MODES.into_iter().enumerate().map(start).collect();
    let mut pairs = pairs?;
    let mut used = [Usage::default(); MODES.len()];
    for pair in &pairs {
        pair.wait_until_ready()?;
    }
    for _ in 0..ROUNDS {
        for (pair, used) in pairs.iter_mut().zip(&mut used) {
            *used = used.plus(pair.round(ORDER)?.1);
        }
    }
    Ok(each_us(used))
}

/// What each wait took of what is used beyond `alone`, which makes the same calls.
fn each_us([alone, waiting]: [Usage; 2]) -> f64 {
    let more_ns = waiting.cpu_ns.saturating_sub(alone.cpu_ns);
    let waits = waiting.waits.saturating_sub(alone.waits);
    more_ns as f64 / 1000.0 / waits.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_takes_what_is_used_beyond_who_never_waits() {
        let used = |cpu_ns, waits| Usage {
            cpu_ns,
            waits,
            ..Usage::default()
        };
        assert_eq!(each_us([used(100_000, 10), used(340_000, 130)]), 2.0);
        assert_eq!(each_us([used(100_000, 0), used(90_000, 50)]), 0.0);
    }
}
