//! The process that answers every sample with itself.

use std::thread;

use whimbrel::{DataReader, DataReaderListener, DataWriter, Error, Sample, StatusKind};
use whimbrel_bench::protocol::stand_by;

use crate::ends::{Ends, Msg, Way};

pub(crate) fn run(domain: u32, mode: &str) -> Result<(), String> {
    let ends = Ends::of_mode(mode, domain, "pong", "ping").map_err(|error| error.to_string())?;
    if matches!(mode, "listener" | "large") {
        listen(&ends);
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

/// Answers by a callback from now on.
pub(crate) fn listen(ends: &Ends) {
    let echo = Echo {
        writer: ends.writer.clone(),
    };
    ends.reader
        .set_listener(Some(Box::new(echo)), StatusKind::DataAvailable);
}

struct Echo {
    writer: DataWriter<Msg>,
}

impl DataReaderListener<Msg> for Echo {
    fn on_data_available(&mut self, reader: &DataReader<Msg>) {
        if let Ok(Some(sample)) = reader.take_next_sample() {
            answer(&self.writer, &sample);
        }
    }
}

fn answer(writer: &DataWriter<Msg>, sample: &Sample<Msg>) {
    if let Some(data) = sample.data()
        && let Err(error) = writer.write(data)
    {
        eprintln!("write: {error}");
    }
}
