//! What is known of other participants and their endpoints.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering};

use whimbrel_base::guid::{EntityId, Guid, GuidPrefix};
use whimbrel_base::locator::Locator;
use whimbrel_base::qos::{Bundling, EntityFactory, PublisherQos, SubscriberQos};
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::sorted::SortedSet;
use whimbrel_base::time::{Duration, Instant};
use whimbrel_base::vendor::VendorId;
use whimbrel_wire::discovery::{ParticipantData, ReaderData, WriterData};

use super::assurance::Assurance;
use super::greetings::Greetings;
use super::host::{Answered, Host};
use crate::discovery::locators::Route;
use crate::discovery::matching::{ReaderFacts, WriterFacts};

/// When a participant was last heard, shared with whoever receives its packets.
#[derive(Debug)]
pub struct Heard(AtomicU64);

/// Notes closer together than this are one: a busy receiver need not write at every packet.
const HEARD_RESOLUTION: Duration = Duration::from_millis(10);

impl Heard {
    /// Heard at `now`.
    pub const fn new(now: Instant) -> Self {
        Self(AtomicU64::new(now.0))
    }

    /// A valid packet of the participant arrived at `now`.
    #[inline]
    pub fn note(&self, now: Instant) {
        if now.since(self.last()) >= HEARD_RESOLUTION {
            self.0.store(now.0, Ordering::Relaxed);
        }
    }

    /// When it was last heard, to within 10 ms.
    #[inline]
    pub fn last(&self) -> Instant {
        Instant(self.0.load(Ordering::Relaxed))
    }
}

/// Shortest lease that counts: shorter ones would make us forget whom we just heard.
const LEASE_MIN: Duration = Duration::from_millis(100);

/// Lease of a participant that has not shown yet that it hears us, at most.
const UNCONFIRMED_LEASE_MAX: Duration = Duration::from_secs(20);

/// Somebody announces a known participant from elsewhere.
#[derive(Debug)]
pub(super) struct Contest {
    pub(super) ends_at: Instant,
    pub(super) from: Locator,
    pub(super) data: ParticipantData,
    /// Octets in which that was said.
    pub(super) bytes: usize,
    /// The participant was heard where it is known to be.
    pub(super) heard_at_home: bool,
}

/// Signs that a participant started over, and when each was seen last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rebirth {
    /// A reader asked from the start again, and from where: it hears us there.
    pub(super) reader_at: Option<(Instant, Locator)>,
    /// A writer said less than it had said.
    pub(super) writer_at: Option<Instant>,
    /// Both were seen, the first one from there, and it has not announced itself since.
    pub(super) shown_from: Option<Locator>,
}

/// Another participant.
#[derive(Debug)]
pub struct RemoteParticipant {
    /// What it announced.
    pub data: ParticipantData,
    /// Where its announcement came from.
    pub address: Locator,
    /// When it was discovered.
    pub discovered_at: Instant,
    /// When it was last heard.
    pub heard: Arc<Heard>,
    /// It has shown that it hears us.
    pub confirmed: bool,
    /// From where it has shown that.
    pub(super) answered: Answered,
    /// How its discovery endpoints are reached: where they have answered, else where they may be.
    pub metatraffic: Route,
    /// How its other endpoints are reached unless they say otherwise, once it has answered there.
    pub user: Route,
    /// Where its discovery endpoints answered last.
    pub(super) reached: Vec<Locator>,
    /// The host from which it announced itself first.
    pub(super) origin: Host,
    /// Its endpoints that are known.
    pub(super) endpoints: usize,
    /// Somebody else may speak in its name.
    pub(super) contest: Option<Contest>,
    /// When discovery traffic last came from `address`, or from where it has answered.
    pub(super) address_heard_at: Instant,
    /// How it announces itself.
    pub(super) greetings: Greetings,
    /// What it announced itself with last, encapsulated.
    pub(super) announcement: Vec<u8>,
    /// Whether it has our announcement.
    pub(super) assurance: Assurance,
    /// When it alone was last told that we are here.
    pub(super) told_at: Option<Instant>,
    /// Announcements of our writers up to here are acknowledged.
    pub(super) publications_acked: SequenceNumber,
    /// Announcements of our readers up to here are acknowledged.
    pub(super) subscriptions_acked: SequenceNumber,
    /// Our built-in writers of which its readers have heard something since it was last served
    /// from the start.
    pub(super) hears: SortedSet<EntityId>,
    /// When it was last served from the start again.
    pub(super) resumed_at: Instant,
    /// What says that it started over.
    pub(super) rebirth: Rebirth,
}

