//! The raw socket before and after everything else: what the path itself takes.

use whimbrel_bench::protocol::{Order, READY, round_trips};
use whimbrel_bench::stream::{Burst, Received};
use whimbrel_rig::process::Process;

use super::{MEETING, ROUND};
use crate::contestant::{Contestant, Part, Product, Programs};
use crate::world::{Link, PROBE_BYTES, Place, World};

/// Octets of payload by which the floor is known.
const FLOOR_BYTES: usize = 64;
/// How often a cable may try to pass its test.
const TRIES: usize = 5;
/// Octets of a datagram that fills a packet, without what RTPS would add.
const BLAST_BYTES: usize = 1332;
/// Octets of such a datagram.
const BLAST_DATAGRAM_BYTES: f64 = 1400.0;

/// The median one-way latency of a datagram over `world`, in microseconds.
///
/// # Errors
/// The processes do not start or answer.
pub(crate) fn floor_us(world: &World, programs: &Programs, domain: u32) -> Result<f64, String> {
    one_way_us(world, programs, domain, (FLOOR_BYTES, 400))
}

/// Whether the cable of `world` earns its name; the text has the figures. It is tried some times:
/// a cable of another rate never passes, one on a busy machine does in a quiet moment.
///
/// # Errors
/// It does not, or the processes do not start or answer.
pub(crate) fn test_link(world: &World, programs: &Programs, link: Link) -> Result<String, String> {
    let mut why = String::new();
    for attempt in 1..=TRIES {
        let one_way = one_way_us(world, programs, 901, (PROBE_BYTES, 40))?;
        let blast = blast_mbit_per_s(world, programs)?;
        match link.judge(one_way, blast) {
            Ok(text) => return Ok(format!("{text}; try {attempt} of at most {TRIES}")),
            Err(text) => why = text,
        }
    }
    Err(format!("{why}; the last of {TRIES} tries"))
}

fn process(
    world: &World,
    programs: &Programs,
    part: Part<'_>,
    size: usize,
) -> Result<Process, String> {
    let [a, b] = world.seats();
    let seats = if matches!(part.role, "pong" | "sub") {
        [&b, &a]
    } else {
        [&a, &b]
    };
    let raw = Contestant::plain(Product::Raw);
    let mut command = programs.command(world, seats, &raw, part);
    command.args(["--size", &size.to_string()]);
    let process = Process::start("raw socket", &mut command)?;
    process.wait_until(READY, MEETING)?;
    Ok(process)
}

fn one_way_us(
    world: &World,
    programs: &Programs,
    domain: u32,
    (size, count): (usize, usize),
) -> Result<f64, String> {
    let part = |role| Part {
        bench: "latency",
        role,
        mode: "blocking",
        domain,
    };
    let mut pong = process(world, programs, part("pong"), size)?;
    let mut ping = process(world, programs, part("ping"), size)?;
    let order = Order {
        size,
        count,
        warm: count / 10,
    };
    let mut trips = round_trips(&ping.ask_beside(&mut pong, &order.to_string(), ROUND)?)?;
    trips.sort_unstable();
    let median = trips.get(trips.len() / 2).copied().unwrap_or(0);
    Ok(median as f64 / 2000.0)
}

fn blast_mbit_per_s(world: &World, programs: &Programs) -> Result<f64, String> {
    debug_assert!(matches!(world.place, Place::Dual(_)));
    let part = |role| Part {
        bench: "throughput",
        role,
        mode: "blocking",
        domain: 902,
    };
    let mut reader = process(world, programs, part("sub"), BLAST_BYTES)?;
    let mut writer = process(world, programs, part("pub"), BLAST_BYTES)?;
    let order = Burst { ms: 600, rate: 0 };
    writer.ask(&order.to_string(), ROUND)?;
    std::thread::sleep(std::time::Duration::from_millis(200));
    let received: Received = reader.ask("", MEETING)?.parse()?;
    Ok(received.rate() * BLAST_DATAGRAM_BYTES * 8.0 / 1e6)
}
