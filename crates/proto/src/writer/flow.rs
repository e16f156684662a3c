//! How fast the fragments of new changes leave to all readers at once.
//!
//! They wait for the readers that keep up, and not for one on a much narrower path: it gets what
//! it misses by repair, at its own pace.

use whimbrel_base::time::{Duration, Instant};

use super::Writer;
use super::change::Change;
use super::pace::Pace;

/// A reader keeps up while its window is not smaller than that of the best by more than this. No
/// more is asked of anybody than what leaves at once where little is known of the way: what the
/// best may get beyond that is a matter of its sockets.
const LAG_MAX: u64 = 4;

/// What else is on the way waits for so much of large changes at most: four packets at 1 Gbit/s.
const TOGETHER: Duration = Duration::from_micros(50);

impl Writer {
    /// Window in octets from which on a reader keeps up; none where no reader answers.
    fn leading_window_bytes(&self) -> Option<u64> {
        let holding = self.holding_readers().filter(|it| !it.apart);
        let windows = holding.map(|it| it.pace.window_bytes());
        windows
            .max()
            .map(|best| best.min(self.config.burst_bytes) / LAG_MAX)
    }

    /// The paces to which new changes keep; that of nobody where no reader answers.
    fn leading_paces(&mut self) -> impl Iterator<Item = &mut Pace> {
        let least = self.leading_window_bytes();
        let reliable = self.config.reliable;
        let alone = least.is_none().then_some(&mut self.pace);
        let leading = self.readers.values_mut().filter(move |reader| {
            let keeps_up = least.is_some_and(|least| reader.pace.window_bytes() >= least);
            reliable && reader.holds_history() && keeps_up && !reader.apart
        });
        alone.into_iter().chain(leading.map(|it| &mut it.pace))
    }

    /// True when new changes wait for the answer of somebody who is to be asked for it; where no
    /// reader answers they wait for time alone.
    pub(super) fn somebody_is_to_be_asked(&mut self, now: Instant) -> bool {
        self.leading_window_bytes().is_some()
            && self
                .leading_paces()
                .any(|pace| pace.room(now) == 0 && pace.should_ask(now))
    }

    /// True when so many fragments are on their way to a reader that keeps up that it is to be
    /// asked for an answer by the way, or `pushed` was more than its window.
    pub(super) fn wants_room_soon(&mut self) -> bool {
        let bytes = self.payload_bytes(self.history.get(self.pushed));
        let wants = |it: &mut Pace| it.until_question() == 0 || it.window_bytes() < bytes;
        self.leading_window_bytes().is_some() && self.leading_paces().any(wants)
    }

    fn payload_bytes(&self, change: Option<&Change>) -> u64 {
        let bytes = change.map_or(0, |it| it.payload_in(self.forms.shared()).len());
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }

    /// Octets of fragments of the change after `pushed` that may leave until a reader that keeps up
    /// is to be asked for an answer by the way. So it takes in some of a change that is more than
    /// its window while others leave, where otherwise one side would wait for the other after each
    /// window. Of readers that do not answer at once no answer tells which question it is to.
    pub(super) fn until_question(&mut self) -> u64 {
        let all_are_prompt = self.leading_paces().all(|it| it.is_prompt());
        if self.leading_window_bytes().is_none() || !all_are_prompt {
            return u64::MAX;
        }
        let bytes = self.payload_bytes(self.history.next_from(self.pushed.next()));
        let overrun = self.leading_paces().filter(|it| it.window_bytes() < bytes);
        let until = overrun.map(|pace| pace.until_question()).min();
        until.unwrap_or(u64::MAX)
    }

