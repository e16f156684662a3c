//! Keeping each other alive without multicast, in few octets.
//!
//! Whom our announcements to all do not reach is told alone. Any valid packet renews a lease
//! (RTPS 2.5 §8.5.3.2.1), so that who has our announcement as it is needs no more than a HEARTBEAT.
//! Who answers anything for the first time has it, for it knows our endpoints. After a change of it
//! answers may belong to what was said before, or to something else: then it takes several to
//! announcements that each asked for one.
//!
//! Who forgets us meanwhile, because it stood still or the way was cut, takes that HEARTBEAT for a
//! stranger's. It remembers whom it has taken for lost, and asks: by an announcement of its own to
//! where the other was reached, meant for whoever listens there, which is answered in full.

/// Answers to what it is told anew that show that a participant has what we announce since a
/// change. Each may be to something else, so it takes some.
const ANSWERS_AFTER_CHANGE: u8 = 8;

/// Whether a participant has our announcement as it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Assurance {
    /// It was told since its last answer.
    asked: bool,
    /// Answers that are still missing.
    missing: u8,
}

impl Assurance {
    /// Of a participant that does not know us.
    pub(super) const NONE: Self = Self {
        asked: true,
        missing: 1,
    };

    /// Of a participant that knows us as we were before a change.
    pub(super) const CHANGED: Self = Self {
        asked: false,
        missing: ANSWERS_AFTER_CHANGE,
    };

    /// Our announcement leaves for it, with a question.
    pub(super) const fn note_question(&mut self) {
        self.asked = true;
    }

    /// It has answered something.
    pub(super) const fn note_answer(&mut self) {
        if self.asked {
            self.asked = false;
            self.missing = self.missing.saturating_sub(1);
        }
    }

    /// True when it has our announcement.
    pub(super) const fn is_sure(self) -> bool {
        self.missing == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_answer_shows_it_and_after_a_change_several_do() {
        let mut assurance = Assurance::NONE;
        assert!(!assurance.is_sure());
        assurance.note_answer();
        assert!(assurance.is_sure());
        let mut assurance = Assurance::CHANGED;
        for _ in 0..ANSWERS_AFTER_CHANGE {
            assert!(!assurance.is_sure());
            for _ in 0..ANSWERS_AFTER_CHANGE {
                assurance.note_answer();
            }
            assurance.note_question();
        }
        assurance.note_answer();
        assert!(assurance.is_sure());
    }
}
