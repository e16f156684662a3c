//! Flow controllers, and writers for which another thread sends.

use super::super::FlowLimits;
use super::*;

const LIMITS: FlowLimits = FlowLimits {
    bytes_per_period: 2000,
    period: Duration::from_millis(10),
    burst_bytes_max: 4000,
};

const fn at_ms(ms: u64) -> Instant {
    Instant(NOW.0 + ms * 1_000_000)
}

/// A best-effort writer with a controller, and a reader.
fn controlled(adapt: impl FnOnce(&mut WriterConfig)) -> Writer {
    let mut writer = writer(|config| {
        config.reliable = false;
        config.depth = None;
        config.flow = Some(LIMITS);
        adapt(config);
    });
    writer.handle_matched(NOW, matched(false, false));
    writer
}

/// How many octets have left by each deadline until nothing is due any more.
fn departures(writer: &mut Writer) -> Vec<(u64, usize)> {
    let mut all = vec![];
    let mut now = NOW;
    loop {
        let mut sent = Sent::default();
        writer.handle_timeout(now);
        writer.poll_transmit(now, &mut sent);
        let bytes = sent.0.iter().map(Vec::len).sum();
        all.push(((now.0 - NOW.0) / 1_000_000, bytes));
        let Some((at, _)) = writer.poll_timeout() else {
            return all;
        };
        assert!(at > now, "it is not busy");
        now = at;
    }
}

#[test]
fn what_history_gives_up_leaves_no_faster() {
    let mut writer = controlled(|config| {
        config.depth = Some(1);
        config.bundling = up_to(1400);
    });
    let mut sent = Sent::default();
    let written = (0..100).take_while(|_| {
        let is_written = writer.write(NOW, change(400)).is_ok();
        writer.poll_transmit(NOW, &mut sent);
        is_written
    });
    assert!(
        (9..16).contains(&written.count()),
        "the others find no room"
    );
    let bytes: usize = sent.0.iter().map(Vec::len).sum();
    assert!((3000..4000 + 1400).contains(&bytes), "{bytes}");
    let all = departures(&mut writer);
    assert!(all[1..].iter().map(|it| it.1).sum::<usize>() > 0, "{all:?}");
}

#[test]
fn samples_leave_as_fast_as_the_controller_allows() {
    let mut writer = controlled(|_| {});
    for _ in 0..20 {
        writer.write(NOW, change(1000)).unwrap();
    }
    let all = departures(&mut writer);
    let bytes: usize = all.iter().map(|it| it.1).sum();
    assert!((20_000..21_500).contains(&bytes), "{all:?}");
    let first = all[0].1;
    assert!((4000..5300).contains(&first), "{all:?}");
    // What is beyond the bucket takes a period for each 2000 octets.
    let last_ms = all.last().unwrap().0;
    assert!((70..=90).contains(&last_ms), "{all:?}");
    assert!(all[1..].iter().all(|it| it.1 < 2000 + 1300), "{all:?}");
}

#[test]
fn fragments_leave_as_fast_as_the_controller_allows() {
    let mut writer = controlled(|_| {});
    writer.write(NOW, change(30_000)).unwrap();
    let all = departures(&mut writer);
    let bytes: usize = all.iter().map(|it| it.1).sum();
    assert!((30_000..33_000).contains(&bytes), "{all:?}");
    let last_ms = all.last().unwrap().0;
    assert!((110..=150).contains(&last_ms), "{all:?}");
}

#[test]
fn repairs_are_paid_for_and_wait_too() {
    let mut writer = controlled(|config| config.reliable = true);
    writer.handle_matched(NOW, matched(true, false));
    let mut sent = Sent::default();
    for _ in 0..3 {
        writer.write(NOW, change(1000)).unwrap();
    }
    writer.poll_transmit(NOW, &mut sent);
    sent.words();
    let asked = acknack(1, &[1, 2, 3], 1);
    writer.handle_acknack(at_ms(5), READER, &asked).unwrap();
    let mut data_at = |now| {
        writer.handle_timeout(now);
        writer.poll_transmit(now, &mut sent);
        let words = sent.words();
        words.iter().filter(|it| **it == "data").count()
    };
    // Of 4000 octets some 3200 have left.
    assert_eq!(data_at(at_ms(5)), 1);
    assert_eq!(data_at(at_ms(9)), 0);
    assert_eq!(data_at(at_ms(10)), 2);
}

#[test]
fn another_thread_is_told_when_to_send() {
    let mut writer = controlled(|config| config.asynchronous = true);
    writer.write(NOW, change(1000)).unwrap();
    assert_eq!(writer.leaves_at(NOW), Some(NOW));
    for _ in 0..9 {
        writer.write(NOW, change(1000)).unwrap();
    }
    writer.poll_transmit(NOW, &mut Sent::default());
    assert_eq!(writer.leaves_at(at_ms(3)), Some(at_ms(10)));
    assert_eq!(writer.leaves_at(at_ms(12)), Some(at_ms(12)));
    assert_eq!(controlled(|_| {}).leaves_at(NOW), None);
}
