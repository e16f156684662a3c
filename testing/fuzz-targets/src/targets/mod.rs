//! The targets, one file per parser.

pub mod capture;
pub mod message;
pub mod parameter_list;
pub mod submessage;
pub mod xcdr;
