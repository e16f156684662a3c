//! What must hold after every change, whatever arrived.

use std::collections::BTreeMap;

use super::Station;
use super::setup::{HISTORY_MAX, INSTANCES_MAX, LIMITS, REASSEMBLY_BYTES_MAX, SAMPLE_BYTES_MAX};

/// What few pieces of samples may cost besides their octets.
const PIECES_FREE_BYTES: usize = 8192;

impl Station {
    pub(super) fn check_bounds(&self) {
        self.credits.check(&self.outgoing.sent);
        self.check_tables();
        for writer in &self.writers {
            assert!(writer.history_len() <= HISTORY_MAX);
            assert!(writer.registered_instances().count() <= INSTANCES_MAX);
            assert!(writer.acknowledged_through() <= writer.last_sequence());
        }
        for reader in &self.readers {
            // The one sample nearest to completion may exceed it, buffers grow by doubling, and
            // pieces cost no more than the octets in them.
            let held = reader.reassembly_bytes();
            let most = REASSEMBLY_BYTES_MAX + 3 * SAMPLE_BYTES_MAX + PIECES_FREE_BYTES;
            assert!(held <= most, "{held}");
            let cache = reader.cache();
            assert!(cache.valid_sample_count() <= HISTORY_MAX);
            assert!(cache.sample_count() <= HISTORY_MAX + INSTANCES_MAX);
            assert!(cache.instance_count() <= INSTANCES_MAX);
        }
    }

    fn check_tables(&self) {
        let control = &self.control;
        assert!(control.participants().count() <= LIMITS.remote_participants_max);
        let mut endpoints: BTreeMap<_, usize> = BTreeMap::new();
        let writers = control.remote_writers().map(|it| it.guid());
        for guid in writers.chain(control.remote_readers().map(|it| it.guid())) {
            *endpoints.entry(guid.prefix).or_default() += 1;
            assert!(control.participant(guid.prefix).is_some(), "{guid:?}");
        }
        let most = endpoints.values().copied().max().unwrap_or(0);
        assert!(most <= LIMITS.remote_endpoints_per_participant_max);
        assert!(endpoints.values().sum::<usize>() <= LIMITS.remote_endpoints_max);
        assert!(control.match_count() <= 4 * LIMITS.matches_per_endpoint_max);
    }
}
