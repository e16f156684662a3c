//! What is to be written, and when.

use whimbrel_base::time::{Instant, Timestamp};
use whimbrel_proto::value::SharedValue;
use whimbrel_proto::writer::NewChange;

use crate::driver::clock;

/// What a write needs besides the payload.
pub(crate) struct Draft {
    pub(crate) change: NewChange,
    /// The data as the program has it, where it shares that.
    pub(crate) value: Option<SharedValue>,
    /// When it is written, by the wall clock.
    pub(crate) at: Timestamp,
    /// The program says when, not the clock.
    pub(crate) is_dated: bool,
    /// When by the monotonic clock, where that is known.
    pub(crate) began: Option<Instant>,
}

/// The newest time stamp of what a writer has written by the clock.
#[derive(Debug)]
pub(super) struct LastStamp(Timestamp);

impl Default for LastStamp {
    fn default() -> Self {
        Self(Timestamp::INVALID)
    }
}

impl LastStamp {
    /// Has `draft`, which is the next to be written, be no older than what was written before it:
    /// threads read the clock, and not all alike, before it is their turn. What the program dates
    /// is as it says. DDS 1.4 §2.2.2.4.2.12.
    pub(super) fn order(&mut self, draft: &mut Draft) {
        if draft.is_dated {
            return;
        }
        if draft.change.timestamp >= self.0 {
            self.0 = draft.change.timestamp;
        } else {
            self.order_late(draft, clock::wall_read());
        }
    }

    /// The same where it is older, at `now`: where the clock itself was stepped back, it is
    /// followed.
    #[cold]
    fn order_late(&mut self, draft: &mut Draft, now: Timestamp) {
        let latest = now.0.saturating_add(clock::RECKONED_MAX.as_nanos());
        if self.0.0 <= latest {
            draft.change.timestamp = self.0;
            draft.at = draft.at.max(self.0);
        } else {
            self.0 = draft.change.timestamp;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whimbrel_base::buffer::GatheredBytes;
    use whimbrel_base::instance::InstanceHandle;
    use whimbrel_proto::change::ChangeKind;
    use whimbrel_proto::writer::Packed;

    const HOUR_NS: i64 = 3_600_000_000_000;

    fn draft(stamp_ns: i64, is_dated: bool) -> Draft {
        let at = Timestamp(stamp_ns);
        Draft {
            change: NewChange {
                kind: ChangeKind::Alive,
                instance: InstanceHandle::NIL,
                timestamp: at,
                payload: GatheredBytes::default(),
                packed: Packed::Untried,
            },
            value: None,
            at,
            is_dated,
            began: None,
        }
    }

    #[test]
    fn what_is_late_is_as_old_as_what_came_before_it() {
        let mut last = LastStamp::default();
        let now = clock::wall_read().0;
        for (stamp_ns, expected_ns) in [(now, now), (now - 500, now), (now + 1, now + 1)] {
            let mut draft = draft(stamp_ns, false);
            last.order(&mut draft);
            assert_eq!(draft.change.timestamp, Timestamp(expected_ns));
            assert_eq!(draft.at, Timestamp(expected_ns));
        }
    }

    #[test]
    fn a_step_back_of_the_clock_is_followed_however_late_a_draft_may_be() {
        let now = Timestamp(2 * HOUR_NS);
        let ordered = |last_ns, stamp_ns| {
            let (mut last, mut draft) = (LastStamp(Timestamp(last_ns)), draft(stamp_ns, false));
            last.order_late(&mut draft, now);
            (draft.change.timestamp.0, last.0.0)
        };
        assert_eq!(ordered(now.0, HOUR_NS), (now.0, now.0));
        // Of what is reckoned something is ahead of the clock.
        assert_eq!(ordered(now.0 + 1000, now.0), (now.0 + 1000, now.0 + 1000));
        assert_eq!(ordered(now.0 + HOUR_NS, now.0), (now.0, now.0));
    }

    #[test]
    fn what_the_program_dates_is_as_it_says_and_changes_no_other() {
        let mut last = LastStamp::default();
        let now = clock::wall_read().0;
        for (stamp_ns, is_dated) in [
            (now, false),
            (now - HOUR_NS, true),
            (now + HOUR_NS, true),
            (now, false),
        ] {
            let mut draft = draft(stamp_ns, is_dated);
            last.order(&mut draft);
            assert_eq!(draft.change.timestamp, Timestamp(stamp_ns));
        }
    }
}
