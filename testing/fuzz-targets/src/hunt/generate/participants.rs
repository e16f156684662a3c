//! Sequences for whole participants: actions of one, fates of the datagrams of two.

use crate::random::Random;
use crate::raw::Raw;
use crate::station::{READERS, WRITERS, prefix};
use crate::targets::participant::{action, kind};

use super::lists::{Sort, about};
use super::messages::submessage;

/// Discovery, matches, data and lies in any order.
pub(super) fn actions(random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    for peer in 0..1 + random.below(3) as u8 {
        if !random.once_in(8) {
            bytes.extend(announce(random, peer, Sort::Participant, 1));
        }
    }
    for way in 0..4_u8 {
        if !random.once_in(4) {
            let flags = random.below(8) as u8;
            bytes.extend(action(kind::MATCH, way, &[random.below(4) as u8, flags]));
        }
    }
    for _ in 0..4 + random.below(40) {
        bytes.extend(one(random));
    }
    bytes
}

fn one(random: &mut Random) -> Vec<u8> {
    let way = random.next() as u8 & 7;
    match random.below(16) {
        0 => action(kind::TIME, 0, &(random.edge() as u32).to_le_bytes()),
        1 | 2 => action(kind::TIME, 0, &(random.below(20_000) as u32).to_le_bytes()),
        3 => action(kind::TAKE, way, &[]),
        4 => {
            let len = random.below(12);
            action(kind::WRITE, way, &random.octets(len))
        }
        5 => action(
            kind::WRITE_LARGE,
            way,
            &(random.below(9000) as u16).to_le_bytes(),
        ),
        6 => {
            let what = *random.one_of(&[
                kind::UNMATCH,
                kind::MATCH,
                kind::READ,
                kind::END_INSTANCE,
                kind::ENDPOINT,
                kind::ENDPOINT,
                kind::DEPART,
            ]);
            action(what, way, &random.octets(2))
        }
        7 | 8 => {
            let sort = *random.one_of(&[Sort::Participant, Sort::Writer, Sort::Reader]);
            let number = random.below(6) as u8;
            announce(random, way & 3, sort, number)
        }
        _ => {
            let count = 1 + random.below(4);
            let index = random.below(2);
            let ends = match random.once_in(2) {
                true => (READERS[index].0, WRITERS[index].0),
                false => ([0; 4], WRITERS[index].0),
            };
            let all: Vec<u8> = (0..count)
                .flat_map(|_| submessage(random, Some(ends)))
                .collect();
            action(kind::SUBMESSAGES, way, &all)
        }
    }
}

/// An announcement of participant `peer` + 2, or of an endpoint of its own.
fn announce(random: &mut Random, peer: u8, sort: Sort, number: u8) -> Vec<u8> {
    let who = prefix(2 + peer).0;
    let payload = about(random, sort, &who, number);
    let (reader, writer) = match sort {
        Sort::Participant => ([0, 1, 0, 0xc7], [0, 1, 0, 0xc2]),
        Sort::Writer => ([0, 0, 3, 0xc7], [0, 0, 3, 0xc2]),
        Sort::Reader => ([0, 0, 4, 0xc7], [0, 0, 4, 0xc2]),
    };
    let start = Raw::either(random);
    let order = u8::from(start.is_little());
    let head = start.clone().u16(0).u16(16).bytes(&reader).bytes(&writer);
    let body = head
        .number(number.max(1).into())
        .bytes(&payload)
        .pad()
        .done();
    let whole = start
        .u8(0x15)
        .u8(4 | order)
        .u16(body.len() as u16)
        .bytes(&body);
    let alone = if random.once_in(2) { 4 } else { 0 };
    action(kind::SUBMESSAGES, peer | alone, &whole.done())
}

/// A network that changes its mood.
pub(super) fn fates(random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..1 + random.below(6) {
        let moods: [&[u8]; 7] = [
            &[0],
            &[0, 0, 0, 1],
            &[0, 1],
            &[0, 3, 2],
            &[7, 0, 0],
            &[0, 7, 1, 3],
            &[0, 0, 4, 5, 6],
        ];
        let mood = *random.one_of(&moods);
        for _ in 0..random.below(40) {
            let fate = *random.one_of(mood);
            bytes.push(fate | (random.next() as u8 & 0xf8));
        }
    }
    bytes
}
