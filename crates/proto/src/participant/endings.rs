//! Endings of our endpoints, for those who may have missed them.
//!
//! Endpoint discovery keeps what there is, not what there was: whoever comes back after we took it
//! for lost hears only of endpoints that live. It may have known us all the time, and would keep
//! the others for ever, so it is told again what ended meanwhile.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use whimbrel_base::guid::{EntityId, GuidPrefix};
use whimbrel_base::locator::Locator;
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::time::{Duration, Instant};

use super::remote::RemoteParticipant;

/// Endings remembered, and lost participants remembered.
const REMEMBERED_MAX: usize = 1024;

/// Shortest time between two questions to a lost participant that is heard again.
const INQUIRY_PAUSE: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug)]
pub(super) struct Ending {
    /// Which of our writers announced it.
    pub(super) by: EntityId,
    pub(super) entity: EntityId,
    sequence: SequenceNumber,
}

/// A participant that was taken for lost, what it had acknowledged, and where it was reached.
#[derive(Clone, Debug)]
struct Lost {
    prefix: GuidPrefix,
    publications: SequenceNumber,
    subscriptions: SequenceNumber,
    reached: Vec<Locator>,
    asked_at: Option<Instant>,
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
            reached: remote.reached.clone(),
            asked_at: None,
        });
    }

    /// True when `prefix`, which was heard at `now`, was taken for lost and is to be asked; not
    /// again so soon.
    pub(super) fn is_missed(&mut self, now: Instant, prefix: GuidPrefix) -> bool {
        let Some(lost) = self.lost.iter_mut().find(|lost| lost.prefix == prefix) else {
            return false;
        };
        let lately = |at: Instant| now.since(at) < INQUIRY_PAUSE;
        if lost.asked_at.is_some_and(lately) {
            return false;
        }
        lost.asked_at = Some(now);
        true
    }

    /// Where `prefix` was reached before it was taken for lost.
    pub(super) fn reached(&self, prefix: GuidPrefix) -> Option<&[Locator]> {
        let lost = self.lost.iter().find(|lost| lost.prefix == prefix);
        lost.map(|lost| lost.reached.as_slice())
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
