//! Class 1: headers of messages and submessages that lie.

use whimbrel_base::reject::RejectKind;

use super::case::{Attack, Case, Origin, Scene};
use super::compose::{Builtin, id};

type Outcome = Result<(), String>;

/// The cases.
pub(super) const CASES: &[Case] = &[
    Case::new("headers/empty-datagram", &[RejectKind::Truncated], |it| {
        it.datagram(&[]);
        Ok(())
    }),
    Case::new("headers/1-to-19-octets", &[RejectKind::Truncated], |it| {
        let header = it.scene.header();
        for len in 1..header.len() {
            it.datagram(&header[..len]);
        }
        Ok(())
    }),
    Case::new("headers/header-alone", &[], |it| {
        let header = it.scene.header();
        it.datagram(&header);
        Ok(())
    }),
    Case::new("headers/wrong-magic", &[RejectKind::NotRtps], |it| {
        altered(it, |message, at| message[at] ^= 0x20, 0..4)
    }),
    Case::new(
        "headers/wrong-major-version",
        &[RejectKind::ProtocolVersion],
        |it| {
            for major in [0, 1, 3, 255] {
                altered(it, |message, at| message[at] = major, 4..5)?;
            }
            Ok(())
        },
    ),
    Case::new("headers/minor-versions-to-come", &[], |it| {
        for minor in [0, 1, 6, 255] {
            altered(it, |message, at| message[at] = minor, 5..6)?;
        }
        Ok(())
    }),
    Case::new("headers/unknown-vendors", &[], |it| {
        for octet in [0, 0x7f, 0xff] {
            altered(it, |message, at| message[at] = octet, 6..8)?;
        }
        Ok(())
    }),
    Case::new(
        "headers/unknown-submessages-are-skipped",
        &[],
        unknown_submessages,
    ),
    Case::new(
        "headers/submessage-header-cut-off",
        &[RejectKind::Truncated],
        |it| {
            let s = it.scene;
            let whole = s.heartbeat(1, 0, 1);
            for len in 1..whole.len() {
                it.say(&[&whole[..len]]);
            }
            Ok(())
        },
    ),
    Case::new(
        "headers/length-0-in-the-middle",
        &[],
        length_0_in_the_middle,
    ),
    Case::new("headers/length-0-of-an-empty-kind", &[], |it| {
        let s = it.scene;
        let pad = s.claiming(id::PAD, 0, 0, &[]);
        let no_time = s.claiming(id::INFO_TS, 2, 0, &[]);
        let sample = s.data(1, &s.payload(1, &[1]));
        it.say(&[&pad, &no_time, &pad, &sample, &s.heartbeat(1, 1, 1)]);
        it.expect(&[(1, &[1])])
    }),
    Case::new(
        "headers/length-past-the-end",
        &[RejectKind::Truncated],
        |it| {
            let s = it.scene;
            let whole = s.heartbeat(1, 0, 1);
            for more in [1, 4, 1000, u16::MAX - 28] {
                it.say(&[&s.claiming(id::HEARTBEAT, 0, 28 + more, &whole[4..])]);
            }
            Ok(())
        },
    ),
    Case::new("headers/odd-lengths", &[], |it| {
        let s = it.scene;
        let pad = s.claiming(id::PAD, 0, 3, &[0; 3]);
        let sample = s.data(1, &s.payload(1, &[1]));
        it.say(&[&pad, &sample, &pad, &s.heartbeat(1, 1, 1)]);
        it.expect(&[(1, &[1])])
    }),
    Case::new(
        "headers/length-shorter-than-the-fields",
        &[RejectKind::Truncated],
        |it| {
            let s = it.scene;
            let whole = s.heartbeat(1, 0, 1);
            for len in 1..28 {
                it.say(&[&s.claiming(id::HEARTBEAT, 0, len, &whole[4..])]);
            }
            Ok(())
        },
    ),
    Case::new("headers/byte-order-flips-between-submessages", &[], |it| {
        use whimbrel_base::cursor::Endian;
        let s = it.scene;
        let other = match s.endian {
            Endian::Big => Endian::Little,
            Endian::Little => Endian::Big,
        };
        let flipped = Scene { endian: other, ..s };
        let samples = [
            s.data(1, &s.payload(1, &[1])),
            flipped.data(2, &flipped.payload(2, &[2])),
        ];
        it.say(&[
            &samples[0],
            &samples[1],
            &s.heartbeat(1, 2, 1),
            &flipped.heartbeat(1, 2, 2),
        ]);
        it.expect(&[(1, &[1]), (2, &[2])])
    }),
    Case::new(
        "headers/byte-order-flag-that-lies",
        &[RejectKind::Truncated],
        |it| {
            let s = it.scene;
            // The length is read in the wrong order and reaches far past the end.
            let mut lying = s.heartbeat(1, 0, 1);
            lying[1] ^= 1;
            it.say(&[&lying]);
            Ok(())
        },
    ),
    Case::new("headers/thousands-of-tiny-submessages", &[], |it| {
        let s = it.scene;
        let pad = s.claiming(id::PAD, 0, 0, &[]);
        it.say(&[&pad.repeat(16_000)]);
        let time = s.claiming(id::INFO_TS, 2, 0, &[]);
        it.say(&[&time.repeat(16_000)]);
        Ok(())
    }),
    Case::new(
        "headers/thousands-of-heartbeats-in-a-datagram",
        &[RejectKind::Duplicate],
        |it| {
            let s = it.scene;
            let same = s.heartbeat(1, 0, 1);
            it.say(&[&same.repeat(2000)]);
            Ok(())
        },
    ),
    Case::new("headers/discovery-and-data-take-turns", &[], |it| {
        // What discovery learned decides where data goes, so each turn is a step of its own.
        let s = it.scene;
        let known = s.next_announcement - 1;
        let turns = (1..=1000).flat_map(|count| {
            let learned = s.builtin_heartbeat(Builtin::Publications, known, count);
            [learned, s.heartbeat(1, 0, count)].concat()
        });
        it.say(&[&turns.collect::<Vec<u8>>()]);
        Ok(())
    }),
    Case::new(
        "headers/info-replies-claim-locators",
        &[RejectKind::Limit],
        |it| {
            let s = it.scene;
            for count in [1000, u32::MAX] {
                let body = s.raw().u32(count).bytes(&[0; 24]);
                it.say(&[&s.submessage(0x0f, 0, body)]);
            }
            Ok(())
        },
    ),
    Case::new("headers/replies-go-not-where-info-reply-says", &[], |it| {
        let s = it.scene;
        let far = s
            .raw()
            .u32(1)
            .u32(1)
            .u32(7400)
            .bytes(&[0; 12])
            .bytes(&[192, 0, 2, 99]);
        it.say(&[&s.submessage(0x0f, 0, far), &s.heartbeat(1, 0, 1)]);
        it.wait_ms(20);
        Ok(())
    }),
    Case::new("headers/from-addresses-nobody-knows", &[], |it| {
        let s = it.scene;
        for number in 0..50 {
            it.datagram_from(Origin::Stranger(number), &s.header());
        }
        Ok(())
    }),
    Case::new("headers/for-another-participant", &[], |it| {
        let s = Scene {
            victim: it.scene.attacker,
            ..it.scene
        };
        let message = s.message(&s.data(1, &s.payload(1, &[1])));
        it.datagram(&message);
        it.wait_ms(20);
        it.expect(&[])
    }),
];

