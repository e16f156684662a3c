//! The communication statuses of readers.

use whimbrel_base::status::{
    LivelinessChanged, RequestedDeadlineMissed, RequestedIncompatibleQos, SampleLost,
    SampleRejected, StatusKind, StatusMask, SubscriptionMatched,
};
use whimbrel_types::DdsType;

use super::reader::DataReader;
use super::subscriber::Subscriber;

/// Reading a status starts its change counts anew and untriggers conditions on it.
impl<T: DdsType> DataReader<T> {
    /// The writers that match, and how that changed since this was last read.
    /// DDS 1.4 §2.2.2.5.3.25.
    pub fn subscription_matched_status(&self) -> SubscriptionMatched {
        self.inner
            .core
            .take_status(StatusKind::SubscriptionMatched, |it| {
                it.subscription_matched.take()
            })
    }

    /// Writers that would match but offer less than this reader requests, and which policies
    /// stand in the way. DDS 1.4 §2.2.2.5.3.24.
    pub fn requested_incompatible_qos_status(&self) -> RequestedIncompatibleQos {
        self.inner
            .core
            .take_status(StatusKind::RequestedIncompatibleQos, |it| {
                it.requested_incompatible_qos.take()
            })
    }

    /// Samples that never arrived. DDS 1.4 §2.2.2.5.3.27.
    pub fn sample_lost_status(&self) -> SampleLost {
        self.inner
            .core
            .take_status(StatusKind::SampleLost, |it| it.sample_lost.take())
    }

    /// Samples that arrived and had no room. DDS 1.4 §2.2.2.5.3.26.
    pub fn sample_rejected_status(&self) -> SampleRejected {
        self.inner
            .core
            .take_status(StatusKind::SampleRejected, |it| it.sample_rejected.take())
    }

    /// Matched writers that are alive, and those that are not. DDS 1.4 §2.2.2.5.3.22.
    ///
    /// Finite LIVELINESS leases are refused, so a writer is alive while it matches; one whose
    /// participant falls silent ceases to match.
    pub fn liveliness_changed_status(&self) -> LivelinessChanged {
        self.inner
            .core
            .take_status(StatusKind::LivelinessChanged, |it| {
                it.liveliness_changed.take()
            })
    }

    /// Deadlines that this reader's writers missed. DDS 1.4 §2.2.2.5.3.23.
    ///
    /// Stays at zero: finite DEADLINE periods are refused.
    pub fn requested_deadline_missed_status(&self) -> RequestedDeadlineMissed {
        self.inner
            .core
            .take_status(StatusKind::RequestedDeadlineMissed, |it| {
                it.requested_deadline_missed.take()
            })
    }

    /// The statuses that changed since they were last read. DDS 1.4 §2.2.2.1.1.6
    /// (get_status_changes).
    pub fn status_changes(&self) -> StatusMask {
        self.inner.core.status.changed()
    }
}

impl Subscriber {
    /// The statuses that changed since they were last read: DATA_ON_READERS after data arrived at
    /// any of its readers and until any of them is read. DDS 1.4 §2.2.2.1.1.6.
    pub fn status_changes(&self) -> StatusMask {
        self.inner.status.changed()
    }
}
