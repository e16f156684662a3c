//! RTPS 2.5 bytes.
//!
//! Start with [`message`]: it cuts a datagram into submessages and parses each into a plain struct
//! of [`submessage`]. Every struct knows how to `parse` itself, how to `compose` itself in either
//! byte order and how to print itself. [`parameter`] holds parameter lists, on which
//! [`inline_qos`] and the payloads of [`discovery`] stand. [`pretty`] prints a whole datagram.
//!
//! This crate knows no socket and no type system, and no bytes make it panic, loop without bound
//! or allocate more than they themselves take.
#![no_std]
#![forbid(unsafe_code)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unreachable
)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        missing_docs
    )
)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod header;
pub mod message;
pub mod submessage;

pub mod number_set;
pub mod parameter;

pub mod compressed;
pub mod discovery;
pub mod inline_qos;
pub mod packed_message;
pub mod property;

pub mod pretty;

mod checksum;
mod field;
#[cfg(test)]
mod testing;
