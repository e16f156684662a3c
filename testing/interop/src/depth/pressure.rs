//! KEEP_ALL back-pressure: a slow reader with bounded room holds a fast writer with bounded room.

use std::fmt;
use std::time::Duration;

use super::stage::{Stage, wait};
use super::tally::Moved;
use crate::matrix::cases::{Arrival, Pair, Peer};
use crate::matrix::samples;

const PATIENCE: Duration = Duration::from_secs(60);

/// RESOURCE_LIMITS max_samples of both sides.
const ROOM: usize = 16;

/// Samples another product acknowledges before its reader has room for them: Cyclone DDS queues
/// 256 for delivery besides what it puts in order (`DeliveryQueueMaxSamples`).
const AHEAD: usize = 300;

/// Octets of a sample. Cyclone DDS bounds a writer's history by octets, not by samples: it holds
/// a writer at 500 kB (`Watermarks/WhcHigh`).
const SIZE_BYTES: usize = 8192;
const HELD_AT: usize = 500_000 / SIZE_BYTES + 1;

/// What is on the way while the two programs' lines are read.
const SLACK: usize = 20;

/// A fast writer and a slow reader.
#[derive(Debug)]
pub(crate) struct Pressure {
    pub(crate) pair: Pair,
    pub(crate) count: u32,
}

impl fmt::Display for Pressure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.pair)
    }
}

impl Pressure {
    /// The writer must be held, and every sample must arrive.
    pub(crate) fn play(&self, stage: &Stage<'_>) -> Result<Moved, String> {
        let Self { pair, count } = *self;
        let both = format!(
            "--type keyless --keep-all --max-samples {ROOM} --count {count} --timeout-s 60"
        );
        let mut writer = stage.start(
            pair.publisher,
            &format!(
                "pub {both} --size {SIZE_BYTES} --period-ms 0 --wait-matched 1 --settle-ms 500 \
                 --linger-ms 60000"
            ),
        )?;
        let mut reader = stage.start(
            pair.subscriber,
            &format!("sub {both} --take-ms 2 --linger-ms 300"),
        )?;
        let mut ahead = 0;
        let count = count as usize;
        wait(
            &mut [&mut writer, &mut reader],
            PATIENCE,
            "every sample to arrive",
            |it| {
                let received = it[1].count("received ");
                let sent = it[0].count("sent ");
                ahead = ahead.max(sent.saturating_sub(received));
                it[1].ended().is_some() && sent >= count
            },
        )?;
        samples::compare(&writer.lines(), &reader.lines(), Arrival::All)?;
        let of_writer = if pair.publisher.is_cyclone() {
            HELD_AT
        } else {
            ROOM
        };
        let of_reader = if pair.subscriber == Peer::Whimbrel {
            0
        } else {
            AHEAD
        };
        let most = of_writer + ROOM + of_reader + SLACK;
        if ahead > most {
            return Err(format!(
                "the writer was not held: {ahead} samples ahead of the reader, at most {most} fit"
            ));
        }
        Ok(Moved {
            samples: count as u64,
            octets: (count * SIZE_BYTES) as u64,
            ..Moved::default()
        })
    }
}
