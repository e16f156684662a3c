//! What participants tell of what their writers and readers have counted.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};
use whimbrel::base::guid::{Guid, GuidPrefix};
use whimbrel::qos::ResourceLimits;
use whimbrel::statistics::{EndpointStatistics, TOPIC_NAME};
use whimbrel::types::DdsType;
use whimbrel::{DataReader, DataReaderQos, DomainParticipant, Error};

use crate::failure::Failure;
use crate::stop;

/// Those that have not told by then are left out.
const ASK_MAX: Duration = Duration::from_secs(3);

/// More writers and readers are not listened to.
const ENDPOINTS_MAX: u32 = 65_536;

/// What was told.
#[derive(Default)]
pub(crate) struct Counted {
    /// The participants that tell.
    offering: BTreeSet<GuidPrefix>,
    of: BTreeMap<Guid, EndpointStatistics>,
}

/// Asks all participants that tell anybody.
pub(crate) fn ask(participant: &DomainParticipant) -> Result<Counted, Failure> {
    let mut counted = Counted::default();
    let mut offers = BTreeSet::new();
    for it in participant.discovered_writers() {
        if it.topic_name == TOPIC_NAME && it.type_name == EndpointStatistics::TYPE_NAME {
            offers.insert(it.guid);
            counted.offering.insert(it.guid.prefix);
        }
    }
    if offers.is_empty() {
        return Ok(counted);
    }
    let writers = participant.discovered_writers().into_iter();
    let readers = participant.discovered_readers().into_iter();
    let all = writers.map(|it| it.guid).chain(readers.map(|it| it.guid));
    let mut missing: BTreeSet<Guid> = all
        .filter(|it| counted.is_offered(*it) && !offers.contains(it))
        .collect();
    let reader = listen(participant)?;
    stop::within(ASK_MAX, |slice| {
        if reader.wait_for_data(slice).is_ok() {
            counted.take(&reader);
            missing.retain(|it| !counted.of.contains_key(it));
        }
        missing.is_empty()
    })?;
    Ok(counted)
}

/// A reader that keeps all that is told until it is taken: what one participant says replaces
/// nothing that another one said, of whomever.
fn listen(participant: &DomainParticipant) -> Result<DataReader<EndpointStatistics>, Error> {
    let topic = participant.create_topic::<EndpointStatistics>(TOPIC_NAME)?;
    let limits = ResourceLimits::UNLIMITED;
    let limits = limits
        .max_instances(ENDPOINTS_MAX)
        .max_samples(ENDPOINTS_MAX);
    let qos = DataReaderQos::default().reliable().transient_local();
    participant.create_datareader(&topic, qos.keep_all().resource_limits(limits))
}

impl Counted {
    /// What was told of `guid`.
    pub(crate) fn of(&self, guid: Guid) -> Option<&EndpointStatistics> {
        self.of.get(&guid)
    }

    /// True where the participant of `guid` tells.
    pub(crate) fn is_offered(&self, guid: Guid) -> bool {
        self.offering.contains(&guid.prefix)
    }

    fn take(&mut self, reader: &DataReader<EndpointStatistics>) {
        // What cannot be decoded is counted by the reader, and no error.
        for sample in reader.take(usize::MAX).unwrap_or_default() {
            let from = Guid::from_bytes(sample.info().publication_handle.0);
            if let Some(told) = sample.data() {
                self.note(from, told);
            }
        }
    }

    /// Only a participant's own endpoints are its to tell of.
    fn note(&mut self, from: Guid, told: &EndpointStatistics) {
        if told.is_of(from) {
            self.of.insert(told.guid(), *told);
        }
    }
}

/// What was counted, for people.
pub(crate) fn line(it: &EndpointStatistics) -> String {
    let mut parts = vec![format!(
        "{} samples of {} octets",
        it.samples, it.payload_bytes
    )];
    let change = |count, what: &str, (before, after): (u64, u64), ratio: f64, ns: u64| {
        let millis = ns as f64 / 1e6;
        format!("{count} {what}: {before} to {after} octets (1 of {ratio:.2}) in {millis:.1} ms")
    };
    if it.compressed_samples > 0 {
        let bytes = (it.plain_bytes, it.compressed_bytes);
        let ns = it.codec_ns;
        parts.push(change(
            it.compressed_samples,
            "compressed",
            bytes,
            it.ratio(),
            ns,
        ));
    }
    let reasons = [
        (it.below_threshold, "below the threshold"),
        (it.incompressible, "no smaller compressed"),
        (it.not_taken, "to nobody who takes the codec"),
    ];
    let reasons: Vec<_> = counts(&reasons).collect();
    if !reasons.is_empty() {
        parts.push(format!("left plain: {}", reasons.join(", ")));
    }
    if it.bundles > 0 {
        let each = it.bundled_samples as f64 / it.bundles as f64;
        parts.push(format!("{} bundles, {each:.1} samples each", it.bundles));
    }
    if it.compressed_bundles > 0 {
        let bytes = (it.bundle_plain_bytes, it.bundle_compressed_bytes);
        let (ratio, ns) = (it.bundle_ratio(), it.bundle_codec_ns);
        parts.push(change(
            it.compressed_bundles,
            "bundles compressed",
            bytes,
            ratio,
            ns,
        ));
    }
    parts.extend(counts(&[
        (it.incompressible_bundles, "bundles no smaller compressed"),
        (it.batches, "batches"),
        (it.repairs, "repairs"),
        (it.lost, "lost"),
        (it.refused, "refused"),
    ]));
    parts.join("; ")
}

