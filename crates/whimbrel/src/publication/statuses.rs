//! The communication statuses of writers.

use whimbrel_base::status::{
    LivelinessLost, OfferedDeadlineMissed, OfferedIncompatibleQos, PublicationMatched, StatusKind,
    StatusMask,
};
use whimbrel_types::DdsType;

use super::writer::DataWriter;

/// Reading a status starts its change counts anew and untriggers conditions on it.
impl<T: DdsType> DataWriter<T> {
    /// The readers that match, and how that changed since this was last read.
    /// DDS 1.4 §2.2.2.4.2.19.
    pub fn publication_matched_status(&self) -> PublicationMatched {
        self.inner
            .core
            .take_status(StatusKind::PublicationMatched, |it| {
                it.publication_matched.take()
            })
    }

    /// Readers that would match but request more than this writer offers, and which policies
    /// stand in the way. DDS 1.4 §2.2.2.4.2.18.
    pub fn offered_incompatible_qos_status(&self) -> OfferedIncompatibleQos {
        self.inner
            .core
            .take_status(StatusKind::OfferedIncompatibleQos, |it| {
                it.offered_incompatible_qos.take()
            })
    }

    /// Leases that this writer missed. DDS 1.4 §2.2.2.4.2.16.
    ///
    /// Stays at zero: finite LIVELINESS leases are refused.
    pub fn liveliness_lost_status(&self) -> LivelinessLost {
        self.inner
            .core
            .take_status(StatusKind::LivelinessLost, |it| it.liveliness_lost.take())
    }

    /// Deadlines that this writer missed. DDS 1.4 §2.2.2.4.2.17.
    ///
    /// Stays at zero: finite DEADLINE periods are refused.
    pub fn offered_deadline_missed_status(&self) -> OfferedDeadlineMissed {
        self.inner
            .core
            .take_status(StatusKind::OfferedDeadlineMissed, |it| {
                it.offered_deadline_missed.take()
            })
    }

    /// The statuses that changed since they were last read. DDS 1.4 §2.2.2.1.1.6
    /// (get_status_changes).
    pub fn status_changes(&self) -> StatusMask {
        self.inner.core.status.changed()
    }
}