    /// Octets of fragments that may leave together: as many as arrive everywhere within
    /// [`TOGETHER`], so that what else goes there waits no longer for them; none where somebody
    /// says nothing of what has arrived.
    pub(super) fn together_bytes(&self) -> usize {
        if self.somebody_is_silent() {
            return 0;
        }
        let holding = self
            .holding_readers()
            .filter(|it| !it.apart && !it.in_process);
        let acknowledged = holding.map(|it| it.pace.arriving_in(TOGETHER)).min();
        let credited = self.credit.arriving_in(TOGETHER);
        let least = acknowledged.into_iter().chain(credited).min();
        usize::try_from(least.unwrap_or(0)).unwrap_or(usize::MAX)
    }

    /// Octets of fragments that may leave to all readers now.
    pub(super) fn push_room(&mut self, now: Instant) -> u64 {
        let rooms = self.leading_paces().map(|pace| pace.room(now));
        rooms.min().unwrap_or(0)
    }

    /// Fragments of so many octets have left to all readers.
    pub(super) fn note_pushed(&mut self, now: Instant, bytes: u64) {
        self.pace.spend_many(now, bytes);
        for reader in self.readers.values_mut().filter(|it| !it.apart) {
            reader.pace.spend_many(now, bytes);
        }
    }

    /// Plans when more fragments leave though nobody answers.
    pub(super) fn hold_up_push(&mut self) {
        let next = self.leading_paces().map(|pace| pace.next_at()).max();
        self.paced_until = next;
    }
}

#[cfg(test)]
mod tests {
    use super::super::pace::Settled;
    use super::super::tests::{Sent, acknack, change, matched, writer};
    use super::*;
    use crate::peer::MatchedReader;
    use alloc::vec::Vec;
    use whimbrel_base::guid::{Guid, GuidPrefix};
    use whimbrel_base::sequence::SequenceNumber;
    use whimbrel_base::vendor::VendorId;

    const NOW: Instant = Instant(1_000_000_000);

    /// Fragments of a large sample that leave at once to two readers, of which one has lost so
    /// much.
    fn leaves_at_once(lost: u64) -> usize {
        let mut writer = writer(|config| config.bytes_per_second_max = 1);
        let good = matched(true, false);
        let narrow = Guid {
            prefix: GuidPrefix([9; 12]),
            ..good.guid
        };
        writer.handle_matched(NOW, good.clone());
        let mut other = good;
        other.guid = narrow;
        writer.handle_matched(NOW, other);
        for _ in 0..10 {
            let arrived = 100 - lost;
            let proxy = writer.readers.get_mut(&narrow).unwrap();
            proxy.pace.settle(NOW, Settled { arrived, lost }, 1000);
        }
        let mut sent = Sent::default();
        writer.write(NOW, change(1_000_000)).unwrap();
        writer.poll_transmit(NOW, &mut sent);
        let words = sent.words();
        words.iter().filter(|word| **word == "frag").count()
    }

    #[test]
    fn a_reader_on_a_narrow_path_holds_nobody_up_and_one_that_loses_some_does() {
        let at_best = leaves_at_once(0);
        assert!(at_best > 150);
        assert_eq!(leaves_at_once(99), at_best);
        let mut writer = writer(|_| {});
        writer.handle_matched(NOW, matched(true, false));
        writer.push_room(NOW);
        writer.note_pushed(NOW, 1 << 20);
        assert_eq!(writer.push_room(NOW), 0);
        writer.hold_up_push();
        assert!(writer.paced_until.unwrap().since(NOW) > Duration::ZERO);
    }

