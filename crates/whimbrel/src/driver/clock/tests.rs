use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use whimbrel_base::time::Instant;

use super::{
    CounterWatch, OFF_MAX, RECKONED_MAX, TOGETHER_MAX, both, now, now_read, span, wall_read,
    wall_to_count_from,
};
use crate::{DataReaderQos, DataWriterQos, DdsType, DomainParticipant, Timestamp};

const HOUR_NS: i64 = 3_600_000_000_000;
const PATIENCE: Duration = Duration::from_secs(20);

/// How far the wall clock was stepped, in nanoseconds.
static STEP_NS: AtomicI64 = AtomicI64::new(0);

/// The wall clock, which a test may step.
pub(super) struct SteppedWall;

impl SteppedWall {
    pub(super) fn now() -> SystemTime {
        let step = STEP_NS.load(Ordering::SeqCst);
        let span = Duration::from_nanos(step.unsigned_abs());
        if step < 0 {
            SystemTime::now() - span
        } else {
            SystemTime::now() + span
        }
    }
}

#[test]
fn the_wall_clock_is_reckoned_for_a_moment_and_then_read_again() {
    let reckon = || {
        // A thread that has only begun takes long for its first looks.
        let read = (0..100).find_map(|_| {
            super::READ.set(None);
            both();
            super::READ.get()
        });
        let Some((at, stamp)) = read else {
            return false;
        };
        // What the wall clock does meanwhile, such as another test's step, changes nothing.
        let again = (0..1000).map(|_| both());
        for (later, reckoned) in again.take_while(|(it, _)| it.since(at) < RECKONED_MAX) {
            assert!(later >= at);
            // Whoever was interrupted reads it again, and finds what it says by then.
            let expected = stamp.0.saturating_add(later.since(at).as_nanos());
            if reckoned.0.abs_diff(expected) > 0 {
                return false;
            }
        }
        let until = at.after(RECKONED_MAX);
        while now() < until {}
        let before = super::READ.get();
        both();
        // None where it was interrupted between the two clocks, or the wall clock is before 1970.
        let after = super::READ.get();
        if let (Some(before), Some(after)) = (before, after) {
            assert!(after.0 >= before.0.after(RECKONED_MAX), "read again");
            return true;
        }
        false
    };
    let found = (0..1000).any(|_| std::thread::spawn(reckon).join().unwrap());
    assert!(found, "the two clocks are never read together");
}

#[test]
fn the_monotonic_clock_is_reckoned_close_to_what_the_system_has() {
    // Whoever asks again then knows how fast the processor's counter counts.
    for _ in 0..3 {
        now();
        std::thread::sleep(Duration::from_millis(25));
    }
    let off = OFF_MAX;
    let mut last = now();
    for _ in 0..200_000 {
        let before = now_read();
        let reckoned = now();
        let after = now_read();
        assert!(reckoned.after(off) >= before, "{before:?} {reckoned:?}");
        assert!(reckoned <= after.after(off), "{reckoned:?} {after:?}");
        assert!(reckoned.after(off) >= last, "{last:?} {reckoned:?}");
        last = reckoned;
    }
}

#[derive(DdsType, Clone, Debug, PartialEq)]
struct Tick {
    #[dds(key)]
    step: u32,
    number: u32,
}

#[test]
fn steps_of_the_wall_clock_move_timestamps_and_nothing_else() {
    let tag = format!("clock {}", std::process::id());
    let join = || {
        let builder = DomainParticipant::builder(77).interfaces("lo");
        builder.domain_tag(&tag).build().unwrap()
    };
    let (here, there) = (join(), join());
    let topic = here.create_topic::<Tick>("ticks").unwrap();
    let qos = DataWriterQos::default().reliable().keep_all();
    let writer = here.create_datawriter(&topic, qos).unwrap();
    let topic = there.create_topic::<Tick>("ticks").unwrap();
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = there.create_datareader(&topic, qos).unwrap();
    writer.wait_for_matched(1, PATIENCE).unwrap();
    reader.wait_for_matched(1, PATIENCE).unwrap();
    // Whoever asks again then knows how fast the processor's counter counts.
    for _ in 0..3 {
        wall_to_count_from();
        std::thread::sleep(Duration::from_millis(25));
    }
    // An hour forth and back, and to before 1970, of which timestamps know nothing.
    let steps = [0, HOUR_NS, -HOUR_NS, HOUR_NS, -80 * 8766 * HOUR_NS, 0];
    for (step, shift) in (0..).zip(steps) {
        STEP_NS.store(shift, Ordering::SeqCst);
        // So long a thread may go by the clock as it was.
        std::thread::sleep(span(RECKONED_MAX));
        let before = wall_read();
        for number in 0..100 {
            writer.write(&Tick { step, number }).unwrap();
        }
        writer.wait_for_acknowledgments(PATIENCE).unwrap();
        let after = wall_read();
        let samples = reader.take(usize::MAX).unwrap();
        let numbers: Vec<_> = samples.iter().filter_map(|it| it.data()).collect();
        assert!(
            (0..100)
                .map(|number| Tick { step, number })
                .eq(numbers.into_iter().cloned())
        );
        for sample in &samples {
            let info = sample.info();
            for stamp in [info.source_timestamp, info.reception_timestamp] {
                if before == Timestamp::INVALID {
                    assert_eq!(stamp, Timestamp::INVALID);
                } else {
                    // Stamps travel in units of 2^-32 s, what is reckoned is off by so little, and
                    // the system may let its clock go a thousandth faster or slower meanwhile.
                    let off = 1 + TOGETHER_MAX.as_nanos() + RECKONED_MAX.as_nanos() / 1000;
                    let bounds = before.0 - off..=after.0 + off;
                    assert!(bounds.contains(&stamp.0), "{stamp:?}");
                }
            }
        }
    }
    let matched = reader.subscription_matched_status();
    assert_eq!((matched.current_count, matched.total_count), (1, 1));
    let matched = writer.publication_matched_status();
    assert_eq!((matched.current_count, matched.total_count), (1, 1));
    assert_eq!(reader.liveliness_changed_status().not_alive_count, 0);
    assert_eq!(reader.sample_lost_status().total_count, 0);
    assert_eq!(reader.statistics().delivered, 600);
    for participant in [&here, &there] {
        let discovery = participant.diagnostics().discovery;
        assert_eq!(discovery.participants_expired, 0);
        // Announcements follow the monotonic clock: no burst made up for an hour.
        assert!(discovery.announcements_sent < 50, "{discovery:?}");
    }
}

#[test]
fn the_counter_is_looked_at_now_and_then_however_often_the_thread_wakes() {
    let mut watch = CounterWatch::new(Instant::ZERO);
    let wakes = (0..=6000).map(|tens| Instant(tens * 10_000_000));
    let looks = wakes.filter(|now| watch.is_due(*now)).count();
    assert_eq!(looks, 2, "in a minute");
}
