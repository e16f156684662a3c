//! Which values of which policies work here: one table, judged by the same checks that refuse the
//! rest.

use super::compatibility::compare;
use super::compression::CompressionIds;
use super::data_representation::DataRepresentationId;
use super::destination_order::DestinationOrder;
use super::durability::Durability;
use super::history::History;
use super::liveliness::LivelinessKind;
use super::ownership::Ownership;
use super::participant_qos::DomainParticipantQos;
use super::policy::{Policy, PolicyId, UnsupportedPolicy};
use super::presentation::PresentationScope;
use super::publisher_qos::PublisherQos;
use super::reader_qos::DataReaderQos;
use super::reliability::ReliabilityKind;
use super::resource_limits::Limit;
use super::subscriber_qos::SubscriberQos;
use super::topic_qos::TopicQos;
use super::writer_qos::DataWriterQos;
use crate::time::Duration;

/// QoS of one entity of each kind.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct QosSet {
    /// Of a participant.
    pub participant: DomainParticipantQos,
    /// Of a topic.
    pub topic: TopicQos,
    /// Of a publisher.
    pub publisher: PublisherQos,
    /// Of a subscriber.
    pub subscriber: SubscriberQos,
    /// Of a data writer.
    pub writer: DataWriterQos,
    /// Of a data reader.
    pub reader: DataReaderQos,
}

impl QosSet {
    /// Refuses, by name, policies whose behaviour does not exist here yet.
    pub fn check_supported(&self) -> Result<(), UnsupportedPolicy> {
        self.participant.check_supported()?;
        self.topic.check_supported()?;
        self.publisher.check_supported()?;
        self.subscriber.check_supported()?;
        self.writer.check_supported()?;
        self.reader.check_supported()
    }
}

/// A value, or a kind of values, of a policy.
#[derive(Clone, Copy, Debug)]
pub struct Feature {
    /// The policy.
    pub policy: PolicyId,
    /// The value, in words.
    pub value: &'static str,
    /// Has all entities that have the policy ask for the value.
    pub ask: fn(&mut QosSet),
    /// Tests of the behaviour, or of the refusal: a file of this repository, `::` and the
    /// function's name.
    pub tests: &'static [&'static str],
}

impl Feature {
    /// QoS that asks for the value wherever its policy exists, and is the default otherwise.
    pub fn qos(&self) -> QosSet {
        let mut set = QosSet::default();
        (self.ask)(&mut set);
        set
    }

    /// Why the value is refused; `None` where it works.
    pub fn refusal(&self) -> Option<UnsupportedPolicy> {
        self.qos().check_supported().err()
    }

    /// Whether the policy is one that a writer offers and a reader requests, PARTITION aside.
    /// DDS 1.4 §2.2.3, table, "RxO".
    pub fn is_request_offered(&self) -> bool {
        let QosSet {
            publisher,
            subscriber,
            writer,
            reader,
            ..
        } = QosSet::default();
        let verdicts = compare(&writer, &publisher, &reader, &subscriber);
        verdicts.iter().any(|it| it.policy == self.policy)
    }

    /// Whether the policy may change once its entity is enabled. DDS 1.4 §2.2.3, table,
    /// "Changeable".
    pub const fn is_changeable(&self) -> bool {
        macro_rules! changeable {
            ($($policy:ident)+) => {
                match self.policy {
                    PolicyId::Invalid => false,
                    $(PolicyId::$policy => <super::$policy as Policy>::CHANGEABLE,)+
                }
            };
        }
        changeable! {
            UserData Durability Presentation Deadline LatencyBudget Ownership OwnershipStrength
            Liveliness TimeBasedFilter Partition Reliability DestinationOrder History
            ResourceLimits EntityFactory WriterDataLifecycle ReaderDataLifecycle TopicData
            GroupData TransportPriority Lifespan DurabilityService DataRepresentation
            TypeConsistency
        }
    }
}

const CHANGES: &str = "crates/whimbrel/tests/it/qos.rs::changed_user_data_reaches_the_other_side";
const OCTETS: &str =
    "crates/whimbrel/tests/it/qos.rs::changed_octets_of_groups_and_topics_reach_the_other_side";
const REFUSED: &str =
    "crates/whimbrel/tests/it/statuses.rs::every_policy_without_behaviour_is_refused_by_its_name";
const GROUPS: &str = "crates/whimbrel/tests/it/statuses.rs::groups_refuse_what_does_not_exist_yet";
const ALL_REFUSED: &str =
    "crates/whimbrel/tests/it/features.rs::what_the_table_refuses_is_refused_by_every_entity";
