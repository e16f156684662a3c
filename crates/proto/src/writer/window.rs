//! How much of what was written may wait for acknowledgement before a KEEP_ALL writer blocks, and
//! when readers are asked for it.

use whimbrel_base::credit::DATAGRAM_CHARGE_BYTES;
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::share::share;
use whimbrel_base::time::Instant;

/// Readers are asked for an answer so often in a window, so that room comes before it is full.
const QUESTIONS_PER_WINDOW: u64 = 4;

/// Those who answer at once not before so many changes have left since the last time: answers cost
/// as much as small samples do.
const CHANGES_PER_QUESTION: u32 = 11;

/// But when so many of sixteen parts of a window have, however few that are.
const UNASKED_SIXTEENTHS_MAX: u64 = 11;

/// What is charged for changes that were written, and for those that were acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    /// For everything written, over all time, in octets.
    charged_bytes: u64,
    acked_bytes: u64,
    /// For the change written last.
    last_bytes: u64,
    /// Of `charged_bytes`, what readers were asked about.
    asked_bytes: u64,
    /// The last question: when it left, and the newest change that it was about.
    asked: Option<(Instant, SequenceNumber)>,
}

/// What is charged for a payload of `bytes`.
pub(super) fn charge(bytes: usize) -> u64 {
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    bytes.saturating_add(DATAGRAM_CHARGE_BYTES)
}

impl Window {
    /// A change with a payload of `bytes` is written; gives what is charged up to it.
    pub(super) fn note_written(&mut self, bytes: usize) -> u64 {
        self.last_bytes = charge(bytes);
        self.charged_bytes = self.charged_bytes.saturating_add(self.last_bytes);
        self.charged_bytes
    }

    /// Everything is acknowledged, or nobody is waited for.
    pub(super) fn note_all_acknowledged(&mut self) {
        self.acked_bytes = self.charged_bytes;
    }

    /// Changes are acknowledged up to one at which `charged_bytes` were charged.
    pub(super) fn note_acknowledged(&mut self, charged_bytes: u64) {
        self.acked_bytes = self.acked_bytes.max(charged_bytes);
    }

    /// What waits for acknowledgement, in octets.
    pub(super) fn pending_bytes(&self) -> u64 {
        self.charged_bytes.saturating_sub(self.acked_bytes)
    }

    /// True when a payload of `bytes` may leave while `bytes_max` wait for acknowledgement at most.
    pub(super) fn has_room(&self, bytes: usize, bytes_max: u64) -> bool {
        let (more, pending) = (charge(bytes), self.pending_bytes());
        // One that is over the limit may leave while another such is being repaired.
        let beside_another = more > bytes_max && pending <= more;
        pending == 0 || beside_another || pending.saturating_add(more) <= bytes_max
    }

    /// True when so much was written since the last question that it is time for another.
    pub(super) fn wants_question(&self, bytes_max: u64) -> bool {
        self.unasked_bytes() > bytes_max.wrapping_div(QUESTIONS_PER_WINDOW)
    }

    /// Whether a question that is wanted may wait where it is answered at once: only so many
    /// `changes` have left since the last one, and they do not nearly fill the window; `acked` is
    /// what is acknowledged.
    pub(super) fn may_put_off(&self, bytes_max: u64, changes: u32, acked: SequenceNumber) -> bool {
        let last_fits = self.pending_bytes().saturating_add(self.last_bytes) <= bytes_max;
        changes < CHANGES_PER_QUESTION
            && self.unasked_bytes() <= share(bytes_max, UNASKED_SIXTEENTHS_MAX, 16)
            && (last_fits || self.open_question(acked).is_some())
    }

    fn unasked_bytes(&self) -> u64 {
        self.charged_bytes.saturating_sub(self.asked_bytes)
    }

    /// Readers are asked about everything up to `pushed`, at which `charged_bytes` were charged;
    /// `None` where nothing was written after it.
    pub(super) fn note_question(
        &mut self,
        now: Instant,
        pushed: SequenceNumber,
        charged_bytes: Option<u64>,
    ) {
        let charged_bytes = charged_bytes.unwrap_or(self.charged_bytes);
        self.asked_bytes = self.asked_bytes.max(charged_bytes);
        self.asked = Some((now, pushed));
    }

    /// The last question, while some of what it was about is not among what is `acked`: when it
    /// left, and the newest change that it was about.
    pub(super) fn open_question(&self, acked: SequenceNumber) -> Option<(Instant, SequenceNumber)> {
        self.asked.filter(|(_, newest)| acked < *newest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: u64 = 1 << 20;
    const NONE: SequenceNumber = SequenceNumber(0);

    /// After how many changes of so many octets readers are asked that answer at once, where none
    /// has answered yet; `None` where one more does not fit by then.
    fn asked_after(bytes: usize) -> Option<u32> {
        let mut window = Window::default();
        for changes in 1.. {
            if !window.has_room(bytes, WINDOW) {
                break;
            }
            window.note_written(bytes);
            if window.wants_question(WINDOW) && !window.may_put_off(WINDOW, changes, NONE) {
                return Some(changes);
            }
        }
        None
    }

    #[test]
    fn a_window_is_asked_about_four_times_but_not_for_less_than_eleven_changes_that_it_holds() {
        let quarter = (1 << 18) / (DATAGRAM_CHARGE_BYTES as u32 + 1000) + 1;
        assert_eq!(asked_after(1000), Some(quarter));
        for bytes in [30_000, 50_000, 63_000] {
            assert_eq!(asked_after(bytes), Some(11), "{bytes}");
        }
        assert_eq!(asked_after(200_000), Some(4));
    }

    #[test]
    fn nobody_waits_for_room_without_having_asked() {
        for bytes in (1000..2_000_000).step_by(997) {
            assert!(asked_after(bytes).is_some(), "{bytes}");
        }
    }

    #[test]
    fn who_waits_for_an_answer_asks_for_no_other_because_the_window_is_full() {
        let mut window = Window::default();
        let full = 16;
        for _ in 0..full {
            window.note_written(63_000);
        }
        let asked = window.charged_bytes / full * 11;
        window.note_question(Instant(1), SequenceNumber(11), Some(asked));
        assert!(window.wants_question(WINDOW));
        assert!(window.may_put_off(WINDOW, 5, NONE));
        assert!(!window.may_put_off(WINDOW, 5, SequenceNumber(11)));
    }
}
