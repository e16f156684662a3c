//! TRANSIENT_LOCAL while one side starts again and again: history kept, no sample twice.

use std::fmt;
use std::time::Duration;

use super::lines::{Wanted, compare, count};
use super::stage::{Stage, wait};
use super::tally::Moved;
use crate::matrix::cases::Pair;
use crate::matrix::child::Child;
use crate::matrix::samples::samples;

const PATIENCE: Duration = Duration::from_secs(20);

/// How soon the death of a peer with this lease must be noticed.
const LEASE_MS: u32 = 1500;
const NOTICED: Duration = Duration::from_secs(6);

/// HISTORY depth of both sides where it is KEEP_LAST.
const DEPTH: usize = 3;

/// Samples of each of two keys a writer writes.
const OF_KEY: usize = 5;

/// Who starts again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Which {
    Writer,
    Reader,
}

/// How it ended before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// With a farewell.
    Left,
    /// By SIGKILL; the next one starts before its lease is over.
    Killed,
}

/// One side that starts again while the other stays.
#[derive(Debug)]
pub(crate) struct Restarts {
    pub(crate) pair: Pair,
    pub(crate) which: Which,
    pub(crate) end: End,
    pub(crate) rounds: u64,
}

impl fmt::Display for Restarts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = match self.end {
            End::Left => "leaves",
            End::Killed => "killed",
        };
        let which = match self.which {
            Which::Writer => "writer",
            Which::Reader => "reader",
        };
        write!(f, "{which} {end}, {}", self.pair)
    }
}

impl Restarts {
    /// Plays and judges.
    pub(crate) fn play(&self, stage: &Stage<'_>) -> Result<Moved, String> {
        let samples = match (self.which, self.end) {
            (Which::Writer, _) => self.writers(stage)?,
            (Which::Reader, End::Left) => self.readers_that_leave(stage)?,
            (Which::Reader, End::Killed) => self.readers_that_are_killed(stage)?,
        };
        Ok(Moved {
            samples,
            restarts: self.rounds,
            ..Moved::default()
        })
    }

    /// Each writer has keys of its own, so that every sample tells who wrote it. The reader must
    /// end with the newest of each, and with one writer.
    fn writers(&self, stage: &Stage<'_>) -> Result<u64, String> {
        let both = format!("--type shape --transient-local --keep-last {DEPTH}");
        let mut reader = stage.start(
            self.pair.subscriber,
            &format!("sub {both} --count 1000000 --timeout-s 120"),
        )?;
        let (linger_ms, waits) = match self.end {
            End::Left => (0, "--wait-matched 1 --settle-ms 500"),
            End::Killed => (60_000, "--wait-matched 0"),
        };
        let mut sent = Vec::new();
        let mut last = None;
        for round in 0..=self.rounds {
            let count = 2 * OF_KEY;
            let words = format!(
                "pub {both} --key R{round},B{round} --count {count} --period-ms 1 {waits} \
                 --lease-ms {LEASE_MS} --linger-ms {linger_ms}"
            );
            let mut writer = stage.start(self.pair.publisher, &words)?;
            self.newest_arrive(&mut writer, &mut reader, round)?;
            sent.extend(writer.lines());
            if self.end == End::Left {
                wait(&mut [&mut writer], PATIENCE, "a farewell", |it| {
                    it[0].ended().is_some()
                })?;
            } else if round < self.rounds {
                writer.kill();
            }
            last = Some(writer);
        }
        let left = if self.end == End::Left { 0 } else { 1 };
        wait(
            &mut [&mut reader],
            NOTICED,
            format!("{left} writers to be left"),
            |it| matched(it[0]) == Some(left),
        )?;
        drop(last);
        let received = samples(&reader.lines(), "received ");
        compare(&samples(&sent, "sent "), &received, Wanted::Newest(DEPTH))?;
        Ok(count(&received))
    }

    fn newest_arrive(
        &self,
        writer: &mut Child,
        reader: &mut Child,
        round: u64,
    ) -> Result<(), String> {
        let numbers = [2 * OF_KEY - 1, 2 * OF_KEY];
        let newest: Vec<String> = numbers
            .iter()
            .zip(["R", "B"])
            .map(|(number, key)| format!("received {number} {key}{round} "))
            .collect();
        wait(
            &mut [writer, reader],
            PATIENCE,
            format!("the newest of writer {round}"),
            |it| {
                // A sample may arrive before its writer has said that it is sent.
                it[0].count("sent ") == 2 * OF_KEY
                    && newest.iter().all(|line| it[1].count(line) == 1)
            },
        )
    }

