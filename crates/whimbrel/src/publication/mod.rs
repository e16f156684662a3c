//! Publishers and writers.

mod asynchronous;
mod batch;
mod encode;
mod instances;
mod publisher;
mod settings;
mod shared;
mod spares;
mod stamp;
mod statuses;
mod wait;
mod writer;

pub use self::publisher::Publisher;
pub use self::writer::DataWriter;
pub(crate) use self::writer::WriterInner;