    #[test]
    fn as_much_leaves_together_as_arrives_at_the_slowest_in_a_moment() {
        let mut writer = writer(|_| {});
        let reader = matched(true, false);
        let slow = Guid {
            prefix: GuidPrefix([9; 12]),
            ..reader.guid
        };
        writer.handle_matched(NOW, reader.clone());
        assert_eq!(writer.together_bytes(), 0, "nothing is known");
        writer.handle_matched(
            NOW,
            MatchedReader {
                guid: slow,
                ..reader.clone()
            },
        );
        let mut now = NOW;
        for _ in 0..100 {
            let answered_at = now.after(Duration::from_micros(200));
            for (guid, bytes) in [(reader.guid, 200_000), (slow, 20_000)] {
                let pace = &mut writer.readers.get_mut(&guid).unwrap().pace;
                pace.spend_many(now, bytes);
                pace.ask(now, 0);
                pace.answered(answered_at, 0, Duration::from_millis(50));
            }
            now = answered_at.after(Duration::from_millis(1));
        }
        // 100 MB/s for 50 us.
        assert_eq!(writer.together_bytes(), 5000);
        let silent = MatchedReader {
            guid: Guid {
                prefix: GuidPrefix([8; 12]),
                ..slow
            },
            ..matched(false, false)
        };
        writer.handle_matched(NOW, silent);
        assert_eq!(writer.together_bytes(), 0);
    }

    #[test]
    fn a_reader_whose_sockets_hold_much_does_not_leave_others_behind() {
        let (near, far) = (65_507, 1472);
        for other in [(0, far), (0, near), (104 << 10, near)] {
            let mut writer = writer(|config| config.bytes_per_second_max = 1);
            let best = MatchedReader {
                receive_buffer_bytes: u32::MAX,
                message_bytes_max: near,
                ..matched(true, false)
            };
            let lesser = MatchedReader {
                guid: Guid {
                    prefix: GuidPrefix([9; 12]),
                    ..best.guid
                },
                receive_buffer_bytes: other.0,
                message_bytes_max: other.1,
                ..best.clone()
            };
            writer.handle_matched(NOW, lesser);
            let room = writer.push_room(NOW);
            writer.handle_matched(NOW, best);
            assert_eq!(writer.push_room(NOW), room, "{other:?}");
        }
    }

    #[test]
    fn who_has_answered_is_not_asked_while_another_is_waited_for() {
        let mut writer = writer(|_| {});
        let mut sent = Sent::default();
        let silent = matched(true, false);
        let quick = Guid {
            prefix: GuidPrefix([9; 12]),
            ..silent.guid
        };
        writer.handle_matched(NOW, silent.clone());
        let mut other = silent;
        other.guid = quick;
        writer.handle_matched(NOW, other);
        writer.poll_transmit(NOW, &mut sent);
        writer.write(NOW, change(1_000_000)).unwrap();
        let mut asked = Vec::new();
        for step in 0..40u64 {
            let now = NOW.after(Duration::from_micros(100 * step as i64));
            writer.poll_transmit(now, &mut sent);
            let words = sent.words();
            asked.push(words.iter().filter(|it| **it == "heartbeatfrag").count());
            let count = 1 + step as i32;
            let _ = writer.handle_acknack(now, quick, &acknack(1, &[], count));
        }
        // By the way while the first window left, and at its end.
        assert_eq!(asked[0], 4);
        assert_eq!(asked[1..].iter().sum::<usize>(), 0);
    }

    /// Fragments of a large change that leave at once, and questions by the way, to readers of
    /// `vendors`; then the same once the first has answered one of them.
    fn asked_by_the_way(vendors: &[VendorId], bytes: usize) -> [[usize; 2]; 2] {
        let mut writer = writer(|config| config.bytes_per_second_max = 1);
        let guid = matched(true, false).guid;
        for (at, vendor) in (0..).zip(vendors) {
            let mut reader = matched(true, false);
            reader.vendor = *vendor;
            reader.guid.prefix.0[11] = reader.guid.prefix.0[11].wrapping_add(at);
            writer.handle_matched(NOW, reader);
        }
        // It has answered what it was asked when it was matched.
        writer.poll_transmit(NOW, &mut Sent::default());
        let answer = acknack(1, &[], 1);
        writer.handle_acknack(NOW, guid, &answer).unwrap();
        writer.write(NOW, change(bytes)).unwrap();
        let mut leave = |answers: i32| {
            let now = NOW.after(Duration::from_micros(i64::from(answers)));
            if answers > 0 {
                let answer = acknack(1, &[], 1 + answers);
                writer.handle_acknack(now, guid, &answer).unwrap();
            }
            let mut sent = Sent::default();
            writer.poll_transmit(now, &mut sent);
            let words = sent.words();
            ["frag", "heartbeatfrag"].map(|it| words.iter().filter(|word| **word == it).count())
        };
        [leave(0), leave(1)]
    }

