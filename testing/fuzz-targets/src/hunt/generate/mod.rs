//! Inputs with the structure that each target expects, and a lie here and there.

mod lists;
mod messages;
mod participants;
mod payloads;

use crate::random::Random;

/// An input for the target of this name; `None` where only committed inputs have its structure.
pub fn input(target: &str, random: &mut Random) -> Option<Vec<u8>> {
    Some(match target {
        "message" | "dissection" => messages::message(random),
        "parameter_list" | "inline_qos" => lists::ordered_list(random),
        "participant_data" => lists::announcement(random, lists::Sort::Participant),
        "writer_data" => lists::announcement(random, lists::Sort::Writer),
        "reader_data" => lists::announcement(random, lists::Sort::Reader),
        "xcdr_plain" => payloads::plain(random),
        "xcdr_final" => payloads::final_type(random),
        "xcdr_appendable" => payloads::appendable(random),
        "participant" => participants::actions(random),
        "participant_pair" => participants::fates(random),
        kind => return messages::flags_and_body(kind, random),
    })
}
