//! Streams as fast as they go, over sizes.

use std::thread;
use std::time::Duration;

use whimbrel_bench::exchange::{COUNTERS, Counters};
use whimbrel_bench::protocol::READY;
use whimbrel_bench::stream::{Burst, Received, Sent};
use whimbrel_rig::process::{Process, Usage};

use super::{MEETING, ROUND};
use crate::contestant::{Contestant, Part, Product, Programs};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::stop;
use crate::world::{Seat, World};

/// How long after a burst its reader is asked, and again until nothing more has arrived: what a
/// slow cable still holds must not be taken for the beginning of the next burst.
const SETTLING: Duration = Duration::from_millis(100);
/// So often at most.
const SETTLINGS_MAX: usize = 50;

/// One contestant and size.
#[derive(Clone, Debug)]
pub(crate) struct StreamRow {
    pub(crate) contestant: Contestant,
    pub(crate) size: usize,
    /// Samples received per second, of each burst.
    pub(crate) rates: Vec<f64>,
    pub(crate) written: u64,
    pub(crate) received: u64,
    /// What the process that writes and the one that reads used.
    pub(crate) usage: [Usage; 2],
    /// What the writer counted, where it tells.
    pub(crate) counters: Option<Counters>,
    pub(crate) wire_bytes: Option<u64>,
}

impl StreamRow {
    /// The median of the bursts' rates.
    pub(crate) fn rate(&self) -> f64 {
        let mut rates = self.rates.clone();
        rates.sort_by(f64::total_cmp);
        rates.get(rates.len() / 2).copied().unwrap_or(0.0)
    }

    /// Samples that did not arrive, in percent.
    pub(crate) fn lost_percent(&self) -> f64 {
        let lost = self.written.saturating_sub(self.received);
        lost as f64 * 100.0 / self.written.max(1) as f64
    }
}

/// One size of all `contestants`: `bursts` of `ms` milliseconds each, in turn.
///
/// # Errors
/// A process does not start, meet or answer; a signal.
pub(crate) fn sweep(
    world: &World,
    programs: &Programs,
    contestants: &[(Contestant, &str)],
    (size, bursts, ms): (usize, usize, u64),
    progress: &Progress,
) -> Result<Vec<StreamRow>, Failure> {
    let start = |(at, it): (usize, &(Contestant, &str))| -> Result<_, String> {
        let runner = Runner::start(world, programs, it, size, at as u32 + 101)?;
        Ok((runner, row(&it.0, size)))
    };
    let mut all = contestants
        .iter()
        .enumerate()
        .map(start)
        .collect::<Result<Vec<_>, String>>()
        .map_err(Failure::Broke)?;
    for (runner, _) in &all {
        runner
            .writer
            .wait_until(READY, MEETING)
            .map_err(Failure::Broke)?;
    }
    for _ in 0..bursts {
        for (runner, row) in &mut all {
            stop::check()?;
            runner.burst(world, row, ms).map_err(Failure::Broke)?;
            progress.step(&format!("{} {size} B", row.contestant.name()));
        }
    }
    for (runner, row) in &mut all {
        if row.contestant.product == Product::Whimbrel {
            let counters = runner.writer.ask(COUNTERS, ROUND).and_then(|it| it.parse());
            row.counters = Some(counters.map_err(Failure::Broke)?);
        }
    }
    Ok(all.into_iter().map(|(_, row)| row).collect())
}

fn row(contestant: &Contestant, size: usize) -> StreamRow {
    StreamRow {
        contestant: contestant.clone(),
        size,
        rates: Vec::new(),
        written: 0,
        received: 0,
        usage: [Usage::default(); 2],
        counters: None,
        wire_bytes: None,
    }
}

struct Runner {
    writer: Process,
    reader: Process,
}

impl Runner {
    fn start(
        world: &World,
        programs: &Programs,
        (contestant, mode): &(Contestant, &str),
        size: usize,
        domain: u32,
    ) -> Result<Self, String> {
        let [a, b] = world.seats();
        let begin = |role, [seat, other]: [&Seat; 2], number: &str| {
            let part = Part {
                bench: "throughput",
                role,
                mode,
                domain,
            };
            let mut command = programs.command(world, [seat, other], contestant, part);
            command.args(["--size", &size.to_string(), "--number", number]);
            Process::start(&format!("{}, {role}", contestant.name()), &mut command)
        };
        let reader = begin("sub", [&b, &a], "0")?;
        reader.wait_until(READY, MEETING)?;
        let writer = begin("pub", [&a, &b], "1")?;
        Ok(Self { writer, reader })
    }

    fn burst(&mut self, world: &World, row: &mut StreamRow, ms: u64) -> Result<(), String> {
        let usage = |it: &Self| [it.writer.usage(), it.reader.usage()];
        let (before, wire) = (usage(self), world.wire_bytes());
        let order = Burst { ms, rate: 0 };
        let line = order.to_string();
        let sent = self.writer.ask_beside(&mut self.reader, &line, ROUND)?;
        let sent: Sent = sent.parse()?;
        let (received, late) = settled(|| {
            thread::sleep(SETTLING);
            self.reader.ask("", MEETING)?.parse()
        })?;
        for (sum, (now, then)) in row
            .usage
            .iter_mut()
            .zip(usage(self).into_iter().zip(before))
        {
            *sum = sum.plus(now.since(then));
        }
        row.rates.push(received.rate());
        row.written += sent.written;
        row.received += received.count + late;
        if let (Some(before), Some(after)) = (wire, world.wire_bytes()) {
            *row.wire_bytes.get_or_insert(0) += after.saturating_sub(before);
        }
        Ok(())
    }
}

/// What had arrived when the reader was first asked, and how many samples after that.
fn settled(mut ask: impl FnMut() -> Result<Received, String>) -> Result<(Received, u64), String> {
    let first = ask()?;
    let mut late = 0;
    for _ in 0..SETTLINGS_MAX {
        let more = ask()?.count;
        if more == 0 {
            break;
        }
        late += more;
    }
    Ok((first, late))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_arrives_late_counts_and_does_not_slow_the_next_burst() {
        let mut counts = [50, 30, 7, 0, 99].into_iter();
        let mut ask = || {
            let count = counts.next().ok_or("asked too often")?;
            Ok(Received { count, ns: 1_000 })
        };
        let (first, late) = settled(&mut ask).unwrap();
        assert_eq!((first.count, late), (50, 37));
        assert_eq!(settled(|| Err("gone".into())).unwrap_err(), "gone");
    }
}