fn counts(all: &[(u64, &str)]) -> impl Iterator<Item = String> {
    let some = all.iter().filter(|(count, _)| *count > 0);
    some.map(|(count, what)| format!("{count} {what}"))
}

/// What was counted, as JSON shows it.
pub(crate) fn object(it: &EndpointStatistics) -> Value {
    json!({
        "samples": it.samples, "payload_bytes": it.payload_bytes,
        "compressed_samples": it.compressed_samples, "plain_bytes": it.plain_bytes,
        "compressed_bytes": it.compressed_bytes, "ratio": it.ratio(), "codec_ns": it.codec_ns,
        "below_threshold": it.below_threshold, "incompressible": it.incompressible,
        "not_taken": it.not_taken, "refused": it.refused,
        "bundles": it.bundles, "bundled_samples": it.bundled_samples,
        "compressed_bundles": it.compressed_bundles,
        "bundle_plain_bytes": it.bundle_plain_bytes,
        "bundle_compressed_bytes": it.bundle_compressed_bytes,
        "bundle_ratio": it.bundle_ratio(), "bundle_codec_ns": it.bundle_codec_ns,
        "incompressible_bundles": it.incompressible_bundles,
        "batches": it.batches, "repairs": it.repairs, "lost": it.lost,
        "heartbeats": it.heartbeats, "acknacks": it.acknacks,
    })
}

#[cfg(test)]
mod tests {
    use whimbrel::{DataWriterQos, DomainParticipantBuilder};

    use super::*;

    fn told(guid: Guid) -> EndpointStatistics {
        let mut told = EndpointStatistics::default();
        (told.guid, told.samples) = (guid.to_bytes(), 1);
        told
    }

    #[test]
    fn nobody_tells_of_the_endpoints_of_others() {
        let (mine, other) = ([1; 16], [2; 16]);
        let mut counted = Counted::default();
        let from = Guid::from_bytes(mine);
        counted.note(from, &told(Guid::from_bytes(other)));
        assert!(counted.of(Guid::from_bytes(other)).is_none());
        counted.note(from, &told(from));
        assert_eq!(counted.of(from).map(|it| it.samples), Some(1));
    }

    #[test]
    fn what_one_tells_replaces_nothing_that_another_told() {
        let participant = || {
            let builder = DomainParticipantBuilder::default();
            let tag = format!("told {}", std::process::id());
            builder.domain_tag(&tag).interfaces("lo").build().unwrap()
        };
        let (honest, liar, asking) = (participant(), participant(), participant());
        let reader = listen(&asking).unwrap();
        let mut said = EndpointStatistics::default();
        for (who, samples) in [(&honest, 1), (&liar, 4711)] {
            let topic = who.create_topic::<EndpointStatistics>(TOPIC_NAME).unwrap();
            let qos = DataWriterQos::default().reliable().transient_local();
            let writer = who.create_datawriter(&topic, qos).unwrap();
            let within = Duration::from_secs(20);
            writer.wait_for_matched(1, within).unwrap();
            if samples == 1 {
                said.guid = writer.guid().to_bytes();
            }
            said.samples = samples;
            writer.write(&said).unwrap();
            writer.wait_for_acknowledgments(within).unwrap();
        }
        let mut counted = Counted::default();
        counted.take(&reader);
        let found = counted.of(Guid::from_bytes(said.guid));
        assert_eq!(found.map(|it| it.samples), Some(1));
    }

    #[test]
    fn only_what_happened_is_shown_and_no_number_is_too_large() {
        let mut it = EndpointStatistics::default();
        (it.samples, it.payload_bytes) = (3, 40);
        assert_eq!(line(&it), "3 samples of 40 octets");
        (it.compressed_samples, it.plain_bytes) = (2, 600);
        (it.compressed_bytes, it.codec_ns, it.below_threshold) = (200, 1_500_000, 1);
        (it.bundles, it.bundled_samples) = (2, 3);
        assert_eq!(
            line(&it),
            "3 samples of 40 octets; 2 compressed: 600 to 200 octets (1 of 3.00) in 1.5 ms; \
             left plain: 1 below the threshold; 2 bundles, 1.5 samples each"
        );
        (it.bundled_samples, it.codec_ns, it.plain_bytes) = (u64::MAX, u64::MAX, u64::MAX);
        (it.compressed_bundles, it.bundle_plain_bytes) = (u64::MAX, u64::MAX);
        assert!(line(&it).contains("18446744073709551615 bundles compressed"));
    }
}
