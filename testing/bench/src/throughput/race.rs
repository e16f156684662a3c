//! The race of one size and course: everybody starts, then takes turns, several times.

use std::thread;
use std::time::Duration;

use whimbrel_rig::process::{Process, Usage};

use super::course::Course;
use super::flow::Flow;
use super::plan::Plan;
use super::rows::{Row, Used};
use crate::contestant::{Product, Programs};
use crate::host::Host;
use crate::stage::Stage;
use crate::stream::{Burst, Received, Sent};
use crate::streamers::{Streamers, Streaming};
use crate::turns;

/// How long a reader may take to say what has arrived.
const ANSWER: Duration = Duration::from_secs(30);
/// How long a burst may take beyond its length: acknowledgments may be late.
const BURST: Duration = Duration::from_secs(60);
/// How often readers are asked what has arrived of a burst.
const SETTLING: Duration = Duration::from_millis(100);
/// What is lacking of a reliable burst is waited for as long as it comes, and so long beyond: who
/// takes samples may be late. Of any other, what does not come within [`SETTLING`] is lost.
const PATIENCE: Duration = Duration::from_secs(2);

/// What everybody sends once he is started.
const WARM: Burst = Burst { ms: 100, rate: 0 };

/// Share of the highest rate at which BEST_EFFORT must lose nothing.
const EASY: f64 = 0.8;

/// The processes of a flow.
struct Runner {
    flow: Flow,
    streamers: Streamers,
}

impl Runner {
    fn start(row: &Row, programs: &Programs, stage: &Stage, domain: usize) -> Result<Self, String> {
        let flow = row.flow;
        let program = programs.of(flow.product)?;
        let streaming = Streaming {
            writers: 1,
            mode: flow.kind.name(),
            readers: row.course.readers,
            size: row.size,
            domain,
        };
        let streamers = Streamers::start(&flow.name(), &program, &stage.seats(), streaming)?;
        Ok(Self { flow, streamers })
    }

    /// Of the process that writes, and of those that read.
    fn usage(&self) -> Used {
        let Streamers { writer, readers } = &self.streamers;
        let readers = readers.iter().map(Process::usage);
        Used {
            writing: writer.usage(),
            reading: readers.fold(Usage::default(), Usage::plus),
        }
    }

    fn burst(&mut self, burst: Burst) -> Result<(Sent, Vec<Received>, Used), String> {
        let before = self.usage();
        let patience = BURST + Duration::from_millis(burst.ms);
        let Streamers { writer, readers } = &mut self.streamers;
        let sent: Sent = writer.ask(&burst.to_string(), patience)?.parse()?;
        let patience = if self.flow.is_reliable() {
            PATIENCE
        } else {
            SETTLING
        };
        thread::sleep(SETTLING);
        let received = readers.iter_mut().map(|reader| {
            arrived(sent.written, patience, |after| {
                thread::sleep(after);
                reader.ask("", ANSWER)?.parse()
            })
        });
        let received: Vec<Received> = received.collect::<Result<_, _>>()?;
        Ok((sent, received, self.usage().since(before)))
    }
}

/// What one reader has got in all of `written` samples: `ask` waits that long and gives what has
/// come since it was asked last. Ends when all are there, or nothing new within `patience`.
fn arrived(
    written: u64,
    patience: Duration,
    mut ask: impl FnMut(Duration) -> Result<Received, String>,
) -> Result<Received, String> {
    let mut received = ask(Duration::ZERO)?;
    let mut idle = Duration::ZERO;
    while received.count < written && idle < patience {
        let more = ask(SETTLING)?;
        idle += SETTLING;
        if more.count > 0 {
            received = received.followed_by(more, idle);
            idle = Duration::ZERO;
        }
    }
    Ok(received)
}

/// All rows of one size and course. What `host` disturbs is measured again for the sake
/// of rates; what is lost, counts whenever it is.
pub(super) fn run(
    plan: &Plan,
    programs: &Programs,
    host: &mut Host,
    course: Course,
    size: usize,
) -> Result<Vec<Row>, String> {
    let stage = Stage::new(course.placement)?;
    let fitting = plan.flows.iter().filter(|it| it.fits(size));
    let mut rows: Vec<Row> = fitting.map(|it| Row::new(*it, course, size)).collect();
    for start in 0..plan.starts {
        let each = rows.iter().zip(1..);
        let mut runners = each
            .map(|(row, domain)| Runner::start(row, programs, &stage, domain))
            .collect::<Result<Vec<Runner>, String>>()?;
        for runner in &runners {
            runner.streamers.wait_until_ready()?;
        }
        take_turns(plan, start, host, &mut runners, &mut rows)?;
    }
    for row in &rows {
        eprintln!("{}", row.progress());
    }
    Ok(rows)
}

/// The rounds of one `start`, with what comes before and after them.
fn take_turns(
    plan: &Plan,
    start: usize,
    host: &mut Host,
    runners: &mut [Runner],
    rows: &mut [Row],
) -> Result<(), String> {
    // Whatever a stream does once happens before any rate counts, to everybody.
    for (runner, row) in runners.iter_mut().zip(&mut *rows) {
        let (sent, received, used) = runner.burst(WARM)?;
        row.add(sent, &received, used);
    }
    let at_most = Burst {
        ms: plan.burst_ms,
        rate: 0,
    };
    for round in turns::of_start(plan.rounds, start, plan.starts) {
        for at in turns::of_round(round, runners.len()) {
            let row = &mut rows[at];
            let received = host.undisturbed(|| {
                let (sent, received, used) = runners[at].burst(at_most)?;
                row.add(sent, &received, used);
                Ok(received)
            })?;
            row.note_rate(&received);
        }
    }
    for (runner, row) in runners.iter_mut().zip(rows) {
        let easy = runner.flow.is_best_effort() && runner.flow.product != Product::Raw;
        if easy {
            let rate = (row.rate() * EASY) as u64;
            let (sent, received, _) = runner.burst(Burst { rate, ..at_most })?;
            row.note_easy(rate, sent, &received);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What arrives of ten samples where each look finds so many, and how many looks there were.
    fn check(patience: Duration, found: &[u64]) -> (Received, usize) {
        let mut looks = 0;
        let received = arrived(10, patience, |_| {
            let count = found.get(looks).copied().unwrap_or(0);
            looks += 1;
            Ok(Received {
                count,
                ns: 1000 * count,
            })
        });
        (received.unwrap(), looks)
    }

    fn received(count: u64, ns: u64) -> Received {
        Received { count, ns }
    }

    #[test]
    fn late_samples_belong_to_their_burst() {
        assert_eq!(check(PATIENCE, &[10, 1]), (received(10, 10_000), 1));
        let late_ns = 8000 + 200_000_000 + 100_000_000;
        assert_eq!(check(PATIENCE, &[8, 0, 1, 1]), (received(10, late_ns), 4));
        assert_eq!(check(PATIENCE, &[0, 0, 10]), (received(10, 10_000), 3));
    }

    #[test]
    fn what_is_not_there_in_time_is_lost() {
        assert_eq!(check(PATIENCE, &[9]), (received(9, 9000), 1 + 20));
        assert_eq!(check(SETTLING, &[8, 0, 2]), (received(8, 8000), 2));
    }
}