const WIRE_REPRESENTATIONS: &str = "crates/whimbrel/tests/it/features.rs::both_encodings_travel";
const LATE: &str = "crates/whimbrel/tests/it/exchange.rs::large_samples_and_late_joiners";
const NEVER_OLD: &str = "crates/proto/src/writer/tests/sending.rs::\
 a_late_joiner_hears_of_history_only_when_it_wants_it";
const ACCEPTED: &str =
    "crates/whimbrel/tests/it/features.rs::what_the_table_accepts_carries_samples";
const ENDS: &str =
    "crates/whimbrel/tests/it/exchange.rs::instances_are_disposed_and_lose_their_writers";

/// Half a minute: a finite value where infinity is the default, and the other way round.
const SPAN: Duration = Duration::from_secs(30);

macro_rules! features {
    ($($policy:ident $value:literal $ask:expr, [$($test:expr),* $(,)?];)+) => {
        /// Every policy with the values that differ in behaviour, in the order of the policies'
        /// numbers; the default value of each comes first.
        pub static FEATURES: &[Feature] = &[$(Feature {
            policy: PolicyId::$policy,
            value: $value,
            ask: $ask,
            tests: &[$($test),*],
        },)+];
    };
}

/// Sets one field of topic, writer and reader.
macro_rules! endpoints {
    ($set:ident, $($field:ident).+ = $value:expr) => {{
        $set.topic.$($field).+ = $value;
        $set.writer.$($field).+ = $value;
        $set.reader.$($field).+ = $value;
    }};
}

