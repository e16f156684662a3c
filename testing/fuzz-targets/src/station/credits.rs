//! What may be sent to addresses that have not answered.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use whimbrel_base::guid::EntityId;
use whimbrel_base::locator::Locator;
use whimbrel_proto::Participant;
use whimbrel_proto::receive::{Inbound, Target};
use whimbrel_wire::discovery::{Context, ParticipantData};
use whimbrel_wire::message::Submessage;

use super::setup::{LIMITS, is_trusted};

/// Octets of a DATA submessage besides its payload, at least.
const DATA_HEADER_BYTES: u64 = 24;

/// What addresses that have not answered may be sent.
#[derive(Default)]
pub(super) struct Credits {
    /// Octets of announcements that named each address.
    received: BTreeMap<Locator, u64>,
    /// Where datagrams came from whose senders had heard the station.
    answered: BTreeSet<IpAddr>,
}

impl Credits {
    /// Notes a submessage of discovery from `from`.
    pub(super) fn heard(&mut self, control: &Participant, from: Locator, inbound: &Inbound<'_>) {
        let acknowledges = matches!(inbound.target(), Target::Writer { .. });
        if inbound.destination == control.prefix() || acknowledges {
            self.answered.extend(from.ip());
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
        let context = Context {
            vendor: inbound.vendor,
            key_hash: None,
            limits: &LIMITS,
        };
        let Ok(announced) = ParticipantData::parse(data.payload, &context) else {
            return;
        };
        for locator in announced.metatraffic_unicast {
            let bytes = data.payload.len() as u64 + DATA_HEADER_BYTES;
            *self.received.entry(locator).or_default() += bytes;
        }
    }

    pub(super) fn check(&self, sent: &BTreeMap<Locator, u64>) {
        for (locator, bytes) in sent {
            let answered = locator.ip().is_some_and(|ip| self.answered.contains(&ip));
            if is_trusted(*locator) || answered {
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
