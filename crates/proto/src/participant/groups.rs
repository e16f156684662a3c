//! Groups to which data goes that several are to hear.

use whimbrel_base::guid::GuidPrefix;
use whimbrel_base::locator::Locator;
use whimbrel_wire::discovery::EndpointData;

use super::Participant;
use crate::discovery::locators::{Route, group_bytes_max};

impl Participant {
    /// The group to which new changes for a reader of `prefix` may go: one that it announced, and
    /// that we have joined ourselves. Who listens by loopback only would not hear it.
    pub(super) fn group_of(
        &self,
        prefix: GuidPrefix,
        reader: Option<&EndpointData>,
    ) -> Option<Locator> {
        let own = &self.config.user_multicast;
        let data = &self.remotes.get(&prefix)?.data;
        let said = reader.map_or(&[][..], |it| &it.multicast);
        let announced = if said.is_empty() {
            &data.default_multicast
        } else {
            said
        };
        let hears = self.config.multicast_on_host
            || data.default_unicast.iter().any(|it| !it.is_loopback());
        own.iter()
            .find(|it| announced.contains(it))
            .copied()
            .filter(|_| hears)
    }

    /// Octets of a message that passes `route` and, where there is one, every link to `group`.
    pub(super) fn message_bytes_max(&self, route: &Route, group: Option<Locator>) -> usize {
        let of_group = group.map_or(usize::MAX, |_| group_bytes_max(&self.config.interfaces));
        route.message_bytes_max.min(of_group)
    }
}
