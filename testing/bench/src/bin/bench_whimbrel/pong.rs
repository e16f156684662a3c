//! The process that answers every sample with itself.

use std::thread;

use whimbrel::Error;
use whimbrel_bench::exchange::answer;
use whimbrel_bench::protocol::stand_by;

use crate::ends::{self, Way};

pub(crate) fn run(domain: u32, mode: &str) -> Result<(), String> {
    let ends = ends::of_mode(mode, domain, "pong", "ping").map_err(|error| error.to_string())?;
    if ends::has_listener(mode) {
        ends.echo();
        return stand_by();
    }
    let way = Way::named(mode, &ends.reader)?;
    thread::spawn(move || {
        loop {
            match way.receive(&ends.reader) {
                Ok(Some(sample)) => answer(&ends.writer, &sample),
                // Nothing comes between two blocks.
                Ok(None) | Err(Error::Timeout) => {}
                Err(error) => return eprintln!("receive: {error}"),
            }
        }
    });
    stand_by()
}
