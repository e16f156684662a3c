//! Values that pass from a writer to the readers of its process as they are.
//!
//! Nothing here looks into them: they are the program's own, and so is their destructor. Whoever
//! holds the last reference lets go of it without a lock.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::any::Any;
use core::fmt;

/// What a shared value can do without its type being known.
trait Held: Send + Sync {
    fn as_any(&self) -> &dyn Any;

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;

    /// The value itself, where this is the last reference to it.
    fn into_inner(self: Arc<Self>) -> Result<Box<dyn Any + Send>, Arc<dyn Held>>;
}

impl<T: Any + Send + Sync> Held for T {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }

    fn into_inner(self: Arc<Self>) -> Result<Box<dyn Any + Send>, Arc<dyn Held>> {
        match Arc::try_unwrap(self) {
            Ok(inner) => Ok(Box::new(inner)),
            Err(shared) => Err(shared),
        }
    }
}

/// A value of the program that is shared instead of encoded.
#[derive(Clone)]
pub struct SharedValue {
    held: Arc<dyn Held>,
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
        (*self.held).as_any().downcast_ref()
    }

    /// The value as it was shared, where it is a `T`.
    pub fn into_shared<T: Any + Send + Sync>(self) -> Option<Arc<T>> {
        self.held.into_any().downcast().ok()
    }

    /// The value itself, where nobody else refers to it.
    ///
    /// # Errors
    /// The value as it was: somebody does, or it is no `T`.
    pub fn into_inner<T: Any>(self) -> Result<T, Self> {
        let bytes = self.bytes;
        if self.get::<T>().is_none() {
            return Err(self);
        }
        let inner = self
            .held
            .into_inner()
            .map_err(|held| Self { held, bytes })?;
        match inner.downcast() {
            Ok(inner) => Ok(*inner),
            // It was one just now.
            Err(_) => Err(Self {
                held: Arc::new(()),
                bytes,
            }),
        }
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
        let other = other.into_inner::<u32>().unwrap_err();
        drop(value);
        let other = other.into_inner::<u64>().unwrap_err();
        assert_eq!(other.into_inner::<u32>(), Ok(7));
    }
}
