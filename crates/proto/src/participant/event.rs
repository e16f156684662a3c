//! What a participant reports, as values.

use alloc::string::String;
use alloc::vec::Vec;

use whimbrel_base::guid::{EntityId, Guid, GuidPrefix};
use whimbrel_base::locator::Locator;
use whimbrel_base::qos::PolicyId;

use super::unserved::Unserved;
use crate::peer::{MatchedReader, MatchedWriter};

/// What a participant reports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ParticipantEvent {
    /// A reader for the local writer to serve; again, with other locators, when it has moved.
    ReaderMatched {
        /// The local writer.
        writer: EntityId,
        /// The reader.
        reader: MatchedReader,
    },
    /// The local writer serves this reader no more.
    ReaderUnmatched {
        /// The local writer.
        writer: EntityId,
        /// The reader.
        reader: Guid,
        /// It may come back with what it knew, as nothing said that it is gone.
        lost: bool,
    },
    /// A writer for the local reader to listen to; again, with other locators, when it has moved.
    WriterMatched {
        /// The local reader.
        reader: EntityId,
        /// The writer.
        writer: MatchedWriter,
    },
    /// The local reader listens to this writer no more.
    WriterUnmatched {
        /// The local reader.
        reader: EntityId,
        /// The writer.
        writer: Guid,
    },
    /// A reader requests more than the local writer offers. Once per pair and set of policies.
    /// DDS 1.4 §2.2.4.1 OFFERED_INCOMPATIBLE_QOS.
    ReaderIncompatible {
        /// The local writer.
        writer: EntityId,
        /// The reader.
        reader: Guid,
        /// Every policy that is incompatible.
        policies: Vec<PolicyId>,
    },
    /// A writer offers less than the local reader requests. Once per pair and set of policies.
    /// DDS 1.4 §2.2.4.1 REQUESTED_INCOMPATIBLE_QOS.
    WriterIncompatible {
        /// The local reader.
        reader: EntityId,
        /// The writer.
        writer: Guid,
        /// Every policy that is incompatible.
        policies: Vec<PolicyId>,
    },
    /// Somebody uses a local topic's name with another type. Once per pair.
    /// DDS 1.4 §2.2.4.1 INCONSISTENT_TOPIC.
    InconsistentTopic {
        /// Name of the topic.
        topic_name: String,
    },
    /// A local reader has found no writer in time after its creation, or after the participant of
    /// its last one was lost.
    ReaderUnserved {
        /// The local reader.
        reader: EntityId,
        /// Why, as far as is known.
        unserved: Unserved,
    },
    /// The participant of a matched endpoint has acknowledged the announcement of ours: both
    /// sides know of the match.
    PeerConfirmed {
        /// The local endpoint.
        local: EntityId,
        /// The endpoint matched with it.
        remote: Guid,
    },
    /// A participant was heard for the first time; it has not shown yet that it hears us.
    ParticipantHeard(GuidPrefix),
    /// A participant that was heard is gone, or had to make room, before it has shown that it
    /// hears us.
    ParticipantForgotten(GuidPrefix),
    /// A participant is there and hears us.
    ParticipantDiscovered(GuidPrefix),
    /// A participant is gone, and all of its endpoints with it.
    ParticipantLost {
        /// Which one.
        prefix: GuidPrefix,
        /// It said so itself; otherwise its lease ended.
        departed: bool,
    },
    /// Participants, endpoints or matches changed: what the driver derives from them is stale.
    /// Comes once, after all the others.
    RoutingChanged,
    /// Somebody else sends with our GUID prefix. Once per address.
    OwnGuidClaimed {
        /// From where.
        from: Locator,
    },
}
