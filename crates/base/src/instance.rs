//! Names of data instances.

use core::fmt;

/// Names one instance of a topic with key: its key hash. RTPS 2.5 §9.6.4.8.
///
/// Topics without key have the single instance [`InstanceHandle::NIL`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct InstanceHandle(pub [u8; 16]);

impl InstanceHandle {
    /// HANDLE_NIL: no instance.
    pub const NIL: Self = Self([0; 16]);

    /// True for [`InstanceHandle::NIL`].
    pub fn is_nil(self) -> bool {
        self == Self::NIL
    }
}

impl fmt::Display for InstanceHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0 {
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for InstanceHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
