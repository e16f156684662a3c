//! Addresses that change while the participant lives: links come and go, so do their addresses.

use alloc::vec::Vec;

use whimbrel_base::guid::GuidPrefix;
use whimbrel_base::time::Instant;

use super::Participant;
use super::addresses::{Addresses, Former};
use super::host::Host;
use super::schedule::{AnnounceTimer, ProbeTimer, first_probe_at};
use crate::discovery::locators::{MESSAGE_BYTES_MIN, Route};

impl Participant {
    /// Our addresses are these from now on. Everybody is told at once, and reached by the best
    /// way that is left; matches, GUIDs and histories stay.
    pub fn handle_addresses(&mut self, now: Instant, addresses: Addresses) {
        let before = self.config.addresses();
        if before == addresses {
            return;
        }
        if before.probe != addresses.probe {
            let at = first_probe_at(now, &addresses.announce_to);
            self.probes = ProbeTimer::new(at, addresses.probe.len());
        }
        let only_paths = Addresses {
            paths: addresses.paths.clone(),
            own: addresses.own.clone(),
            ..before
        } == addresses;
        let interfaces = core::mem::take(&mut self.config.interfaces);
        self.config.set_addresses(addresses);
        if !only_paths {
            let announcement = self.config.announcement();
            self.former = Former {
                interfaces,
                announcement: core::mem::replace(&mut self.announcement, announcement),
            };
            let (period, burst) = (self.config.announce_period, self.config.announce_burst);
            self.timer = AnnounceTimer::new(now, period, burst, &self.config.announce_to);
            self.withdraw_assurance();
            let confirmed = self.remotes.values().filter(|remote| remote.confirmed);
            self.replies.extend(confirmed.map(|remote| remote.prefix()));
        }
        let prefixes: Vec<GuidPrefix> = self.remotes.keys().copied().collect();
        for prefix in prefixes {
            self.reroute_participant(now, prefix);
        }
        let (writers, readers) = self.local_entities();
        for writer in writers {
            self.pair_local_writer(writer);
        }
        for reader in readers {
            self.pair_local_reader(reader);
        }
        self.routing_changed = true;
    }

    fn reroute_participant(&mut self, now: Instant, prefix: GuidPrefix) {
        let Some(remote) = self.remotes.get(&prefix) else {
            return;
        };
        // On this host our addresses are its own: it is about to tell.
        let lost_address = self.host_of(remote.address) != Host::This;
        if remote.metatraffic.same_host && lost_address {
            return;
        }
        self.reroute(now, prefix, false);
    }

    /// `route` with messages that pass every path on it.
    pub(super) fn narrowed(&self, mut route: Route) -> Route {
        for (ip, bytes) in &self.config.paths {
            if route.locators.iter().any(|it| it.ip() == Some(*ip)) {
                let bytes = usize::try_from(*bytes).unwrap_or(usize::MAX);
                let bytes = bytes.max(MESSAGE_BYTES_MIN);
                route.message_bytes_max = route.message_bytes_max.min(bytes);
            }
        }
        route
    }
}
