//! What the doctor has seen.

use whimbrel::domain::{Diagnostics, DiscoveredParticipant, Interface};

use super::multicast::Echo;

/// Everything that was seen.
pub(super) struct Seen {
    pub(super) domain: u32,
    pub(super) interfaces: Vec<Interface>,
    /// Names of those in use.
    pub(super) used: Vec<String>,
    pub(super) echoes: Vec<Echo>,
    pub(super) diagnostics: Diagnostics,
    pub(super) others: Vec<DiscoveredParticipant>,
    /// Topics with writers and readers that do not match, and the rules that failed.
    pub(super) mismatches: Vec<(String, String)>,
    pub(super) wanted: Wanted,
}

/// To how many octets buffers are raised; `None` leaves them as the system makes them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Wanted {
    pub(super) receive_bytes: Option<usize>,
    pub(super) send_bytes: Option<usize>,
}
