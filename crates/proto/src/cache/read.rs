//! Reading and taking samples. DDS 1.4 §2.2.2.5.3.

use alloc::vec::Vec;
use core::ops::Bound;

use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::sample::{InstanceStates, SampleState, SampleStates, ViewStates};

use super::ReaderCache;
use super::order::{Chain, Slot};
use super::sample::CachedSample;
use super::selector::{Selector, Which};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Take,
}

impl ReaderCache {
    /// Appends copies of the selected samples to `out` and marks them as read. Payloads are
    /// shared, not copied. DDS 1.4 §2.2.2.5.3.8.
    ///
    /// Samples of one instance stand together, oldest first; ranks count within this call.
    pub fn read(&mut self, selector: &Selector, out: &mut Vec<CachedSample>) {
        self.access(selector, Access::Read, out);
    }

    /// Moves the selected samples to `out`, in the same order as [`ReaderCache::read`], and
    /// forgets instances of which nothing is left. DDS 1.4 §2.2.2.5.3.9.
    pub fn take(&mut self, selector: &Selector, out: &mut Vec<CachedSample>) {
        if self.selects_lone(selector) {
            return out.extend(self.take_lone());
        }
        self.access(selector, Access::Take, out);
    }

    /// True when some sample has states in all three sets. Takes no walk.
    pub fn has_matching(
        &self,
        samples: SampleStates,
        views: ViewStates,
        instances: InstanceStates,
    ) -> bool {
        self.tally.matching(samples, views, instances) > 0
            || self.lone_matches(samples, views, instances)
    }

    fn access(&mut self, selector: &Selector, access: Access, out: &mut Vec<CachedSample>) {
        self.seat_lone();
        let all = self.tally.matching(
            selector.sample_states,
            selector.view_states,
            selector.instance_states,
        );
        let wanted = all.min(selector.max_samples);
        if wanted == 0 {
            return;
        }
        if selector.instance == Which::Any {
            out.reserve(wanted);
        }
        match selector.instance {
            Which::Any => self.access_any(selector, access, wanted, out),
            Which::Exactly(handle) => {
                if let Some(slot) = self.find(handle) {
                    self.access_one(slot, selector, access, wanted, out);
                }
            }
            Which::Next(after) => {
                if let Some(slot) = self.next_matching(after, selector) {
                    self.access_one(slot, selector, access, wanted, out);
                }
            }
        }
        self.tidy();
    }

    fn access_any(
        &mut self,
        selector: &Selector,
        access: Access,
        wanted: usize,
        out: &mut Vec<CachedSample>,
    ) {
        let end = out.len().saturating_add(wanted);
        // Seen before fresh: what a read moves from fresh to seen is not met again.
        for chain in [Chain::Seen, Chain::Fresh] {
            if chain == Chain::Seen && !selector.sample_states.contains(SampleState::Read) {
                continue;
            }
            let mut next = self.order.first(chain);
            while let Some(slot) = next {
                let left = end.saturating_sub(out.len());
                if left == 0 {
                    return;
                }
                next = self.order.after(slot);
                self.access_one(slot, selector, access, left, out);
            }
        }
    }

    fn access_one(
        &mut self,
        slot: Slot,
        selector: &Selector,
        access: Access,
        max: usize,
        out: &mut Vec<CachedSample>,
    ) {
        let Some(instance) = self.slots.get_mut(slot) else {
            return;
        };
        if instance.matching(selector) == 0 {
            return;
        }
        self.tally.exclude(instance);
        match access {
            Access::Read => instance.read(selector, max, out),
            Access::Take => {
                let taken = instance.take(selector, max, out);
                self.valid_samples = self.valid_samples.saturating_sub(taken);
            }
        }
        self.tally.include(instance);
        self.settle(slot);
    }

    fn next_matching(&self, after: InstanceHandle, selector: &Selector) -> Option<Slot> {
        let from = if after.is_nil() {
            Bound::Unbounded
        } else {
            Bound::Excluded(after)
        };
        self.index
            .range((from, Bound::Unbounded))
            .map(|(_, slot)| *slot)
            .find(|slot| {
                let instance = self.slots.get(*slot);
                instance.is_some_and(|instance| instance.matching(selector) > 0)
            })
    }
}
