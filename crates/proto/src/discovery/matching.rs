//! Who matches whom: one pure function from what is known of a writer and of a reader to a match
//! or to every reason why not.
//!
//! Statuses, log lines and tools all print the verdicts made here. No rule lives anywhere else.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use whimbrel_base::guid::Guid;
use whimbrel_base::qos::{
    DataReaderQos, DataWriterQos, PolicyId, PublisherQos, SubscriberQos, compare, is_compatible,
};

/// What matching looks at in a writer.
#[derive(Clone, Copy, Debug)]
pub struct WriterFacts<'a> {
    /// Who it is; says whether its topic has a key.
    pub guid: Guid,
    /// Name of its topic.
    pub topic_name: &'a str,
    /// Name of its type.
    pub type_name: &'a str,
    /// Its own policies.
    pub qos: &'a DataWriterQos,
    /// Those of its publisher.
    pub publisher: &'a PublisherQos,
}

/// What matching looks at in a reader.
#[derive(Clone, Copy, Debug)]
pub struct ReaderFacts<'a> {
    /// Who it is; says whether its topic has a key.
    pub guid: Guid,
    /// Name of its topic.
    pub topic_name: &'a str,
    /// Name of its type.
    pub type_name: &'a str,
    /// Its own policies.
    pub qos: &'a DataReaderQos,
    /// Those of its subscriber.
    pub subscriber: &'a SubscriberQos,
}

/// What a writer and a reader are to each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// They match.
    Matched,
    /// They have nothing to do with each other: other topics or other partitions.
    Unrelated,
    /// The same topic, but not the same type. DDS 1.4 §2.2.4.1 INCONSISTENT_TOPIC.
    Inconsistent,
    /// These offered policies do not satisfy the requests. DDS 1.4 §2.2.3.
    Incompatible(Vec<PolicyId>),
}

/// The outcome of one rule, with both values for a person to read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleVerdict {
    /// Name of the rule, such as `"topic name"` or `"RELIABILITY"`.
    pub rule: &'static str,
    /// The policy, where the rule is a request/offered comparison or PARTITION.
    pub policy: Option<PolicyId>,
    /// The writer's value.
    pub writer: String,
    /// The reader's value.
    pub reader: String,
    /// Whether the pair obeys the rule.
    pub passed: bool,
}

impl fmt::Display for RuleVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = if self.passed { "passed" } else { "failed" };
        write!(
            f,
            "{} {outcome}: writer {}, reader {}",
            self.rule, self.writer, self.reader
        )
    }
}

/// Judges the pair. Allocates only where policies are incompatible. RTPS 2.5 §8.5.4, DDS 1.4
/// §2.2.3.
pub fn judge(writer: &WriterFacts<'_>, reader: &ReaderFacts<'_>) -> Outcome {
    if writer.topic_name != reader.topic_name {
        return Outcome::Unrelated;
    }
    if writer.type_name != reader.type_name || !keys_agree(writer, reader) {
        return Outcome::Inconsistent;
    }
    if !writer
        .publisher
        .partition
        .matches(&reader.subscriber.partition)
    {
        return Outcome::Unrelated;
    }
    if is_compatible(writer.qos, writer.publisher, reader.qos, reader.subscriber) {
        return Outcome::Matched;
    }
    Outcome::Incompatible(
        compare(writer.qos, writer.publisher, reader.qos, reader.subscriber)
            .into_iter()
            .filter(|verdict| !verdict.compatible)
            .map(|verdict| verdict.policy)
            .collect(),
    )
}

/// Every rule with both values, obeyed or not; the pair matches where all passed.
pub fn explain(writer: &WriterFacts<'_>, reader: &ReaderFacts<'_>) -> Vec<RuleVerdict> {
    let mut verdicts = Vec::with_capacity(13);
    let mut name = |rule, writer: &str, reader: &str| {
        verdicts.push(RuleVerdict {
            rule,
            policy: None,
            writer: writer.into(),
            reader: reader.into(),
            passed: writer == reader,
        });
    };
    name("topic name", writer.topic_name, reader.topic_name);
    name("type name", writer.type_name, reader.type_name);
    name("key", key_text(writer.guid), key_text(reader.guid));
    let (offered, requested) = (&writer.publisher.partition, &reader.subscriber.partition);
    verdicts.push(RuleVerdict {
        rule: PolicyId::Partition.short_name(),
        policy: Some(PolicyId::Partition),
        writer: offered.to_string(),
        reader: requested.to_string(),
        passed: offered.matches(requested),
    });
    let policies = compare(writer.qos, writer.publisher, reader.qos, reader.subscriber);
    verdicts.extend(policies.into_iter().map(|verdict| RuleVerdict {
        rule: verdict.policy.short_name(),
        policy: Some(verdict.policy),
        writer: verdict.offered,
        reader: verdict.requested,
        passed: verdict.compatible,
    }));
    verdicts
}

