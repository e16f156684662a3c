//! What it takes of the cores that a thread of a stream waits and is woken.

use super::course::Course;
use super::flow::{Flow, Kind};
use super::rows::{Row, find};
use crate::contestant::{Contestant, Mode, Product, Programs};
use crate::pair::Pair;
use crate::parts;
use crate::protocol::Order;
use crate::stage::Stage;

const RAW: Flow = Flow {
    product: Product::Raw,
    kind: Kind::BestEffort,
};

/// Round trips of the socket that is alone.
const TRIPS: usize = 40_000;

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
    let Some(row) = find(rows, RAW, Course::MAIN, size) else {
        return Ok(None);
    };
    let stage = Stage::new(Course::MAIN.placement)?;
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
    Ok(parts::wait_us(row.cpu_us(), calls_us, row.waits()))
}
