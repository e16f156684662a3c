//! What all policies share: their numbers, and what is known of each in general.

use core::fmt;

macro_rules! policy_ids {
    ($($(#[doc = $doc:literal])+ $name:ident = $id:literal $text:literal $heading:literal,)+) => {
        /// Number of a QoS policy as statuses carry it. DDS 1.4 §2.3.3, XTypes 1.3 §7.6.3.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
        #[repr(u8)]
        pub enum PolicyId {
            /// No policy.
            #[default]
            Invalid = 0,
            $($(#[doc = $doc])+ $name = $id,)+
        }

        impl PolicyId {
            /// Every policy, in the order of their numbers, without [`PolicyId::Invalid`].
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The policy with this number; [`PolicyId::Invalid`] for numbers of none.
            pub const fn from_number(number: u32) -> Self {
                match number {
                    $($id => Self::$name,)+
                    _ => Self::Invalid,
                }
            }

            /// The standard's name, such as `"RELIABILITY_QOS_POLICY"`.
            pub const fn name(self) -> &'static str {
                match self {
                    Self::Invalid => "INVALID_QOS_POLICY",
                    $(Self::$name => concat!($text, "_QOS_POLICY"),)+
                }
            }

            /// The name as the standard's text writes it, such as `"LATENCY_BUDGET"`.
            /// DDS 1.4 §2.2.3, table.
            pub const fn short_name(self) -> &'static str {
                match self {
                    Self::Invalid => "INVALID",
                    $(Self::$name => $heading,)+
                }
            }
        }
    };
}

policy_ids! {
    /// USER_DATA.
    UserData = 1 "USERDATA" "USER_DATA",
    /// DURABILITY.
    Durability = 2 "DURABILITY" "DURABILITY",
    /// PRESENTATION.
    Presentation = 3 "PRESENTATION" "PRESENTATION",
    /// DEADLINE.
    Deadline = 4 "DEADLINE" "DEADLINE",
    /// LATENCY_BUDGET.
    LatencyBudget = 5 "LATENCYBUDGET" "LATENCY_BUDGET",
    /// OWNERSHIP.
    Ownership = 6 "OWNERSHIP" "OWNERSHIP",
    /// OWNERSHIP_STRENGTH.
    OwnershipStrength = 7 "OWNERSHIPSTRENGTH" "OWNERSHIP_STRENGTH",
    /// LIVELINESS.
    Liveliness = 8 "LIVELINESS" "LIVELINESS",
    /// TIME_BASED_FILTER.
    TimeBasedFilter = 9 "TIMEBASEDFILTER" "TIME_BASED_FILTER",
    /// PARTITION.
    Partition = 10 "PARTITION" "PARTITION",
    /// RELIABILITY.
    Reliability = 11 "RELIABILITY" "RELIABILITY",
    /// DESTINATION_ORDER.
    DestinationOrder = 12 "DESTINATIONORDER" "DESTINATION_ORDER",
    /// HISTORY.
    History = 13 "HISTORY" "HISTORY",
    /// RESOURCE_LIMITS.
    ResourceLimits = 14 "RESOURCELIMITS" "RESOURCE_LIMITS",
    /// ENTITY_FACTORY.
    EntityFactory = 15 "ENTITYFACTORY" "ENTITY_FACTORY",
    /// WRITER_DATA_LIFECYCLE.
    WriterDataLifecycle = 16 "WRITERDATALIFECYCLE" "WRITER_DATA_LIFECYCLE",
    /// READER_DATA_LIFECYCLE.
    ReaderDataLifecycle = 17 "READERDATALIFECYCLE" "READER_DATA_LIFECYCLE",
    /// TOPIC_DATA.
    TopicData = 18 "TOPICDATA" "TOPIC_DATA",
    /// GROUP_DATA.
    GroupData = 19 "GROUPDATA" "GROUP_DATA",
    /// TRANSPORT_PRIORITY.
    TransportPriority = 20 "TRANSPORTPRIORITY" "TRANSPORT_PRIORITY",
    /// LIFESPAN.
    Lifespan = 21 "LIFESPAN" "LIFESPAN",
    /// DURABILITY_SERVICE.
    DurabilityService = 22 "DURABILITYSERVICE" "DURABILITY_SERVICE",
    /// DATA_REPRESENTATION.
    DataRepresentation = 23 "DATA_REPRESENTATION" "DATA_REPRESENTATION",
    /// TYPE_CONSISTENCY_ENFORCEMENT.
    TypeConsistency = 24 "TYPE_CONSISTENCY_ENFORCEMENT" "TYPE_CONSISTENCY_ENFORCEMENT",
}

impl PolicyId {
    /// The number that statuses carry.
    pub const fn number(self) -> u32 {
        self as u32
    }
}

impl fmt::Display for PolicyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.short_name())
    }
}

