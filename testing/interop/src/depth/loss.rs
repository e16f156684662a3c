//! Large samples between two hosts that lose datagrams at random: all are repaired.

use std::fmt;
use std::time::Duration;

use super::stage::{Stage, wait};
use super::tally::Moved;
use crate::matrix::cases::{Arrival, Pair};
use crate::matrix::hosts::Side;
use crate::matrix::samples;

const MATCH: Duration = Duration::from_secs(20);
const PATIENCE: Duration = Duration::from_secs(60);

/// Large samples over a bad link.
#[derive(Debug)]
pub(crate) struct Loss {
    pub(crate) pair: Pair,
    pub(crate) percent: u32,
    pub(crate) size_bytes: u32,
    pub(crate) count: u32,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (percent, size) = (self.percent, self.size_bytes / 1000);
        write!(f, "{percent} % of {size} kB samples, {}", self.pair)
    }
}

impl Loss {
    /// The link is good until both are matched, then both hosts lose what comes in.
    pub(crate) fn play(&self, stage: &Stage<'_>) -> Result<Moved, String> {
        let Self {
            size_bytes, count, ..
        } = *self;
        let hosts = stage.hosts()?;
        let both = format!("--type keyless --keep-all --count {count} --timeout-s 60");
        let mut reader = stage.start_at(
            self.pair.subscriber,
            &format!("sub {both} --linger-ms 100"),
            Some((&hosts, Side::B)),
        )?;
        let mut writer = stage.start_at(
            self.pair.publisher,
            &format!(
                "pub {both} --size {size_bytes} --period-ms 20 --wait-matched 1 --settle-ms 700 \
                 --linger-ms 60000"
            ),
            Some((&hosts, Side::A)),
        )?;
        wait(&mut [&mut writer, &mut reader], MATCH, "a match", |it| {
            it.iter().all(|child| child.said("matched 1"))
        })?;
        hosts.lose(self.percent)?;
        let all = count as usize;
        wait(
            &mut [&mut writer, &mut reader],
            PATIENCE,
            "every sample to arrive",
            |it| it[1].ended().is_some() && it[0].count("sent ") >= all,
        )?;
        samples::compare(&writer.lines(), &reader.lines(), Arrival::All)?;
        let lost = hosts.lost()?;
        writer.leave();
        if lost == 0 {
            return Err("no datagram was lost: nothing proved".into());
        }
        Ok(Moved {
            samples: count.into(),
            octets: u64::from(size_bytes) * u64::from(count),
            lost,
            ..Moved::default()
        })
    }
}
