//! Which samples a read or take wants. DDS 1.4 §2.2.2.5.3.

use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::sample::{InstanceStates, SampleStates, ViewStates};

/// Of which instances samples are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Which {
    /// All. Those whose samples were all read come first, in the order in which that came about,
    /// then the others in the order in which the first of their unread samples arrived.
    #[default]
    Any,
    /// This one; nothing where it is not known.
    Exactly(InstanceHandle),
    /// The one with the smallest handle above this one, known or not, that has a wanted sample;
    /// the first of all for [`InstanceHandle::NIL`].
    Next(InstanceHandle),
}

/// Which samples are wanted. All by default.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Selector {
    /// How many at most; `usize::MAX` for LENGTH_UNLIMITED.
    pub max_samples: usize,
    /// In which sample states.
    pub sample_states: SampleStates,
    /// Of instances in which view states.
    pub view_states: ViewStates,
    /// Of instances in which instance states.
    pub instance_states: InstanceStates,
    /// Of which instances.
    pub instance: Which,
}

impl Selector {
    /// Every sample.
    pub const ALL: Self = Self {
        max_samples: usize::MAX,
        sample_states: SampleStates::ANY,
        view_states: ViewStates::ANY,
        instance_states: InstanceStates::ANY,
        instance: Which::Any,
    };
}

impl Default for Selector {
    fn default() -> Self {
        Self::ALL
    }
}
