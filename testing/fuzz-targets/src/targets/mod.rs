//! The targets, one file per parser.

pub mod capture;
pub mod codecs;
pub mod compressed;
pub mod discovery;
pub mod dissection;
pub mod message;
pub mod packed_message;
pub mod parameter_list;
pub mod participant;
pub mod participant_pair;
pub mod submessage;
pub mod xcdr;
