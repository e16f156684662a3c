//! Words that every part of Whimbrel shares.
//!
//! Identities ([`guid`], [`sequence`], [`instance`]), time ([`time`]), addresses ([`locator`]),
//! QoS policies with their request/offered rules ([`qos`]), statuses ([`status`]), what readers
//! tell of samples ([`sample`]), limits ([`limits`], [`budget`], [`bucket`]), tables and sets
//! ([`sorted`], [`table`], [`ranges`]), what is due next ([`agenda`]), how fast events come
//! ([`streak`], [`rate`]) and how long answers take ([`patience`]), the checked byte cursors that
//! all parsing goes through ([`cursor`]), shared and pooled buffers ([`buffer`]), copies of many
//! octets ([`copying`]) and the reasons for which bytes are refused ([`reject`]).
//!
//! This crate depends on nothing, reads no clock, opens no socket and never panics on bytes from
//! outside.
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

pub mod agenda;
pub mod arrival;
pub mod bucket;
pub mod budget;
pub mod buffer;
pub mod copying;
pub mod credit;
pub mod cursor;
pub mod guid;
pub mod instance;
pub mod limits;
pub mod locator;
pub mod patience;
pub mod qos;
pub mod ranges;
pub mod rate;
pub mod reject;
pub mod sample;
pub mod sequence;
pub mod share;
pub mod sorted;
pub mod status;
pub mod streak;
pub mod table;
pub mod time;
pub mod vendor;
