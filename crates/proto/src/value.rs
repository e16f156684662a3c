//! Values that pass from a writer to the readers of its process as they are.
//!
//! Nothing here looks into them: they are the program's own, and so is their destructor. Whoever
//! holds the last reference lets go of it without a lock.

use alloc::sync::Arc;
use core::any::Any;
use core::fmt;

/// A value of the program that is shared instead of encoded.
#[derive(Clone)]
pub struct SharedValue {
    held: Arc<dyn Any + Send + Sync>,
    bytes: usize,
}

impl SharedValue {
    /// Shares `value`, which keeps about so many octets.
    pub fn new<T: Any + Send + Sync>(value: Arc<T>, bytes: usize) -> Self {
        Self { held: value, bytes }
    }

    /// Octets that it keeps, about.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// The value, where it is a `T`.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.held.downcast_ref()
    }

    /// The value as it was shared.
    ///
    /// # Errors
    /// This, where it is no `T`.
    pub fn into_shared<T: Any + Send + Sync>(self) -> Result<Arc<T>, Self> {
        let bytes = self.bytes;
        self.held.downcast().map_err(|held| Self { held, bytes })
    }
}

impl PartialEq for SharedValue {
    /// The same value, not one that is equal.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.held, &other.held)
    }
}

impl Eq for SharedValue {}

impl fmt::Debug for SharedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "value of {} octets", self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_by_its_type_and_given_back_by_the_last() {
        let value = SharedValue::new(Arc::new(7_u32), 4);
        let other = value.clone();
        assert_eq!((value.get::<u32>(), value.get::<u64>()), (Some(&7), None));
        assert_eq!(value, other);
        let other = other.into_shared::<u64>().unwrap_err();
        assert_eq!((&other, other.bytes()), (&value, 4));
        drop(value);
        let other = other.into_shared::<u32>().unwrap();
        assert_eq!(Arc::try_unwrap(other), Ok(7));
    }
}
