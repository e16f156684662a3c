//! What happened to an instance.

/// Kind of a change to an instance. RTPS 2.5 §8.2.1.1, status info of §9.6.4.9.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ChangeKind {
    /// New data.
    Alive,
    /// The instance is deleted.
    Disposed,
    /// The writer no longer updates the instance.
    Unregistered,
    /// Both at once.
    DisposedUnregistered,
}

impl ChangeKind {
    /// From the disposed and unregistered bits of the status info.
    pub const fn from_bits(disposed: bool, unregistered: bool) -> Self {
        match (disposed, unregistered) {
            (false, false) => Self::Alive,
            (true, false) => Self::Disposed,
            (false, true) => Self::Unregistered,
            (true, true) => Self::DisposedUnregistered,
        }
    }

    /// True when the instance is deleted by this change.
    pub const fn disposes(self) -> bool {
        matches!(self, Self::Disposed | Self::DisposedUnregistered)
    }

    /// True when the writer gives up the instance by this change.
    pub const fn unregisters(self) -> bool {
        matches!(self, Self::Unregistered | Self::DisposedUnregistered)
    }
}
