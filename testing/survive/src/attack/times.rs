//! Class 8: durations and times that are negative, endless, broken or far off, and clocks that
//! are set.
//!
//! No span that a peer announces and no time that it claims moves anything but itself: what it
//! writes next still arrives, once and in order.

use whimbrel_base::guid::EntityId;
use whimbrel_base::reject::RejectKind;
use whimbrel_fuzz_targets::raw::Raw;

use super::announced::{WireDuration, pid};
use super::case::{Attack, Case, Origin};
use super::compose::{Builtin, Fragment, id};

type Outcome = Result<(), String>;

/// Below what there is.
const NEGATIVE: [WireDuration; 5] = [
    (-1, 0),
    (-1, 1),
    (-1, u32::MAX),
    (-2, u32::MAX),
    (i32::MIN, 0),
];

/// Odd, but spans.
const EDGES: [WireDuration; 9] = [
    (0, 0),
    (0, 1),
    (0, u32::MAX),
    (1, u32::MAX),
    (i32::MAX - 1, 0),
    (i32::MAX - 1, u32::MAX),
    (i32::MAX, 0),
    (i32::MAX, u32::MAX - 1),
    (i32::MAX, u32::MAX),
];

/// Times as they travel, each far from now or none at all.
const TIMES: [(u32, u32); 9] = [
    (u32::MAX, u32::MAX),
    (u32::MAX, 0),
    (u32::MAX - 1, u32::MAX),
    (i32::MAX as u32, u32::MAX),
    (1 << 31, 0),
    (0, 0),
    (0, u32::MAX),
    (1, 1),
    (0, 1),
];

/// Invalidates the time of what follows.
const INVALIDATE: u8 = 2;

/// An hour, in nanoseconds.
const HOUR: i64 = 3_600_000_000_000;

