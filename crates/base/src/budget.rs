//! How much may be held: one budget for many who hold, each with an account of its own.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicUsize, Ordering};

/// What all accounts together hold, and may hold, in octets.
#[derive(Debug)]
pub struct Budget {
    held: AtomicUsize,
    max: usize,
}

impl Budget {
    /// A budget of `max` octets of which nothing is used.
    pub const fn new(max: usize) -> Self {
        Self {
            held: AtomicUsize::new(0),
            max,
        }
    }

    /// Octets that all accounts hold.
    pub fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// Octets that they may hold.
    pub const fn max(&self) -> usize {
        self.max
    }

    /// True when `more` octets fit. Others may use them meanwhile: those who hold on different
    /// threads may exceed the budget by one piece each.
    pub fn has_room(&self, more: usize) -> bool {
        self.held().saturating_add(more) <= self.max
    }
}

/// What one holds, counted in a budget if there is one; gives it back when dropped.
#[derive(Debug, Default)]
pub struct Account {
    budget: Option<Arc<Budget>>,
    held: usize,
}

impl Account {
    /// An account that counts but has no limit.
    pub const fn unlimited() -> Self {
        Self {
            budget: None,
            held: 0,
        }
    }

    /// An empty account of `budget`, or without limit.
    pub const fn new(budget: Option<Arc<Budget>>) -> Self {
        Self { budget, held: 0 }
    }

    /// Octets counted as held.
    pub const fn held(&self) -> usize {
        self.held
    }

    /// True when `more` octets fit the budget.
    pub fn has_room(&self, more: usize) -> bool {
        self.budget
            .as_ref()
            .is_none_or(|budget| budget.has_room(more))
    }

    /// As [`Account::set`], but while at most half of the budget is used, up to `more_max` octets
    /// that are no longer held stay counted, and at most a thousandth of the budget: what goes up
    /// and down all the time changes nothing that others look at.
    pub fn set_roughly(&mut self, bytes: usize, more_max: usize) {
        let more = self.held.checked_sub(bytes);
        let may_stay = |it: &Arc<Budget>| {
            let more_max = more_max.min(it.max() / 1024);
            more.is_some_and(|more| more <= more_max) && it.held() <= it.max() / 2
        };
        if !self.budget.as_ref().is_some_and(may_stay) {
            self.set(bytes);
        }
    }

    /// Notes that `bytes` octets are held now. Free where nothing has changed.
    pub fn set(&mut self, bytes: usize) {
        let old = core::mem::replace(&mut self.held, bytes);
        let Some(budget) = self.budget.as_ref().filter(|_| old != bytes) else {
            return;
        };
        // The sum of all accounts never passes what is addressable, nor below zero.
        if bytes > old {
            budget
                .held
                .fetch_add(bytes.saturating_sub(old), Ordering::Relaxed);
        } else {
            budget
                .held
                .fetch_sub(old.saturating_sub(bytes), Ordering::Relaxed);
        }
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        self.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn accounts_share_a_budget_and_give_back() {
        let budget = Arc::new(Budget::new(100));
        let mut one = Account::new(Some(Arc::clone(&budget)));
        let mut two = Account::new(Some(Arc::clone(&budget)));
        one.set(60);
        two.set(30);
        assert_eq!((budget.held(), one.held()), (90, 60));
        assert!(two.has_room(10) && !two.has_room(11));
        one.set(20);
        assert_eq!(budget.held(), 50);
        drop(two);
        assert_eq!(budget.held(), 20);
        drop(one);
        assert_eq!(budget.held(), 0);
    }

    #[test]
    fn a_little_stays_counted_only_while_there_is_ample_room() {
        let after = |max: usize, counts: &[usize]| -> Vec<usize> {
            let budget = Arc::new(Budget::new(max));
            let mut account = Account::new(Some(Arc::clone(&budget)));
            let counts = counts.iter().map(|bytes| {
                account.set_roughly(*bytes, 20);
                assert_eq!(budget.held(), account.held());
                account.held()
            });
            counts.collect()
        };
        let large = after(102_400, &[15, 0, 10, 30, 9, 51_201, 51_200, 51_190]);
        assert_eq!(large, [15, 15, 15, 30, 9, 51_201, 51_200, 51_200]);
        assert_eq!(after(1023, &[15, 14]), [15, 14], "what is little for it");
    }

    #[test]
    fn without_a_budget_there_is_always_room() {
        let mut account = Account::unlimited();
        account.set(7);
        assert!(account.has_room(usize::MAX));
        assert_eq!(account.held(), 7);
    }

    #[test]
    fn edges_do_not_overflow() {
        let budget = Arc::new(Budget::new(usize::MAX));
        let mut account = Account::new(Some(Arc::clone(&budget)));
        account.set(usize::MAX);
        assert!(!Budget::new(0).has_room(1));
        assert!(budget.has_room(usize::MAX));
        account.set(0);
        assert_eq!(budget.held(), 0);
    }
}
