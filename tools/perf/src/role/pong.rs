//! The process that answers every sample with itself.

use whimbrel::{DataReader, DataReaderListener, DataWriter, StatusKind};
use whimbrel_bench::protocol::stand_by;

use super::ends::{Ends, Msg};

pub(super) fn run(domain: u32) -> Result<(), String> {
    let ends = Ends::new(domain, "pong", "ping")?;
    listen(&ends);
    stand_by()
}

/// Answers by a callback from now on.
pub(super) fn listen(ends: &Ends) {
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
        while let Some(sample) = reader.take(1).into_iter().flatten().next() {
            if let Some(data) = sample.data()
                && let Err(error) = self.writer.write(data)
            {
                eprintln!("write: {error}");
            }
        }
    }
}
