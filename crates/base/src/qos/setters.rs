//! Setters and checks that topics, writers and readers share.

use alloc::vec::Vec;

use super::compression::{Compression, CompressionIds};
use super::data_representation::DataRepresentation;
use super::history::History;
use super::policy::{InconsistentPolicy, PolicyId};
use super::resource_limits::{Limit, ResourceLimits};

/// Longest USER_DATA, TOPIC_DATA and GROUP_DATA: what fits a parameter, whose length is a
/// multiple of four below 2¹⁶ with the octets' own count in it. RTPS 2.5 §9.4.2.11.
pub const OCTETS_MAX: usize = 65_528;

/// Setters for the policies that topics, writers and readers have in common.
macro_rules! endpoint_setters {
    () => {
        /// RELIABILITY RELIABLE: lost samples are sent again.
        #[must_use]
        pub fn reliable(mut self) -> Self {
            self.reliability.kind = ReliabilityKind::Reliable;
            self
        }

        /// RELIABILITY BEST_EFFORT: lost samples stay lost.
        #[must_use]
        pub fn best_effort(mut self) -> Self {
            self.reliability.kind = ReliabilityKind::BestEffort;
            self
        }

        /// HISTORY KEEP_LAST: the newest `depth` samples of each instance are kept.
        #[must_use]
        pub fn keep_last(mut self, depth: u32) -> Self {
            self.history = History::KeepLast(depth);
            self
        }

        /// HISTORY KEEP_ALL: all samples are kept, up to RESOURCE_LIMITS.
        #[must_use]
        pub fn keep_all(mut self) -> Self {
            self.history = History::KeepAll;
            self
        }

        /// DURABILITY VOLATILE: late joiners get nothing old.
        #[must_use]
        pub fn volatile(mut self) -> Self {
            self.durability = Durability::Volatile;
            self
        }

        /// DURABILITY TRANSIENT_LOCAL: late joiners get the history of live writers.
        #[must_use]
        pub fn transient_local(mut self) -> Self {
            self.durability = Durability::TransientLocal;
            self
        }

        /// RESOURCE_LIMITS: how much is kept at most.
        #[must_use]
        pub fn resource_limits(mut self, limits: ResourceLimits) -> Self {
            self.resource_limits = limits;
            self
        }

        /// DEADLINE: the longest time between two samples of an instance.
        #[must_use]
        pub fn deadline(mut self, period: Duration) -> Self {
            self.deadline.period = period;
            self
        }

        /// LATENCY_BUDGET: how long a sample may be held back.
        #[must_use]
        pub fn latency_budget(mut self, duration: Duration) -> Self {
            self.latency_budget.duration = duration;
            self
        }

        /// LIVELINESS: who asserts it, and how often at least.
        #[must_use]
        pub fn liveliness(mut self, kind: LivelinessKind, lease_duration: Duration) -> Self {
            self.liveliness = Liveliness {
                kind,
                lease_duration,
            };
            self
        }

        /// OWNERSHIP: who may update an instance.
        #[must_use]
        pub fn ownership(mut self, ownership: Ownership) -> Self {
            self.ownership = ownership;
            self
        }

        /// DESTINATION_ORDER: by which time samples are sorted.
        #[must_use]
        pub fn destination_order(mut self, order: DestinationOrder) -> Self {
            self.destination_order = order;
            self
        }

        /// DATA_REPRESENTATION: the encodings in order of preference; a writer writes the first.
        #[must_use]
        pub fn data_representation(mut self, ids: &[DataRepresentationId]) -> Self {
            self.data_representation.ids = ids.to_vec();
            self
        }

        /// DATA_REPRESENTATION, `compression_ids`: the one codec of a writer, those that a reader
        /// takes.
        #[must_use]
        pub fn compression_ids(mut self, ids: CompressionIds) -> Self {
            self.data_representation.compression.compression_ids = Some(ids);
            self
        }

        /// DATA_REPRESENTATION, `writer_compression_level`: 0 is off, 10 the best.
        #[must_use]
        pub fn writer_compression_level(mut self, level: u8) -> Self {
            let compression = &mut self.data_representation.compression;
            compression.writer_compression_level = level;
            self
        }

        /// DATA_REPRESENTATION, `writer_compression_threshold`: serialized samples of so many
        /// octets and fewer are not compressed; `None` compresses nothing.
        #[must_use]
        pub fn writer_compression_threshold(mut self, bytes: Option<usize>) -> Self {
            let compression = &mut self.data_representation.compression;
            compression.writer_compression_threshold = bytes;
            self
        }
    };
}