/// The cases.
pub(super) const CASES: &[Case] = &[
    Case::new("times/lease-negative", &[RejectKind::Time], |it| {
        announce_leases(it, &NEGATIVE);
        arrives(it, 1)
    })
    .virtual_only(),
    Case::new("times/lease-at-the-edges", &[], |it| {
        announce_leases(it, &EDGES);
        arrives(it, 1)
    })
    .virtual_only(),
    Case::new("times/writers-span-negative", &[RejectKind::Time], |it| {
        let mut number = it.scene.next_announcement;
        for (index, span) in NEGATIVE.into_iter().enumerate() {
            for policy in Policy::OF_WRITERS {
                announce_writer(it, number, &[policy.put(it, span)]);
                number += 1;
            }
            // What it announced before holds.
            arrives(it, 1 + index as i64)?;
        }
        Ok(())
    })
    .virtual_only(),
    Case::new("times/readers-span-negative", &[RejectKind::Time], |it| {
        let mut number = it.scene.next_announcement;
        for span in NEGATIVE {
            for policy in Policy::OF_READERS {
                announce_reader(it, number, &[policy.put(it, span)]);
                number += 1;
            }
        }
        arrives(it, 1)
    })
    .virtual_only(),
    Case::new("times/writers-span-at-the-edges", &[], |it| {
        let mut number = it.scene.next_announcement;
        let mut sample = 1;
        for span in EDGES {
            for policy in Policy::OF_WRITERS {
                announce_writer(it, number, &[policy.put(it, span)]);
                number += 1;
                if policy == Policy::LatencyBudget && span != (0, 0) {
                    // It offers less than the victim's reader asks for.
                    continue;
                }
                arrives(it, sample)?;
                sample += 1;
            }
        }
        Ok(())
    })
    .virtual_only(),
    Case::new("times/readers-span-at-the-edges", &[], |it| {
        let mut number = it.scene.next_announcement;
        for span in EDGES {
            for policy in Policy::OF_READERS {
                announce_reader(it, number, &[policy.put(it, span)]);
                it.write(1, &[1]);
                it.wait_ms(20);
                number += 1;
            }
        }
        arrives(it, 1)
    })
    .virtual_only(),
    Case::new("times/span-cut-off", &[RejectKind::Truncated], |it| {
        let spans = [pid::DEADLINE, pid::LATENCY_BUDGET, pid::LIFESPAN];
        for (number, pid) in (it.scene.next_announcement..).zip(spans) {
            let short = (pid, it.scene.raw().u32(1));
            announce_writer(it, number, &[short]);
        }
        arrives(it, 1)
    })
    .virtual_only(),
    Case::new("times/timestamps-far-off", &[], |it| {
        let stamps = TIMES.map(Some).into_iter().chain([None]);
        for (number, stamp) in (1..).zip(stamps) {
            stamped(it, number, stamp)?;
        }
        Ok(())
    }),
    Case::new("times/timestamps-that-run-back", &[], |it| {
        // A batch at once, of which each is older than the one before.
        let s = it.scene;
        let mut said = Vec::new();
        for number in 1..=6 {
            said.extend(info_ts(it, Some((1000 - number as u32, 0))));
            let octet = number as u8;
            said.extend(s.data(number, &s.payload(1 + octet % 3, &[octet])));
        }
        it.say(&[&said, &s.heartbeat(1, 6, 1)]);
        // Two of each instance are kept, as they were written.
        let mut wanted: Vec<(u8, Vec<u8>)> = (1..=6).map(|n: u8| (1 + n % 3, vec![n])).collect();
        let mut found: Vec<_> = it
            .take_at_least(6)
            .into_iter()
            .map(|it| (it.key, it.bytes))
            .collect();
        // Instances come one after the other; within each the order is what counts.
        wanted.sort_by_key(|it| it.0);
        found.sort_by_key(|it| it.0);
        (found == wanted)
            .then_some(())
            .ok_or(format!("{found:?} instead of {wanted:?}"))
    }),
    Case::new("times/timestamps-of-fragments", &[], |it| {
        // Each piece of a sample says another time.
        let s = it.scene;
        let payload = s.payload(1, &[7; 56]);
        for (at, piece) in payload.chunks(32).enumerate() {
            let stamp = info_ts(it, Some(TIMES[at]));
            let fragment = Fragment {
                number: 1,
                first: 1 + at as u32,
                count: 1,
                size: 32,
                total: payload.len() as u32,
            };
            it.say(&[&stamp, &s.data_frag(fragment, piece)]);
        }
        it.say(&[&s.heartbeat(1, 1, 1)]);
        it.expect(&[(1, &[7; 56])])
    }),
    Case::new("times/timestamp-cut-off", &[RejectKind::Truncated], |it| {
        let s = it.scene;
        for octets in [0, 4, 7] {
            let short = s.submessage(id::INFO_TS, 0, s.raw().bytes(&[0xff; 7][..octets]));
            it.say(&[&short]);
        }
        arrives(it, 1)
    }),
    Case::new("times/announcements-from-the-future", &[], |it| {
        // What is announced later holds, whatever time either claims.
        let first = it.scene.next_announcement;
        let unfit = Policy::LatencyBudget.put(it, (1, 0));
        let future = info_ts(it, Some(TIMES[1]));
        let past = info_ts(it, Some((0, 1)));
        let entity = it.scene.writer;
        let unfit = writer_data(it, entity, &[unfit]);
        let fit = writer_data(it, entity, &[]);
        let s = it.scene;
        it.say(&[
            &future,
            &s.builtin_data(Builtin::Publications, first, &unfit),
        ]);
        it.say(&[
            &past,
            &s.builtin_data(Builtin::Publications, first + 1, &fit),
        ]);
        arrives(it, 1)
    })
    .virtual_only(),
    Case::new("times/clock-set-between-samples", &[], |it| {
        let steps = [HOUR, -HOUR, -HOUR, HOUR, 24 * HOUR, -48 * HOUR, i64::MIN, 1];
        for (number, step) in (1..).zip(steps) {
            it.set_wall_clock(step);
            it.write(1, &[1]);
            arrives(it, number)?;
            it.wait_ms(1000);
        }
        Ok(())
    })
    .virtual_only(),
];

/// A policy with a span.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Policy {
    Reliability,
    Liveliness,
    DurabilityService,
    Deadline,
    LatencyBudget,
    Lifespan,
    TimeBasedFilter,
}

impl Policy {
    const OF_WRITERS: [Self; 6] = [
        Self::Reliability,
        Self::Liveliness,
        Self::DurabilityService,
        Self::Deadline,
        Self::LatencyBudget,
        Self::Lifespan,
    ];

