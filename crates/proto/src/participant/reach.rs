//! Which addresses of a participant have answered, and how it is reached.
//!
//! Anybody can announce the address of a third party. An address has answered when a datagram
//! that is meant for us came from it; the port does not matter, for peers send from ports of
//! their own, and all addresses of this host are one. What a participant announced and what has
//! not answered gets no user data, and of discovery only announcements, as many as the guard
//! allows, each with a question. A participant that moves is served where it was until it answers
//! from where it is.

use alloc::vec::Vec;

use whimbrel_base::guid::GuidPrefix;
use whimbrel_base::locator::Locator;
use whimbrel_base::time::{Duration, Instant};

use super::Participant;
use super::event::ParticipantEvent;
use super::guard::FACTOR;
use super::host::Host;
use super::remote::RemoteParticipant;
use crate::discovery::locators::{Route, choose, is_own};

/// Octets of an answer besides the announcement: header, INFO_DST, DATA, HEARTBEAT.
const ENVELOPE_BYTES: usize = 20 + 16 + 24 + 32;

/// Shortest time between two answers to one participant: it announces itself several times in a
/// row, and a busy one takes that long to hear the first.
const REPLY_PAUSE: Duration = Duration::from_millis(150);

impl Participant {
    /// Where `locator` leads.
    pub(super) fn host_of(&self, locator: Locator) -> Host {
        let Some(ip) = locator.ip().map(|ip| ip.to_canonical()) else {
            return Host::Unknown;
        };
        if is_own(ip, &self.config.interfaces) || self.config.own_addresses.contains(&ip) {
            Host::This
        } else {
            Host::Other(ip)
        }
    }

    /// True when the participant has answered from where `locator` leads, or the user says that
    /// it belongs to a peer.
    pub(super) fn has_answered(&self, remote: &RemoteParticipant, locator: Locator) -> bool {
        let host = self.host_of(locator);
        remote.answered.contains(host) || (remote.confirmed && self.is_peers_host(host))
    }

    /// True when the user named `host` as that of a peer.
    fn is_peers_host(&self, host: Host) -> bool {
        self.config
            .announce_to
            .iter()
            .any(|peer| !peer.is_multicast() && self.host_of(*peer) == host)
    }

    /// True when `from` is where the participant announced itself first, an address that it
    /// announced, or one from which it has answered.
    pub(super) fn is_at_home(&self, remote: &RemoteParticipant, from: Locator) -> bool {
        let host = self.host_of(from);
        let announced = remote
            .data
            .metatraffic_unicast
            .iter()
            .chain(&remote.data.default_unicast);
        remote.answered.contains(host)
            || self.host_of(remote.address) == host
            || announced
                .into_iter()
                .any(|locator| self.host_of(*locator) == host)
    }

    /// How to reach what `remote` announced as `announced`: where it has answered by preference.
    pub(super) fn route(&self, remote: &RemoteParticipant, announced: &[Locator]) -> Route {
        let answered: Vec<Locator> = announced
            .iter()
            .copied()
            .filter(|locator| self.has_answered(remote, *locator))
            .collect();
        let route = choose(&answered, remote.address, &self.config.interfaces);
        self.narrowed(if route.locators.is_empty() {
            choose(announced, remote.address, &self.config.interfaces)
        } else {
            route
        })
    }

    /// The participant has shown, by a datagram from `from`, that it hears us.
    pub(super) fn handle_answered(&mut self, now: Instant, prefix: GuidPrefix, from: Locator) {
        let host = self.host_of(from);
        let Some(remote) = self.remotes.get_mut(&prefix) else {
            return;
        };
        let first = !core::mem::replace(&mut remote.confirmed, true);
        if !remote.answered.note(host) && !first {
            return;
        }
        if first {
            self.statistics.participants_discovered =
                self.statistics.participants_discovered.saturating_add(1);
            self.report(ParticipantEvent::ParticipantDiscovered(prefix));
        }
        self.reroute(now, prefix, first);
        if first {
            self.builtin.serve(now, prefix);
            self.repeat_endings(now, prefix);
        }
    }

    /// Applies what the participant announced last and where it has answered from: to its
    /// discovery endpoints, anew in any case with `renew`, and to its others.
    pub(super) fn reroute(&mut self, now: Instant, prefix: GuidPrefix, renew: bool) {
        let Some(remote) = self.remotes.get(&prefix) else {
            return;
        };
        let metatraffic = self.route(remote, &remote.data.metatraffic_unicast);
        let user = self.route(remote, &remote.data.default_unicast);
        let answered = |locator: &Locator| self.has_answered(remote, *locator);
        let reached: Vec<Locator> = metatraffic
            .locators
            .iter()
            .copied()
            .filter(answered)
            .collect();
        let Some(remote) = self.remotes.get_mut(&prefix) else {
            return;
        };
        let narrower = remote.metatraffic.message_bytes_max != metatraffic.message_bytes_max;
        let moved = !reached.is_empty() && remote.reached != reached;
        for locator in &reached {
            self.guard.release(*locator);
        }
        if moved {
            remote.reached = reached;
        }
        let new = metatraffic.locators.clone();
        let old = core::mem::replace(&mut remote.metatraffic, metatraffic).locators;
        remote.user = user;
        let confirmed = remote.confirmed;
        self.claims.set(prefix, &old, &new);
        self.guard_claimed(&old);
        self.guard_claimed(&new);
        if confirmed {
            if moved || narrower || renew {
                self.serve_discovery(now, prefix);
            }
            if moved {
                // What was sent to another address may never have arrived.
                self.builtin.ask(prefix);
            }
            self.pair_participant(prefix);
        }
    }

