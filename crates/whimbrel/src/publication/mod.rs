//! Publishers and writers.

mod publisher;
mod writer;

pub use self::publisher::Publisher;
pub use self::writer::DataWriter;
pub(crate) use self::writer::deadline;
