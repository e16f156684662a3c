//! What a writer offers against what a reader requests, policy by policy.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::policy::{PolicyId, RequestOffered};
use super::publisher_qos::PublisherQos;
use super::reader_qos::DataReaderQos;
use super::subscriber_qos::SubscriberQos;
use super::writer_qos::DataWriterQos;

/// The outcome for one policy, with both values for a person to read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// Which policy.
    pub policy: PolicyId,
    /// What the writer offers.
    pub offered: String,
    /// What the reader requests.
    pub requested: String,
    /// Whether the offer satisfies the request.
    pub compatible: bool,
}

/// The verdicts on all request/offered policies, compatible or not, in the order of their
/// numbers. DDS 1.4 §2.2.3, XTypes 1.3 §7.6.3.1.1.
///
/// PARTITION is no such policy; see [`Partition::matches`](super::Partition::matches).
pub fn compare(
    writer: &DataWriterQos,
    publisher: &PublisherQos,
    reader: &DataReaderQos,
    subscriber: &SubscriberQos,
) -> Vec<Verdict> {
    let mut texts = Texts(Vec::with_capacity(9));
    visit(writer, publisher, reader, subscriber, &mut texts);
    texts.0
}

/// True when every request/offered policy is compatible. Allocates nothing.
pub fn is_compatible(
    writer: &DataWriterQos,
    publisher: &PublisherQos,
    reader: &DataReaderQos,
    subscriber: &SubscriberQos,
) -> bool {
    let mut all = All(true);
    visit(writer, publisher, reader, subscriber, &mut all);
    all.0
}

trait Visitor {
    fn pair<P: RequestOffered>(&mut self, offered: &P, requested: &P);
}

fn visit(
    writer: &DataWriterQos,
    publisher: &PublisherQos,
    reader: &DataReaderQos,
    subscriber: &SubscriberQos,
    visitor: &mut impl Visitor,
) {
    visitor.pair(&writer.durability, &reader.durability);
    visitor.pair(&publisher.presentation, &subscriber.presentation);
    visitor.pair(&writer.deadline, &reader.deadline);
    visitor.pair(&writer.latency_budget, &reader.latency_budget);
    visitor.pair(&writer.ownership, &reader.ownership);
    visitor.pair(&writer.liveliness, &reader.liveliness);
    visitor.pair(&writer.reliability, &reader.reliability);
    visitor.pair(&writer.destination_order, &reader.destination_order);
    visitor.pair(&writer.data_representation, &reader.data_representation);
}

struct Texts(Vec<Verdict>);

impl Visitor for Texts {
    fn pair<P: RequestOffered>(&mut self, offered: &P, requested: &P) {
        self.0.push(Verdict {
            policy: P::ID,
            offered: offered.to_string(),
            requested: requested.to_string(),
            compatible: P::compatible(offered, requested),
        });
    }
}

struct All(bool);

impl Visitor for All {
    fn pair<P: RequestOffered>(&mut self, offered: &P, requested: &P) {
        self.0 &= P::compatible(offered, requested);
    }
}
