//! Measures Whimbrel, its peers and the raw socket with one method, interleaved in one run.
//!
//! A contestant is a program with two processes that talks by lines ([`protocol`]); the referee
//! (`whimbrel-bench`) starts all of them, lets them run in rounds, and alone computes percentiles,
//! judges goals and writes reports. Nothing here may use a product other than by its public API.
#![forbid(unsafe_code)]

pub use whimbrel_net::clock;

pub mod arguments;
pub mod calls;
pub mod contestant;
pub mod exchange;
pub mod footprint;
pub mod goal;
pub mod host;
pub mod latency;
pub mod machine;
pub mod pair;
mod parts;
pub mod placement;
pub mod polling;
pub mod protocol;
pub mod report;
pub mod spread;
pub mod stage;
pub mod stream;
pub mod streamers;
pub mod throughput;
pub mod turns;
