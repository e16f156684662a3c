//! What a person should hear of once, said aloud even where nobody asked.

use std::collections::VecDeque;
use std::fmt;
use std::io::Write;

use whimbrel_base::guid::{Guid, GuidPrefix};
use whimbrel_base::locator::Locator;
use whimbrel_proto::{ParticipantEvent, Unserved};

use super::sync::{Mutex, lock};

/// Warnings kept at most; the oldest go first.
const KEPT_MAX: usize = 64;

/// Something that a person should hear of once.
///
/// Each is kept for [`crate::DomainParticipant::warnings`] and logged as a `tracing` event of
/// level WARN and target `whimbrel`. Where the program has no `tracing` subscriber it is a line on
/// standard error instead, unless `WHIMBREL_LOG` is `off`.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Warning {
    /// A reader has matched no writer within 5 s of its creation, or of the loss of its last one:
    /// once each time. Writers that end or leave with a word are not lost.
    ReaderUnserved {
        /// The reader.
        reader: Guid,
        /// Why, as far as is known.
        unserved: Unserved,
    },
    /// A term of the setting `interfaces` wants something that this host does not have now. When
    /// the participant is made.
    InterfaceMissing {
        /// The term.
        term: String,
    },
    /// A reader that held back a writer's full history was given up: it did not answer for 10 s, or
    /// took nothing for 60 s. The writer goes on without it; samples it misses until it progresses
    /// again are lost to it.
    ReaderGivenUp {
        /// The writer.
        writer: Guid,
        /// The reader.
        reader: Guid,
    },
    /// Somebody else sends with the identity of this participant. Once per address.
    OwnGuidClaimed {
        /// From where.
        from: Locator,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReaderUnserved { reader, unserved } => {
                write!(f, "reader {reader} has no writer: {unserved}")
            }
            Self::InterfaceMissing { term } => {
                write!(f, "interfaces: nothing here is `{term}`")
            }
            Self::ReaderGivenUp { writer, reader } => write!(
                f,
                "writer {writer} was held back by reader {reader}, which makes no progress, and \
                 goes on without it"
            ),
            Self::OwnGuidClaimed { from } => {
                write!(f, "{from} sends with the GUID of this participant")
            }
        }
    }
}

impl Warning {
    /// The warning that `event` of participant `own` is, if it is one.
    pub(super) fn of(event: &ParticipantEvent, own: GuidPrefix) -> Option<Self> {
        match event {
            ParticipantEvent::ReaderUnserved { reader, unserved } => Some(Self::ReaderUnserved {
                reader: Guid::new(own, *reader),
                unserved: unserved.clone(),
            }),
            ParticipantEvent::OwnGuidClaimed { from } => Some(Self::OwnGuidClaimed { from: *from }),
            _ => None,
        }
    }
}

/// The warnings of a participant.
#[derive(Debug)]
pub(crate) struct Warnings {
    kept: Mutex<VecDeque<Warning>>,
    /// Whether standard error is told where nobody else is.
    aloud: bool,
}

impl Warnings {
    pub(crate) fn new(aloud: bool) -> Self {
        Self {
            kept: Mutex::default(),
            aloud,
        }
    }

    /// Keeps and logs `warning`. Call without a lock: whoever listens to logs may do anything.
    pub(crate) fn raise(&self, warning: Warning) {
        tracing::warn!(target: "whimbrel", "{warning}");
        if self.aloud && !tracing::dispatcher::has_been_set() {
            // A closed standard error is nobody to complain to.
            let _ = writeln!(std::io::stderr(), "whimbrel: warning: {warning}");
        }
        let mut kept = lock(&self.kept);
        if kept.len() >= KEPT_MAX {
            kept.pop_front();
        }
        kept.push_back(warning);
    }

    /// Those kept, oldest first.
    pub(crate) fn all(&self) -> Vec<Warning> {
        lock(&self.kept).iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_kept() {
        let warnings = Warnings::new(false);
        for port in 0..100 {
            let from = Locator {
                port,
                ..Locator::INVALID
            };
            warnings.raise(Warning::OwnGuidClaimed { from });
        }
        let all = warnings.all();
        assert_eq!(all.len(), KEPT_MAX);
        let Some(Warning::OwnGuidClaimed { from }) = all.last() else {
            panic!("{all:?}");
        };
        assert_eq!(from.port, 99);
    }
}
