//! What can be encoded: [`DdsValue`] for every value, [`DdsType`] for the types of topics.

pub mod traits;

mod array;
mod boxed;
mod map;
mod primitive;
mod sequence;
mod shared;
mod text;

pub use traits::{DdsType, DdsValue};
