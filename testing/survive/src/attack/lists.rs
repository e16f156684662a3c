//! Class 4: parameter lists, with samples and in discovery.

use whimbrel_base::reject::RejectKind;
use whimbrel_fuzz_targets::raw::Raw;

use super::case::{Attack, Case, Scene};
use super::compose::{Builtin, Fragment};

type Outcome = Result<(), String>;

const SENTINEL: u16 = 1;
const TOPIC_NAME: u16 = 0x0005;
const TYPE_NAME: u16 = 0x0007;
const USER_DATA: u16 = 0x002c;
const PARTITION: u16 = 0x0029;
const PARTICIPANT_GUID: u16 = 0x0050;
const PROPERTY_LIST: u16 = 0x0059;
const ENDPOINT_GUID: u16 = 0x005a;
const ENTITY_NAME: u16 = 0x0062;
const STATUS_INFO: u16 = 0x0071;
const DATA_REPRESENTATION: u16 = 0x0073;

/// The cases.
pub(super) const CASES: &[Case] = &[
    Case::new(
        "lists/length-no-multiple-of-4",
        &[RejectKind::Parameter],
        |it| {
            for len in [1, 2, 3, 5, 0xffff] {
                let s = it.scene;
                everywhere(it, s.raw().u16(0x7f).u16(len).bytes(&[0; 8]))?;
            }
            Ok(())
        },
    ),
    Case::new(
        "lists/length-past-the-end",
        &[RejectKind::Truncated],
        |it| {
            for len in [64, 0x8000, 0xfffc] {
                let s = it.scene;
                everywhere(it, s.raw().u16(0x7f).u16(len).bytes(&[0; 8]))?;
            }
            Ok(())
        },
    ),
    Case::new("lists/no-sentinel", &[RejectKind::MissingSentinel], |it| {
        let s = it.scene;
        everywhere_open(it, s.raw().u16(0x7f).u16(4).bytes(&[0; 4]))?;
        everywhere_open(it, s.raw())?;
        // Cut off in the middle of a parameter's header.
        everywhere_open(it, s.raw().u16(0x7f))
    }),
    Case::new("lists/sentinel-with-a-length", &[], |it| {
        let s = it.scene;
        let ended = s.raw().u16(SENTINEL).u16(0xffff);
        it.say(&[&s.data_with_qos(1, &ended.done(), &s.payload(1, &[1]))]);
        it.say(&[&s.heartbeat(1, 1, 1)]);
        it.expect(&[(1, &[1])])
    }),
    Case::new("lists/duplicates", &[], |it| {
        let s = it.scene;
        let same = s.parameter(TOPIC_NAME, s.raw().string("Nobody"));
        let other = s.parameter(TYPE_NAME, s.raw().string("Nothing"));
        let many = [same, other].concat().repeat(60);
        everywhere(it, s.raw().bytes(&many))?;
        it.wait_ms(20);
        Ok(())
    }),
    Case::new(
        "lists/duplicate-guids-of-others",
        &[RejectKind::Stranger],
        duplicate_guids,
    ),
    Case::new(
        "lists/unknown-that-must-be-understood",
        &[RejectKind::MustUnderstand],
        |it| {
            for pid in [0x4000, 0x7fff, 0x4abc] {
                let s = it.scene;
                everywhere(it, s.raw().u16(pid).u16(4).u32(7))?;
            }
            Ok(())
        },
    ),
    Case::new("lists/unknown-that-may-be-skipped", &[], |it| {
        let s = it.scene;
        let pids = [0x0fff, 0x3fff, 0x8001, 0xbfff];
        let all = pids.map(|pid| s.parameter(pid, s.raw().u32(7))).concat();
        everywhere(it, s.raw().bytes(&all))
    }),
    Case::new("lists/16000-with-a-sample", &[], |it| {
        let s = it.scene;
        let many = s.raw().u16(0x7f).u16(0).done().repeat(16_000);
        let list = [&many[..], &s.raw().u16(SENTINEL).u16(0).done()].concat();
        it.say(&[&s.data_with_qos(1, &list, &s.payload(1, &[1]))]);
        it.say(&[&s.heartbeat(1, 1, 1)]);
        it.expect(&[(1, &[1])])
    }),
    Case::new(
        "lists/100000-in-an-announcement",
        &[RejectKind::Limit],
        many_announced,
    ),
    Case::new(
        "lists/more-than-a-list-may-have",
        &[RejectKind::Limit],
        |it| {
            let s = it.scene;
            let many = s.raw().u16(0x7f).u16(0).done().repeat(15_000);
            announce(it, s.raw().bytes(&many))
        },
    ),
    Case::new(
        "lists/strings-without-terminator",
        &[RejectKind::String],
        |it| {
            for text in [&b"abcd"[..], b"x", b"abcdefgh"] {
                let s = it.scene;
                let value = s.raw().u32(text.len() as u32).bytes(text);
                named(it, value)?;
            }
            Ok(())
        },
    ),
    Case::new(
        "lists/strings-with-inner-nul",
        &[RejectKind::String],
        |it| {
            for text in [&b"ab\0d\0"[..], b"\0\0", b"\0a\0"] {
                let s = it.scene;
                let value = s.raw().u32(text.len() as u32).bytes(text);
                named(it, value)?;
            }
            Ok(())
        },
    ),
    Case::new(
        "lists/strings-that-are-not-utf-8",
        &[RejectKind::String],
        |it| {
            for text in [
                &[0xff, 0][..],
                &[0xc0, 0x80, 0],
                &[0xed, 0xa0, 0x80, 0],
                b"a\xf4\x90\x80\x80\0",
            ] {
                let s = it.scene;
                let value = s.raw().u32(text.len() as u32).bytes(text);
                named(it, value)?;
            }
            Ok(())
        },
    ),
    Case::new(
        "lists/string-lengths-at-2-to-the-32",
        &[RejectKind::Truncated],
        |it| {
            for len in [u32::MAX, u32::MAX - 3, 1 << 31, 1000] {
                let s = it.scene;
                named(it, s.raw().u32(len).bytes(b"abc\0"))?;
            }
            Ok(())
        },
    ),
    Case::new("lists/names-over-the-limit", &[RejectKind::Limit], |it| {
        let s = it.scene;
        announce(
            it,
            s.raw()
                .bytes(&s.parameter(ENTITY_NAME, s.raw().string(&"x".repeat(5000)))),
        )
    }),
    Case::new(
        "lists/property-counts-at-2-to-the-32",
        &[RejectKind::Limit],
        |it| {
            for count in [u32::MAX, 1 << 31, 257, 0x4000_0001] {
                let s = it.scene;
                let value = s.raw().u32(count).string("a").string("b");
                announce(it, s.raw().bytes(&s.parameter(PROPERTY_LIST, value)))?;
            }
            Ok(())
        },
    ),
    Case::new(
        "lists/property-lengths-at-2-to-the-32",
        &[RejectKind::Truncated],
        |it| {
            for len in [u32::MAX, u32::MAX - 3, u32::MAX - 7, 1 << 31, 100] {
                let s = it.scene;
                let name = s.raw().u32(1).u32(len).bytes(b"abc\0").string("b");
                announce(it, s.raw().bytes(&s.parameter(PROPERTY_LIST, name)))?;
                let value = s.raw().u32(1).string("abc").u32(len).bytes(b"abc\0");
                announce(it, s.raw().bytes(&s.parameter(PROPERTY_LIST, value)))?;
                let binary = s.raw().u32(0).u32(1).string("abc").u32(len).bytes(b"abcd");
                announce(it, s.raw().bytes(&s.parameter(PROPERTY_LIST, binary)))?;
            }
            Ok(())
        },
    ),
    Case::new("lists/properties-cut-off", &[RejectKind::Truncated], |it| {
        let s = it.scene;
        let value = s.raw().u32(3).string("a").string("b");
        announce(it, s.raw().bytes(&s.parameter(PROPERTY_LIST, value)))
    }),
    Case::new(
        "lists/partition-counts-at-2-to-the-32",
        &[RejectKind::Limit],
        |it| {
            for count in [u32::MAX, 257] {
                let s = it.scene;
                let value = s.raw().u32(count).string("a");
                announce_endpoints(it, s.raw().bytes(&s.parameter(PARTITION, value)))?;
            }
            Ok(())
        },
    ),
    Case::new(
        "lists/partitions-without-terminator",
        &[RejectKind::String],
        |it| {
            let s = it.scene;
            let value = s.raw().u32(1).u32(4).bytes(b"abcd");
            announce_endpoints(it, s.raw().bytes(&s.parameter(PARTITION, value)))
        },
    ),
    Case::new(
        "lists/user-data-lengths-at-2-to-the-32",
        &[RejectKind::Truncated],
        |it| {
            for len in [u32::MAX, 1 << 31, 5] {
                let s = it.scene;
                let value = s.raw().u32(len).bytes(&[7; 4]);
                announce(it, s.raw().bytes(&s.parameter(USER_DATA, value)))?;
            }
            Ok(())
        },
    ),
    Case::new(
        "lists/representations-at-2-to-the-32",
        &[RejectKind::Limit],
        |it| {
            let s = it.scene;
            let value = s.raw().u32(u32::MAX).u16(2);
            announce_endpoints(it, s.raw().bytes(&s.parameter(DATA_REPRESENTATION, value)))
        },
    ),
    Case::new("lists/values-cut-off", &[RejectKind::Truncated], |it| {
        // A GUID, a lease and a locator of no octets.
        for pid in [0x0050, 0x0002, 0x0032, 0x0031, 0x0015] {
            let s = it.scene;
            let value = s.raw().u16(pid).u16(0);
            announce_as(it, Builtin::Participants, value)?;
        }
        for pid in [0x005a, 0x002f, 0x001a, 0x0040, 0x0023] {
            let s = it.scene;
            announce_endpoints(it, s.raw().u16(pid).u16(0))?;
        }
        let s = it.scene;
        let list = s.raw().u16(STATUS_INFO).u16(0).u16(SENTINEL).u16(0);
        it.say(&[&s.data_with_qos(1, &list.done(), &s.payload(1, &[1]))]);
        Ok(())
    }),
    Case::new(
        "lists/no-list-at-all",
        &[RejectKind::Encapsulation, RejectKind::Truncated],
        |it| {
            let s = it.scene;
            for (number, payload) in [&[][..], &[0], &[0, 3, 0], &[0, 1, 0, 0], &[0xff; 8]]
                .iter()
                .enumerate()
            {
                let number = s.next_announcement + number as i64;
                for from in [Builtin::Participants, Builtin::Publications] {
                    it.say(&[&s.builtin_data(from, number, payload)]);
                }
            }
            Ok(())
        },
    ),
];

