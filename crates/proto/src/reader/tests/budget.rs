//! What a reader may hold of its participant's octets.

use super::*;

/// A reader with so many octets to hold, and its budget.
fn thrifty(max: usize, adapt: impl FnOnce(&mut ReaderConfig)) -> (Reader, Arc<Budget>) {
    let budget = Arc::new(Budget::new(max));
    let reader = reader(|config| {
        config.budget = Some(Arc::clone(&budget));
        adapt(config);
    });
    (reader, budget)
}

/// The same, which has heard of the samples up to `last` of a reliable writer.
fn thrifty_and_told(max: usize, last: i64) -> (Reader, Arc<Budget>) {
    let (mut reader, budget) = thrifty(max, |_| {});
    reader.handle_matched(NOW, matched(true));
    let told = reader.handle_heartbeat(NOW, WRITER, &heartbeat(1, last, 1, false));
    told.unwrap();
    (reader, budget)
}

fn rejections(reader: &mut Reader) -> Vec<SampleRejectedKind> {
    let events = core::iter::from_fn(|| reader.poll_event());
    let reasons = events.filter_map(|event| match event {
        ReaderEvent::SampleRejected { reason, .. } => Some(reason),
        _ => None,
    });
    reasons.collect()
}

#[test]
fn a_budget_holds_back_the_writer_and_everything_arrives_after_takes() {
    let (mut reader, budget) = thrifty_and_told(4096, 100);
    let mut count = 1;
    let mut all = vec![];
    let mut rejected = 0;
    let mut next = 1;
    while all.len() < 100 {
        let before = next;
        while next <= 100 && reader.handle_data(NOW, data(next)).is_ok() {
            next += 1;
        }
        assert!(next > before, "nothing fits after a take");
        assert!(budget.held() <= budget.max(), "{}", budget.held());
        assert_eq!(budget.held(), reader.held_bytes());
        let reasons = rejections(&mut reader);
        if next <= 100 {
            assert_eq!(reasons, [SampleRejectedKind::ByMemoryLimit]);
            assert!(reader.handle_data(NOW, data(next)).is_err());
            assert!(rejections(&mut reader).is_empty(), "told once in a row");
            // What would be refused is not asked for.
            count += 1;
            let more = heartbeat(1, 100, count, false);
            reader.handle_heartbeat(NOW, WRITER, &more).unwrap();
            assert_eq!(answers(&mut reader, NOW), [(next, vec![])]);
            rejected += 1;
        }
        all.extend(taken(&mut reader));
        reader.handle_room(NOW);
        if next <= 100 {
            let asked = answers(&mut reader, NOW);
            assert_eq!((asked[0].0, asked[0].1[0]), (next, next));
        }
    }
    assert_eq!(all, (1..=100).collect::<Vec<_>>());
    assert!(rejected >= 3, "{rejected}");
}

#[test]
fn a_budget_that_others_use_up_is_asked_again_when_they_give_back() {
    let (mut reader, budget) = thrifty(4096, |_| {});
    let mut others = Account::new(Some(Arc::clone(&budget)));
    others.set(4000);
    reader.handle_matched(NOW, matched(true));
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 1, 1, false))
        .unwrap();
    assert!(reader.handle_data(NOW, data(1)).is_err());
    assert_eq!(answers(&mut reader, NOW), [(1, vec![])]);
    others.set(0);
    // Nothing was taken from this reader, so only the writer's next heartbeat wakes it.
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 1, 2, false))
        .unwrap();
    assert_eq!(answers(&mut reader, NOW), [(1, vec![1])]);
    reader.handle_data(NOW, data(1)).unwrap();
    assert_eq!(taken(&mut reader), [1]);
}

#[test]
fn fragments_and_samples_out_of_order_are_in_the_budget() {
    let (mut reader, budget) = thrifty_and_told(20_000, 90);
    for number in (2..90).rev() {
        let _ = reader.handle_data(NOW, data(number));
    }
    assert!(budget.held() > 10_000 && budget.held() <= 20_000);
    let bytes = vec![7; 1000];
    let mut refused = 0;
    for first in (1..200).step_by(2) {
        let run = FragmentRun {
            first: FragmentNumber(first),
            fragment_bytes: 1000,
            sample_bytes: 1_000_000,
            bytes: &bytes,
        };
        let mut change = data(1);
        change.payload = SharedBytes::default();
        let fragments = IncomingFragments { change, run };
        refused += usize::from(reader.handle_data_frag(NOW, fragments).is_err());
    }
    assert!(refused > 80, "{refused}");
    // One piece may go over by what the stash takes beside its octets.
    assert!(budget.held() <= 20_000 + 1024, "{}", budget.held());
    reader.handle_unmatched(NOW, Timestamp(0), WRITER);
    assert_eq!(budget.held(), 0);
}

#[test]
fn a_best_effort_reader_without_room_drops_and_says_so() {
    let (mut reader, budget) = thrifty(2048, |config| config.reliable = false);
    reader.handle_matched(NOW, matched(false));
    let accepted = (1..100).filter(|number| reader.handle_data(NOW, data(*number)).is_ok());
    let accepted = accepted.count();
    assert!((2..20).contains(&accepted), "{accepted}");
    assert_eq!(reader.statistics().rejected, 99 - accepted as u64);
    assert!(budget.held() <= 2048);
}

#[test]
fn what_came_early_gives_way_to_what_everything_waits_for() {
    let (mut reader, budget) = thrifty_and_told(4096, 100);
    answers(&mut reader, NOW);
    // The first is refused for others' sake, the rest fills what they give back.
    let mut others = Account::new(Some(Arc::clone(&budget)));
    others.set(4000);
    assert!(reader.handle_data(NOW, data(1)).is_err());
    others.set(0);
    let early = (2..100).filter(|number| reader.handle_data(NOW, data(*number)).is_ok());
    assert!(early.count() > 10);
    others.set(budget.max() - budget.held());
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 100, 2, false))
        .unwrap();
    let later = NOW.after(Duration::from_secs(1));
    assert_eq!(answers(&mut reader, later), [(1, vec![1])]);
    reader.handle_data(NOW, data(1)).unwrap();
    let taken = taken(&mut reader);
    assert_eq!(taken[..3], [1, 2, 3]);
    assert!(budget.held() <= budget.max());
}

#[test]
fn what_came_early_counts_with_the_slab_that_it_keeps() {
    let (mut reader, budget) = thrifty_and_told(20_000, 90);
    let in_slab = |number: i64| {
        let slab = SharedBytes::copy_from(&[7; 2000]);
        let payload = slab.slice(0..8).unwrap();
        Incoming {
            payload,
            ..data(number)
        }
    };
    let early = (2..90).filter(|number| reader.handle_data(NOW, in_slab(*number)).is_ok());
    assert!((3..10).contains(&early.count()));
    assert!(budget.held() > 10_000);
    // What waited moves to where it is read, and is to fit there as well.
    reader.handle_data(NOW, in_slab(1)).unwrap();
    assert!(budget.held() <= budget.max(), "{}", budget.held());
    assert!(taken(&mut reader).len() >= 3);
}