    /// Every reader comes late: it must get exactly what the writer's history holds.
    fn readers_that_leave(&self, stage: &Stage<'_>) -> Result<u64, String> {
        let both = format!("--type shape --transient-local --keep-last {DEPTH}");
        let written = 2 * OF_KEY;
        let mut writer = stage.start(
            self.pair.publisher,
            &format!(
                "pub {both} --key RED,BLUE --count {written} --period-ms 1 --linger-ms 120000"
            ),
        )?;
        wait(&mut [&mut writer], PATIENCE, "everything written", |it| {
            it[0].count("sent ") == written
        })?;
        let mut arrived = 0;
        for _ in 0..=self.rounds {
            let kept = 2 * DEPTH;
            let words = format!("sub {both} --count {kept} --linger-ms 300");
            let mut reader = stage.start(self.pair.subscriber, &words)?;
            wait(
                &mut [&mut writer, &mut reader],
                PATIENCE,
                "the history of a late reader",
                |it| it[1].ended().is_some(),
            )?;
            let received = samples(&reader.lines(), "received ");
            let sent = samples(&writer.lines(), "sent ");
            compare(&sent, &received, Wanted::ExactlyNewest(DEPTH))?;
            arrived += count(&received);
        }
        wait(
            &mut [&mut writer],
            NOTICED,
            "the last reader's farewell",
            |it| matched(it[0]) == Some(0),
        )?;
        Ok(arrived)
    }

    /// The writer goes on writing and keeps all; readers die in the midst, the last one gets all.
    fn readers_that_are_killed(&self, stage: &Stage<'_>) -> Result<u64, String> {
        let both = "--type shape --transient-local --keep-all";
        let written = 200 * (self.rounds + 1);
        let mut writer = stage.start(
            self.pair.publisher,
            &format!(
                "pub {both} --key RED,BLUE --count {written} --period-ms 5 --timeout-s 120 \
                 --linger-ms 120000"
            ),
        )?;
        let mut arrived = 0;
        for round in 0..self.rounds {
            let words = format!("sub {both} --count 1000000 --lease-ms {LEASE_MS} --timeout-s 120");
            let mut reader = stage.start(self.pair.subscriber, &words)?;
            let some = 20 + 30 * round as usize;
            wait(
                &mut [&mut writer, &mut reader],
                PATIENCE,
                "a reader to have some",
                |it| it[1].count("received ") >= some,
            )?;
            reader.kill();
            let received = samples(&reader.lines(), "received ");
            let told = count(&received) as usize;
            wait(&mut [&mut writer], PATIENCE, "the writer's lines", |it| {
                it[0].count("sent ") >= told
            })?;
            let sent = samples(&writer.lines(), "sent ");
            compare(&sent, &received, Wanted::Prefix)?;
            arrived += count(&received);
        }
        let words = format!("sub {both} --count {written} --linger-ms 300 --timeout-s 120");
        let mut reader = stage.start(self.pair.subscriber, &words)?;
        wait(
            &mut [&mut writer, &mut reader],
            PATIENCE,
            "the last reader to have everything",
            |it| it[1].ended().is_some() && it[0].count("sent ") as u64 == written,
        )?;
        let received = samples(&reader.lines(), "received ");
        let sent = samples(&writer.lines(), "sent ");
        compare(&sent, &received, Wanted::ExactlyNewest(written as usize))?;
        wait(
            &mut [&mut writer],
            NOTICED,
            "all readers to be gone",
            |it| matched(it[0]) == Some(0),
        )?;
        Ok(arrived + count(&received))
    }
}

/// Matched endpoints by a peer's last word about it.
fn matched(child: &Child) -> Option<u64> {
    let lines = child.lines();
    let number = |line: &String| {
        let text = line
            .strip_prefix("matched ")
            .or_else(|| line.strip_prefix("unmatched "))?;
        text.parse().ok()
    };
    lines.iter().rev().find_map(number)
}
