//! Class 2: sets of numbers, heartbeats, gaps, acknowledgements and their counts.

use whimbrel_base::guid::{EntityId, GuidPrefix};
use whimbrel_base::reject::RejectKind;

use super::case::{Attack, Case, Scene};

type Outcome = Result<(), String>;

const ONES: [u32; 8] = [u32::MAX; 8];

/// The cases.
pub(super) const CASES: &[Case] = &[
    Case::new("sets/num-bits-0", &[], |it| {
        let s = it.scene;
        it.say(&[
            &s.acknack(1, 0, &[], 1),
            &s.heartbeat(1, 3, 1),
            &s.gap(1, 4, 0, &[]),
        ]);
        it.expect(&[])
    }),
    Case::new("sets/num-bits-256", &[], |it| {
        let s = it.scene;
        it.say(&[&s.acknack(1, 256, &ONES, 1), &s.heartbeat(1, 300, 1)]);
        it.say(&[
            &s.gap(1, 2, 256, &ONES),
            &s.nack_frag(1, (1, 256, &ONES), 1),
        ]);
        it.wait_ms(20);
        Ok(())
    }),
    Case::new("sets/num-bits-257", &[RejectKind::NumberSet], |it| {
        impossible_spans(it, 257)
    }),
    Case::new(
        "sets/num-bits-2-to-the-32",
        &[RejectKind::NumberSet],
        |it| impossible_spans(it, u32::MAX),
    ),
    Case::new("sets/words-missing", &[RejectKind::Truncated], |it| {
        let s = it.scene;
        it.say(&[&s.acknack(1, 256, &ONES[..3], 1)]);
        it.say(&[&s.gap(1, 2, 33, &ONES[..1])]);
        it.say(&[&s.nack_frag(1, (1, 256, &ONES[..6]), 1)]);
        Ok(())
    }),
    Case::new("sets/base-0", &[RejectKind::NumberSet], |it| {
        impossible_bases(it, &[0])
    }),
    Case::new("sets/base-negative", &[RejectKind::NumberSet], |it| {
        impossible_bases(it, &[-1, -(1 << 32), i64::MIN])
    }),
    Case::new("sets/base-greatest", &[RejectKind::SequenceNumber], |it| {
        let s = it.scene;
        it.say(&[&s.acknack(i64::MAX, 256, &ONES, 1)]);
        it.say(&[&s.acknack(i64::MAX - 3, 256, &ONES, 2)]);
        it.say(&[&s.nack_frag(i64::MAX, (1, 32, &ONES[..1]), 1)]);
        // Every bit past the greatest number names nothing.
        it.say(&[&s.nack_frag(1, (u32::MAX, 256, &ONES), 2)]);
        it.wait_ms(20);
        Ok(())
    }),
    Case::new("sets/gap-base-greatest", &[], |it| {
        let s = it.scene;
        it.say(&[
            &s.heartbeat(1, 2, 1),
            &s.gap(i64::MAX, i64::MAX, 256, &ONES),
        ]);
        samples(it, &[1, 2])
    }),
    Case::new("sets/counts-wrap", &[], |it| {
        let s = it.scene;
        for step in 0..8_u32 {
            let count = (1_u32 << 29).wrapping_mul(step);
            it.say(&[&s.heartbeat(1, 2, count), &s.acknack(1, 0, &[], count)]);
            it.wait_ms(5);
        }
        samples(it, &[1, 2])
    }),
    Case::new("sets/a-forged-count-does-not-silence", &[], |it| {
        let s = it.scene;
        // As far ahead as a count can be; those of the true sender follow.
        it.say(&[
            &s.heartbeat(1, 0, 0x7fff_fff0),
            &s.acknack(1, 0, &[], 0x7fff_fff0),
        ]);
        for count in 1..4 {
            it.say(&[&s.heartbeat(1, 1, count), &s.acknack(1, 0, &[], count)]);
        }
        samples(it, &[1])
    }),
    Case::new("sets/repeated-counts", &[RejectKind::Duplicate], |it| {
        let s = it.scene;
        it.say(&[&s.heartbeat(1, 2, 7), &s.acknack(1, 0, &[], 7)]);
        for _ in 0..20 {
            it.say(&[&s.heartbeat(1, 2, 7)]);
            it.say(&[&s.acknack(1, 0, &[], 7)]);
            it.say(&[&s.heartbeat(1, 2, 6)]);
        }
        samples(it, &[1, 2])
    }),
    Case::new(
        "sets/repeated-counts-of-fragments",
        &[RejectKind::Duplicate],
        |it| {
            let s = it.scene;
            it.say(&[&s.heartbeat(1, 1, 1)]);
            for _ in 0..20 {
                it.say(&[&s.heartbeat_frag(1, 3, 5)]);
                it.say(&[&s.nack_frag(1, (1, 1, &[1 << 31]), 5)]);
            }
            Ok(())
        },
    ),
    Case::new(
        "sets/heartbeat-last-before-first",
        &[RejectKind::SequenceNumber],
        |it| {
            let s = it.scene;
            for (first, last) in [(5, 3), (i64::MAX, 1), (2, 0), (1, -1), (1, i64::MIN)] {
                it.say(&[&s.heartbeat(first, last, 1)]);
            }
            samples(it, &[1])
        },
    ),
    Case::new(
        "sets/heartbeat-numbers-below-1",
        &[RejectKind::SequenceNumber],
        |it| {
            let s = it.scene;
            for (first, last) in [
                (0, 0),
                (0, 5),
                (-5, 2),
                (i64::MIN, i64::MAX),
                (-(1 << 32), 0),
            ] {
                it.say(&[&s.heartbeat(first, last, 1)]);
            }
            samples(it, &[1])
        },
    ),
    Case::new("sets/heartbeat-first-greatest", &[], |it| {
        let s = it.scene;
        it.say(&[&s.heartbeat(1, 0, 1)]);
        it.say(&[&s.heartbeat(i64::MAX, i64::MAX, 2)]);
        it.say(&[&s.heartbeat(i64::MAX, i64::MAX - 1, 3)]);
        it.wait_ms(20);
        Ok(())
    }),
    Case::new("sets/heartbeat-last-greatest", &[], |it| {
        let s = it.scene;
        it.say(&[&s.heartbeat(1, i64::MAX, 1)]);
        it.wait_ms(50);
        samples(it, &[1, 2])
    }),
    Case::new(
        "sets/heartbeat-group-info-cut-off",
        &[RejectKind::Truncated],
        |it| {
            let s = it.scene;
            let body = s.to_reader().number(1).number(0).u32(2_000_000).number(1);
            it.say(&[&s.submessage(super::compose::id::HEARTBEAT, 8, body)]);
            Ok(())
        },
    ),
    Case::new("sets/gap-start-after-base", &[], |it| {
        let s = it.scene;
        it.say(&[
            &s.heartbeat(1, 9, 1),
            &s.gap(9, 3, 0, &[]),
            &s.gap(i64::MAX, 1, 0, &[]),
        ]);
        samples(it, &[1, 2])
    }),
    Case::new(
        "sets/gap-start-below-1",
        &[RejectKind::SequenceNumber],
        |it| {
            let s = it.scene;
            for start in [-1, -(1 << 32), i64::MIN] {
                it.say(&[&s.gap(start, 9, 0, &[])]);
            }
            samples(it, &[1])
        },
    ),
    Case::new("sets/gap-of-2-to-the-63", &[RejectKind::Duplicate], |it| {
        let s = it.scene;
        it.say(&[&s.heartbeat(1, 1, 1), &s.gap(1, i64::MAX, 256, &ONES)]);
        it.wait_ms(20);
        it.say(&[
            &s.data(1, &s.payload(1, &[1])),
            &s.data(77, &s.payload(1, &[1])),
        ]);
        it.expect(&[])
    }),
    Case::new(
        "sets/gaps-of-every-other-number",
        &[RejectKind::Limit],
        |it| {
            let s = it.scene;
            for round in 0..20 {
                it.say(&[&s.gap(3 + 256 * round, 4 + 256 * round, 256, &[0x5555_5555; 8])]);
            }
            Ok(())
        },
    ),
    Case::new("sets/gap-before-contact", &[], |it| {
        let s = it.scene;
        it.say(&[
            &s.gap(1, 3, 0, &[]),
            &s.data(3, &s.payload(3, &[3])),
            &s.heartbeat(1, 3, 1),
        ]);
        it.wait_ms(20);
        it.expect(&[(3, &[3])])
    }),
    Case::new(
        "sets/data-numbers-below-1",
        &[RejectKind::SequenceNumber],
        |it| {
            let s = it.scene;
            for number in [0, -1, -(1 << 32), i64::MIN] {
                it.say(&[&s.data(number, &s.payload(1, &[1]))]);
            }
            it.expect(&[])
        },
    ),
    Case::new("sets/data-numbers-far-ahead", &[RejectKind::Limit], |it| {
        let s = it.scene;
        it.say(&[&s.heartbeat(1, 2, 1)]);
        for number in 0..2000 {
            it.say(&[&s.data(i64::MAX - 1 - number, &s.payload(9, &[9; 64]))]);
        }
        it.wait_ms(20);
        samples(it, &[1, 2])
    })
    .virtual_only(),
    Case::new(
        "sets/acknacks-of-strangers",
        &[RejectKind::Stranger],
        acknacks_of_strangers,
    ),
    Case::new(
        "sets/writers-that-are-strangers",
        &[RejectKind::Stranger],
        strange_writers,
    ),
    Case::new(
        "sets/writers-that-nobody-reads",
        &[RejectKind::Stranger],
        |it| {
            let s = Scene {
                writer: EntityId([9, 9, 9, 2]),
                victim_reader: EntityId::UNKNOWN,
                ..it.scene
            };
            let message = s.message(&s.data(1, &s.payload(1, &[1])));
            it.datagram(&message);
            it.expect(&[])
        },
    ),
    Case::new(
        "sets/acknack-of-what-was-never-written",
        &[RejectKind::SequenceNumber],
        |it| {
            let s = it.scene;
            for base in [1 << 20, 1 << 40, i64::MAX] {
                it.say(&[&s.acknack(base, 0, &[], 1)]);
            }
            Ok(())
        },
    ),
    Case::new("sets/acknacks-that-want-everything-again", &[], |it| {
        let s = it.scene;
        for count in 1..500 {
            it.say(&[&s.acknack(1, 256, &ONES, count)]);
        }
        it.wait_ms(100);
        Ok(())
    }),
    Case::new("sets/nack-frags-that-want-everything-again", &[], |it| {
        let s = it.scene;
        for count in 1..500 {
            it.say(&[&s.nack_frag(4, (1, 256, &ONES), count)]);
        }
        it.wait_ms(100);
        Ok(())
    }),
    Case::new("sets/nack-frag-base-0", &[RejectKind::NumberSet], |it| {
        let s = it.scene;
        it.say(&[&s.nack_frag(4, (0, 32, &ONES[..1]), 1)]);
        Ok(())
    }),
];

