//! What discovery decides, as pure functions: who matches whom ([`matching`]) and which of a
//! peer's addresses to use ([`locators`]).
//!
//! Nothing here keeps state or sends anything: that is [`crate::participant`].

pub mod locators;
pub mod matching;

pub use locators::{InterfaceAddress, Route};
pub use matching::{Outcome, ReaderFacts, RuleVerdict, WriterFacts};
