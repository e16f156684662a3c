//! HISTORY: how many samples of each instance are kept.

use core::fmt;

use super::policy::{Policy, PolicyId};

/// How many samples of each instance are kept. DDS 1.4 §2.2.3.18.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum History {
    /// The newest so many, at least 1. `KeepLast(1)` by default.
    KeepLast(u32),
    /// All, up to RESOURCE_LIMITS.
    KeepAll,
}

impl History {
    /// From the wire's kind and depth; `None` where they mean nothing. The depth of KEEP_ALL
    /// means nothing and is not looked at. RTPS 2.5 §9.6.3.
    pub fn from_wire(kind: u32, depth: i32) -> Option<Self> {
        match kind {
            0 => u32::try_from(depth)
                .ok()
                .filter(|d| *d > 0)
                .map(Self::KeepLast),
            1 => Some(Self::KeepAll),
            _ => None,
        }
    }

    /// The wire's kind and depth; KEEP_ALL travels with depth 1, the standard's default.
    pub fn to_wire(self) -> (u32, i32) {
        match self {
            Self::KeepLast(depth) => (0, i32::try_from(depth).unwrap_or(i32::MAX)),
            Self::KeepAll => (1, 1),
        }
    }

    /// How many samples of an instance are kept; `usize::MAX` for KEEP_ALL.
    pub const fn depth(self) -> usize {
        match self {
            Self::KeepLast(depth) => depth as usize,
            Self::KeepAll => usize::MAX,
        }
    }
}

impl Default for History {
    fn default() -> Self {
        Self::KeepLast(1)
    }
}

impl Policy for History {
    const ID: PolicyId = PolicyId::History;
    const CHANGEABLE: bool = false;
}

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeepLast(depth) => write!(f, "KEEP_LAST {depth}"),
            Self::KeepAll => f.write_str("KEEP_ALL"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wire_values() {
        assert_eq!(History::from_wire(0, 7), Some(History::KeepLast(7)));
        assert_eq!(History::from_wire(1, 0), Some(History::KeepAll));
        assert_eq!(History::from_wire(0, 0), None);
        assert_eq!(History::from_wire(0, -1), None);
        assert_eq!(History::from_wire(2, 1), None);
        assert_eq!(History::KeepLast(u32::MAX).to_wire(), (0, i32::MAX));
    }
}