    /// Hands the participant's discovery endpoints, and where they have answered, to ours.
    pub(super) fn serve_discovery(&mut self, now: Instant, prefix: GuidPrefix) {
        let Some(remote) = self.remotes.get(&prefix) else {
            return;
        };
        let route = Route {
            locators: remote.reached.clone(),
            ..remote.metatraffic
        };
        self.builtin
            .handle_matched(now, self.wall, &remote.data, &route);
    }

    /// True when `locator` is not guarded though `prefix` has not answered from there: somebody
    /// else has, or it is in our settings.
    fn is_anothers(&self, prefix: GuidPrefix, locator: Locator) -> bool {
        self.is_set(locator)
            || self
                .claims
                .of(locator)
                .any(|other| other != prefix && self.reaches(other, locator))
    }

    /// True when `locator` is in our settings.
    fn is_set(&self, locator: Locator) -> bool {
        self.config.announce_to.contains(&locator) || self.config.probe.contains(&locator)
    }

    /// True when `prefix` is reached at `locator`, from which it has answered.
    fn reaches(&self, prefix: GuidPrefix, locator: Locator) -> bool {
        let remote = self.remotes.get(&prefix);
        remote.is_some_and(|it| it.reached.contains(&locator))
    }

    /// The participant is gone.
    pub(super) fn drop_claims(&mut self, remote: &RemoteParticipant) {
        let locators = &remote.metatraffic.locators;
        self.claims.set(remote.prefix(), locators, &[]);
        self.guard_claimed(locators);
    }

    /// Guards those of `locators` that are claimed and from which nobody has answered, and stops
    /// guarding those that nobody claims. Every change of claims comes here: what is not guarded
    /// may be sent anything.
    fn guard_claimed(&mut self, locators: &[Locator]) {
        for locator in locators {
            let mut claimants = self.claims.of(*locator).peekable();
            if claimants.peek().is_none() || self.is_set(*locator) {
                self.guard.release(*locator);
            } else if !claimants.any(|it| self.reaches(it, *locator)) {
                self.guard.hold(*locator);
            }
        }
    }

    /// `bytes` octets of announcement arrived from a participant: its addresses that have not
    /// answered may be sent as much as that allows, and are asked to.
    pub(super) fn ask_unanswered(&mut self, now: Instant, prefix: GuidPrefix, bytes: usize) {
        let Some(remote) = self.remotes.get(&prefix) else {
            return;
        };
        let locators = remote.metatraffic.locators.iter().copied();
        let unanswered: Vec<Locator> = locators
            .filter(|locator| !self.has_answered(remote, *locator))
            .collect();
        let mut worth = true;
        for locator in &unanswered {
            if self.is_anothers(prefix, *locator) {
                // Nothing counts what goes there.
                worth &= self.is_worth(bytes);
            } else {
                self.guard.credit(*locator, bytes);
            }
        }
        if !worth {
            self.guard.withheld = self.guard.withheld.saturating_add(1);
        } else if !unanswered.is_empty() {
            self.reply(now, prefix);
        }
    }

    /// Answers what `prefix` announced, unless it was told just now that we are here.
    pub(super) fn reply(&mut self, now: Instant, prefix: GuidPrefix) {
        let lately = |at: Instant| now.since(at) < REPLY_PAUSE;
        let remote = self.remotes.get(&prefix);
        if !remote.and_then(|it| it.told_at).is_some_and(lately) {
            self.replies.insert(prefix);
        }
    }

    /// True when our answer is at most as long as announcements of `bytes` octets allow.
    fn is_worth(&self, bytes: usize) -> bool {
        let ours = self.announcement.len().saturating_add(ENVELOPE_BYTES);
        ours <= bytes.saturating_mul(FACTOR)
    }

    /// Octets that the receive buffers of that participant, ours included, hold; zero where that is
    /// not known, or not heeded.
    pub(super) fn receive_buffer_bytes_of(&self, prefix: GuidPrefix) -> u32 {
        if prefix == self.config.guid_prefix && self.config.heeds_receive_buffers {
            return self.config.receive_buffer_bytes;
        }
        let remote = self.remotes.get(&prefix);
        remote.map_or(0, |it| it.data.receive_buffer_bytes)
    }
}
