//! The types that this program knows.

use serde::Serialize;
use whimbrel::DdsType;

/// The type of the well-known shapes demonstration.
#[derive(DdsType, Serialize, Clone, PartialEq, Eq, Debug)]
#[dds(final)]
pub(crate) struct ShapeType {
    #[dds(key, bound = 128)]
    pub(crate) color: String,
    pub(crate) x: i32,
    pub(crate) y: i32,
    pub(crate) shapesize: i32,
}

/// A line of a log, as `whimbrel demo` publishes it.
#[derive(DdsType, Serialize, Clone, PartialEq, Eq, Debug)]
#[dds(final, rename = "whimbrel::demo::LogLine")]
pub(crate) struct LogLine {
    /// The part of the system that wrote the line.
    #[dds(key)]
    pub(crate) source: String,
    /// Position among all lines published, from 0.
    pub(crate) number: u64,
    /// When it was published: nanoseconds since 1970.
    pub(crate) sent_ns: u64,
    /// The line.
    pub(crate) text: String,
}
