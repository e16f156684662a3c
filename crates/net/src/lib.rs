//! UDP sockets, interfaces, readiness and packet capture.
//!
//! This crate moves datagrams between the operating system and the driver, and knows nothing of
//! what is in them: no RTPS word appears here. Start at [`socket`] for sending and receiving, at
//! [`poll`] for waiting, at [`interfaces`] for where to listen. [`decorate`] watches or disturbs
//! the traffic of a socket; [`capture`] writes and reads packet captures; [`clock`] and
//! [`marks`] are for measuring.
//!
//! Unsafe code lives only in `sys/`: `sys/linux` speaks to Linux directly, `sys/portable` does the
//! same, more slowly, with what every platform has (build with `--cfg whimbrel_portable` to use it
//! on Linux too).
#![deny(unsafe_code)]
#![cfg_attr(test, allow(missing_docs))]
#![allow(unexpected_cfgs, reason = "whimbrel_portable is set by hand only")]

pub mod capture;
pub mod clock;
mod datagram;
pub mod decorate;
pub mod interfaces;
pub mod marks;
pub mod poll;
pub mod ports;
pub mod socket;

#[allow(
    unsafe_code,
    reason = "the one place that speaks to the operating system"
)]
mod sys;