/// One QoS policy's value. DDS 1.4 §2.2.3.
pub trait Policy: PartialEq {
    /// Which policy this is.
    const ID: PolicyId;

    /// Whether it may change once its entity is enabled. DDS 1.4 §2.2.3, table, "Changeable".
    const CHANGEABLE: bool;

    /// What about this value does not exist here yet; `None` where all of it works.
    fn unsupported(&self) -> Option<&'static str> {
        None
    }
}

/// A policy that a writer offers and a reader requests. DDS 1.4 §2.2.3, table, "RxO".
pub trait RequestOffered: Policy + fmt::Display {
    /// True when what the writer offers satisfies what the reader requests.
    fn compatible(offered: &Self, requested: &Self) -> bool;
}

/// A policy value that the standard has but this implementation does not yet.
/// Maps to RETCODE_UNSUPPORTED.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnsupportedPolicy {
    /// Which policy.
    pub policy: PolicyId,
    /// What about it is missing.
    pub why: &'static str,
}

impl fmt::Display for UnsupportedPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not supported: {}", self.policy, self.why)
    }
}

impl core::error::Error for UnsupportedPolicy {}

/// Two values that contradict each other, or one that contradicts itself.
/// Maps to RETCODE_INCONSISTENT_POLICY.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InconsistentPolicy {
    /// The policy at fault.
    pub policy: PolicyId,
    /// The policy that it contradicts; the same one where it contradicts itself.
    pub against: PolicyId,
    /// The rule that is broken.
    pub why: &'static str,
}

impl fmt::Display for InconsistentPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is inconsistent", self.policy)?;
        if self.against != self.policy {
            write!(f, " with {}", self.against)?;
        }
        write!(f, ": {}", self.why)
    }
}

impl core::error::Error for InconsistentPolicy {}

/// A policy that may not change once its entity is enabled. Maps to RETCODE_IMMUTABLE_POLICY.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImmutablePolicy {
    /// Which policy.
    pub policy: PolicyId,
}

impl fmt::Display for ImmutablePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cannot change after enable", self.policy)
    }
}

impl core::error::Error for ImmutablePolicy {}

/// Refuses `policy` where its value is not supported.
pub(super) fn supported<P: Policy>(policy: &P) -> Result<(), UnsupportedPolicy> {
    match policy.unsupported() {
        None => Ok(()),
        Some(why) => Err(UnsupportedPolicy { policy: P::ID, why }),
    }
}

/// Refuses a change from `old` to `new` where the policy is not changeable.
pub(super) fn changeable<P: Policy>(old: &P, new: &P) -> Result<(), ImmutablePolicy> {
    if P::CHANGEABLE || old == new {
        Ok(())
    } else {
        Err(ImmutablePolicy { policy: P::ID })
    }
}

macro_rules! policy_kind {
    (
        $(#[$meta:meta])*
        $name:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $value:literal $text:literal,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
        pub enum $name {
            $($(#[$variant_meta])* $variant = $value,)+
        }

        impl $name {
            /// From the number that travels; `None` for numbers that mean nothing.
            pub const fn from_wire(number: u32) -> Option<Self> {
                match number {
                    $($value => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// The number that travels.
            pub const fn to_wire(self) -> u32 {
                self as u32
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(match self {
                    $(Self::$variant => $text,)+
                })
            }
        }
    };
}

pub(super) use policy_kind;

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn numbers_are_the_standards() {
        for (at, id) in PolicyId::ALL.iter().enumerate() {
            assert_eq!(id.number() as usize, at + 1);
            assert_eq!(PolicyId::from_number(id.number()), *id);
        }
        assert_eq!(PolicyId::from_number(25), PolicyId::Invalid);
        assert_eq!(PolicyId::Reliability.number(), 11);
        assert_eq!(PolicyId::LatencyBudget.to_string(), "LATENCY_BUDGET");
        assert_eq!(PolicyId::LatencyBudget.name(), "LATENCYBUDGET_QOS_POLICY");
    }
}
