//! RESOURCE_LIMITS: how much an endpoint may keep.

use core::fmt;

use super::policy::{Policy, PolicyId};

/// A greatest count, or none (LENGTH_UNLIMITED). Unlimited is the greatest in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Limit(u32);

impl Limit {
    /// LENGTH_UNLIMITED.
    pub const UNLIMITED: Self = Self(u32::MAX);

    /// At most `count`; counts that cannot travel (2³¹ and up) mean unlimited.
    pub const fn at_most(count: u32) -> Self {
        if count > i32::MAX as u32 {
            Self::UNLIMITED
        } else {
            Self(count)
        }
    }

    /// True for LENGTH_UNLIMITED.
    pub const fn is_unlimited(self) -> bool {
        self.0 == u32::MAX
    }

    /// The greatest count; `usize::MAX` where there is none.
    pub const fn max(self) -> usize {
        if self.is_unlimited() {
            usize::MAX
        } else {
            self.0 as usize
        }
    }

    /// True when one more fits beside `count` that are there.
    pub const fn has_room(self, count: usize) -> bool {
        count < self.max()
    }

    /// From the number that travels: −1 is unlimited, other negative numbers and 0 mean nothing.
    pub const fn from_wire(number: i32) -> Option<Self> {
        match number {
            -1 => Some(Self::UNLIMITED),
            1.. => Some(Self(number.cast_unsigned())),
            _ => None,
        }
    }

    /// The number that travels.
    pub const fn to_wire(self) -> i32 {
        self.0.cast_signed()
    }
}

impl Default for Limit {
    fn default() -> Self {
        Self::UNLIMITED
    }
}

impl From<u32> for Limit {
    fn from(count: u32) -> Self {
        Self::at_most(count)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_unlimited() {
            f.write_str("unlimited")
        } else {
            self.0.fmt(f)
        }
    }
}

impl fmt::Debug for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// How much an endpoint may keep. DDS 1.4 §2.2.3.19.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct ResourceLimits {
    /// Samples of all instances together; unlimited by default.
    pub max_samples: Limit,
    /// Instances; unlimited by default.
    pub max_instances: Limit,
    /// Samples of one instance; unlimited by default.
    pub max_samples_per_instance: Limit,
}

impl ResourceLimits {
    /// No limit at all, the default.
    pub const UNLIMITED: Self = Self {
        max_samples: Limit::UNLIMITED,
        max_instances: Limit::UNLIMITED,
        max_samples_per_instance: Limit::UNLIMITED,
    };

    /// At most `count` samples of all instances together.
    #[must_use]
    pub const fn max_samples(mut self, count: u32) -> Self {
        self.max_samples = Limit::at_most(count);
        self
    }

    /// At most `count` instances.
    #[must_use]
    pub const fn max_instances(mut self, count: u32) -> Self {
        self.max_instances = Limit::at_most(count);
        self
    }

    /// At most `count` samples of each instance.
    #[must_use]
    pub const fn max_samples_per_instance(mut self, count: u32) -> Self {
        self.max_samples_per_instance = Limit::at_most(count);
        self
    }
}

impl Policy for ResourceLimits {
    const ID: PolicyId = PolicyId::ResourceLimits;
    const CHANGEABLE: bool = false;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_and_their_numbers() {
        assert_eq!(Limit::from_wire(-1), Some(Limit::UNLIMITED));
        assert_eq!(Limit::UNLIMITED.to_wire(), -1);
        assert_eq!(Limit::from_wire(0), None);
        assert_eq!(Limit::from_wire(-2), None);
        assert_eq!(Limit::from_wire(5).map(Limit::to_wire), Some(5));
        assert_eq!(Limit::at_most(u32::MAX), Limit::UNLIMITED);
        assert_eq!(Limit::at_most(1 << 31), Limit::UNLIMITED);
        assert!(Limit::at_most(2).has_room(1));
        assert!(!Limit::at_most(2).has_room(2));
        assert!(Limit::UNLIMITED > Limit::at_most(i32::MAX as u32));
    }
}
