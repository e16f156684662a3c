//! The process that answers every sample with itself.

use std::thread;
use std::time::Duration;

use whimbrel::{DataReader, Error, Sample};
use whimbrel_bench::exchange::{Ends, Msg, answer};
use whimbrel_bench::protocol::{LAST, stand_by};

use crate::ends::{self, Way};

const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

pub(crate) fn run(domain: u32, mode: &str) -> Result<(), String> {
    let ends = ends::of_mode(mode, domain, "pong", "ping").map_err(|error| error.to_string())?;
    if ends::has_listener(mode) {
        ends.echo();
        return stand_by();
    }
    let mut way = Way::named(mode, &ends.reader)?;
    let rests = ends::polls_endlessly(mode);
    thread::spawn(move || {
        if let Err(error) = answer_all(&ends, &mut way, rests) {
            eprintln!("receive: {error}");
        }
    });
    stand_by()
}

/// Answers everything. Who `rests` leaves the core to others between blocks, and looks now and then
/// whether the next one has begun.
fn answer_all(ends: &Ends, way: &mut Way, rests: bool) -> Result<(), Error> {
    let mut resting = rests;
    loop {
        let received = if resting {
            first_of_block(&ends.reader)
        } else {
            way.receive()
        };
        match received {
            Ok(Some(sample)) => {
                answer(&ends.writer, &sample);
                resting = rests && is_last(&sample);
            }
            // Nothing comes between two blocks.
            Ok(None) | Err(Error::Timeout) => {}
            Err(error) => return Err(error),
        }
    }
}

fn is_last(sample: &Sample<Msg>) -> bool {
    sample.data().and_then(|it| it.payload.first()) == Some(&LAST)
}

fn first_of_block(reader: &DataReader<Msg>) -> Result<Option<Sample<Msg>>, Error> {
    thread::sleep(BETWEEN_LOOKS);
    reader.take_next_sample()
}
