//! Keeps addresses that have not answered from making us send much.
//!
//! Anybody can announce the address of a third party. Until a participant has answered from an
//! address that it announced, that address is sent announcements only, and at most three times
//! the octets that came in with announcements that name it.

use alloc::vec::Vec;

use whimbrel_base::locator::Locator;
use whimbrel_base::sorted::SortedMap;

use crate::outbox::Outbox;

/// Octets that may be sent for each octet received.
pub(super) const FACTOR: usize = 3;

/// Credit that an address may pile up, in octets.
const CREDIT_BYTES_MAX: u64 = 64 * 1024;

/// The addresses that have not answered, and what each may still be sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Guard {
    credits: SortedMap<Locator, u64>,
    /// Messages not sent.
    pub(super) withheld: u64,
}

impl Guard {
    /// `locator` is somebody's by what he says, and has not answered: without credit it is sent
    /// nothing.
    pub(super) fn hold(&mut self, locator: Locator) {
        self.credits.change(locator, u64::default, |_| ());
    }

    /// `received` octets came in from a participant that announced `locator` and has not answered
    /// from there.
    pub(super) fn credit(&mut self, locator: Locator, received: usize) {
        let more = u64::try_from(received.saturating_mul(FACTOR)).unwrap_or(u64::MAX);
        self.credits.change(locator, u64::default, |credit| {
            *credit = credit.saturating_add(more).min(CREDIT_BYTES_MAX);
        });
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
    fn allow(&mut self, locator: Locator, bytes: u64) -> bool {
        let Some(credit) = self.credits.get_mut(&locator) else {
            return true;
        };
        let left = credit.checked_sub(bytes);
        match left {
            Some(left) => *credit = left,
            None => self.withheld = self.withheld.saturating_add(1),
        }
        left.is_some()
    }
}

/// An [`Outbox`] that withholds what the guard does not allow.
pub(super) struct GuardedOutbox<'a, O> {
    pub(super) inner: &'a mut O,
    pub(super) guard: &'a mut Guard,
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
            .filter(|locator| self.guard.allow(*locator, bytes))
            .collect();
        if !allowed.is_empty() {
            self.inner.send(&allowed, parts);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use core::net::SocketAddr;

    #[derive(Default)]
    struct Bytes(BTreeMap<Locator, usize>);

    impl Outbox for Bytes {
        fn send(&mut self, to: &[Locator], parts: &[&[u8]]) {
            for to in to {
                *self.0.entry(*to).or_default() += parts.concat().len();
            }
        }
    }

    #[test]
    fn at_most_three_times_what_came_in() {
        let victim = Locator::from(SocketAddr::from(([203, 0, 113, 1], 7410)));
        let free = Locator::from(SocketAddr::from(([203, 0, 113, 2], 7410)));
        let mut guard = Guard::default();
        let mut sent = Bytes::default();
        let send = |guard: &mut Guard, sent: &mut Bytes, bytes: usize| {
            let mut outbox = GuardedOutbox { inner: sent, guard };
            let half = alloc::vec![0; bytes / 2];
            outbox.send(&[victim, free], &[&half, &half]);
        };
        guard.credit(victim, 100);
        send(&mut guard, &mut sent, 302);
        send(&mut guard, &mut sent, 200);
        for _ in 0..20 {
            send(&mut guard, &mut sent, 40);
        }
        assert_eq!(sent.0[&victim], 280);
        assert_eq!(sent.0[&free], 302 + 200 + 800);
        assert_eq!(guard.withheld, 1 + 18);
        guard.release(victim);
        send(&mut guard, &mut sent, 1000);
        assert_eq!(sent.0[&victim], 1280);
    }

    #[test]
    fn credit_does_not_pile_up_for_ever() {
        let victim = Locator::from(SocketAddr::from(([203, 0, 113, 1], 7410)));
        let mut guard = Guard::default();
        guard.credit(victim, usize::MAX);
        assert!(!guard.allow(victim, CREDIT_BYTES_MAX + 1));
        assert!(guard.allow(victim, CREDIT_BYTES_MAX));
    }
}
