//! Communication statuses: what changed, how often, and since when it was last looked at.
//!
//! The structs are those of DDS 1.4 §2.2.4.1. Each keeps totals and the change since it was last
//! read; `take` reads it and starts the change anew. Nothing here notifies anybody.

use alloc::vec::Vec;
use core::fmt;
use core::ops::{BitAnd, BitOr, BitOrAssign, Not};

use crate::instance::InstanceHandle;
use crate::qos::PolicyId;

macro_rules! status_kinds {
    ($($(#[doc = $doc:literal])+ $name:ident = $bit:literal $text:literal,)+) => {
        /// A communication status. DDS 1.4 §2.2.4.1.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum StatusKind {
            $($(#[doc = $doc])+ $name,)+
        }

        impl StatusKind {
            /// Every status, in the order of the bits.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The standard's bit.
            pub const fn bit(self) -> u32 {
                match self {
                    $(Self::$name => 1 << $bit,)+
                }
            }

            /// The status whose bit is the one of this number, from 0.
            const fn at(number: u32) -> Option<Self> {
                match number {
                    $($bit => Some(Self::$name),)+
                    _ => None,
                }
            }

            /// The standard's name, such as `"DATA_AVAILABLE"`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)+
                }
            }
        }
    };
}

status_kinds! {
    /// A topic of the same name but another type exists.
    InconsistentTopic = 0 "INCONSISTENT_TOPIC",
    /// A writer missed its deadline.
    OfferedDeadlineMissed = 1 "OFFERED_DEADLINE_MISSED",
    /// A reader missed its deadline.
    RequestedDeadlineMissed = 2 "REQUESTED_DEADLINE_MISSED",
    /// A reader requests more than this writer offers.
    OfferedIncompatibleQos = 5 "OFFERED_INCOMPATIBLE_QOS",
    /// A writer offers less than this reader requests.
    RequestedIncompatibleQos = 6 "REQUESTED_INCOMPATIBLE_QOS",
    /// A sample never arrived.
    SampleLost = 7 "SAMPLE_LOST",
    /// A sample arrived and had no room.
    SampleRejected = 8 "SAMPLE_REJECTED",
    /// There is data in some reader of a subscriber.
    DataOnReaders = 9 "DATA_ON_READERS",
    /// There is data in a reader.
    DataAvailable = 10 "DATA_AVAILABLE",
    /// A writer did not assert its liveliness in time.
    LivelinessLost = 11 "LIVELINESS_LOST",
    /// A writer of this reader became alive or ceased to be.
    LivelinessChanged = 12 "LIVELINESS_CHANGED",
    /// A reader matched this writer or went.
    PublicationMatched = 13 "PUBLICATION_MATCHED",
    /// A writer matched this reader or went.
    SubscriptionMatched = 14 "SUBSCRIPTION_MATCHED",
}

impl fmt::Display for StatusKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of statuses. DDS 1.4 §2.2.4.1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct StatusMask(pub u32);

impl StatusMask {
    /// No status.
    pub const NONE: Self = Self(0);
    /// Every status: STATUS_MASK_ALL.
    pub const ALL: Self = Self(u32::MAX);

    /// The set of `kind` alone.
    pub const fn of(kind: StatusKind) -> Self {
        Self(kind.bit())
    }

    /// True when `kind` is in the set.
    pub const fn contains(self, kind: StatusKind) -> bool {
        self.0 & kind.bit() != 0
    }

    /// True when no status is in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// True when the two sets share a status.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Adds `kind`.
    pub const fn insert(&mut self, kind: StatusKind) {
        self.0 |= kind.bit();
    }

    /// Removes `kind`.
    pub const fn remove(&mut self, kind: StatusKind) {
        self.0 &= !kind.bit();
    }

    /// The statuses in the set, in the order of the bits.
    pub fn iter(self) -> impl Iterator<Item = StatusKind> {
        let mut left = self.0;
        core::iter::from_fn(move || {
            while left != 0 {
                let number = left.trailing_zeros();
                left &= left.wrapping_sub(1);
                if let Some(kind) = StatusKind::at(number) {
                    return Some(kind);
                }
            }
            None
        })
    }
}

impl From<StatusKind> for StatusMask {
    fn from(kind: StatusKind) -> Self {
        Self::of(kind)
    }
}

impl BitOr for StatusKind {
    type Output = StatusMask;

    fn bitor(self, other: Self) -> StatusMask {
        StatusMask(self.bit() | other.bit())
    }
}

impl<M: Into<Self>> BitOr<M> for StatusMask {
    type Output = Self;

    fn bitor(self, other: M) -> Self {
        Self(self.0 | other.into().0)
    }
}

impl<M: Into<Self>> BitOrAssign<M> for StatusMask {
    fn bitor_assign(&mut self, other: M) {
        self.0 |= other.into().0;
    }
}

impl BitAnd for StatusMask {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl Not for StatusMask {
    type Output = Self;

    fn not(self) -> Self {
        Self(!self.0)
    }
}

impl fmt::Debug for StatusMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

macro_rules! counted_status {
    ($(#[doc = $doc:literal])+ $name:ident {
        $($(#[doc = $field_doc:literal])+ $field:ident: $ty:ty,)*
    }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
        pub struct $name {
            /// How often in sum.
            pub total_count: u32,
            /// How often since the status was last read.
            pub total_count_change: u32,
            $($(#[doc = $field_doc])+ pub $field: $ty,)*
        }

        impl $name {
            /// Counts once more.
            pub fn count(&mut self $(, $field: $ty)*) {
                self.total_count = self.total_count.saturating_add(1);
                self.total_count_change = self.total_count_change.saturating_add(1);
                $(self.$field = $field;)*
            }

            /// Reads the status and starts its change anew.
            #[must_use]
            pub fn take(&mut self) -> Self {
                let read = *self;
                self.total_count_change = 0;
                read
            }

            /// True when it changed since it was last read.
            pub const fn has_changed(&self) -> bool {
                self.total_count_change != 0
            }
        }
    };
}

counted_status! {
    /// Topics of the same name but another type. DDS 1.4 §2.2.4.1.
    InconsistentTopic {}
}

counted_status! {
    /// Samples that never arrived. DDS 1.4 §2.2.4.1.
    SampleLost {}
}

counted_status! {
    /// Samples that arrived and had no room. DDS 1.4 §2.2.4.1.
    SampleRejected {
        /// Why the last one had none.
        last_reason: SampleRejectedKind,
        /// The instance of the last one.
        last_instance: InstanceHandle,
    }
}

counted_status! {
    /// Times that a writer did not assert its liveliness. DDS 1.4 §2.2.4.1.
    LivelinessLost {}
}

counted_status! {
    /// Deadlines that a writer missed. DDS 1.4 §2.2.4.1.
    OfferedDeadlineMissed {
        /// The instance of the last one.
        last_instance: InstanceHandle,
    }
}

counted_status! {
    /// Deadlines that a reader's writers missed. DDS 1.4 §2.2.4.1.
    RequestedDeadlineMissed {
        /// The instance of the last one.
        last_instance: InstanceHandle,
    }
}

impl SampleLost {
    /// Counts `count` samples lost at once.
    pub fn count_many(&mut self, count: u64) {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        self.total_count = self.total_count.saturating_add(count);
        self.total_count_change = self.total_count_change.saturating_add(count);
    }
}

/// Why a sample had no room. DDS 1.4 §2.2.4.1, SampleRejectedStatusKind.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum SampleRejectedKind {
    /// It had room.
    #[default]
    NotRejected,
    /// `max_instances` are there.
    ByInstancesLimit,
    /// `max_samples` are there.
    BySamplesLimit,
    /// `max_samples_per_instance` are there.
    BySamplesPerInstanceLimit,
    /// The participant holds as many octets as it may. Not a kind of the standard.
    ByMemoryLimit,
}

impl SampleRejectedKind {
    /// The standard's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotRejected => "NOT_REJECTED",
            Self::ByInstancesLimit => "REJECTED_BY_INSTANCES_LIMIT",
            Self::BySamplesLimit => "REJECTED_BY_SAMPLES_LIMIT",
            Self::BySamplesPerInstanceLimit => "REJECTED_BY_SAMPLES_PER_INSTANCE_LIMIT",
            Self::ByMemoryLimit => "REJECTED_BY_MEMORY_LIMIT",
        }
    }
}

impl fmt::Display for SampleRejectedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Writers of a reader that are alive, and those that are not. DDS 1.4 §2.2.4.1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct LivelinessChanged {
    /// Writers alive now.
    pub alive_count: u32,
    /// Matched writers not alive now.
    pub not_alive_count: u32,
    /// Change of `alive_count` since the status was last read.
    pub alive_count_change: i32,
    /// Change of `not_alive_count` since the status was last read.
    pub not_alive_count_change: i32,
    /// The writer that changed last.
    pub last_publication: InstanceHandle,
}

impl LivelinessChanged {
    /// Notes that writers changed: by how many the living and the others grew or shrank.
    pub fn change(&mut self, alive: i32, not_alive: i32, publication: InstanceHandle) {
        self.alive_count = self.alive_count.saturating_add_signed(alive);
        self.alive_count_change = self.alive_count_change.saturating_add(alive);
        self.not_alive_count = self.not_alive_count.saturating_add_signed(not_alive);
        self.not_alive_count_change = self.not_alive_count_change.saturating_add(not_alive);
        self.last_publication = publication;
    }

    /// Reads the status and starts its changes anew.
    #[must_use]
    pub fn take(&mut self) -> Self {
        let read = *self;
        self.alive_count_change = 0;
        self.not_alive_count_change = 0;
        read
    }
}

macro_rules! matched_status {
    ($(#[doc = $doc:literal])+ $name:ident, $(#[doc = $last_doc:literal])+ $last:ident) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
        pub struct $name {
            /// Matches in sum, also past ones.
            pub total_count: u32,
            /// Matches since the status was last read.
            pub total_count_change: u32,
            /// Matches now.
            pub current_count: u32,
            /// Change of `current_count` since the status was last read.
            pub current_count_change: i32,
            $(#[doc = $last_doc])+
            pub $last: InstanceHandle,
        }

        impl $name {
            /// Notes a match.
            pub fn matched(&mut self, peer: InstanceHandle) {
                self.total_count = self.total_count.saturating_add(1);
                self.total_count_change = self.total_count_change.saturating_add(1);
                self.current_count = self.current_count.saturating_add(1);
                self.current_count_change = self.current_count_change.saturating_add(1);
                self.$last = peer;
            }

            /// Notes the end of a match.
            pub fn unmatched(&mut self, peer: InstanceHandle) {
                self.current_count = self.current_count.saturating_sub(1);
                self.current_count_change = self.current_count_change.saturating_sub(1);
                self.$last = peer;
            }

            /// Reads the status and starts its changes anew.
            #[must_use]
            pub fn take(&mut self) -> Self {
                let read = *self;
                self.total_count_change = 0;
                self.current_count_change = 0;
                read
            }
        }
    };
}

matched_status! {
    /// Readers that match a writer. DDS 1.4 §2.2.4.1.
    PublicationMatched,
    /// The reader that came or went last.
    last_subscription
}

matched_status! {
    /// Writers that match a reader. DDS 1.4 §2.2.4.1.
    SubscriptionMatched,
    /// The writer that came or went last.
    last_publication
}

/// How often one policy stood in the way.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PolicyCount {
    /// Which policy.
    pub policy: PolicyId,
    /// How often.
    pub count: u32,
}

/// Peers that would match but for their QoS. DDS 1.4 §2.2.4.1.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct IncompatibleQos {
    /// Such peers in sum.
    pub total_count: u32,
    /// Such peers since the status was last read.
    pub total_count_change: u32,
    /// One of the policies that the last such peer failed on.
    pub last_policy: PolicyId,
    /// How many peers failed on each policy; only policies that some failed on.
    pub policies: Vec<PolicyCount>,
}

/// Readers that request more than a writer offers.
pub type OfferedIncompatibleQos = IncompatibleQos;

/// Writers that offer less than a reader requests.
pub type RequestedIncompatibleQos = IncompatibleQos;

impl IncompatibleQos {
    /// Counts one peer that failed on all of `policies`, of which there is at least one.
    pub fn count(&mut self, policies: impl IntoIterator<Item = PolicyId>) {
        self.total_count = self.total_count.saturating_add(1);
        self.total_count_change = self.total_count_change.saturating_add(1);
        for policy in policies {
            self.last_policy = policy;
            match self.policies.iter_mut().find(|p| p.policy == policy) {
                Some(known) => known.count = known.count.saturating_add(1),
                None => self.policies.push(PolicyCount { policy, count: 1 }),
            }
        }
    }

    /// Reads the status and starts its change anew.
    #[must_use]
    pub fn take(&mut self) -> Self {
        let read = self.clone();
        self.total_count_change = 0;
        read
    }

    /// True when it changed since it was last read.
    pub const fn has_changed(&self) -> bool {
        self.total_count_change != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEER: InstanceHandle = InstanceHandle([7; 16]);

    #[test]
    fn bits_are_the_standards() {
        assert_eq!(StatusKind::InconsistentTopic.bit(), 0x0001);
        assert_eq!(StatusKind::OfferedIncompatibleQos.bit(), 0x0020);
        assert_eq!(StatusKind::DataAvailable.bit(), 0x0400);
        assert_eq!(StatusKind::SubscriptionMatched.bit(), 0x4000);
        let mut mask = StatusKind::DataAvailable | StatusKind::SampleLost;
        mask |= StatusKind::SampleRejected;
        assert_eq!(mask.iter().count(), 3);
        mask.remove(StatusKind::SampleLost);
        assert!(!mask.contains(StatusKind::SampleLost));
        assert!(mask.intersects(StatusMask::of(StatusKind::DataAvailable)));
        assert!((mask & !mask).is_empty());
    }

    #[test]
    fn reading_starts_the_change_anew() {
        let mut rejected = SampleRejected::default();
        rejected.count(SampleRejectedKind::BySamplesLimit, PEER);
        rejected.count(SampleRejectedKind::ByInstancesLimit, PEER);
        let read = rejected.take();
        assert_eq!((read.total_count, read.total_count_change), (2, 2));
        assert_eq!(read.last_reason, SampleRejectedKind::ByInstancesLimit);
        assert!(!rejected.has_changed());
        assert_eq!(rejected.take().total_count, 2);
    }

    #[test]
    fn matches_come_and_go() {
        let mut matched = SubscriptionMatched::default();
        matched.matched(PEER);
        matched.matched(PEER);
        matched.unmatched(PEER);
        let read = matched.take();
        assert_eq!((read.total_count, read.total_count_change), (2, 2));
        assert_eq!((read.current_count, read.current_count_change), (1, 1));
        matched.unmatched(PEER);
        let read = matched.take();
        assert_eq!((read.total_count_change, read.current_count), (0, 0));
        assert_eq!(read.current_count_change, -1);
    }

    #[test]
    fn incompatible_peers_count_every_policy() {
        let mut status = OfferedIncompatibleQos::default();
        status.count([PolicyId::Durability, PolicyId::Reliability]);
        status.count([PolicyId::Durability]);
        let read = status.take();
        assert_eq!((read.total_count, read.total_count_change), (2, 2));
        assert_eq!(read.last_policy, PolicyId::Durability);
        let counts = [(PolicyId::Durability, 2), (PolicyId::Reliability, 1)];
        let expected = counts.map(|(policy, count)| PolicyCount { policy, count });
        assert_eq!(read.policies, expected);
        assert!(!status.has_changed());
    }

    #[test]
    fn liveliness_moves_between_its_counts() {
        let mut status = LivelinessChanged::default();
        status.change(1, 0, PEER);
        status.change(-1, 1, PEER);
        let read = status.take();
        assert_eq!((read.alive_count, read.not_alive_count), (0, 1));
        assert_eq!(
            (read.alive_count_change, read.not_alive_count_change),
            (0, 1)
        );
        assert_eq!(status.take().not_alive_count_change, 0);
    }
}
