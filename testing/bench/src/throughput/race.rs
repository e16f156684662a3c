//! The race of one size and number of readers: everybody starts, then takes turns.

use std::thread;
use std::time::Duration;

use whimbrel_rig::process::{Process, Usage};

use super::flow::{Flow, Kind};
use super::plan::Plan;
use super::rows::Row;
use crate::contestant::{Product, Programs};
use crate::placement::Placement;
use crate::protocol::READY;
use crate::stage::Stage;
use crate::stream::{Burst, Received, Sent};

/// How long it may take to meet.
const MEETING: Duration = Duration::from_secs(30);
/// How long a burst may take beyond its length: acknowledgments may be late.
const BURST: Duration = Duration::from_secs(60);
/// After that nothing more arrives of a burst.
const SETTLING: Duration = Duration::from_millis(100);

/// Share of the highest rate at which BEST_EFFORT must lose nothing.
const EASY: f64 = 0.8;

/// The processes of a flow.
struct Runner {
    flow: Flow,
    writer: Process,
    readers: Vec<Process>,
}

impl Runner {
    fn start(
        flow: Flow,
        programs: &Programs,
        stage: &Stage,
        readers: usize,
        size: usize,
        domain: usize,
    ) -> Result<Self, String> {
        let program = programs.of(flow.product)?;
        let [a, b] = stage.seats();
        let begin = |role: &str, number: usize| {
            let (seat, other) = if role == "pub" { (&a, &b) } else { (&b, &a) };
            let mut command = seat.program(&program);
            command.args(["throughput", role, flow.kind.name()]);
            command.args(["--domain", &domain.to_string(), "--size", &size.to_string()]);
            command.args([
                "--interface",
                seat.interface,
                "--number",
                &number.to_string(),
            ]);
            command.args(["--address", seat.address, "--peer", other.address]);
            Process::start(&format!("{}, {role}", flow.name()), &mut command)
        };
        let started: Result<Vec<Process>, String> =
            (0..readers).map(|number| begin("sub", number)).collect();
        let started = started?;
        for reader in &started {
            reader.wait_until(READY, MEETING)?;
        }
        Ok(Self {
            flow,
            writer: begin("pub", readers)?,
            readers: started,
        })
    }

    fn usage(&self) -> Usage {
        let readers = self.readers.iter().map(Process::usage);
        readers.fold(self.writer.usage(), Usage::plus)
    }

    fn burst(&mut self, burst: Burst) -> Result<(Sent, Vec<Received>, Usage), String> {
        let before = self.usage();
        let patience = BURST + Duration::from_millis(burst.ms);
        let sent: Sent = self.writer.ask(&burst.to_string(), patience)?.parse()?;
        thread::sleep(SETTLING);
        let mut received = Vec::new();
        for reader in &mut self.readers {
            received.push(reader.ask("", MEETING)?.parse()?);
        }
        Ok((sent, received, self.usage().since(before)))
    }
}

/// All rows of one size and number of readers.
pub(super) fn run(
    plan: &Plan,
    programs: &Programs,
    readers: usize,
    size: usize,
) -> Result<Vec<Row>, String> {
    let stage = Stage::new(Placement::TwoCores)?;
    let fitting = plan.flows.iter().filter(|it| it.fits(size));
    let mut runners = fitting
        .enumerate()
        .map(|(at, it)| Runner::start(*it, programs, &stage, readers, size, at + 1))
        .collect::<Result<Vec<Runner>, String>>()?;
    for runner in &runners {
        runner.writer.wait_until(READY, MEETING)?;
    }
    let row = |runner: &Runner| Row::new(runner.flow, readers, size);
    let mut rows: Vec<Row> = runners.iter().map(row).collect();
    let at_most = Burst {
        ms: plan.burst_ms,
        rate: 0,
    };
    for round in 0..plan.rounds {
        for turn in 0..runners.len() {
            let at = (turn + round) % runners.len();
            let (sent, received, used) = runners[at].burst(at_most)?;
            rows[at].add(sent, &received, used);
        }
    }
    for (runner, row) in runners.iter_mut().zip(&mut rows) {
        let easy = runner.flow.kind == Kind::BestEffort && runner.flow.product != Product::Raw;
        if easy {
            let rate = (row.rate() * EASY) as u64;
            let (sent, received, _) = runner.burst(Burst { rate, ..at_most })?;
            row.add_easy(sent, &received);
        }
        eprintln!("{}", row.progress());
    }
    Ok(rows)
}