impl RemoteParticipant {
    /// Which participant.
    pub const fn prefix(&self) -> GuidPrefix {
        self.data.guid.prefix
    }

    /// Its implementation.
    pub const fn vendor(&self) -> VendorId {
        self.data.vendor
    }

    /// How long it lives without being heard.
    pub fn lease(&self) -> Duration {
        let lease = self.data.lease_duration.max(LEASE_MIN);
        if self.confirmed {
            lease
        } else {
            lease.min(UNCONFIRMED_LEASE_MAX)
        }
    }

    /// When its lease ends if it is not heard again.
    pub fn lease_ends_at(&self) -> Instant {
        self.heard.last().after(self.lease())
    }

    /// When to decide who speaks for it.
    pub(super) fn contest_ends_at(&self) -> Option<Instant> {
        self.contest.as_ref().map(|contest| contest.ends_at)
    }

    /// What is left of its lease at `now`.
    pub fn lease_left(&self, now: Instant) -> Duration {
        if self.lease().is_infinite() {
            return Duration::INFINITE;
        }
        self.lease_ends_at().since(now)
    }
}

/// A writer of another participant.
#[derive(Debug)]
pub struct RemoteWriter {
    /// What it announced.
    pub data: WriterData,
    /// The policies of its publisher.
    pub publisher: PublisherQos,
}

impl RemoteWriter {
    pub(super) fn new(data: WriterData) -> Self {
        let endpoint = &data.endpoint;
        let publisher = PublisherQos {
            group_data: endpoint.group_data.clone(),
            presentation: endpoint.presentation,
            partition: endpoint.partition.clone(),
            entity_factory: EntityFactory::default(),
            bundling: Bundling::default(),
        };
        Self { data, publisher }
    }

    /// Who it is.
    pub const fn guid(&self) -> Guid {
        self.data.endpoint.guid
    }

    /// What matching looks at.
    pub fn facts(&self) -> WriterFacts<'_> {
        WriterFacts {
            guid: self.data.endpoint.guid,
            topic_name: &self.data.endpoint.topic_name,
            type_name: &self.data.endpoint.type_name,
            qos: &self.data.qos,
            publisher: &self.publisher,
        }
    }
}

/// A reader of another participant.
#[derive(Debug)]
pub struct RemoteReader {
    /// What it announced.
    pub data: ReaderData,
    /// The policies of its subscriber.
    pub subscriber: SubscriberQos,
}

impl RemoteReader {
    pub(super) fn new(data: ReaderData) -> Self {
        let endpoint = &data.endpoint;
        let subscriber = SubscriberQos {
            group_data: endpoint.group_data.clone(),
            presentation: endpoint.presentation,
            partition: endpoint.partition.clone(),
            entity_factory: EntityFactory::default(),
        };
        Self { data, subscriber }
    }

    /// Who it is.
    pub const fn guid(&self) -> Guid {
        self.data.endpoint.guid
    }

    /// What matching looks at.
    pub fn facts(&self) -> ReaderFacts<'_> {
        ReaderFacts {
            guid: self.data.endpoint.guid,
            topic_name: &self.data.endpoint.topic_name,
            type_name: &self.data.endpoint.type_name,
            qos: &self.data.qos,
            subscriber: &self.subscriber,
        }
    }
}

/// Every GUID of the participant `prefix`, as bounds of a map's range.
pub(super) fn guids_of(prefix: GuidPrefix) -> core::ops::RangeInclusive<Guid> {
    Guid::new(prefix, EntityId([0; 4]))..=Guid::new(prefix, EntityId([0xff; 4]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hearing_is_noted_now_and_then() {
        let at = |ms: u64| Instant(ms * 1_000_000);
        let heard = Heard::new(at(1000));
        heard.note(at(1009));
        assert_eq!(heard.last(), at(1000));
        heard.note(at(1010));
        assert_eq!(heard.last(), at(1010));
        heard.note(at(5));
        assert_eq!(heard.last(), at(1010));
    }
}
