//! What a reader tells of each sample: its states and its [`SampleInfo`].

use core::fmt;
use core::ops::BitOr;

use crate::instance::InstanceHandle;
use crate::time::Timestamp;

macro_rules! states {
    (
        $(#[doc = $doc:literal])+
        $name:ident, $mask:ident, default $default:ident {
            $($(#[doc = $variant_doc:literal])+ $variant:ident = $bit:literal $text:literal,)+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum $name {
            $($(#[doc = $variant_doc])+ $variant = $bit,)+
        }

        impl Default for $name {
            fn default() -> Self {
                Self::$default
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Self::$variant => $text,)+
                })
            }
        }

        #[doc = concat!("A set of [`", stringify!($name), "`]s; all of them by default.")]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub struct $mask(u8);

        impl $mask {
            /// Any state.
            pub const ANY: Self = Self($($bit |)+ 0);
            /// No state at all: nothing matches.
            pub const NONE: Self = Self(0);

            /// The set of `state` alone.
            pub const fn of(state: $name) -> Self {
                Self(state as u8)
            }

            /// From the standard's bits; bits of no state are left out.
            pub const fn from_bits(bits: u32) -> Self {
                Self((bits as u8) & Self::ANY.0)
            }

            /// The standard's bits.
            pub const fn bits(self) -> u32 {
                self.0 as u32
            }

            /// True when `state` is in the set.
            pub const fn contains(self, state: $name) -> bool {
                self.0 & state as u8 != 0
            }
        }

        impl Default for $mask {
            fn default() -> Self {
                Self::ANY
            }
        }

        impl From<$name> for $mask {
            fn from(state: $name) -> Self {
                Self::of(state)
            }
        }

        impl BitOr for $name {
            type Output = $mask;

            fn bitor(self, other: Self) -> $mask {
                $mask(self as u8 | other as u8)
            }
        }

        impl<M: Into<Self>> BitOr<M> for $mask {
            type Output = Self;

            fn bitor(self, other: M) -> Self {
                Self(self.0 | other.into().0)
            }
        }
    };
}

states! {
    /// Whether a sample was read before. DDS 1.4 §2.2.2.5.1.1.
    SampleState, SampleStates, default NotRead {
        /// It was.
        Read = 1 "READ",
        /// It was not.
        NotRead = 2 "NOT_READ",
    }
}

states! {
    /// Whether an instance's current generation was seen before. DDS 1.4 §2.2.2.5.1.8.
    ViewState, ViewStates, default New {
        /// It was not.
        New = 1 "NEW",
        /// It was.
        NotNew = 2 "NOT_NEW",
    }
}

states! {
    /// Whether an instance exists. DDS 1.4 §2.2.2.5.1.3.
    InstanceState, InstanceStates, default Alive {
        /// It does, and has a live writer.
        Alive = 1 "ALIVE",
        /// A writer disposed it.
        NotAliveDisposed = 2 "NOT_ALIVE_DISPOSED",
        /// No writer has it any more.
        NotAliveNoWriters = 4 "NOT_ALIVE_NO_WRITERS",
    }
}

impl InstanceStates {
    /// Both states that are not alive: NOT_ALIVE_INSTANCE_STATE.
    pub const NOT_ALIVE: Self = Self(2 | 4);
}

/// What a reader tells of a sample beside its data. DDS 1.4 §2.2.2.5.5.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct SampleInfo {
    /// Whether the sample was read before.
    pub sample_state: SampleState,
    /// Whether the instance's current generation was seen before.
    pub view_state: ViewState,
    /// Whether the instance exists, when the sample was returned.
    pub instance_state: InstanceState,
    /// How often the instance had come back from being disposed when the sample arrived.
    pub disposed_generation_count: u32,
    /// How often the instance had come back from having no writers when the sample arrived.
    pub no_writers_generation_count: u32,
    /// How many samples of the same instance follow in the same returned collection.
    pub sample_rank: u32,
    /// How many generations lie between this sample and the last of its instance in the same
    /// returned collection.
    pub generation_rank: u32,
    /// How many generations lie between this sample and the last one that had arrived for its
    /// instance when the collection was returned.
    pub absolute_generation_rank: u32,
    /// When the sample was written; invalid where the writer did not say.
    pub source_timestamp: Timestamp,
    /// When the sample arrived here.
    pub reception_timestamp: Timestamp,
    /// The instance.
    pub instance_handle: InstanceHandle,
    /// The writer.
    pub publication_handle: InstanceHandle,
    /// Whether there is data; without, the sample only tells of a change of the instance's state.
    pub valid_data: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_hold_the_standards_bits() {
        assert_eq!(SampleStates::of(SampleState::NotRead).bits(), 2);
        assert_eq!(SampleStates::ANY.bits(), 3);
        assert_eq!(InstanceStates::ANY.bits(), 7);
        assert_eq!(InstanceStates::from_bits(0xffff), InstanceStates::ANY);
        let gone = InstanceState::NotAliveDisposed | InstanceState::NotAliveNoWriters;
        assert_eq!(gone, InstanceStates::NOT_ALIVE);
        assert!(!gone.contains(InstanceState::Alive));
        assert_eq!(gone | InstanceState::Alive, InstanceStates::ANY);
        assert!(!ViewStates::NONE.contains(ViewState::New));
    }
}
