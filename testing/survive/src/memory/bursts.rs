//! Bursts that a reader takes only when they are over.

use std::time::{Duration, Instant};

use whimbrel::{DataReader, DataReaderQos, DataWriter, DataWriterQos, DdsType, Error};

use super::gauge::Growth;
use super::stages::{PATIENCE, builder};
use crate::heap;

/// Samples of a burst by their octets: more small ones than a writer has pooled room for, and
/// more large ones than slabs are remembered to receive into.
const BURST: [(usize, usize); 2] = [(2000, 3000), (400, 60_000)];

/// Bursts before it counts. Pools keep a few slabs free, and how many of them a burst leaves is
/// chance: what stays after one may be several slabs less than the most that ever does.
const WARM: usize = 3;

/// How long the octets of a burst may be held after it.
const GIVEN_BACK_MAX: Duration = Duration::from_secs(10);

/// Nothing is given back later than that after the last time.
const CALM: Duration = Duration::from_secs(3);

/// Who is idle wakes only for announcements, and gives memory back then.
const ANNOUNCE_PERIOD: Duration = Duration::from_millis(300);

#[derive(DdsType, Clone, Debug)]
struct Blob {
    bytes: Vec<u8>,
}

struct Pair {
    writer: DataWriter<Blob>,
    reader: DataReader<Blob>,
}

/// Runs `count` bursts after the first ones; what came of it, and whether all was given back.
pub(super) fn run(count: usize) -> Result<(String, bool), String> {
    measure(count).map_err(|error| format!("failed: {error}"))
}

fn measure(count: usize) -> Result<(String, bool), Error> {
    let pair = Pair::new()?;
    let mut rest = 0;
    for _ in 0..WARM {
        pair.burst()?;
        rest = rest.max(heap::settled(CALM, GIVEN_BACK_MAX, 0));
    }
    let bound = rest + Growth::HEAP_SLACK_BYTES as usize;
    let (mut most, mut slowest, mut last) = (0, Duration::ZERO, rest);
    for _ in 0..count {
        most = most.max(pair.burst()?);
        let over = Instant::now();
        last = heap::settled(GIVEN_BACK_MAX, GIVEN_BACK_MAX, bound);
        slowest = slowest.max(over.elapsed());
    }
    let mb = |bytes: usize| bytes as f64 / 1e6;
    let text = format!(
        "{count} bursts of {:.1} MB given back in {:.1} s at most, heap {:.2} MB before and {:.2} \
         MB after (bounds {} s, {} KiB)",
        mb(most - rest.min(most)),
        slowest.as_secs_f64(),
        mb(rest),
        mb(last),
        GIVEN_BACK_MAX.as_secs(),
        Growth::HEAP_SLACK_BYTES >> 10,
    );
    Ok((text, last <= bound))
}

impl Pair {
    fn new() -> Result<Self, Error> {
        let join = || {
            builder("bursts")
                .announce_period(ANNOUNCE_PERIOD.into())
                .build()
        };
        let (here, there) = (join()?, join()?);
        let mut qos = DataWriterQos::default().reliable().keep_all();
        qos.reliability.max_blocking_time = PATIENCE.into();
        let writer = here.create_datawriter(&here.create_topic("blobs")?, qos)?;
        let qos = DataReaderQos::default().reliable().keep_all();
        let reader = there.create_datareader(&there.create_topic("blobs")?, qos)?;
        writer.wait_for_matched(1, PATIENCE)?;
        Ok(Self { writer, reader })
    }

    /// Writes everything before anything is taken; the most that was held meanwhile.
    fn burst(&self) -> Result<usize, Error> {
        let mut most = 0;
        for (samples, octets) in BURST {
            let blob = Blob {
                bytes: vec![7; octets],
            };
            for _ in 0..samples {
                self.writer.write(&blob)?;
            }
            self.writer.wait_for_acknowledgments(PATIENCE)?;
            most = most.max(heap::held_bytes());
            let taken = self.reader.take(usize::MAX)?.len();
            if taken != samples {
                let what = format!("{taken} of {samples} samples were there after a burst");
                return Err(Error::PreconditionNotMet(what));
            }
        }
        Ok(most)
    }
}
