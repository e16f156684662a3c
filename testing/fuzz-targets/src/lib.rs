//! One function per parser of bytes from outside, their seeds and the replay of their corpora.
//!
//! A target takes any bytes and must return: a panic, an endless loop or an allocation by a claimed
//! size is a fault of the parser. Targets also panic when what was understood does not survive
//! being composed and parsed again. `fuzz/` runs them under a fuzzer, the program `replay` and the
//! tests of this crate run the committed corpora, the program `seed` writes the first inputs.
//!
//! Start at [`TARGETS`]. No target may hide a panic.

pub mod bounded;
pub mod codec;
pub mod corpus;
pub mod hunt;
pub mod mutate;
pub mod random;
pub mod raw;
pub mod record;
pub mod replay;
pub mod seeds;
pub mod station;
pub mod targets;
pub mod thread_time;

/// Takes any bytes.
pub type Target = fn(&[u8]);

/// Every target by the name of its corpus.
pub const TARGETS: &[(&str, Target)] = &[
    ("message", targets::message::message),
    ("data", targets::submessage::data),
    ("data_batch", targets::submessage::data_batch),
    ("data_frag", targets::submessage::data_frag),
    ("heartbeat", targets::submessage::heartbeat),
    ("heartbeat_batch", targets::submessage::heartbeat_batch),
    ("heartbeat_frag", targets::submessage::heartbeat_frag),
    ("acknack", targets::submessage::acknack),
    ("nack_frag", targets::submessage::nack_frag),
    ("gap", targets::submessage::gap),
    ("info_ts", targets::submessage::info_ts),
    ("info_dst", targets::submessage::info_dst),
    ("info_src", targets::submessage::info_src),
    ("info_reply", targets::submessage::info_reply),
    ("info_reply_ip4", targets::submessage::info_reply_ip4),
    ("pad", targets::submessage::pad),
    ("header_extension", targets::submessage::header_extension),
    ("parameter_list", targets::parameter_list::parameter_list),
    ("inline_qos", targets::discovery::inline_qos),
    ("participant_data", targets::discovery::participant_data),
    ("writer_data", targets::discovery::writer_data),
    ("reader_data", targets::discovery::reader_data),
    (
        "participant_message",
        targets::discovery::participant_message,
    ),
    ("dissection", targets::dissection::dissection),
    ("xcdr_plain", targets::xcdr::plain),
    ("xcdr_final", targets::xcdr::final_type),
    ("xcdr_appendable", targets::xcdr::appendable),
    ("capture", targets::capture::capture),
    ("codecs", targets::codecs::codecs),
    ("compressed", targets::compressed::compressed),
    ("packed_message", targets::packed_message::packed_message),
    ("participant", targets::participant::participant),
    (
        "participant_pair",
        targets::participant_pair::participant_pair,
    ),
];

/// Runs the target of this name.
///
/// # Panics
///
/// When there is none, and when the target does.
pub fn run(name: &str, data: &[u8]) {
    let found = TARGETS.iter().find(|(other, _)| *other == name);
    let (_, target) = found.unwrap_or_else(|| panic!("{name} is no target"));
    target(data);
}
