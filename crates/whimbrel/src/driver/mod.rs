//! Threads, locks and the clock: what turns the machines of `whimbrel-proto` into a running bus.
//!
//! One driver serves all participants of the process with at most two threads: `whimbrel-io` fires
//! timers and receives where nobody waits, `whimbrel-call` (started with the first listener of
//! data, or when another has something to hear) runs callbacks. Samples are sent by the thread that
//! writes them and received by the one that waits for them ([`reception`]). A thread holds at most
//! one machine lock at a time, but that with a writer's it may take those of readers of this
//! process, and none while it runs user code.
//!
//! Lock order: a participant's `serial`, then one machine ([`participant`], [`writer`] or
//! [`reader`]), and below a writer's those of readers of this process or its answers put aside,
//! then the QoS of one entity, the inside of a [`wake::Bell`] or of [`timers::Timers`].
//! ARCHITECTURE.md has every lock, with what may be held below it.

pub(crate) mod audience;
pub(crate) mod block;
pub(crate) mod callbacks;
pub(crate) mod clock;
pub(crate) mod compression;
mod connected;
pub(crate) mod contain;
mod direct;
pub(crate) mod engine;
pub(crate) mod few;
pub(crate) mod handle;
mod heard;
mod here;
pub(crate) mod joined;
pub(crate) mod manners;
pub(crate) mod memory;
pub(crate) mod neighbours;
pub(crate) mod network;
mod opening;
pub(crate) mod outbox;
pub(crate) mod outgoing;
pub(crate) mod packing;
pub(crate) mod participant;
pub(crate) mod ports;
pub(crate) mod reader;
pub(crate) mod reception;
mod role;
pub(crate) mod routing;
pub(crate) mod sharing;
pub(crate) mod slot;
pub(crate) mod sockets;
pub(crate) mod statistics;
pub(crate) mod status;
pub(crate) mod sync;
pub(crate) mod task;
pub(crate) mod timers;
pub(crate) mod topic;
pub(crate) mod wake;
pub(crate) mod warning;
pub(crate) mod worker;
pub(crate) mod writer;

#[cfg(all(test, shuttle))]
mod models;
