//! Why a machine wants to be called again.

pub use whimbrel_base::agenda::earlier;
use whimbrel_base::time::Instant;

/// What a deadline is for, so that any wake-up can be explained.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Reason {
    /// A periodic heartbeat is due.
    Heartbeat,
    /// Delayed repairs are due.
    Repair,
    /// The pace allows the next fragments.
    Pace,
    /// Changes have waited for others long enough.
    Bundle,
    /// A reader that does not progress will be given up.
    StuckReader,
    /// An acknowledgement is due.
    Acknowledge,
    /// A half-received sample will be forgotten.
    Reassembly,
    /// A participant announcement is due.
    Announce,
    /// Loopback addresses are to be probed for participants.
    Probe,
    /// The lease of a remote participant may end.
    Lease,
    /// A liveliness assertion is due.
    Liveliness,
    /// A reader should have found a writer by now.
    Unserved,
}

/// A deadline with its reason.
pub type Deadline = (Instant, Reason);
