//! Our built-in writers and readers, and whether they have anything to do.

use core::ops::{Deref, DerefMut};

use whimbrel_base::guid::EntityId;
use whimbrel_base::time::Instant;
use whimbrel_wire::discovery::BuiltinEndpoints;

use crate::deadline::{Deadline, earlier};
use crate::reader::Reader;
use crate::writer::Writer;

/// One kind of announcements: our writer and our reader of it.
#[derive(Debug)]
pub(super) struct Channel {
    pub(super) writer: Writer,
    pub(super) reader: Reader,
    pub(super) writer_entity: EntityId,
    pub(super) reader_entity: EntityId,
    pub(super) writer_bit: BuiltinEndpoints,
    pub(super) reader_bit: BuiltinEndpoints,
}

/// All of them. Participants that keep announcing themselves change nothing here, so they are left
/// alone until somebody has had a hand on them, or a deadline has passed.
#[derive(Debug)]
pub(super) struct Channels {
    all: [Channel; 3],
    /// Their next deadline; none where it is not known, as they were changed.
    next: Option<Option<Deadline>>,
}

impl Channels {
    pub(super) const fn new(all: [Channel; 3]) -> Self {
        Self { all, next: None }
    }

    /// When they are to be called next.
    pub(super) fn next(&self) -> Option<Deadline> {
        self.next.unwrap_or_else(|| {
            self.all.iter().fold(None, |next, channel| {
                let own = earlier(channel.writer.poll_timeout(), channel.reader.poll_timeout());
                earlier(next, own)
            })
        })
    }

    /// True when they have been drained, were not changed since, and nothing is due.
    pub(super) fn are_calm(&self, now: Instant) -> bool {
        let is_later = |next: Option<Deadline>| next.is_none_or(|(at, _)| at > now);
        self.next.is_some_and(is_later)
    }

    /// All that was due has been done and sent.
    pub(super) fn note_drained(&mut self) {
        self.next = Some(self.next());
    }
}

impl Deref for Channels {
    type Target = [Channel; 3];

    fn deref(&self) -> &Self::Target {
        &self.all
    }
}

impl DerefMut for Channels {
    /// Whoever may change them makes them look for work.
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.next = None;
        &mut self.all
    }
}
