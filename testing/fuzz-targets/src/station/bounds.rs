//! What must hold after every change, whatever arrived.

use std::collections::{BTreeMap, BTreeSet};

use whimbrel_base::guid::EntityId;
use whimbrel_base::locator::Locator;
use whimbrel_proto::Participant;
use whimbrel_proto::receive::{Inbound, Target};
use whimbrel_wire::message::Submessage;

use super::Station;
use super::setup::{
    HISTORY_MAX, INSTANCES_MAX, LIMITS, REASSEMBLY_BYTES_MAX, SAMPLE_BYTES_MAX, is_trusted,
};

/// Octets of a DATA submessage besides its payload, at least.
const DATA_HEADER_BYTES: u64 = 24;

/// What addresses that have not answered may be sent.
#[derive(Default)]
pub(super) struct Credits {
    /// Octets of announcements that named each address.
    received: BTreeMap<Locator, u64>,
    /// Addresses of participants that have shown, at any time, that they hear us.
    answered: BTreeSet<Locator>,
}

impl Credits {
    /// Notes what became of a submessage of discovery.
    pub(super) fn heard(&mut self, control: &Participant, inbound: &Inbound<'_>) {
        for remote in control.participants().filter(|it| it.confirmed) {
            self.answered.extend(&remote.metatraffic.locators);
            self.answered.extend(&remote.user.locators);
            let prefix = remote.prefix();
            let writers = control.remote_writers().map(|it| &it.data.endpoint);
            let readers = control.remote_readers().map(|it| &it.data.endpoint);
            for endpoint in writers.chain(readers) {
                if endpoint.guid.prefix == prefix {
                    self.answered.extend(&endpoint.unicast);
                }
            }
        }
        let Target::Reader { writer, .. } = inbound.target() else {
            return;
        };
        let Submessage::Data(data) = &inbound.submessage else {
            return;
        };
        if writer.entity != EntityId::SPDP_WRITER {
            return;
        }
        if let Some(remote) = control.participant(inbound.source) {
            for locator in &remote.metatraffic.locators {
                let bytes = data.payload.len() as u64 + DATA_HEADER_BYTES;
                *self.received.entry(*locator).or_default() += bytes;
            }
        }
    }

    fn check(&self, sent: &BTreeMap<Locator, u64>) {
        for (locator, bytes) in sent {
            if is_trusted(*locator) || self.answered.contains(locator) {
                continue;
            }
            let received = self.received.get(locator).copied().unwrap_or(0);
            assert!(
                *bytes <= 3 * received,
                "{bytes} octets to {locator}, which never answered, for {received}"
            );
        }
    }
}

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
            // The one sample nearest to completion may exceed it, and buffers grow by doubling.
            let held = reader.reassembly_bytes();
            assert!(
                held <= REASSEMBLY_BYTES_MAX + 2 * SAMPLE_BYTES_MAX,
                "{held}"
            );
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