fn sentinel(scene: Scene) -> Vec<u8> {
    scene.raw().u16(SENTINEL).u16(0).done()
}

/// What an announcement must say, with these parameters behind it.
fn announcement(scene: Scene, from: Builtin, number: i64, more: &[u8]) -> Raw {
    let guid = |entity: [u8; 4]| scene.raw().bytes(&scene.attacker.0).bytes(&entity);
    let raw = scene.raw();
    let raw = match from {
        Builtin::Participants => {
            raw.bytes(&scene.parameter(PARTICIPANT_GUID, guid([0, 0, 1, 0xc1])))
        }
        Builtin::Publications | Builtin::Subscriptions => {
            let kind = if from == Builtin::Publications { 2 } else { 7 };
            let own = guid([0, 9, number as u8, kind]);
            let raw = raw.bytes(&scene.parameter(ENDPOINT_GUID, own));
            let raw = raw.bytes(&scene.parameter(TOPIC_NAME, scene.raw().string("Other")));
            raw.bytes(&scene.parameter(TYPE_NAME, scene.raw().string("Other")))
        }
    };
    raw.bytes(more)
}

/// Announces something with these parameters; each announcement has a number of its own.
fn announce_as(it: &mut Attack<'_>, from: Builtin, list: Raw) -> Outcome {
    let list = list.bytes(&sentinel(it.scene)).done();
    announce_open(it, from, &list);
    Ok(())
}

