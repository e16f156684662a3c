//! Batches of samples, of a writer that said that it sends them.

use whimbrel_base::reject::RejectKind;

use super::super::case::{Attack, Case, Scene};
use super::{Block, CODECS, with_ours, zeros};

/// Submessage ids.
const DATA_BATCH: u8 = 0x18;
const HEARTBEAT_BATCH: u8 = 0x19;

/// The cases.
pub(crate) const CASES: &[Case] = &[
    Case::new("batches/true-ones", &[], |it| {
        it.announce_batches()?;
        let s = it.scene;
        for number in 1..4 {
            it.datagram(&batch(&s, &Batch::of(number)));
        }
        it.datagram(&with_ours(&s, &batch_heartbeat(&s, 3)));
        it.expect(&[(1, &[1; 8]), (2, &[2; 8]), (3, &[3; 8])])
    }),
    Case::new("batches/true-ones-of-every-codec", &[], |it| {
        it.announce_batches()?;
        let s = it.scene;
        for ((codec, id), number) in CODECS.into_iter().zip(1..) {
            let octet = number as u8;
            let plain = s.payload(1, &[octet; 200]);
            let mut whole = Batch::of(number);
            whole.data_len = plain.len() as u32 - 4;
            whole.payload = Block::of(codec, id, &plain).payload();
            it.datagram(&batch(&s, &whole));
            it.datagram(&with_ours(&s, &batch_heartbeat(&s, number)));
            it.expect(&[(1, &[octet; 200])])?;
        }
        Ok(())
    }),
    Case::new("batches/counts-that-lie", &[RejectKind::Integrity], |it| {
        it.announce_batches()?;
        for count in [0, 2, 1000, u32::MAX] {
            batch_with(it, |batch| batch.count = count);
        }
        it.expect(&[])
    }),
    Case::new(
        "batches/numbers-that-lie",
        &[RejectKind::SequenceNumber],
        |it| {
            it.announce_batches()?;
            for (number, first, span) in [
                (0, 1, 0),
                (-1, 1, 0),
                (i64::MIN, 1, 0),
                (1, 0, 0),
                (1, i64::MAX, 0),
                (1, i64::MAX - 5, u32::MAX),
                (i64::MAX, 1, 0),
            ] {
                batch_with(it, |batch| {
                    (batch.number, batch.first, batch.span) = (number, first, span);
                });
            }
            it.expect(&[])
        },
    ),
    Case::new(
        "batches/lists-past-the-end",
        &[RejectKind::Truncated],
        |it| {
            it.announce_batches()?;
            for list_len in [9, 100, 1 << 20, u32::MAX] {
                batch_with(it, |batch| batch.list_len = Some(list_len));
            }
            it.expect(&[])
        },
    ),
    Case::new(
        "batches/data-longer-than-the-payload",
        &[RejectKind::Integrity],
        |it| {
            it.announce_batches()?;
            for data_len in [17, 100, 1 << 24, u32::MAX] {
                batch_with(it, |batch| batch.data_len = data_len);
            }
            it.expect(&[])
        },
    ),
    Case::new(
        "batches/data-shorter-than-the-payload",
        &[RejectKind::Integrity],
        |it| {
            it.announce_batches()?;
            for data_len in [0, 1, 8, 12] {
                batch_with(it, |batch| batch.data_len = data_len);
            }
            it.expect(&[])
        },
    ),
    Case::new(
        "batches/samples-too-short-for-their-fields",
        &[RejectKind::Length],
        |it| {
            it.announce_batches()?;
            for to_qos in [0, 1, 3] {
                batch_with(it, |batch| batch.to_qos = to_qos);
            }
            it.expect(&[])
        },
    ),
    Case::new(
        "batches/data-and-key-at-once",
        &[RejectKind::EnumValue],
        |it| {
            it.announce_batches()?;
            batch_with(it, |batch| batch.flags = 0x28);
            it.expect(&[])
        },
    ),
    Case::new(
        "batches/offsets-past-the-last",
        &[RejectKind::SequenceNumber],
        |it| {
            it.announce_batches()?;
            for offset in [1, 1000, u32::MAX] {
                batch_with(it, |batch| {
                    (batch.flags, batch.to_qos, batch.offset) = (8 | 4, 8, Some(offset));
                });
            }
            it.expect(&[])
        },
    ),
    Case::new(
        "batches/bombs-and-lengths-that-do-not-fit",
        &[RejectKind::Compression, RejectKind::Integrity],
        |it| {
            it.announce_batches()?;
            let plain = it.scene.payload(1, &[1; 8]);
            for (codec, id) in CODECS {
                let honest = Block::of(codec, id, &plain);
                let bomb = Block::of(codec, id, &zeros());
                for (block, claims) in [(&honest, 1), (&honest, 17), (&bomb, 16), (&bomb, 5000)] {
                    let mut block = block.clone();
                    block.claims = claims;
                    batch_with(it, |batch| batch.payload = block.payload());
                }
            }
            it.expect(&[])
        },
    ),
    Case::new("batches/claims-at-max", &[RejectKind::Limit], |it| {
        it.announce_batches()?;
        let plain = it.scene.payload(1, &[1; 8]);
        for (codec, id) in CODECS {
            let mut block = Block::of(codec, id, &plain);
            for claims in [1 << 30, u32::MAX] {
                block.claims = claims;
                batch_with(it, |batch| batch.payload = block.payload());
            }
        }
        it.expect(&[])
    }),
    Case::new(
        "batches/cut-off-everywhere",
        &[
            RejectKind::Truncated,
            RejectKind::Integrity,
            RejectKind::Duplicate,
        ],
        |it| {
            it.announce_batches()?;
            let s = it.scene;
            let whole = batch(&s, &Batch::of(1));
            // Without a length the submessage goes on to the end of its message.
            let start = s.message(&[]).len();
            for len in start + 4..whole.len() {
                let mut cut = whole[..len].to_vec();
                cut[start + 2..start + 4].copy_from_slice(&[0, 0]);
                it.datagram(&cut);
            }
            it.expect(&[])
        },
    ),
    Case::new(
        "batches/plain-samples-after-them",
        &[RejectKind::Unexpected],
        |it| {
            it.announce_batches()?;
            let s = it.scene;
            it.datagram(&batch(&s, &Batch::of(1)));
            it.datagram(&with_ours(&s, &batch_heartbeat(&s, 1)));
            it.say(&[&s.data(2, &s.payload(2, &[2]))]);
            it.say(&[&s.heartbeat(1, 2, 2)]);
            it.expect(&[(1, &[1; 8])])
        },
    ),
    Case::new("batches/of-other-vendors", &[], |it| {
        it.announce_batches()?;
        let s = it.scene;
        let mut message = batch(&s, &Batch::of(1));
        for vendor in [[1, 15], [1, 16], [0, 0]] {
            message[6..8].copy_from_slice(&vendor);
            it.datagram(&message);
        }
        it.expect(&[])
    }),
];

