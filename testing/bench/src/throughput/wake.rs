//! What it takes of the cores that a thread waits and is woken.
//!
//! By subtraction: a raw socket that sends to itself and receives in one thread makes the calls of
//! the raw stream, but never waits. What the stream takes beyond that is for its waits.

use super::flow::{Flow, Kind};
use super::rows::{Row, find};
use crate::contestant::{Contestant, Mode, Product, Programs};
use crate::pair::Pair;
use crate::placement::Placement;
use crate::protocol::Order;
use crate::stage::Stage;

const RAW: Flow = Flow {
    product: Product::Raw,
    kind: Kind::BestEffort,
};

/// Round trips of the socket that is alone.
const TRIPS: usize = 40_000;

/// With fewer waits for each sample their time is lost in that of the calls.
const WAITS_MIN: f64 = 0.01;

/// Time on cores for one wait with its wake-up, in microseconds, by the raw stream of `size` octets
/// among `rows`; nothing where it did not run, or hardly waited.
///
/// # Errors
/// A program is missing, does not start or stalls.
pub(super) fn wait_us(
    rows: &[Row],
    programs: &Programs,
    size: usize,
) -> Result<Option<f64>, String> {
    let Some(row) = find(rows, RAW, 1, size) else {
        return Ok(None);
    };
    let stage = Stage::new(Placement::TwoCores)?;
    let alone = Contestant {
        product: Product::Raw,
        mode: Mode::Calls,
    };
    let mut pair = Pair::start(alone, programs, &stage.seats(), 1)?;
    pair.wait_until_ready()?;
    let order = Order {
        size,
        count: TRIPS,
        warm: 0,
    };
    let (_, used) = pair.round(order)?;
    let calls_us = used.cpu_ns as f64 / 1000.0 / (2 * TRIPS) as f64;
    Ok(each_us(row.cpu_us(), calls_us, row.waits()))
}

/// What each of `waits` takes of `cpu_us`, of which calls take `calls_us`.
fn each_us(cpu_us: f64, calls_us: f64, waits: f64) -> Option<f64> {
    (waits >= WAITS_MIN && cpu_us >= calls_us).then(|| (cpu_us - calls_us) / waits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_take_what_is_used_beyond_the_calls() {
        assert_eq!(each_us(4.0, 3.0, 0.25), Some(4.0));
        assert_eq!(each_us(3.0, 3.0, 0.25), Some(0.0));
        assert_eq!(each_us(2.0, 3.0, 0.25), None);
        assert_eq!(each_us(4.0, 3.0, 0.001), None);
    }
}
