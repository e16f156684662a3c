//! Subscribers, readers and the samples they give.

mod raw;
mod reader;
mod sample;
mod subscriber;

pub use self::raw::{RawDataReader, RawSample, RawTopic};
pub use self::reader::DataReader;
pub use self::sample::{LoanedSample, Sample};
pub use self::subscriber::Subscriber;
