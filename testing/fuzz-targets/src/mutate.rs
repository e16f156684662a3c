//! Seeded mutations: flipped bits, extreme numbers, parts copied, removed or moved.

use crate::random::Random;

/// Alters a little of `form`.
pub fn mutate(form: &mut Vec<u8>, random: &mut Random) {
    const EXTREMES: [&[u8]; 8] = [
        &[0, 0, 0, 0],
        &[0xff, 0xff, 0xff, 0xff],
        &[0x7f, 0xff, 0xff, 0xff],
        &[0xff, 0xff, 0xff, 0x7f],
        &[0x80, 0, 0, 0],
        &[0, 0, 0, 0x80],
        &[1, 0],
        &[0, 1],
    ];
    let at = random.below(form.len().max(1));
    let to = (at + 1 + random.below(8)).min(form.len());
    match random.below(5) {
        0 => {
            if let Some(byte) = form.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        1 => {
            let extreme = EXTREMES[random.below(EXTREMES.len())];
            for (slot, byte) in form.iter_mut().skip(at).zip(extreme) {
                *slot = *byte;
            }
        }
        2 => {
            form.drain(at.min(to)..to);
        }
        3 => {
            let part = form[at.min(to)..to].to_vec();
            let place = random.below(form.len() + 1);
            form.splice(place..place, part);
        }
        _ => {
            if let Some(byte) = form.get_mut(at) {
                *byte = random.next().to_le_bytes()[0];
            }
        }
    }
}

/// Puts a part of `other` in the place of a part of `form`.
pub fn cross(form: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let (from, at) = (random.below(other.len() + 1), random.below(form.len() + 1));
    let len = 1 + random.below(64);
    let part = other[from..(from + len).min(other.len())].to_vec();
    let end = if random.once_in(2) {
        at
    } else {
        (at + len).min(form.len())
    };
    form.splice(at..end, part);
}

/// Writes an extreme number of two, four or eight octets over an aligned place.
pub fn extreme(form: &mut [u8], random: &mut Random) {
    let size = *random.one_of(&[2, 4, 4, 8]);
    if form.len() < size {
        return;
    }
    let at = random.below(form.len() / size) * size;
    let number = random.edge().to_le_bytes();
    let big = random.once_in(2);
    for (index, slot) in form[at..at + size].iter_mut().enumerate() {
        *slot = number[if big { size - 1 - index } else { index }];
    }
}