/// The same, with the list as it stands.
fn announce_open(it: &mut Attack<'_>, from: Builtin, list: &[u8]) {
    let number = it.scene.next_announcement;
    if from != Builtin::Participants {
        it.scene.next_announcement += 1;
    }
    let s = it.scene;
    // What a list must say comes first, so that nothing but these parameters is at fault. Writers
    // and readers count on their own: what is left out is gone.
    let head = announcement(s, from, number, list);
    let ask = s.builtin_heartbeat(from, number, number as u32);
    let payload = s.parameters(head);
    match from {
        Builtin::Participants => it.say(&[&s.builtin_data(from, number, &payload)]),
        _ => it.say(&[
            &s.builtin_gap(from, number),
            &s.builtin_data(from, number, &payload),
            &ask,
        ]),
    }
}

/// In announcements of writers and of readers.
fn announce_endpoints(it: &mut Attack<'_>, list: Raw) -> Outcome {
    announce_as(it, Builtin::Publications, list.clone())?;
    announce_as(it, Builtin::Subscriptions, list)
}

/// In announcements of every sort.
fn announce(it: &mut Attack<'_>, list: Raw) -> Outcome {
    announce_as(it, Builtin::Participants, list.clone())?;
    announce_endpoints(it, list)
}

/// Beside a sample and in announcements.
fn everywhere(it: &mut Attack<'_>, list: Raw) -> Outcome {
    let s = it.scene;
    everywhere_open(it, list.bytes(&sentinel(s)))
}

