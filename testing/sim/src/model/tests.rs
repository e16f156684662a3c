//! Deliveries broken on purpose: the model must find each of them.

use whimbrel_base::guid::{EntityId, EntityKind, GuidPrefix};
use whimbrel_base::sample::SampleInfo;
use whimbrel_base::sequence::SequenceNumber;

use super::*;

const WRITER: Guid = Guid::new(
    GuidPrefix([1; 12]),
    EntityId::user(1, EntityKind::WriterWithKey),
);
const READER: Guid = Guid::new(
    GuidPrefix([2; 12]),
    EntityId::user(1, EntityKind::ReaderWithKey),
);

/// What one pair is, and what became of the five samples that its writer wrote to instances 1, 2,
/// 1, 2, 1; the match came after the first two.
struct Case {
    reliable: bool,
    durable: bool,
    writer_depth: Option<usize>,
    reader_depth: Option<usize>,
    lossless: bool,
    taken: &'static [usize],
}

const EXACT: Case = Case {
    reliable: true,
    durable: false,
    writer_depth: None,
    reader_depth: None,
    lossless: false,
    taken: &[3, 4, 5],
};

fn model(case: &Case) -> (Model, WriterId, ReaderId) {
    let mut model = Model::default();
    let writer = model.add_writer(WriterFacts {
        guid: WRITER,
        reliable: case.reliable,
        durable: case.durable,
        depth: case.writer_depth,
        limited: false,
    });
    let reader = model.add_reader(ReaderFacts {
        guid: READER,
        reliable: case.reliable,
        durable: case.durable,
        depth: case.reader_depth,
        limited: false,
        prompt: true,
    });
    for number in 1..=5 {
        if number == 3 {
            model.writer_knows(writer, reader, true);
            model.reader_knows(writer, reader, true);
        }
        model.wrote(writer, written(number, ChangeKind::Alive));
    }
    (model, writer, reader)
}

fn written(number: usize, kind: ChangeKind) -> Written {
    let key = Some(2 - number as u32 % 2);
    Written {
        kind,
        key,
        bytes: 40,
        timestamp: Timestamp(number as i64 * 1_000_000_000),
    }
}

fn sample(writer: WriterId, number: usize) -> CachedSample {
    let Written {
        key,
        bytes,
        timestamp,
        ..
    } = written(number, ChangeKind::Alive);
    CachedSample {
        payload: payload::sample(writer.0 as u64, number as u64, key, bytes),
        payload_is_key: false,
        value: None,
        sequence: SequenceNumber(number as i64),
        info: SampleInfo {
            source_timestamp: timestamp,
            instance_handle: payload::instance(key.unwrap()),
            valid_data: true,
            ..SampleInfo::default()
        },
    }
}

fn findings(case: &Case) -> usize {
    let (mut model, writer, reader) = model(case);
    for number in case.taken {
        model.took(reader, writer, &sample(writer, *number));
    }
    model.finish(case.lossless);
    model.findings().len()
}

#[test]
fn keep_all_needs_everything_since_the_match() {
    assert_eq!(findings(&EXACT), 0);
    // What came before the match may arrive, but in order.
    assert_eq!(
        findings(&Case {
            taken: &[2, 3, 4, 5],
            ..EXACT
        }),
        0
    );
    for taken in [&[3, 4][..], &[4, 5], &[3, 5], &[]] {
        assert_ne!(findings(&Case { taken, ..EXACT }), 0, "{taken:?}");
    }
}

#[test]
fn repeats_and_steps_back_are_found_whatever_the_qos() {
    for reliable in [true, false] {
        let case = Case { reliable, ..EXACT };
        assert_ne!(
            findings(&Case {
                taken: &[3, 4, 5, 5],
                ..case
            }),
            0
        );
        assert_ne!(
            findings(&Case {
                taken: &[4, 5, 3],
                ..case
            }),
            0
        );
        assert_ne!(
            findings(&Case {
                taken: &[3, 4, 5, 6],
                ..case
            }),
            0
        );
        assert_eq!(
            findings(&Case {
                taken: &[4, 3, 5],
                ..case
            }),
            0,
            "other instances"
        );
    }
}

#[test]
fn history_is_needed_only_where_both_sides_are_durable() {
    let durable = Case {
        durable: true,
        ..EXACT
    };
    assert_ne!(
        findings(&Case {
            taken: &[3, 4, 5],
            ..durable
        }),
        0
    );
    assert_eq!(
        findings(&Case {
            taken: &[1, 2, 3, 4, 5],
            ..durable
        }),
        0
    );
    let last = Case {
        writer_depth: Some(1),
        ..durable
    };
    assert_eq!(
        findings(&Case {
            taken: &[4, 5],
            ..last
        }),
        0
    );
    assert_ne!(
        findings(&Case {
            taken: &[3, 4],
            ..last
        }),
        0
    );
    assert_ne!(
        findings(&Case {
            taken: &[5],
            ..last
        }),
        0
    );
}

