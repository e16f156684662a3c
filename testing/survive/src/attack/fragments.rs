//! Class 3: fragments.

use whimbrel_base::reject::RejectKind;

use super::case::{Attack, Case, Scene};
use super::compose::Fragment;

type Outcome = Result<(), String>;

/// Octets of content of the true sample; with its headers it takes [`TOTAL`].
const CONTENT: [u8; 180] = [7; 180];

/// Octets of the whole true sample.
const TOTAL: u32 = 192;

/// Its fragments.
const SIZE: u16 = 64;

/// The cases.
pub(super) const CASES: &[Case] = &[
    Case::new("fragments/size-0", &[RejectKind::Fragment], |it| {
        forge(
            it,
            &[Fragment {
                size: 0,
                ..start(1)
            }],
        )
    }),
    Case::new(
        "fragments/size-over-the-sample",
        &[RejectKind::Fragment],
        |it| {
            forge(
                it,
                &[
                    Fragment {
                        size: 200,
                        ..start(1)
                    },
                    Fragment {
                        size: u16::MAX,
                        ..start(1)
                    },
                ],
            )
        },
    ),
    Case::new("fragments/start-0", &[RejectKind::Fragment], |it| {
        forge(
            it,
            &[Fragment {
                first: 0,
                ..start(1)
            }],
        )
    }),
    Case::new("fragments/count-0", &[RejectKind::Fragment], |it| {
        forge(
            it,
            &[Fragment {
                count: 0,
                ..start(1)
            }],
        )
    }),
    Case::new(
        "fragments/start-past-the-end",
        &[RejectKind::Fragment],
        |it| {
            let forged = [4, 1000, u32::MAX].map(|first| Fragment { first, ..start(1) });
            forge(it, &forged)
        },
    ),
    Case::new(
        "fragments/count-past-the-end",
        &[RejectKind::Fragment],
        |it| {
            let forged = [4, u16::MAX].map(|count| Fragment { count, ..start(1) });
            forge(it, &forged)
        },
    ),
    Case::new("fragments/total-0", &[RejectKind::Fragment], |it| {
        forge(
            it,
            &[Fragment {
                total: 0,
                ..start(1)
            }],
        )
    }),
    Case::new(
        "fragments/4-gib-with-one-tiny-fragment",
        &[RejectKind::Limit],
        |it| {
            let forged =
                [(1, 64), (u32::MAX, 1), (1 << 20, 64), (65_000, 64)].map(|(first, size)| {
                    Fragment {
                        first,
                        size,
                        total: u32::MAX,
                        ..start(1)
                    }
                });
            forge(it, &forged)
        },
    ),
    Case::new(
        "fragments/fewer-octets-than-stated",
        &[RejectKind::Fragment],
        |it| {
            let s = it.scene;
            it.say(&[&s.heartbeat(1, 1, 1)]);
            it.say(&[&s.data_frag(start(1), &[7; 20])]);
            it.say(&[&s.data_frag(
                Fragment {
                    count: 2,
                    ..start(1)
                },
                &[7; 100],
            )]);
            whole(it, 1)
        },
    ),
    Case::new("fragments/overlaps-with-different-octets", &[], overlaps),
    Case::new("fragments/mixed-totals", &[], |it| {
        let at = start(1);
        forge(
            it,
            &[
                Fragment { total: 500, ..at },
                Fragment {
                    total: 4000,
                    first: 9,
                    ..at
                },
                Fragment {
                    total: TOTAL + 1,
                    ..at
                },
            ],
        )
    }),
    Case::new("fragments/mixed-sizes", &[], |it| {
        let forged = [1, 32, 60, 63].map(|size| Fragment { size, ..start(1) });
        forge(it, &forged)
    }),
    Case::new("fragments/forged-between-true-ones", &[], forged_between),
    Case::new("fragments/forged-geometries-without-end", &[], |it| {
        let s = it.scene;
        it.say(&[
            &s.heartbeat(1, 1, 1),
            &s.data_frag(
                Fragment {
                    count: 2,
                    ..start(1)
                },
                &payload(s)[..128],
            ),
        ]);
        for total in 1000..1500 {
            it.say(&[&s.data_frag(Fragment { total, ..start(1) }, &[9; 64])]);
        }
        rest(it, 1)
    })
    .virtual_only(),
    Case::new(
        "fragments/thousands-of-half-samples",
        &[RejectKind::Limit],
        |it| {
            let s = it.scene;
            it.say(&[&s.heartbeat(1, 1500, 1)]);
            for number in 1..1500 {
                it.say(&[&s.data_frag(start(number), &[9; 64])]);
            }
            Ok(())
        },
    )
    .virtual_only(),
    Case::new("fragments/half-samples-backwards", &[], |it| {
        let s = it.scene;
        it.say(&[&s.heartbeat(1, 1500, 1)]);
        for number in (2..1500).rev() {
            it.say(&[&s.data_frag(start(number), &[9; 64])]);
        }
        // The first in order finds a place all the same.
        whole(it, 1)
    })
    .virtual_only(),
    Case::new("fragments/large-half-samples", &[RejectKind::Limit], |it| {
        let s = it.scene;
        it.say(&[&s.heartbeat(1, 100, 1)]);
        for number in 1..100 {
            let at = Fragment {
                count: 100,
                total: 8000,
                ..start(number)
            };
            it.say(&[&s.data_frag(at, &[9; 6400])]);
        }
        it.wait_ms(500);
        Ok(())
    })
    .virtual_only(),
    Case::new(
        "fragments/of-one-octet-far-apart",
        &[RejectKind::Limit],
        |it| {
            let s = it.scene;
            it.say(&[&s.heartbeat(1, 1, 1)]);
            for number in 1..1500 {
                let at = Fragment {
                    first: 2 * number,
                    size: 1,
                    total: 8192,
                    ..start(1)
                };
                it.say(&[&s.data_frag(at, &[9])]);
            }
            it.wait_ms(100);
            whole(it, 1)
        },
    )
    .virtual_only(),
    Case::new("fragments/thousands-in-a-submessage", &[], |it| {
        let s = it.scene;
        it.say(&[&s.heartbeat(1, 1, 1)]);
        for first in [2, 4000, 3, 3000] {
            let at = Fragment {
                number: 1,
                first,
                count: 4000,
                size: 1,
                total: 8100,
            };
            it.say(&[&s.data_frag(at, &[9; 4000])]);
        }
        whole(it, 1)
    }),
    Case::new("fragments/heartbeat-frag-beyond-the-sample", &[], |it| {
        let s = it.scene;
        it.say(&[
            &s.heartbeat(1, 1, 1),
            &s.data_frag(start(1), &payload(s)[..64]),
        ]);
        it.say(&[
            &s.heartbeat_frag(1, u32::MAX, 1),
            &s.heartbeat_frag(i64::MAX, 1, 2),
        ]);
        it.wait_ms(20);
        rest(it, 1)
    }),
    Case::new(
        "fragments/heartbeat-frag-of-none",
        &[RejectKind::Fragment],
        |it| {
            let s = it.scene;
            it.say(&[&s.heartbeat_frag(1, 0, 1)]);
            whole(it, 1)
        },
    ),
    Case::new(
        "fragments/numbers-below-1",
        &[RejectKind::SequenceNumber],
        |it| {
            let s = it.scene;
            for number in [0, -1, -(1 << 32), i64::MIN] {
                it.say(&[&s.data_frag(start(number), &[9; 64])]);
            }
            whole(it, 1)
        },
    ),
    Case::new("fragments/of-strangers", &[RejectKind::Stranger], |it| {
        let s = Scene {
            writer: it.scene.victim_writer,
            attacker: it.scene.victim,
            ..it.scene
        };
        let message = s.message(&s.data_frag(start(1), &[9; 64]));
        it.datagram(&message);
        whole(it, 1)
    }),
    Case::new(
        "fragments/again-after-the-sample",
        &[RejectKind::Duplicate],
        |it| {
            whole(it, 1)?;
            let s = it.scene;
            it.say(&[&s.data_frag(start(1), &[9; 64])]);
            it.expect(&[])
        },
    ),
    Case::new(
        "fragments/of-a-sample-that-a-gap-left-out",
        &[RejectKind::Duplicate],
        |it| {
            let s = it.scene;
            it.say(&[&s.heartbeat(1, 2, 1), &s.data_frag(start(1), &[9; 64])]);
            it.say(&[&s.gap(1, 2, 0, &[])]);
            it.say(&[&s.data_frag(start(1), &[9; 64])]);
            whole(it, 2)
        },
    ),
];

