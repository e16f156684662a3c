//! Many participants, writers and readers in one process.

use std::collections::BTreeSet;
use std::sync::mpsc::{Sender, channel};
use std::time::Instant;

use whimbrel::{DataReader, DataReaderListener, DomainParticipant, Error, StatusKind};
use whimbrel_bench::exchange::{Ends, Msg, PATIENCE, Qos};
use whimbrel_bench::protocol::stand_by;

const PARTICIPANTS: usize = 8;
/// Each participant has a writer and a reader of each.
const TOPICS: usize = 8;

/// Tells that it was called, and of which reader it is.
struct Called(Sender<usize>, usize);

impl DataReaderListener<Msg> for Called {
    fn on_data_available(&mut self, reader: &DataReader<Msg>) {
        let taken = reader.take_next_sample();
        if taken.is_ok_and(|it| it.is_some()) {
            // Nobody waits any more when it was given up.
            let _ = self.0.send(self.1);
        }
    }
}

/// Stands by with all of them, once every writer has met every reader of its topic and the listener
/// of every reader was called.
pub(crate) fn hold(domain: u32) -> Result<(), String> {
    let (sender, called) = channel();
    let participants: Result<Vec<_>, Error> = (0..PARTICIPANTS)
        .map(|_| DomainParticipant::new(domain))
        .collect();
    let participants = participants.map_err(|error| error.to_string())?;
    let mut all = Vec::new();
    for participant in &participants {
        for topic in 0..TOPICS {
            let name = format!("crowd {topic}");
            let ends = Ends::new(participant, [&name, &name], &Qos::default());
            let ends = ends.map_err(|error| error.to_string())?;
            let listener = Box::new(Called(sender.clone(), all.len()));
            ends.reader
                .set_listener(Some(listener), StatusKind::DataAvailable);
            all.push(ends);
        }
    }
    for ends in &all {
        let met = ends.writer.wait_for_matched(PARTICIPANTS, PATIENCE);
        met.map_err(|error| format!("they do not meet: {error}"))?;
    }
    for ends in &all {
        let written = ends.writer.write(&Msg::default());
        written.map_err(|error| error.to_string())?;
    }
    let mut silent: BTreeSet<usize> = (0..all.len()).collect();
    let until = Instant::now() + PATIENCE;
    while !silent.is_empty() {
        let left = until.saturating_duration_since(Instant::now());
        let heard = called.recv_timeout(left);
        let heard = heard.map_err(|_| format!("{} readers heard nothing", silent.len()))?;
        silent.remove(&heard);
    }
    stand_by()
}