#[test]
fn a_reader_that_keeps_the_last_needs_only_those() {
    let last = Case {
        reader_depth: Some(1),
        ..EXACT
    };
    assert_eq!(
        findings(&Case {
            taken: &[4, 5],
            ..last
        }),
        0
    );
    assert_ne!(
        findings(&Case {
            taken: &[3, 4],
            ..last
        }),
        0
    );
}

#[test]
fn best_effort_needs_everything_only_without_losses() {
    let best_effort = Case {
        reliable: false,
        taken: &[3, 5],
        ..EXACT
    };
    assert_ne!(
        findings(&Case {
            lossless: true,
            ..best_effort
        }),
        0
    );
    assert_eq!(findings(&best_effort), 0);
}

#[test]
fn other_octets_instances_and_times_are_found() {
    let check = |spoil: fn(&mut CachedSample)| {
        let (mut model, writer, reader) = model(&EXACT);
        let mut spoilt = sample(writer, 3);
        spoil(&mut spoilt);
        model.took(reader, writer, &spoilt);
        model.findings().len()
    };
    assert_eq!(check(|_| {}), 0);
    assert_eq!(
        check(|it| it.payload = payload::sample(0, 4, Some(1), 40)),
        1
    );
    assert_eq!(check(|it| it.payload = it.payload.slice(0..36).unwrap()), 1);
    assert_eq!(
        check(|it| it.info.instance_handle = payload::instance(2)),
        1
    );
    assert_eq!(check(|it| it.info.source_timestamp = Timestamp(1)), 1);
}

#[test]
fn what_a_former_life_wrote_is_its_own_however_late_it_is_taken() {
    let (mut model, former, reader) = model(&EXACT);
    let facts = model.writers[former.0].facts;
    let writer = model.add_writer(facts);
    model.took(reader, writer, &sample(former, 3));
    assert_eq!(model.findings().len(), 0);
    // Nobody wrote that yet.
    model.took(reader, writer, &sample(writer, 3));
    assert_eq!(model.findings().len(), 1);
}

#[test]
fn acknowledging_what_has_not_arrived_is_found() {
    let (mut model, writer, reader) = model(&EXACT);
    model.took(reader, writer, &sample(writer, 3));
    model.acknowledged(writer, 3);
    assert_eq!(model.findings().len(), 0);
    model.acknowledged(writer, 4);
    assert_eq!(model.findings().len(), 1);
}

#[test]
fn who_was_lost_meanwhile_hears_of_disposals_and_not_of_unregistrations() {
    let durable = Case {
        durable: true,
        taken: &[1, 2, 3, 4, 5],
        ..EXACT
    };
    let check = |kind, while_lost: bool| {
        let (mut model, writer, reader) = model(&durable);
        for number in 1..=5 {
            model.took(reader, writer, &sample(writer, number));
        }
        if while_lost {
            model.writer_knows(writer, reader, false);
        }
        model.wrote(writer, Written { ..written(7, kind) });
        model.writer_knows(writer, reader, false);
        model.writer_knows(writer, reader, true);
        model.finish(false);
        model.findings().len()
    };
    assert_eq!(check(ChangeKind::Unregistered, true), 0);
    assert_eq!(check(ChangeKind::Unregistered, false), 1);
    assert_eq!(check(ChangeKind::Disposed, true), 1);
}

#[test]
fn the_last_state_of_an_instance_is_needed() {
    let check = |kind, state| {
        let (mut model, writer, reader) = model(&EXACT);
        let mut last = [3, 4, 5].map(|number| sample(writer, number));
        model.wrote(writer, Written { ..written(7, kind) });
        for sample in &mut last {
            sample.info.instance_state = if sample.sequence.0 == 4 {
                InstanceState::Alive
            } else {
                state
            };
            model.took(reader, writer, sample);
        }
        model.finish(false);
        model.findings().len()
    };
    assert_eq!(
        check(ChangeKind::Disposed, InstanceState::NotAliveDisposed),
        0
    );
    assert_eq!(
        check(ChangeKind::Unregistered, InstanceState::NotAliveNoWriters),
        0
    );
    assert_eq!(check(ChangeKind::Disposed, InstanceState::Alive), 1);
    assert_eq!(
        check(ChangeKind::Unregistered, InstanceState::NotAliveDisposed),
        1
    );
}
