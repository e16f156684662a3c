//! One plain struct per kind of submessage. RTPS 2.5 §8.3.8, §9.4.5.
//!
//! Each has `parse(flags, body)`, where the body is what follows the four octets of the
//! submessage header, `compose(out, endian)`, which appends header and body, and prints itself on
//! one line. Composing expects the message to begin at a multiple of four in `out` and keeps every
//! submessage aligned to four; parsing does not require that.

pub mod frame;

pub mod acknack;
pub mod data;
pub mod data_batch;
pub mod data_frag;
pub mod gap;
pub mod header_extension;
pub mod heartbeat;
pub mod heartbeat_batch;
pub mod heartbeat_frag;
pub mod info_dst;
pub mod info_reply;
pub mod info_reply_ip4;
pub mod info_src;
pub mod info_ts;
pub mod nack_frag;
pub mod pad;
mod timed_data;

pub use acknack::AckNack;
pub use data::{Content, Data};
pub use data_batch::{BatchedSample, BatchedSamples, BatchedSamplesWriter, DataBatch};
pub use data_frag::DataFrag;
pub use frame::SubmessageKind;
pub use gap::Gap;
pub use header_extension::{Checksum, HeaderExtension};
pub use heartbeat::{Heartbeat, HeartbeatGroup};
pub use heartbeat_batch::HeartbeatBatch;
pub use heartbeat_frag::HeartbeatFrag;
pub use info_dst::InfoDestination;
pub use info_reply::InfoReply;
pub use info_reply_ip4::{InfoReplyIp4, LocatorUdpV4};
pub use info_src::InfoSource;
pub use info_ts::InfoTimestamp;
pub use nack_frag::NackFrag;
pub use pad::Pad;
pub use timed_data::{TimedData, timed_head};
