//! What may be sent to addresses that have not answered.

use std::collections::{BTreeMap, BTreeSet};

use whimbrel_base::guid::EntityId;
use whimbrel_base::locator::Locator;
use whimbrel_proto::Participant;
use whimbrel_proto::receive::{Inbound, Target};
use whimbrel_wire::message::Submessage;

use super::setup::is_trusted;

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

    pub(super) fn check(&self, sent: &BTreeMap<Locator, u64>) {
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
