//! Whimbrel: an OMG DDS data bus that talks to every other one.
//!
//! ```no_run
//! use whimbrel::{DataReaderQos, DataWriterQos, DdsType, DomainParticipant};
//!
//! #[derive(DdsType, Debug)]
//! struct Position {
//!     #[dds(key)]
//!     vehicle: String,
//!     x: f64,
//!     y: f64,
//! }
//!
//! # fn main() -> Result<(), whimbrel::Error> {
//! let participant = DomainParticipant::new(0)?;
//! let topic = participant.create_topic::<Position>("positions")?;
//! let writer = participant.create_datawriter(&topic, DataWriterQos::default().reliable())?;
//! let reader = participant.create_datareader(&topic, DataReaderQos::default().reliable())?;
//! writer.write(&Position { vehicle: "tram 7".into(), x: 1.0, y: 2.0 })?;
//! for sample in reader.take_timeout(10, std::time::Duration::from_secs(1))? {
//!     println!("{:?}", sample.data());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The names are those of the standard (DDS 1.4), in snake case; on top of them come Rust's
//! habits: builders, iterators, `Drop` instead of delete, `async` without a runtime. Entities are
//! handles: clones name the same entity, which leaves the bus with the last of them.
//!
//! Start at [`DomainParticipant`]. Nothing here exposes a runtime, a socket or a lock.
#![forbid(unsafe_code)]

// Derived code names this crate as programs do.
#[cfg(test)]
extern crate self as whimbrel;

pub mod condition;
pub mod domain;
pub mod error;
pub mod listener;
pub mod publication;
pub mod statistics;
pub mod subscription;
pub mod topic;

mod driver;
mod members;

pub use whimbrel_base as base;
pub use whimbrel_derive::DdsType;
pub use whimbrel_proto::{
    RuleVerdict,
    cache::{Selector, Which},
    reader::ReaderStatistics,
    writer::{BundlingStatistics, WriterStatistics},
};
pub use whimbrel_types as types;
pub use whimbrel_types::DdsType;

pub use base::buffer::SharedBytes;
pub use base::instance::InstanceHandle;
pub use base::qos::{
    self, DataReaderQos, DataWriterQos, DomainParticipantQos, PublisherQos, SubscriberQos, TopicQos,
};
pub use base::sample::{
    InstanceState, InstanceStates, SampleInfo, SampleState, SampleStates, ViewState, ViewStates,
};
pub use base::status::{self, StatusKind, StatusMask};
pub use base::time::{Duration, Timestamp};
pub use condition::{Condition, GuardCondition, ReadCondition, StatusCondition, WaitSet};
pub use domain::{DomainParticipant, DomainParticipantBuilder};
pub use driver::block::block_on;
pub use driver::compression::{CompressionStatistics, built_in as built_in_codecs};
pub use driver::packing::BundleCompressionStatistics;
pub use error::{Error, ReturnCode};
pub use listener::{
    AnyDataReader, AnyDataWriter, DataReaderListener, DataWriterListener,
    DomainParticipantListener, PublisherListener, SubscriberListener, TopicListener,
};
pub use publication::{DataWriter, Publisher};
pub use subscription::{
    DataReader, RawDataReader, RawSample, RawTopic, Sample, SampleSeq, Subscriber,
};
pub use topic::Topic;

/// The readme's program is compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