    const OF_READERS: [Self; 5] = [
        Self::Reliability,
        Self::Liveliness,
        Self::Deadline,
        Self::LatencyBudget,
        Self::TimeBasedFilter,
    ];

    /// The policy with `span` in it, as a parameter.
    fn put(self, it: &Attack<'_>, span: WireDuration) -> (u16, Raw) {
        let raw = it.scene.raw();
        let span = it.scene.duration(span).done();
        match self {
            Self::Reliability => (pid::RELIABILITY, raw.u32(2).bytes(&span)),
            Self::Liveliness => (pid::LIVELINESS, raw.u32(0).bytes(&span)),
            Self::DurabilityService => {
                let limits = [0, 1, u32::MAX, u32::MAX, u32::MAX];
                let raw = raw.bytes(&span);
                (
                    pid::DURABILITY_SERVICE,
                    limits.into_iter().fold(raw, Raw::u32),
                )
            }
            Self::Deadline => (pid::DEADLINE, raw.bytes(&span)),
            Self::LatencyBudget => (pid::LATENCY_BUDGET, raw.bytes(&span)),
            Self::Lifespan => (pid::LIFESPAN, raw.bytes(&span)),
            Self::TimeBasedFilter => (pid::TIME_BASED_FILTER, raw.bytes(&span)),
        }
    }
}

/// Strangers announce themselves with these leases.
fn announce_leases(it: &mut Attack<'_>, leases: &[WireDuration]) {
    for (number, lease) in (0..).zip(leases) {
        let mut stranger = it.scene.attacker;
        stranger.0[4] = 0xfa;
        stranger.0[5] = number;
        let message = it.scene.announcement(stranger, false, *lease, &[]);
        it.datagram_from(Origin::Stranger(u16::from(number)), &message);
        it.wait_ms(200);
    }
    it.wait_ms(4000);
}

/// What announces a reliable, durable writer on the topic that the victim reads.
fn writer_data(it: &Attack<'_>, entity: EntityId, more: &[(u16, Raw)]) -> Vec<u8> {
    with_base(it, entity, "Triangle", more)
}

fn with_base(it: &Attack<'_>, entity: EntityId, topic: &str, more: &[(u16, Raw)]) -> Vec<u8> {
    const DURABILITY: u16 = 0x001d;
    let mut all = vec![(DURABILITY, it.scene.raw().u32(1))];
    if more.iter().all(|(pid, _)| *pid != pid::RELIABILITY) {
        all.push(Policy::Reliability.put(it, (0, 1 << 30)));
    }
    all.extend_from_slice(more);
    it.scene.endpoint_data(entity, topic, &all)
}

fn announce_writer(it: &mut Attack<'_>, number: i64, more: &[(u16, Raw)]) {
    let data = writer_data(it, it.scene.writer, more);
    let said = it.scene.builtin_data(Builtin::Publications, number, &data);
    it.say(&[&said]);
}

fn announce_reader(it: &mut Attack<'_>, number: i64, more: &[(u16, Raw)]) {
    let data = with_base(it, it.scene.reader, "Square", more);
    let said = it.scene.builtin_data(Builtin::Subscriptions, number, &data);
    it.say(&[&said]);
}

fn info_ts(it: &Attack<'_>, time: Option<(u32, u32)>) -> Vec<u8> {
    let raw = it.scene.raw();
    match time {
        Some((seconds, fraction)) => {
            let body = raw.u32(seconds).u32(fraction);
            it.scene.submessage(id::INFO_TS, 0, body)
        }
        None => it.scene.submessage(id::INFO_TS, INVALIDATE, raw),
    }
}

/// The error unless the attacker's sample `number`, of this time, arrives alone.
fn stamped(it: &mut Attack<'_>, number: i64, time: Option<(u32, u32)>) -> Outcome {
    let s = it.scene;
    let bytes = [number as u8];
    let stamp = info_ts(it, time);
    it.say(&[
        &stamp,
        &s.data(number, &s.payload(1, &bytes)),
        &s.heartbeat(number, number, number as u32),
    ]);
    it.expect(&[(1, &bytes)])
        .map_err(|why| format!("sample {number}: {why}"))
}

/// The error unless the attacker's sample `number` arrives alone.
fn arrives(it: &mut Attack<'_>, number: i64) -> Outcome {
    stamped(it, number, Some((1_700_000_000, 0)))
}