features! {
    UserData "any octets" |set| {
        set.participant.user_data.value = [1].into();
        set.writer.user_data.value = [1].into();
        set.reader.user_data.value = [1].into();
    }, [CHANGES];
    Durability "VOLATILE" |set| endpoints!(set, durability = Durability::Volatile), [NEVER_OLD];
    Durability "TRANSIENT_LOCAL"
        |set| endpoints!(set, durability = Durability::TransientLocal), [LATE];
    Durability "TRANSIENT"
        |set| endpoints!(set, durability = Durability::Transient), [REFUSED, ALL_REFUSED];
    Durability "PERSISTENT"
        |set| endpoints!(set, durability = Durability::Persistent), [REFUSED, ALL_REFUSED];
    Presentation "INSTANCE, neither coherent nor ordered" |_| (),
        ["crates/proto/src/cache/tests.rs::instances_in_turn"];
    Presentation "TOPIC" |set| {
        set.publisher.presentation.access_scope = PresentationScope::Topic;
        set.subscriber.presentation.access_scope = PresentationScope::Topic;
    }, [ALL_REFUSED];
    Presentation "GROUP" |set| {
        set.publisher.presentation.access_scope = PresentationScope::Group;
        set.subscriber.presentation.access_scope = PresentationScope::Group;
    }, [ALL_REFUSED];
    Presentation "coherent access" |set| {
        set.publisher.presentation.coherent_access = true;
        set.subscriber.presentation.coherent_access = true;
    }, [GROUPS, ALL_REFUSED];
    Presentation "ordered access" |set| {
        set.publisher.presentation.ordered_access = true;
        set.subscriber.presentation.ordered_access = true;
    }, [ALL_REFUSED];
    Deadline "infinite" |_| (), [ACCEPTED];
    Deadline "finite" |set| endpoints!(set, deadline.period = SPAN), [REFUSED, ALL_REFUSED];
    LatencyBudget "zero" |_| (), ["crates/proto/src/writer/tests/sending.rs::\
     a_lone_sample_is_one_message"];
    LatencyBudget "above zero"
        |set| endpoints!(set, latency_budget.duration = SPAN),
        ["crates/proto/src/writer/tests/bundles.rs::samples_wait_for_the_latency_budget",
         "crates/whimbrel/tests/it/bundling.rs::a_bundle_leaves_in_time"];
    Ownership "SHARED" |_| (), [ACCEPTED];
    Ownership "EXCLUSIVE"
        |set| endpoints!(set, ownership = Ownership::Exclusive), [REFUSED, ALL_REFUSED];
    OwnershipStrength "zero" |_| (), [ACCEPTED];
    OwnershipStrength "other"
        |set| set.writer.ownership_strength.value = 1, [REFUSED, ALL_REFUSED];
    Liveliness "AUTOMATIC, infinite" |_| (),
        ["crates/whimbrel/tests/it/statuses.rs::matches_are_counted_and_reading_starts_anew"];
    Liveliness "AUTOMATIC, finite"
        |set| endpoints!(set, liveliness.lease_duration = SPAN), [REFUSED, ALL_REFUSED];
    Liveliness "MANUAL_BY_PARTICIPANT"
        |set| endpoints!(set, liveliness.kind = LivelinessKind::ManualByParticipant), [ALL_REFUSED];
    Liveliness "MANUAL_BY_TOPIC"
        |set| endpoints!(set, liveliness.kind = LivelinessKind::ManualByTopic),
        [REFUSED, ALL_REFUSED];
    TimeBasedFilter "zero" |_| (), [ACCEPTED];
    TimeBasedFilter "above zero"
        |set| set.reader.time_based_filter.minimum_separation = SPAN, [REFUSED, ALL_REFUSED];
    Partition "names and patterns" |set| {
        set.publisher.partition.names = ["a*".into()].into();
        set.subscriber.partition.names = ["a*".into()].into();
    }, ["crates/whimbrel/tests/it/qos.rs::a_changed_partition_unmatches_and_rematches",
        "crates/base/src/qos/partition.rs::patterns"];
    Reliability "BEST_EFFORT"
        |set| endpoints!(set, reliability.kind = ReliabilityKind::BestEffort),
        ["crates/proto/src/reader/tests/order.rs::best_effort_never_goes_back_and_counts_losses"];
    Reliability "RELIABLE"
        |set| endpoints!(set, reliability.kind = ReliabilityKind::Reliable),
        ["crates/proto/src/reader/tests/lossy.rs::everything_arrives_over_a_lossy_wire",
         "crates/whimbrel/tests/it/exchange.rs::a_full_reader_holds_the_writer_back_without_loss"];
    DestinationOrder "BY_RECEPTION_TIMESTAMP" |_| (),
        ["crates/proto/src/reader/tests/order.rs::order_is_kept_and_holes_are_asked_for"];
    DestinationOrder "BY_SOURCE_TIMESTAMP"
        |set| endpoints!(set, destination_order = DestinationOrder::BySourceTimestamp),
        [REFUSED, ALL_REFUSED];
    History "KEEP_LAST" |set| endpoints!(set, history = History::KeepLast(7)),
        ["crates/proto/src/cache/tests.rs::keep_last_replaces_the_oldest"];
    History "KEEP_ALL" |set| endpoints!(set, history = History::KeepAll),
        ["crates/proto/src/writer/tests/room.rs::a_full_history_blocks_until_acknowledged"];
    ResourceLimits "unlimited" |_| (), [ACCEPTED];
    ResourceLimits "max_samples, max_instances, max_samples_per_instance" |set| {
        endpoints!(set, resource_limits.max_samples = Limit::at_most(100));
        endpoints!(set, resource_limits.max_instances = Limit::at_most(10));
        endpoints!(set, resource_limits.max_samples_per_instance = Limit::at_most(10));
    }, ["crates/proto/src/cache/tests.rs::limits_reject_by_name_and_leave_no_trace",
        "crates/whimbrel/tests/it/statuses.rs::samples_without_room_are_counted_as_rejected"];
    EntityFactory "entities are enabled at once" |_| (), [ACCEPTED];
    EntityFactory "entities are created disabled" |set| {
        set.participant.entity_factory.autoenable_created_entities = false;
        set.publisher.entity_factory.autoenable_created_entities = false;
        set.subscriber.entity_factory.autoenable_created_entities = false;
    }, [GROUPS, ALL_REFUSED];
    WriterDataLifecycle "unregistering disposes" |_| (), [ENDS];
    WriterDataLifecycle "unregistering does not dispose"
        |set| set.writer.writer_data_lifecycle.autodispose_unregistered_instances = false,
        ["crates/whimbrel/tests/it/features.rs::unregistering_disposes_only_where_it_should"];
    ReaderDataLifecycle "no purging" |_| (), [ACCEPTED];
    ReaderDataLifecycle "autopurge_nowriter_samples_delay"
        |set| set.reader.reader_data_lifecycle.autopurge_nowriter_samples_delay = SPAN,
        [ALL_REFUSED];
    ReaderDataLifecycle "autopurge_disposed_samples_delay"
        |set| set.reader.reader_data_lifecycle.autopurge_disposed_samples_delay = SPAN,
        [REFUSED, ALL_REFUSED];
    TopicData "any octets" |set| set.topic.topic_data.value = [1].into(), [OCTETS];
    GroupData "any octets" |set| {
        set.publisher.group_data.value = [1].into();
        set.subscriber.group_data.value = [1].into();
    }, [OCTETS];
    TransportPriority "zero" |_| (), [ACCEPTED];
    TransportPriority "other" |set| {
        set.topic.transport_priority.value = 1;
        set.writer.transport_priority.value = 1;
    }, [REFUSED, ALL_REFUSED];
    Lifespan "infinite" |_| (), [ACCEPTED];
    Lifespan "finite" |set| {
        set.topic.lifespan.duration = SPAN;
        set.writer.lifespan.duration = SPAN;
    }, [REFUSED, ALL_REFUSED];
    DurabilityService "none" |_| (), [ACCEPTED];
    DurabilityService "any"
        |set| {
            set.topic.durability_service.service_cleanup_delay = SPAN;
            set.writer.durability_service.service_cleanup_delay = SPAN;
        }, [REFUSED, ALL_REFUSED];
    DataRepresentation "XCDR1"
        |set| endpoints!(set, data_representation.ids = [DataRepresentationId::XCDR1].into()),
        [WIRE_REPRESENTATIONS];
    DataRepresentation "XCDR2"
        |set| endpoints!(set, data_representation.ids = [DataRepresentationId::XCDR2].into()),
        [WIRE_REPRESENTATIONS];
    DataRepresentation "XML"
        |set| endpoints!(set, data_representation.ids = [DataRepresentationId::XML].into()),
        [REFUSED, ALL_REFUSED];
    DataRepresentation "compression"
        |set| {
            set.topic.data_representation.compression.compression_ids = Some(CompressionIds::ALL);
            set.writer.data_representation.compression.compression_ids = Some(CompressionIds::LZ4);
            set.reader.data_representation.compression.compression_ids = Some(CompressionIds::LZ4);
        },
        ["crates/whimbrel/tests/it/compression.rs::every_codec_carries_samples_of_every_size"];
    DataRepresentation "compression level"
        |set| {
            endpoints!(set, data_representation.compression.writer_compression_level = 1)
        },
        ["crates/compress/src/tests.rs::everything_comes_back_at_every_level"];
    DataRepresentation "compression threshold"
        |set| {
            endpoints!(set, data_representation.compression.writer_compression_threshold = None)
        },
        ["crates/whimbrel/tests/it/compression.rs::nothing_is_compressed_unless_asked_for"];
    TypeConsistency "types are compared by name" |_| (),
        ["crates/whimbrel/tests/it/statuses.rs::topics_hear_of_other_types_under_their_name"];
    TypeConsistency "any other rule" |set| {
        set.topic.type_consistency.prevent_type_widening = true;
        set.reader.type_consistency.prevent_type_widening = true;
    }, [REFUSED, ALL_REFUSED];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qos::{compare, is_compatible};
    use alloc::vec::Vec;

    #[test]
    fn every_policy_is_in_the_table_and_a_refusal_names_it() {
        let mut policies: Vec<PolicyId> = FEATURES.iter().map(|it| it.policy).collect();
        assert!(policies.is_sorted());
        policies.dedup();
        assert_eq!(policies, PolicyId::ALL);
        for feature in FEATURES {
            assert!(!feature.tests.is_empty(), "{feature:?}");
            if let Some(refusal) = feature.refusal() {
                assert_eq!(refusal.policy, feature.policy, "{feature:?}");
            }
        }
    }

    #[test]
    fn the_first_value_of_each_policy_works() {
        for policy in PolicyId::ALL {
            let first = FEATURES.iter().find(|it| it.policy == *policy).unwrap();
            assert_eq!(first.refusal(), None, "{first:?}");
        }
    }

    #[test]
    fn values_asked_for_are_consistent_and_agree_with_themselves() {
        for feature in FEATURES {
            let set = feature.qos();
            assert_eq!(set.topic.check(), Ok(()), "{feature:?}");
            assert_eq!(set.writer.check(), Ok(()), "{feature:?}");
            assert_eq!(set.reader.check(), Ok(()), "{feature:?}");
            let (writer, reader) = (&set.writer, &set.reader);
            assert!(
                is_compatible(writer, &set.publisher, reader, &set.subscriber),
                "{feature:?}: {:?}",
                compare(writer, &set.publisher, reader, &set.subscriber)
            );
        }
    }
}