/// A harmless message with some of its octets altered.
fn altered(
    it: &mut Attack<'_>,
    alter: impl Fn(&mut Vec<u8>, usize),
    range: std::ops::Range<usize>,
) -> Outcome {
    for at in range {
        let mut message = it.scene.header();
        alter(&mut message, at);
        it.datagram(&message);
    }
    Ok(())
}

fn unknown_submessages(it: &mut Attack<'_>) -> Outcome {
    let s = it.scene;
    let known = [
        0, 1, 6, 7, 8, 9, 0x0c, 0x0d, 0x0e, 0x0f, 0x12, 0x13, 0x15, 0x16,
    ];
    let unknown = (0..=255).filter(|kind| !known.contains(kind));
    let junk: Vec<u8> = unknown
        .flat_map(|kind| s.claiming(kind, 0xfe, 8, &[0xff; 8]))
        .collect();
    let sample = s.data(1, &s.payload(1, &[1]));
    it.say(&[&junk, &sample, &junk, &s.heartbeat(1, 1, 1)]);
    it.expect(&[(1, &[1])])
}

/// The submessage reaches to the end of the message: what follows belongs to its payload.
fn length_0_in_the_middle(it: &mut Attack<'_>) -> Outcome {
    let s = it.scene;
    let mut first = s.data(1, &s.payload(1, &[1]));
    first[2..4].fill(0);
    let second = s.data(2, &s.payload(2, &[2]));
    it.say(&[&s.heartbeat(1, 2, 1), &first, &second]);
    it.wait_ms(20);
    it.expect(&[(1, &[1])])
}
