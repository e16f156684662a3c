//! Hosts, and which participants are where.

use alloc::vec::Vec;
use core::net::IpAddr;

use whimbrel_base::guid::GuidPrefix;
use whimbrel_base::locator::Locator;
use whimbrel_base::sorted::SortedSet;

/// Hosts remembered from which one participant has answered.
const HOSTS_MAX: usize = 8;

/// Where a datagram came from or an address leads, as far as it tells senders apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Host {
    /// Ours, by whichever of its addresses.
    This,
    /// Another's address.
    Other(IpAddr),
    /// No address of the Internet.
    Unknown,
}

/// The hosts from which a participant has answered, the latest last.
#[derive(Debug, Default)]
pub(super) struct Answered(Vec<Host>);

impl Answered {
    /// Notes an answer from `host`; true when it is the first one from there.
    pub(super) fn note(&mut self, host: Host) -> bool {
        if host == Host::Unknown || self.0.contains(&host) {
            return false;
        }
        if self.0.len() >= HOSTS_MAX {
            self.0.remove(0);
        }
        self.0.push(host);
        true
    }

    pub(super) fn contains(&self, host: Host) -> bool {
        self.0.contains(&host)
    }

    /// Forgets every host but `host`.
    pub(super) fn retain(&mut self, host: Host) {
        self.0.retain(|it| *it == host);
    }
}

/// Who is reached at which address, answered or not.
#[derive(Debug, Default)]
pub(super) struct Claims(SortedSet<(Locator, GuidPrefix)>);

impl Claims {
    pub(super) fn set(&mut self, prefix: GuidPrefix, old: &[Locator], new: &[Locator]) {
        for locator in old {
            self.0.remove(&(*locator, prefix));
        }
        self.0.extend(new.iter().map(|locator| (*locator, prefix)));
    }

    /// The participants that are reached at `locator`.
    pub(super) fn of(&self, locator: Locator) -> impl Iterator<Item = GuidPrefix> + '_ {
        let all = (locator, GuidPrefix([0; 12]))..=(locator, GuidPrefix([0xff; 12]));
        self.0.range(all).iter().map(|(_, prefix)| *prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_hosts_are_remembered_and_the_latest_stay() {
        let host = |number: u8| Host::Other([10, 0, 0, number].into());
        let mut answered = Answered::default();
        for number in 0..20 {
            assert!(answered.note(host(number)));
            assert!(!answered.note(host(number)));
        }
        assert_eq!(answered.0.len(), HOSTS_MAX);
        assert!(answered.contains(host(19)) && !answered.contains(host(11)));
        answered.retain(host(19));
        assert_eq!(answered.0, [host(19)]);
    }
}
