//! Subscribers, readers and the samples they give.

mod asynchronous;
mod counted;
mod inner;
mod iterate;
mod raw;
mod reader;
#[cfg(target_os = "linux")]
mod readiness;
mod sample;
mod sequence;
mod statuses;
mod subscriber;
mod wait;

pub use self::asynchronous::SampleStream;
pub(crate) use self::inner::ReaderInner;
pub use self::iterate::Samples;
pub use self::raw::{RawDataReader, RawSample, RawTopic};
pub use self::reader::DataReader;
#[cfg(target_os = "linux")]
pub use self::readiness::ReadinessFd;
pub use self::sample::{LoanedSample, Sample};
pub use self::sequence::{IntoIter, SampleSeq};
pub use self::subscriber::Subscriber;
