//! Every cap on what peers and peers' bytes can make us hold, with its default.
//!
//! A limit never makes a legal exchange impossible at its default; it bounds what a hostile or
//! broken peer can cost. What a limit refuses is counted where it is refused.

use alloc::vec::Vec;

/// Caps on memory and work. All are counts of what the name says; `bytes` are octets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Remote participants known at a time; more are not looked at until one goes.
    pub remote_participants_max: usize,
    /// Those of them that announce themselves from one address; this host counts as one.
    pub remote_participants_per_address_max: usize,
    /// Those of them that have not acknowledged anything of ours yet: the newest stay.
    pub unanswered_participants_max: usize,
    /// Remote writers and readers of one remote participant.
    pub remote_endpoints_per_participant_max: usize,
    /// Remote writers and readers of all remote participants of one address.
    pub remote_endpoints_per_address_max: usize,
    /// Remote writers and readers of all remote participants together.
    pub remote_endpoints_max: usize,
    /// Writers matched to one reader, and readers matched to one writer.
    pub matches_per_endpoint_max: usize,
    /// Locators taken from one announcement; further ones are passed over.
    pub locators_max: usize,
    /// USER_DATA, TOPIC_DATA or GROUP_DATA taken from one announcement.
    pub user_data_bytes_max: usize,
    /// Topic and type names, in bytes of UTF-8.
    pub name_bytes_max: usize,
    /// Partition names taken from one announcement.
    pub partitions_max: usize,
    /// One partition name, in bytes of UTF-8.
    pub partition_bytes_max: usize,
    /// Properties, binary properties or tags taken from one announcement.
    pub properties_max: usize,
    /// Name or value of one property.
    pub property_bytes_max: usize,
    /// Parameters in one parameter list.
    pub parameters_max: usize,
    /// One sample, serialized: 1 GiB of data and what is around it by default.
    pub sample_bytes_max: usize,
    /// One built-in discovery sample, serialized.
    pub discovery_sample_bytes_max: usize,
    /// Fragments of unfinished samples held by one reader; memory grows as they arrive. The one
    /// sample whose turn it is may take up to `sample_bytes_max` beside this.
    pub reassembly_bytes_max: usize,
    /// Unfinished samples of one writer held by one reader.
    pub reassembly_samples_max: usize,
    /// Samples that arrived out of order, of one writer held by one reader.
    pub reorder_samples_max: usize,
    /// Octets of samples that arrived out of order, of one writer held by one reader.
    pub reorder_bytes_max: usize,
    /// Instances of one reader or writer where RESOURCE_LIMITS says unlimited.
    pub instances_max: usize,
    /// Serialized key of one instance.
    pub key_bytes_max: usize,
    /// Octets that all writers and readers of one participant hold together in histories, caches,
    /// reordering and reassembly; 4 GiB by default. Beyond it writes fail and samples are
    /// rejected. What was taken belongs to the program and is not counted, nor is discovery, which
    /// the limits above bound.
    pub memory_bytes_max: usize,
}

impl Limits {
    /// The defaults.
    pub const DEFAULT: Self = Self {
        remote_participants_max: 1024,
        remote_participants_per_address_max: 768,
        unanswered_participants_max: 512,
        remote_endpoints_per_participant_max: 4096,
        remote_endpoints_per_address_max: 32_768,
        remote_endpoints_max: 65_536,
        matches_per_endpoint_max: 4096,
        locators_max: 64,
        user_data_bytes_max: crate::qos::OCTETS_MAX,
        name_bytes_max: 1024,
        partitions_max: 256,
        partition_bytes_max: 256,
        properties_max: 256,
        property_bytes_max: 16 * 1024,
        parameters_max: 4096,
        sample_bytes_max: (1 << 30) + (64 << 10),
        discovery_sample_bytes_max: 1 << 20,
        reassembly_bytes_max: 64 << 20,
        reassembly_samples_max: 16,
        reorder_samples_max: 4096,
        reorder_bytes_max: 64 << 20,
        instances_max: 4 << 20,
        key_bytes_max: 64 * 1024,
        memory_bytes_max: if usize::BITS > 32 { 4 << 30 } else { 1 << 30 },
    };

    /// Name and value of each, in the order of the fields.
    pub fn entries(&self) -> Vec<(&'static str, usize)> {
        macro_rules! list {
            ($($name:ident)+) => {{
                let Self { $($name),+ } = *self;
                [$((stringify!($name), $name)),+].into()
            }};
        }
        list! {
            remote_participants_max remote_participants_per_address_max
            unanswered_participants_max remote_endpoints_per_participant_max
            remote_endpoints_per_address_max remote_endpoints_max
            matches_per_endpoint_max locators_max user_data_bytes_max name_bytes_max
            partitions_max partition_bytes_max properties_max property_bytes_max parameters_max
            sample_bytes_max discovery_sample_bytes_max reassembly_bytes_max
            reassembly_samples_max reorder_samples_max reorder_bytes_max instances_max
            key_bytes_max memory_bytes_max
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_fit_together() {
        let limits = Limits::default();
        // A sample of 1 GiB fits with its header.
        assert!(limits.sample_bytes_max > 1024 * 1024 * 1024);
        assert!(limits.reassembly_bytes_max < limits.sample_bytes_max);
        assert!(limits.remote_participants_per_address_max < limits.remote_participants_max);
        assert!(limits.unanswered_participants_max < limits.remote_participants_max);
        // 500 processes start on one host.
        assert!(limits.remote_participants_per_address_max > 500);
        let per_address = limits.remote_endpoints_per_address_max;
        assert!(limits.remote_endpoints_per_participant_max < per_address);
        assert!(per_address < limits.remote_endpoints_max);
        assert!(limits.matches_per_endpoint_max <= limits.remote_endpoints_max);
        // All strings of one announcement fit a discovery sample.
        let strings = limits.partitions_max * limits.partition_bytes_max
            + 2 * limits.name_bytes_max
            + 3 * limits.user_data_bytes_max;
        assert!(strings < limits.discovery_sample_bytes_max);
        // A datagram of 64 KiB holds no more parameters than fit in 4 octets each.
        assert!(limits.parameters_max <= 65_536 / 4);
        assert!(limits.remote_participants_max >= 120);
    }
}
