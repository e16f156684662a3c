//! User data types and their encodings.
//!
//! A type that travels on a topic implements [`DdsType`], normally by `#[derive(DdsType)]`; a type
//! that may be a member of one implements [`DdsValue`]. [`payload`] turns values into serialized
//! payloads and back, [`key`] computes key hashes, [`describe`] is the type model and [`dynamic`]
//! reads payloads by a description alone.
//!
//! Encodings: XCDR1 (PLAIN_CDR) and XCDR2 (PLAIN_CDR2, DELIMITED_CDR2) in both byte orders, for
//! final and appendable types. Mutable types are not supported. XTypes 1.3 §7.4.
//!
//! This crate parses no text, knows no RTPS message, and never panics, loops or allocates by a
//! claimed length on bytes from outside.
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

pub mod bounded;
pub mod bounds;
pub mod decoder;
pub mod describe;
pub mod dynamic;
pub mod encoder;
pub mod key;
pub mod member;
pub mod payload;
pub mod representation;
pub mod shape;
pub mod value;

pub use bounded::Bounded;
pub use bounds::KeyBounds;
pub use decoder::{DEPTH_MAX, Decoder};
pub use describe::{Case, Kind, Literal, MemberDescription, TypeBody, TypeDescription};
pub use encoder::{Apart, EncodeError, Encoder};
pub use key::{KeyHasher, key_hash, key_hash_from_payload, key_hash_from_payload_in, key_hash_in};
pub use member::Member;
pub use payload::{
    from_payload, from_shared_payload, key_from_payload, key_to_payload, to_payload,
    to_payload_apart,
};
pub use representation::{Extensibility, Representation};
pub use shape::Shape;
pub use value::{DdsType, DdsValue};
pub use whimbrel_base::buffer::SharedBytes;
pub use whimbrel_base::cursor::Endian;
pub use whimbrel_base::reject::{Reject, RejectKind};
