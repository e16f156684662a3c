//! How many samples there are in each combination of states, kept up to date by every change so
//! that conditions are answered without a walk.

use whimbrel_base::sample::{
    InstanceState, InstanceStates, SampleState, SampleStates, ViewState, ViewStates,
};

use super::instance::Instance;

/// Sample counts by instance, view and sample state, and what they and their instances hold.
#[derive(Debug)]
pub(super) struct Tally {
    counts: [usize; 12],
    /// Octets held.
    pub(super) bytes: usize,
}

const SAMPLE_STATES: [SampleState; 2] = [SampleState::NotRead, SampleState::Read];
const VIEW_STATES: [ViewState; 2] = [ViewState::New, ViewState::NotNew];
const INSTANCE_STATES: [InstanceState; 3] = [
    InstanceState::Alive,
    InstanceState::NotAliveDisposed,
    InstanceState::NotAliveNoWriters,
];

impl Tally {
    pub(super) const fn new() -> Self {
        Self {
            counts: [0; 12],
            bytes: 0,
        }
    }

    /// Counts the samples of `instance` in.
    pub(super) fn include(&mut self, instance: &Instance) {
        self.bytes = self.bytes.saturating_add(instance.held_bytes());
        for sample in SAMPLE_STATES {
            if let Some(count) = self.count_mut(instance.state, instance.view, sample) {
                *count = count.saturating_add(instance.count_of(sample));
            }
        }
    }

    /// Counts the samples of `instance` out, before it changes.
    pub(super) fn exclude(&mut self, instance: &Instance) {
        self.bytes = self.bytes.saturating_sub(instance.held_bytes());
        for sample in SAMPLE_STATES {
            if let Some(count) = self.count_mut(instance.state, instance.view, sample) {
                *count = count.saturating_sub(instance.count_of(sample));
            }
        }
    }

    /// How many samples have states in all three sets.
    pub(super) fn matching(
        &self,
        samples: SampleStates,
        views: ViewStates,
        instances: InstanceStates,
    ) -> usize {
        let mut sum = 0_usize;
        for instance in INSTANCE_STATES {
            for view in VIEW_STATES {
                for sample in SAMPLE_STATES {
                    if instances.contains(instance)
                        && views.contains(view)
                        && samples.contains(sample)
                    {
                        let at = place(instance, view, sample);
                        sum = sum.saturating_add(self.counts.get(at).copied().unwrap_or(0));
                    }
                }
            }
        }
        sum
    }

    fn count_mut(
        &mut self,
        instance: InstanceState,
        view: ViewState,
        sample: SampleState,
    ) -> Option<&mut usize> {
        self.counts.get_mut(place(instance, view, sample))
    }
}

/// Four places for each instance state, two in those for each view state.
const fn place(instance: InstanceState, view: ViewState, sample: SampleState) -> usize {
    let instance = match instance {
        InstanceState::Alive => 0,
        InstanceState::NotAliveDisposed => 4,
        InstanceState::NotAliveNoWriters => 8,
    };
    let view = match view {
        ViewState::New => 0,
        ViewState::NotNew => 2,
    };
    let sample = match sample {
        SampleState::NotRead => 0,
        SampleState::Read => 1,
    };
    instance | view | sample
}