pub(super) use endpoint_setters;

/// Refuses octets that no parameter can carry.
pub(super) fn check_octets(policy: PolicyId, octets: &[u8]) -> Result<(), InconsistentPolicy> {
    consistent(
        octets.len() <= OCTETS_MAX,
        policy,
        policy,
        "more octets than a parameter can carry",
    )
}

/// HISTORY against RESOURCE_LIMITS. DDS 1.4 §2.2.3.18 and §2.2.3.19.
pub(super) fn check_history(
    policy: PolicyId,
    history: History,
    limits: &ResourceLimits,
) -> Result<(), InconsistentPolicy> {
    let against = match policy {
        PolicyId::DurabilityService => PolicyId::DurabilityService,
        _ => PolicyId::ResourceLimits,
    };
    let ResourceLimits {
        max_samples,
        max_instances,
        max_samples_per_instance,
    } = *limits;
    for limit in [max_samples, max_instances, max_samples_per_instance] {
        consistent(
            limit.max() > 0,
            against,
            against,
            "limits must be above zero",
        )?;
    }
    consistent(
        max_samples_per_instance == Limit::UNLIMITED || max_samples_per_instance <= max_samples,
        against,
        against,
        "max_samples must be at least max_samples_per_instance",
    )?;
    let History::KeepLast(depth) = history else {
        return Ok(());
    };
    consistent(
        depth > 0,
        policy,
        policy,
        "the depth of KEEP_LAST must be above zero",
    )?;
    consistent(
        depth as usize <= max_samples_per_instance.max(),
        policy,
        against,
        "the depth of KEEP_LAST must be at most max_samples_per_instance",
    )
}

/// A writer has one codec at most. Connext's rules.
pub(super) fn check_codec(value: &DataRepresentation) -> Result<(), InconsistentPolicy> {
    let ids = value.compression.compression_ids.unwrap_or_default();
    let policy = PolicyId::DataRepresentation;
    consistent(
        ids.count() <= 1,
        policy,
        policy,
        "a writer has one codec at most in its compression_ids",
    )
}

/// No encoding named twice, no codec that there is none of, no level beyond the best.
pub(super) fn check_representation(value: &DataRepresentation) -> Result<(), InconsistentPolicy> {
    let mut ids: Vec<_> = value.ids.clone();
    ids.sort_unstable();
    ids.dedup();
    let policy = PolicyId::DataRepresentation;
    consistent(
        ids.len() == value.ids.len(),
        policy,
        policy,
        "an encoding is named twice",
    )?;
    let compression = &value.compression;
    let unknown = compression.compression_ids.unwrap_or_default().0 & !CompressionIds::ALL.0;
    consistent(
        unknown == 0,
        policy,
        policy,
        "its compression_ids have a bit that no codec has",
    )?;
    consistent(
        compression.writer_compression_level <= Compression::LEVEL_MAX,
        policy,
        policy,
        "writer_compression_level is 10 at most",
    )
}

/// An error that says `why` unless `rule` holds.
pub(super) fn consistent(
    rule: bool,
    policy: PolicyId,
    against: PolicyId,
    why: &'static str,
) -> Result<(), InconsistentPolicy> {
    if rule {
        Ok(())
    } else {
        Err(InconsistentPolicy {
            policy,
            against,
            why,
        })
    }
}