/// A batch of one sample.
struct Batch {
    number: i64,
    first: i64,
    span: u32,
    count: u32,
    list_len: Option<u32>,
    flags: u8,
    to_qos: u16,
    data_len: u32,
    offset: Option<u32>,
    payload: Vec<u8>,
}

impl Batch {
    /// An honest one, whose sample has the batch's number and in its key and octets too.
    fn of(number: i64) -> Self {
        Self {
            number,
            first: number,
            span: 0,
            count: 1,
            list_len: None,
            flags: 8,
            to_qos: 4,
            data_len: 16,
            offset: None,
            payload: Vec::new(),
        }
    }
}

fn batch(s: &Scene, batch: &Batch) -> Vec<u8> {
    let key = batch.number as u8;
    let payload = match &batch.payload[..] {
        [] => s.payload(key, &[key; 8]),
        other => other.to_vec(),
    };
    let list = s.raw().bytes(&[0, batch.flags]).u16(batch.to_qos);
    let list = list.u32(batch.data_len);
    let list = match batch.offset {
        Some(offset) => list.u32(offset),
        None => list,
    };
    let list = list.done();
    let head = s.raw().u16(0).u16(32).bytes(&s.to_reader().done());
    let head = head.number(batch.number).number(batch.first);
    let head = head.u32(batch.span).u32(batch.count);
    let head = head.u32(batch.list_len.unwrap_or(list.len() as u32));
    let body = head.bytes(&list).bytes(&payload);
    with_ours(s, &s.submessage(DATA_BATCH, 0, body))
}

/// Fires a batch that says something else than it is; each has a number of its own.
fn batch_with(it: &mut Attack<'_>, spoil: impl Fn(&mut Batch)) {
    let s = it.scene;
    let mut spoilt = Batch::of(s.next_sample);
    it.scene.next_sample += 1;
    spoil(&mut spoilt);
    it.datagram(&batch(&s, &spoilt));
}

/// HEARTBEAT_BATCH of as many batches as samples.
fn batch_heartbeat(s: &Scene, last: i64) -> Vec<u8> {
    let body = s.to_reader().number(1).number(last).number(1).number(last);
    s.submessage(HEARTBEAT_BATCH, 0, body.u32(2_000_000 + last as u32))
}
