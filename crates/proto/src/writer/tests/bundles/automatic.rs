//! Changes that wait because they come fast.

use super::*;

#[test]
fn off_and_lone_samples_leave_at_once() {
    let (mut writer, mut sent) = bundling(Bundling::Off, |_| {});
    let left = put(&mut writer, &mut sent, NOW, 100);
    assert!(left.iter().all(|it| *it > 0));
    let (mut writer, mut sent) = bundling(Bundling::Automatic, |_| {});
    let mut measured = 0;
    for step in 0..200 {
        let now = at(step * 20);
        assert!(put(&mut writer, &mut sent, now, 1)[0] > 0, "{step}");
        measured += u32::from(writer.measures_departures());
        depart(&mut writer, now, now.after(Duration::from_micros(6)));
        assert!(!writer.measures_departures());
    }
    assert_eq!(measured, 25);
    // So do those of a program that waits for an answer each time, however slow sending is.
    let mut now = at(10_000);
    for step in 1..200 {
        now = now.after(Duration::from_micros(6));
        assert!(put(&mut writer, &mut sent, now, 1)[0] > 0, "{step}");
        let began = now;
        now = now.after(Duration::from_micros(100));
        depart(&mut writer, began, now);
    }
    let (mut writer, mut sent) = bundling(Bundling::Automatic, |_| {});
    // So do few at once.
    for step in 1..20 {
        let left = put(&mut writer, &mut sent, at(10_000 * step), 7);
        assert!(left.iter().all(|it| *it > 0), "{left:?}");
    }
    assert_eq!(statistics(&writer), BundlingStatistics::default());
}

#[test]
fn what_comes_faster_than_it_can_be_sent_leaves_together() {
    let (mut writer, mut sent) = bundling(Bundling::Automatic, |_| {});
    let mut now = NOW;
    let mut messages = 0;
    for _ in 0..1000 {
        // A loop that does nothing else.
        let left = put_next(&mut writer, &mut sent, &mut now, Duration::from_nanos(500));
        messages += u32::from(left);
    }
    assert!(messages < 1000 / 20, "{messages}");
    assert_eq!(statistics(&writer).bundles, statistics(&writer).full);
    // It ends: what waits leaves soon, and the next waits for nothing.
    assert!(writer.is_waiting());
    let until = writer.poll_timeout().unwrap().0;
    assert!(until.since(now) <= Duration::from_micros(200));
    writer.handle_timeout(until);
    writer.poll_transmit(until, &mut sent);
    assert!(!sent.words().is_empty() && !writer.is_waiting());
    assert_eq!(statistics(&writer).idle, 1);
    assert!(
        put(
            &mut writer,
            &mut sent,
            until.after(Duration::from_micros(100)),
            1
        )[0] > 0
    );
}

#[test]
fn what_is_fast_is_known_however_long_sending_takes() {
    for send_us in [2, 5, 12, 40] {
        let (mut writer, mut sent) = bundling(Bundling::Automatic, |_| {});
        let mut now = NOW;
        let leaves = |_: &u32| {
            now = now.after(Duration::from_nanos(500));
            let left = put(&mut writer, &mut sent, now, 1)[0] > 0;
            let began = now;
            if left {
                now = now.after(Duration::from_micros(send_us));
            }
            depart(&mut writer, began, now);
            left
        };
        let alone = (0..200).take_while(leaves).count();
        assert!(alone < 20, "{send_us} us: {alone}");
    }
}

/// Writes a change after an answer that came in the middle of the send call before; whether it
/// waits for others, in vain.
fn waits_in_vain(writer: &mut Writer, now: &mut Instant) -> bool {
    *now = now.after(Duration::from_nanos(1500));
    let waits = put(writer, &mut Wire::default(), *now, 1) == [0];
    if waits {
        *now = writer.poll_timeout().unwrap().0;
        writer.handle_timeout(*now);
        writer.poll_transmit(*now, &mut Wire::default());
    }
    let began = *now;
    *now = now.after(Duration::from_micros(17));
    depart(writer, began, *now);
    waits
}

#[test]
fn who_looks_fast_and_waits_for_answers_is_soon_known() {
    for shared in [true, false] {
        let mut writers = crowd(&[7411], |config| {
            if !shared {
                config.shared_rate = None;
            }
        });
        let [writer] = &mut writers[..] else {
            panic!("one")
        };
        let (mut now, mut waits) = (NOW, 0);
        for _ in 0..10_000 {
            waits += u32::from(waits_in_vain(writer, &mut now));
        }
        assert!((1..=24).contains(&waits), "{waits}");
        let is_bundled = (0..10_000).any(|_| {
            let pause = Duration::from_nanos(500);
            put_next(writer, &mut Wire::default(), &mut now, pause);
            statistics(writer).full > 0
        });
        assert!(is_bundled);
    }
}

#[test]
fn who_answers_what_it_heard_waits_in_vain_once_in_thousands_at_most() {
    for ports in [&[7411][..], &[7411, 7411]] {
        let mut writers = crowd(ports, |_| {});
        let (mut now, mut waits) = (NOW, 0);
        for heard in 0..50_000u32 {
            let turn = heard as usize % writers.len();
            let writer = &mut writers[turn];
            writer.note_heard(heard);
            waits += u32::from(waits_in_vain(writer, &mut now));
        }
        assert!((1..=12).contains(&waits), "{ports:?}: {waits}");
        // What it writes beside is bundled as ever.
        let writer = &mut writers[0];
        let pause = Duration::from_nanos(500);
        let leaves = |_: &u32| put_next(writer, &mut Wire::default(), &mut now, pause);
        let alone = (0..200).take_while(leaves).count();
        assert!(alone < 20, "{ports:?}: {alone}");
    }
}

#[test]
fn who_leaves_with_the_next_change_has_not_waited_in_vain() {
    let (mut writer, mut sent) = bundling(Bundling::Automatic, |_| {});
    let mut now = NOW;
    let mut waited = 0;
    for _ in 0..100 {
        // The last of nine is the first to wait, and the next comes before it has to leave alone.
        for _ in 0..9 {
            let left = put_next(&mut writer, &mut sent, &mut now, Duration::from_nanos(500));
            waited += u32::from(!left);
        }
        now = now.after(Duration::from_micros(150));
    }
    assert!(waited > 90, "{waited}");
}