    #[test]
    fn of_a_change_beyond_its_window_a_reader_takes_in_some_while_others_leave() {
        let [[left, asked], [more, again]] = asked_by_the_way(&[VendorId::WHIMBREL], 1_000_000);
        assert_eq!(asked, 4, "three by the way, one at the end of {left}");
        // The first question was about a quarter of them, so as many follow and no more.
        assert!(
            (left / 4 - 1..=left / 4 + 1).contains(&more),
            "{more} after {left}"
        );
        assert_eq!(again, 1);
    }

    #[test]
    fn at_the_end_of_a_change_beyond_its_window_a_reader_is_asked_and_may_be_sent_a_window_again() {
        let mut writer = writer(|config| config.bytes_per_second_max = 1);
        let mut sent = Sent::default();
        let reader = matched(true, false);
        let guid = reader.guid;
        writer.handle_matched(NOW, reader);
        writer.poll_transmit(NOW, &mut sent);
        let mut now = NOW;
        let mut answer = |writer: &mut Writer, base| {
            now = now.after(Duration::from_micros(10));
            let count = i32::try_from(now.since(NOW).as_nanos()).unwrap();
            let answer = acknack(base, &[], count);
            writer.handle_acknack(now, guid, &answer).unwrap();
            now
        };
        let now = answer(&mut writer, 1);
        let at_first = writer.push_room(now);
        writer.write(now, change(300_000)).unwrap();
        writer.poll_transmit(now, &mut sent);
        sent.words();
        while writer.pushed < SequenceNumber(1) {
            let now = answer(&mut writer, 1);
            writer.poll_transmit(now, &mut sent);
        }
        assert_eq!(sent.words().last(), Some(&"heartbeat?"));
        let now = answer(&mut writer, 2);
        assert_eq!(writer.push_room(now), at_first);
    }

    #[test]
    fn who_may_answer_to_any_question_is_asked_only_at_the_end_of_a_window() {
        let (own, other) = (VendorId::WHIMBREL, VendorId::UNKNOWN);
        for vendors in [&[other][..], &[own, other]] {
            let [[left, asked], _] = asked_by_the_way(vendors, 1_000_000);
            assert!(left > 150 && asked == 1, "{asked} in {left}");
        }
        // What fits in a window waits for nobody.
        let [[_, asked], _] = asked_by_the_way(&[own], 100_000);
        assert_eq!(asked, 0);
    }

    #[test]
    fn nobody_is_asked_for_room_where_no_reader_is_waited_for() {
        let mut writer = writer(|_| {});
        let mut sent = Sent::default();
        let reader = matched(true, false);
        let guid = reader.guid;
        writer.handle_matched(NOW, reader);
        writer.readers.get_mut(&guid).unwrap().given_up = true;
        writer.survey();
        writer.write(NOW, change(1_000_000)).unwrap();
        let (mut asked, mut left) = (0, 0);
        for count in 1..40 {
            writer.poll_transmit(NOW, &mut sent);
            let words = sent.words();
            asked += words.iter().filter(|it| **it == "heartbeatfrag").count();
            left += words.iter().filter(|it| **it == "frag").count();
            let refused = acknack(1, &[], count);
            writer.handle_acknack(NOW, guid, &refused).unwrap();
            writer.readers.get_mut(&guid).unwrap().given_up = true;
        }
        assert_eq!((asked, left > 10), (0, true));
    }
}