/// Sets that span more than they may.
fn impossible_spans(it: &mut Attack<'_>, bits: u32) -> Outcome {
    let s = it.scene;
    it.say(&[&s.acknack(1, bits, &ONES, 1)]);
    it.say(&[&s.gap(1, 2, bits, &ONES)]);
    it.say(&[&s.nack_frag(1, (1, bits, &ONES), 1)]);
    samples(it, &[1])
}

fn impossible_bases(it: &mut Attack<'_>, bases: &[i64]) -> Outcome {
    let s = it.scene;
    for base in bases {
        it.say(&[&s.acknack(*base, 32, &ONES[..1], 1)]);
        it.say(&[&s.gap(1, *base, 32, &ONES[..1])]);
    }
    samples(it, &[1])
}

/// The true writer goes on: these samples arrive, whatever was said before.
fn samples(it: &mut Attack<'_>, numbers: &[u8]) -> Outcome {
    let s = it.scene;
    for number in numbers {
        it.say(&[&s.data((*number).into(), &s.payload(*number, &[*number]))]);
    }
    it.say(&[&s.heartbeat(1, numbers.len() as i64, 900)]);
    it.wait_ms(20);
    let wanted: Vec<(u8, &[u8])> = numbers
        .iter()
        .map(|number| (*number, std::slice::from_ref(number)))
        .collect();
    it.expect(&wanted)
}