/// The place of the first fragment of the true sample.
const fn start(number: i64) -> Fragment {
    Fragment {
        number,
        first: 1,
        count: 1,
        size: SIZE,
        total: TOTAL,
    }
}

fn payload(scene: Scene) -> Vec<u8> {
    scene.payload(1, &CONTENT)
}

/// Fires forged fragments of sample 1 before the true ones, which must still make it whole.
fn forge(it: &mut Attack<'_>, forged: &[Fragment]) -> Outcome {
    let s = it.scene;
    it.say(&[&s.heartbeat(1, 1, 1)]);
    for at in forged {
        let octets = usize::from(at.size.min(64)) * usize::from(at.count.clamp(1, 8));
        it.say(&[&s.data_frag(*at, &vec![9; octets])]);
        it.wait_ms(2);
    }
    whole(it, 1)
}

/// All fragments of the true sample.
fn whole(it: &mut Attack<'_>, number: i64) -> Outcome {
    let s = it.scene;
    it.say(&[&s.data_frag(start(number), &payload(s)[..64])]);
    rest(it, number)
}

/// The true sample without its first fragment; it must be delivered then.
fn rest(it: &mut Attack<'_>, number: i64) -> Outcome {
    let s = it.scene;
    let all = payload(s);
    for (index, octets) in all.chunks(SIZE.into()).enumerate().skip(1) {
        let at = Fragment {
            first: index as u32 + 1,
            ..start(number)
        };
        it.say(&[&s.data_frag(at, octets)]);
    }
    it.say(&[&s.heartbeat(1, number, 900)]);
    it.wait_ms(20);
    it.expect(&[(1, &CONTENT)])
}

/// What arrived first stays.
fn overlaps(it: &mut Attack<'_>) -> Outcome {
    let s = it.scene;
    it.say(&[
        &s.heartbeat(1, 1, 1),
        &s.data_frag(start(1), &payload(s)[..64]),
    ]);
    it.say(&[&s.data_frag(start(1), &[9; 64])]);
    let two = Fragment {
        first: 1,
        count: 2,
        ..start(1)
    };
    let mut octets = [9; 128];
    octets[64..].copy_from_slice(&payload(s)[64..128]);
    it.say(&[&s.data_frag(two, &octets)]);
    rest(it, 1)
}

fn forged_between(it: &mut Attack<'_>) -> Outcome {
    let s = it.scene;
    let all = payload(s);
    it.say(&[&s.heartbeat(1, 1, 1)]);
    for (index, octets) in all.chunks(SIZE.into()).enumerate() {
        for total in [TOTAL + 1, 1000] {
            it.say(&[&s.data_frag(Fragment { total, ..start(1) }, &[9; 64])]);
        }
        let at = Fragment {
            first: index as u32 + 1,
            ..start(1)
        };
        it.say(&[&s.data_frag(at, octets)]);
    }
    it.wait_ms(20);
    it.expect(&[(1, &CONTENT)])
}
