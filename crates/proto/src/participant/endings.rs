//! Endings of our endpoints, for those who may have missed them.
//!
//! Endpoint discovery keeps what there is, not what there was: whoever comes back after we took it
//! for lost hears only of endpoints that live. It may have known us all the time, and would keep
//! the others for ever, so it is told again what ended meanwhile.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use whimbrel_base::guid::{EntityId, GuidPrefix};
use whimbrel_base::sequence::SequenceNumber;

use super::remote::RemoteParticipant;

/// Endings remembered, and lost participants remembered.
const REMEMBERED_MAX: usize = 1024;

#[derive(Clone, Copy, Debug)]
pub(super) struct Ending {
    /// Which of our writers announced it.
    pub(super) by: EntityId,
    pub(super) entity: EntityId,
    sequence: SequenceNumber,
}

/// A participant that was taken for lost, and what it had acknowledged.
#[derive(Clone, Copy, Debug)]
struct Lost {
    prefix: GuidPrefix,
    publications: SequenceNumber,
    subscriptions: SequenceNumber,
}

impl Lost {
    fn has(&self, ending: &Ending) -> bool {
        match ending.by {
            EntityId::SEDP_PUBLICATIONS_WRITER => ending.sequence <= self.publications,
            _ => ending.sequence <= self.subscriptions,
        }
    }
}

/// The endings, and the participants that may have missed some.
#[derive(Debug, Default)]
pub(super) struct Endings {
    endings: VecDeque<Ending>,
    lost: VecDeque<Lost>,
}

impl Endings {
    /// Our endpoint `entity` has ended; that was announced as `sequence` of our writer `by`.
    pub(super) fn note(&mut self, by: EntityId, entity: EntityId, sequence: SequenceNumber) {
        while self.endings.len() >= REMEMBERED_MAX {
            self.endings.pop_front();
        }
        self.endings.push_back(Ending {
            by,
            entity,
            sequence,
        });
    }

    /// The participant is taken for lost.
    pub(super) fn note_loss(&mut self, remote: &RemoteParticipant) {
        self.lost.retain(|lost| lost.prefix != remote.prefix());
        while self.lost.len() >= REMEMBERED_MAX {
            self.lost.pop_front();
        }
        self.lost.push_back(Lost {
            prefix: remote.prefix(),
            publications: remote.publications_acked,
            subscriptions: remote.subscriptions_acked,
        });
    }

    /// The endings that `prefix`, which has come back, may have missed.
    pub(super) fn take_missed(&mut self, prefix: GuidPrefix) -> Vec<Ending> {
        let position = self.lost.iter().position(|lost| lost.prefix == prefix);
        let Some(lost) = position.and_then(|position| self.lost.remove(position)) else {
            return Vec::new();
        };
        let missed = self.endings.iter().filter(|ending| !lost.has(ending));
        let missed = missed.copied().collect();
        self.endings.retain(|ending| lost.has(ending));
        missed
    }
}
