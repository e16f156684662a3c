//! Names of data instances.

use core::fmt;

/// Names one instance of a topic with key: its key hash, but for the hash of zeros, see
/// [`InstanceHandle::from_key_hash`]. RTPS 2.5 §9.6.4.8.
///
/// Topics without key have the single instance [`InstanceHandle::NIL`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct InstanceHandle(pub [u8; 16]);

impl InstanceHandle {
    /// HANDLE_NIL: no instance.
    pub const NIL: Self = Self([0; 16]);

    /// Stands for the instance whose key hash is all zeros, such as that of the number 0, which
    /// [`InstanceHandle::NIL`] cannot name. Any fixed random number does.
    const ZERO_KEY: Self = Self(0x9d4c_5b0e_71a2_46f3_8e1d_2f60_b3c7_95a8_u128.to_be_bytes());

    /// The handle of the instance with this key hash; never [`InstanceHandle::NIL`].
    pub fn from_key_hash(hash: [u8; 16]) -> Self {
        if hash == [0; 16] {
            Self::ZERO_KEY
        } else {
            Self(hash)
        }
    }

    /// The inverse of [`InstanceHandle::from_key_hash`].
    pub fn key_hash(self) -> [u8; 16] {
        if self == Self::ZERO_KEY {
            [0; 16]
        } else {
            self.0
        }
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_hash_has_a_handle_that_is_not_nil() {
        for hash in [[0; 16], [1; 16], [0xff; 16]] {
            let handle = InstanceHandle::from_key_hash(hash);
            assert!(!handle.is_nil());
            assert_eq!(handle.key_hash(), hash);
        }
    }
}
