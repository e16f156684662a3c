//! A virtual network and clock around the protocol machines.
//!
//! One seed gives one [`scenario::Scenario`]; [`world::play`] plays it on a [`network::Network`]
//! while the [`model::Model`] watches and says what must have arrived. The same seed gives the
//! same traffic, octet by octet. Nothing here reads a clock or opens a socket.
#![forbid(unsafe_code)]

mod addresses;
pub mod campaign;
pub mod crowd;
pub mod forms;
pub mod model;
pub mod network;
pub mod node;
pub mod payload;
pub mod random;
pub mod scenario;
mod sent;
pub mod shrink;
pub mod world;
