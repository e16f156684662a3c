//! The targets, one file per parser.

pub mod capture;
pub mod discovery;
pub mod dissection;
pub mod message;
pub mod parameter_list;
pub mod submessage;
pub mod xcdr;
