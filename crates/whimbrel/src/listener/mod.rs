//! Being called when something happens. DDS 1.4 §2.2.4.2.3 and §2.2.4.3.
//!
//! A listener is a trait object set on a writer, reader, topic, publisher, subscriber or
//! participant together with the statuses it wants to hear of. Of all listeners that want a
//! status the most specific is called: that of the entity itself, else that of its publisher or
//! subscriber, else that of its participant. Data is first told to whoever listens for
//! DATA_ON_READERS, and only where nobody does to those that listen for DATA_AVAILABLE.
//!
//! - Listeners are called without a lock: every call of this library is allowed within, also
//!   dropping the entity or replacing the listener. No listener is called by two threads at once.
//! - One thread calls all listeners of the process, one after the other, with one exception: data
//!   from a writer of the same process is told to the listener of the reader itself by the thread
//!   that writes, before `write` returns. So hold no lock while you write that such a listener
//!   takes. What it writes itself is told after it has returned, not within.
//!   [`InProcess::Queued`] leaves all listeners to the one thread.
//! - A listener that blocks holds up the others, and the thread that calls it, but neither other
//!   sending nor receiving.
//! - Changes that come faster than a listener returns are told in one call; one that the program
//!   has read itself in the meantime is not told.
//! - A listener that is set is told of what had changed before and was not read, data included.
//! - Replacing a listener does not wait for a call of the old one that is under way.
//! - A listener that panics is called again the next time; [`DomainParticipant::listener_panics`]
//!   counts.
//! - Entities own their listeners. A listener that owns a handle of its own entity keeps it alive
//!   until the listener is replaced; it is given the entity in each call, so it needs no handle.
//!
//! [`InProcess::Queued`]: crate::domain::InProcess::Queued
//! [`DomainParticipant::listener_panics`]: crate::DomainParticipant::listener_panics

mod any;
mod endpoint;
mod group;
mod topic;

pub use self::any::{AnyDataReader, AnyDataWriter};
pub use self::endpoint::{DataReaderListener, DataWriterListener};
pub use self::group::{DomainParticipantListener, PublisherListener, SubscriberListener};
pub use self::topic::TopicListener;
