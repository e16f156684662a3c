//! Samples in fragments, and where they are put together.

use super::*;

#[test]
fn a_large_sample_that_could_not_wait_is_not_taken_in_to_be_thrown_away() {
    let mut reader = reader(|config| config.reorder_samples_max = 2);
    reader.handle_matched(NOW, matched(true));
    let all = heartbeat(1, 4, 1, false);
    reader.handle_heartbeat(NOW, WRITER, &all).unwrap();
    answers(&mut reader, NOW);
    let part = |number| IncomingFragments {
        change: Incoming {
            payload: SharedBytes::default(),
            ..data(4)
        },
        ..fragment(WRITER, number, 2000, &[7; 1000])
    };
    reader.handle_data_frag(NOW, part(1)).unwrap();
    reader.handle_data(NOW, data(2)).unwrap();
    reader.handle_data(NOW, data(3)).unwrap();
    // Nothing of it is asked for, and its end is not taken in, while it would find no place.
    assert!(reader.handle_data_frag(NOW, part(2)).is_err());
    let later = NOW.after(Duration::from_millis(100));
    let again = heartbeat(1, 4, 2, false);
    reader.handle_heartbeat(later, WRITER, &again).unwrap();
    assert_eq!(answers(&mut reader, later), [(1, vec![1])]);
    assert_eq!(reader.statistics().nack_frags, 0);
    // What everything waits for comes: now the other half is all that is missing.
    reader.handle_data(later, data(1)).unwrap();
    assert_eq!(taken(&mut reader), [1, 2, 3]);
    let later = later.after(Duration::from_millis(100));
    let again = heartbeat(1, 4, 3, false);
    reader.handle_heartbeat(later, WRITER, &again).unwrap();
    answers(&mut reader, later);
    assert_eq!(reader.statistics().nack_frags, 1);
    reader.handle_data_frag(later, part(2)).unwrap();
    assert_eq!(taken(&mut reader), [4]);
}

fn fragment(writer: Guid, number: u32, sample_bytes: u32, bytes: &[u8]) -> IncomingFragments<'_> {
    IncomingFragments {
        change: Incoming {
            writer,
            payload: SharedBytes::default(),
            ..data(1)
        },
        run: FragmentRun {
            first: FragmentNumber(number),
            fragment_bytes: 1000,
            sample_bytes,
            bytes,
        },
    }
}

#[test]
fn large_samples_of_several_writers_do_not_lock_each_other_out() {
    let mut reader = reader(|config| config.reassembly_bytes_max = 30_000);
    let writers: Vec<Guid> = (3..6)
        .map(|byte| Guid::new(GuidPrefix([byte; 12]), WRITER.entity))
        .collect();
    for guid in &writers {
        let info = MatchedWriter {
            packs: false,
            batches: false,
            guid: *guid,
            ..matched(true)
        };
        reader.handle_matched(NOW, info);
        let all = Heartbeat {
            first: SequenceNumber(1),
            ..heartbeat(1, 1, 1, true)
        };
        reader.handle_heartbeat(NOW, *guid, &all).unwrap();
    }
    let bytes = [7; 1000];
    let mut done = 0;
    // As if each writer repaired everything again and again, interleaved with the others.
    for _ in 0..4 {
        for number in 1..=20 {
            for guid in &writers {
                let _ = reader.handle_data_frag(NOW, fragment(*guid, number, 20_000, &bytes));
            }
        }
        done += taken(&mut reader).len();
    }
    assert_eq!(done, 3);
    assert!(reader.reassembly_bytes() == 0);
}

#[test]
fn half_received_samples_hold_no_more_than_the_limit_beside_the_first() {
    let mut reader = reader(|config| config.reassembly_bytes_max = 30_000);
    reader.handle_matched(NOW, matched(true));
    let all = heartbeat(1, 40, 1, false);
    reader.handle_heartbeat(NOW, WRITER, &all).unwrap();
    let part = |sequence: i64, number| {
        let mut part = fragment(WRITER, number, 20_000, &[7; 1000]);
        part.change.sequence = SequenceNumber(sequence);
        part
    };
    // Half of each; of what comes later less and less finds room.
    for sequence in 1..=40 {
        for number in 1..=10 {
            let _ = reader.handle_data_frag(NOW, part(sequence, number));
            assert!(reader.reassembly_bytes() <= 30_000 + 20_000);
        }
    }
    for number in 11..=20 {
        reader.handle_data_frag(NOW, part(1, number)).unwrap();
    }
    assert_eq!(taken(&mut reader), [1]);
}

#[test]
fn a_writer_that_never_completes_anything_keeps_no_other_out() {
    let mut reader = reader(|config| config.reassembly_bytes_max = 30_000);
    let [endless, modest] = [3, 4].map(|byte| Guid::new(GuidPrefix([byte; 12]), WRITER.entity));
    for guid in [endless, modest] {
        let info = MatchedWriter {
            packs: false,
            batches: false,
            guid,
            ..matched(true)
        };
        reader.handle_matched(NOW, info);
        reader
            .handle_heartbeat(NOW, guid, &heartbeat(1, 1, 1, true))
            .unwrap();
    }
    let bytes = [7; 1000];
    for number in 1..30 {
        let _ = reader.handle_data_frag(NOW, fragment(endless, number, 200_000, &bytes));
        let mut later = fragment(endless, number, 200_000, &bytes);
        later.change.sequence = SequenceNumber(2);
        let _ = reader.handle_data_frag(NOW, later);
    }
    for number in 1..=10 {
        let _ = reader.handle_data_frag(NOW, fragment(endless, 30 + number, 200_000, &bytes));
        reader
            .handle_data_frag(NOW, fragment(modest, number, 10_000, &bytes))
            .unwrap();
    }
    assert_eq!(taken(&mut reader), [1]);
}

#[test]
fn a_best_effort_reader_that_joins_late_has_lost_nothing() {
    let mut reader = reader(|config| config.reliable = false);
    reader.handle_matched(NOW, matched(false));
    let bytes = [7; 1000];
    for number in 1..=2 {
        let mut late = fragment(WRITER, number, 2000, &bytes);
        late.change.sequence = SequenceNumber(1000);
        reader.handle_data_frag(NOW, late).unwrap();
    }
    assert_eq!(taken(&mut reader), [1000]);
    assert_eq!(reader.statistics().lost, 0);
}

#[test]
fn the_memory_of_a_large_sample_serves_the_next_and_is_given_up_in_a_pause() {
    let mut reader = reader(|_| {});
    reader.handle_matched(NOW, matched(true));
    let both = heartbeat(1, 2, 1, true);
    reader.handle_heartbeat(NOW, WRITER, &both).unwrap();
    let mut arrive = |sequence: i64, now: Instant| {
        for number in 1..=20 {
            let mut part = fragment(WRITER, number, 20_000, &[7; 1000]);
            part.change.sequence = SequenceNumber(sequence);
            reader.handle_data_frag(now, part).unwrap();
        }
        let mut samples = Vec::new();
        reader.cache_mut().take(&Selector::ALL, &mut samples);
        let place = samples[0].payload.as_ptr();
        drop(samples);
        (place, reader.held_bytes())
    };
    let (first, held) = arrive(1, NOW);
    assert!(held >= 20_000);
    assert_eq!(arrive(2, NOW).0, first);
    while let Some((at, _)) = reader.poll_timeout() {
        assert!(at <= NOW.after(Duration::from_secs(4)));
        reader.handle_timeout(at);
        answers(&mut reader, at);
    }
    assert_eq!(reader.held_bytes(), held - 20_000);
}
