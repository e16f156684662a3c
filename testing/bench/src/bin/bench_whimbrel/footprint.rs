//! What exists costs something, even when nothing happens.

use whimbrel::{DataReader, DataReaderQos, DomainParticipant, Error};
use whimbrel_bench::exchange::Msg;
use whimbrel_bench::protocol::{serve_numbers, stand_by};

use crate::ends;

/// A writer and a reader that answers, each matched with the other process.
pub(crate) fn meet(domain: u32, first: bool) -> Result<(), String> {
    let (written, read) = if first { ("a", "b") } else { ("b", "a") };
    let ends = ends::usual(domain, written, read).map_err(|error| error.to_string())?;
    ends.echo();
    ends.meet()?;
    stand_by()
}

/// A participant, and as many readers as each line of the input says.
pub(crate) fn hold(domain: u32) -> Result<(), String> {
    let participant = DomainParticipant::new(domain).map_err(|error| error.to_string())?;
    let mut readers = Vec::new();
    serve_numbers(|count| {
        let more = (0..count).map(|_| one_more(&participant));
        let more: Result<Vec<_>, Error> = more.collect();
        readers.extend(more.map_err(|error| error.to_string())?);
        Ok(())
    })
}

fn one_more(participant: &DomainParticipant) -> Result<DataReader<Msg>, Error> {
    let topic = participant.create_topic::<Msg>("many")?;
    participant.create_datareader(&topic, DataReaderQos::default())
}
