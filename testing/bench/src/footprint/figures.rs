//! What is measured of a product.

use std::time::Duration;

use crate::contestant::Product;

/// Readers beyond the first participant.
pub(super) const READERS: usize = 1000;

/// How long idle pairs are watched.
pub(super) const IDLE: Duration = Duration::from_secs(30);

/// Figures of one product; each is a median.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Figures {
    pub(super) product: Product,
    /// Of a process with one participant.
    pub(super) resident_kib: f64,
    pub(super) private_kib: f64,
    pub(super) threads: f64,
    /// Each of a thousand more readers of one topic.
    pub(super) reader_kib: f64,
    pub(super) threads_with_readers: f64,
    /// From the start of a process until both sides know of each other's writer and reader.
    pub(super) match_ms: f64,
    pub(super) idle_cpu_ms: f64,
    pub(super) idle_wakes: f64,
    /// Stripped program and the product's libraries.
    pub(super) binary_kib: f64,
}
