//! Keeps unconfirmed addresses from making us send much.
//!
//! Anybody can announce the address of a third party. Until a participant has shown that it
//! hears us, an address that it announced is sent at most three times the octets that came in
//! with such announcements, our own announcement first. What is withheld, reliability repairs.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use whimbrel_base::locator::Locator;

use crate::outbox::Outbox;

/// Octets that may be sent for each octet received.
const FACTOR: u64 = 3;

/// Credit that an address may pile up, in octets.
const CREDIT_BYTES_MAX: u64 = 64 * 1024;

/// What an address that has not answered may still be sent.
#[derive(Clone, Copy, Debug, Default)]
struct Credit {
    bytes: u64,
    announced: bool,
}

/// The addresses that have not answered.
#[derive(Clone, Debug, Default)]
pub(super) struct Guard {
    credits: BTreeMap<Locator, Credit>,
    /// Messages not sent.
    pub(super) withheld: u64,
}

impl Guard {
    /// `received` octets came in from a participant that announced `locator` and has not shown
    /// yet that it hears us.
    pub(super) fn credit(&mut self, locator: Locator, received: usize) {
        let credit = self.credits.entry(locator).or_default();
        let more = u64::try_from(received)
            .unwrap_or(u64::MAX)
            .saturating_mul(FACTOR);
        credit.bytes = credit.bytes.saturating_add(more).min(CREDIT_BYTES_MAX);
    }

    /// `locator` has answered, or belongs to nobody any more.
    pub(super) fn release(&mut self, locator: Locator) {
        self.credits.remove(&locator);
    }

    /// Number of guarded addresses.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.credits.len()
    }

    /// True when `bytes` octets may go to `locator`; spends its credit.
    fn allow(&mut self, locator: Locator, bytes: u64, announces: bool) -> bool {
        let Some(credit) = self.credits.get_mut(&locator) else {
            return true;
        };
        // Without our announcement the other side can do nothing with the rest.
        let allowed = credit.bytes >= bytes && (announces || credit.announced);
        if allowed {
            credit.bytes = credit.bytes.saturating_sub(bytes);
            credit.announced |= announces;
        } else {
            self.withheld = self.withheld.saturating_add(1);
        }
        allowed
    }
}

/// An [`Outbox`] that withholds what the guard does not allow.
pub(super) struct GuardedOutbox<'a, O> {
    pub(super) inner: &'a mut O,
    pub(super) guard: &'a mut Guard,
    /// The messages are announcements.
    pub(super) announces: bool,
}

impl<O: Outbox> Outbox for GuardedOutbox<'_, O> {
    fn send(&mut self, to: &[Locator], parts: &[&[u8]]) {
        if self.guard.credits.is_empty() {
            return self.inner.send(to, parts);
        }
        let bytes = parts
            .iter()
            .fold(0, |sum: usize, part| sum.saturating_add(part.len()));
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let allowed: Vec<Locator> = to
            .iter()
            .copied()
            .filter(|locator| self.guard.allow(*locator, bytes, self.announces))
            .collect();
        if !allowed.is_empty() {
            self.inner.send(&allowed, parts);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::SocketAddr;

    #[derive(Default)]
    struct Bytes(BTreeMap<Locator, usize>);

    impl Outbox for Bytes {
        fn send(&mut self, to: &[Locator], parts: &[&[u8]]) {
            for locator in to {
                *self.0.entry(*locator).or_default() += parts.concat().len();
            }
        }
    }

    #[test]
    fn at_most_three_times_what_came_in_and_the_announcement_first() {
        let victim = Locator::from(SocketAddr::from(([203, 0, 113, 9], 7410)));
        let free = Locator::from(SocketAddr::from(([203, 0, 113, 10], 7410)));
        let mut guard = Guard::default();
        let mut sent = Bytes::default();
        let send = |guard: &mut Guard, sent: &mut Bytes, announces, bytes: usize| {
            let parts = [&[0; 1024][..bytes]];
            GuardedOutbox {
                inner: sent,
                guard,
                announces,
            }
            .send(&[victim, free], &parts);
        };
        guard.credit(victim, 100);
        send(&mut guard, &mut sent, false, 10);
        assert_eq!(sent.0.get(&victim), None);
        send(&mut guard, &mut sent, true, 301);
        assert_eq!(sent.0.get(&victim), None);
        send(&mut guard, &mut sent, true, 200);
        for _ in 0..20 {
            send(&mut guard, &mut sent, false, 40);
        }
        assert_eq!(sent.0[&victim], 280);
        assert_eq!(sent.0[&free], 10 + 301 + 200 + 800);
        assert_eq!(guard.withheld, 1 + 1 + 18);
        guard.release(victim);
        send(&mut guard, &mut sent, false, 1000);
        assert_eq!(sent.0[&victim], 1280);
    }
}