/// The same, with the list as it stands.
fn everywhere_open(it: &mut Attack<'_>, list: Raw) -> Outcome {
    let list = list.done();
    let s = it.scene;
    let number = s.next_announcement;
    if list.ends_with(&sentinel(s)) {
        it.say(&[&s.data_with_qos(number, &list, &s.payload(1, &[1]))]);
    } else {
        // Without a payload, which could be taken for parameters.
        let head = s.raw().u16(0).u16(16).bytes(&s.to_reader().done());
        let head = head.number(number).bytes(&list);
        it.say(&[&s.submessage(super::compose::id::DATA, 2, head)]);
    }
    // That of the participant comes last: it says of no built-in endpoints that there are any.
    for from in Builtin::ALL.into_iter().rev() {
        announce_open(it, from, &list);
    }
    Ok(())
}

/// As the name of whatever has a name.
fn named(it: &mut Attack<'_>, value: Raw) -> Outcome {
    let s = it.scene;
    let of = |pid| s.raw().bytes(&s.parameter(pid, value.clone()));
    announce_as(it, Builtin::Participants, of(ENTITY_NAME))?;
    announce_endpoints(it, of(TOPIC_NAME))?;
    announce_endpoints(it, of(TYPE_NAME))?;
    let list = of(TOPIC_NAME).bytes(&sentinel(s)).done();
    it.say(&[&s.data_with_qos(1, &list, &s.payload(1, &[1]))]);
    Ok(())
}

/// The last GUID counts, and it must be the sender's own.
fn duplicate_guids(it: &mut Attack<'_>) -> Outcome {
    let s = it.scene;
    let other = s.raw().bytes(&[0xee; 12]).bytes(&[0, 0, 1, 0xc1]);
    announce_as(
        it,
        Builtin::Participants,
        s.raw().bytes(&s.parameter(PARTICIPANT_GUID, other)),
    )?;
    let other = s.raw().bytes(&[0xee; 12]).bytes(&[0, 0, 1, 2]);
    announce_endpoints(it, s.raw().bytes(&s.parameter(ENDPOINT_GUID, other)))
}

/// A list of 100,000 parameters, in fragments because it fits no datagram.
fn many_announced(it: &mut Attack<'_>) -> Outcome {
    const SIZE: u16 = 60_000;
    let s = it.scene;
    let many = s.raw().u16(0x7f).u16(0).done().repeat(100_000);
    let number = s.next_announcement;
    let list = announcement(s, Builtin::Publications, number, &many);
    let payload = s.parameters(list.bytes(&sentinel(s)));
    it.say(&[&s.builtin_gap(Builtin::Publications, number)]);
    for (index, octets) in payload.chunks(SIZE.into()).enumerate() {
        let at = Fragment {
            number,
            first: index as u32 + 1,
            count: 1,
            size: SIZE,
            total: payload.len() as u32,
        };
        it.say(&[&s.builtin_data_frag(Builtin::Publications, at, octets)]);
    }
    it.wait_ms(20);
    Ok(())
}