fn keys_agree(writer: &WriterFacts<'_>, reader: &ReaderFacts<'_>) -> bool {
    writer.guid.entity.has_key() == reader.guid.entity.has_key()
}

fn key_text(guid: Guid) -> &'static str {
    if guid.entity.has_key() {
        "with key"
    } else {
        "without key"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whimbrel_base::guid::{EntityId, EntityKind, GuidPrefix};
    use whimbrel_base::qos::{
        DataRepresentation, DataRepresentationId, Durability, Ownership, Presentation, Reliability,
    };
    use whimbrel_base::time::Duration;

    struct Pair {
        writer_kind: EntityKind,
        topic: &'static str,
        type_name: &'static str,
        writer: DataWriterQos,
        publisher: PublisherQos,
        reader: DataReaderQos,
        subscriber: SubscriberQos,
    }

    impl Default for Pair {
        fn default() -> Self {
            Self {
                writer_kind: EntityKind::WriterWithKey,
                topic: "Square",
                type_name: "ShapeType",
                writer: DataWriterQos::default(),
                publisher: PublisherQos::default(),
                reader: DataReaderQos::default(),
                subscriber: SubscriberQos::default(),
            }
        }
    }

    fn check(pair: &Pair, expected: &Outcome) {
        let guid = |kind| Guid::new(GuidPrefix([1; 12]), EntityId::user(7, kind));
        let writer = WriterFacts {
            guid: guid(pair.writer_kind),
            topic_name: pair.topic,
            type_name: pair.type_name,
            qos: &pair.writer,
            publisher: &pair.publisher,
        };
        let reader = ReaderFacts {
            guid: guid(EntityKind::ReaderWithKey),
            topic_name: "Square",
            type_name: "ShapeType",
            qos: &pair.reader,
            subscriber: &pair.subscriber,
        };
        assert_eq!(judge(&writer, &reader), *expected);
        let verdicts = explain(&writer, &reader);
        let all = verdicts.iter().all(|verdict| verdict.passed);
        assert_eq!(all, *expected == Outcome::Matched);
        if let Outcome::Incompatible(policies) = expected {
            let failed: Vec<PolicyId> = verdicts
                .iter()
                .filter(|verdict| !verdict.passed)
                .filter_map(|verdict| verdict.policy)
                .collect();
            assert_eq!(failed, *policies);
        }
    }

    #[test]
    fn names_types_and_keys() {
        check(&Pair::default(), &Outcome::Matched);
        check(
            &Pair {
                topic: "Circle",
                ..Pair::default()
            },
            &Outcome::Unrelated,
        );
        check(
            &Pair {
                type_name: "Shape",
                ..Pair::default()
            },
            &Outcome::Inconsistent,
        );
        let unkeyed = Pair {
            writer_kind: EntityKind::WriterNoKey,
            ..Pair::default()
        };
        check(&unkeyed, &Outcome::Inconsistent);
    }

    #[test]
    fn partitions_separate_silently_and_take_patterns() {
        let pair = |writer: &str, reader: &str| Pair {
            publisher: PublisherQos::default().partition(writer),
            subscriber: SubscriberQos::default().partition(reader),
            ..Pair::default()
        };
        check(&pair("p1", "p1"), &Outcome::Matched);
        check(&pair("p1", "p2"), &Outcome::Unrelated);
        check(&pair("p1", "p*"), &Outcome::Matched);
        check(&pair("x1", "p*"), &Outcome::Unrelated);
        check(&pair("p?", "p1"), &Outcome::Matched);
        let one_sided = Pair {
            publisher: PublisherQos::default().partition("p1"),
            ..Pair::default()
        };
        check(&one_sided, &Outcome::Unrelated);
    }

    #[test]
    fn every_incompatible_policy_is_named() {
        let mut pair = Pair::default();
        pair.writer.reliability = Reliability::BEST_EFFORT;
        pair.reader.reliability = Reliability::RELIABLE;
        check(
            &pair,
            &Outcome::Incompatible([PolicyId::Reliability].into()),
        );
        pair.reader.durability = Durability::TransientLocal;
        pair.reader.deadline.period = Duration::from_secs(1);
        pair.writer.ownership = Ownership::Exclusive;
        pair.subscriber.presentation = Presentation {
            ordered_access: true,
            ..Presentation::default()
        };
        pair.writer.data_representation = DataRepresentation {
            ids: [DataRepresentationId::XCDR2].into(),
            compression: Default::default(),
        };
        let all = [
            PolicyId::Durability,
            PolicyId::Presentation,
            PolicyId::Deadline,
            PolicyId::Ownership,
            PolicyId::Reliability,
            PolicyId::DataRepresentation,
        ];
        check(&pair, &Outcome::Incompatible(all.into()));
    }

    #[test]
    fn verdicts_read_well() {
        let verdict = RuleVerdict {
            rule: "topic name",
            policy: None,
            writer: "a".into(),
            reader: "b".into(),
            passed: false,
        };
        assert_eq!(verdict.to_string(), "topic name failed: writer a, reader b");
    }
}