fn acknacks_of_strangers(it: &mut Attack<'_>) -> Outcome {
    let mut prefix = it.scene.attacker;
    for number in 0..50 {
        prefix.0[11] = number;
        prefix.0[0] = 0xee;
        let s = Scene {
            attacker: prefix,
            ..it.scene
        };
        let nack = s.nack_frag(1, (1, 32, &ONES[..1]), 1);
        let message = s.message(&[s.acknack(1, 32, &ONES[..1], 1), nack].concat());
        it.datagram(&message);
    }
    // A reader of a known participant that does not exist.
    let s = Scene {
        reader: EntityId([9, 9, 9, 7]),
        ..it.scene
    };
    let message = s.message(&s.acknack(1, 0, &[], 1));
    it.datagram(&message);
    // A writer of ours that does not exist.
    let s = Scene {
        victim_writer: EntityId([9, 9, 9, 2]),
        ..it.scene
    };
    let message = s.message(&s.acknack(1, 0, &[], 1));
    it.datagram(&message);
    Ok(())
}

fn strange_writers(it: &mut Attack<'_>) -> Outcome {
    let scenes = [
        Scene {
            attacker: GuidPrefix([0xee; 12]),
            ..it.scene
        },
        Scene {
            writer: EntityId([9, 9, 9, 2]),
            ..it.scene
        },
        Scene {
            victim_reader: EntityId([9, 9, 9, 7]),
            ..it.scene
        },
    ];
    for s in scenes {
        let said = [
            s.data(1, &s.payload(1, &[1])),
            s.heartbeat(1, 1, 1),
            s.gap(1, 2, 0, &[]),
            s.heartbeat_frag(1, 1, 1),
        ];
        for one in said {
            let message = s.message(&one);
            it.datagram(&message);
        }
    }
    it.wait_ms(20);
    it.expect(&[])
}
