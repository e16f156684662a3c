//! What others are called.

use whimbrel::base::instance::InstanceHandle;
use whimbrel::{DataReader, DomainParticipant};
use whimbrel_bench::exchange::Msg;

/// `host:process` of the participant whose writer `writer` is, as far as it tells.
pub(super) fn name(participant: &DomainParticipant, writer: InstanceHandle) -> String {
    // The handle of an endpoint is its GUID, which begins with the prefix of its participant.
    let all = participant.discovered_participants();
    let owner = all
        .iter()
        .find(|it| writer.0.starts_with(&it.guid.prefix.0));
    match owner {
        Some(it) => {
            let host = it.host.as_deref().unwrap_or("?");
            let process = it.process_id.as_deref().unwrap_or("?");
            format!("{host}:{process}")
        }
        None if writer.0.starts_with(&participant.guid().prefix.0) => "this process".into(),
        None => format!("{writer}"),
    }
}

/// Takes everything from `reader`, each with its writer.
pub(super) fn taken(reader: &DataReader<Msg>) -> Vec<(InstanceHandle, Msg)> {
    let all = reader.take(usize::MAX).unwrap_or_default();
    let with_writer = all.into_iter().filter_map(|sample| {
        let writer = sample.info().publication_handle;
        Some((writer, sample.into_data()?))
    });
    with_writer.collect()
}
