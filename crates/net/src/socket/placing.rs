//! Where in their pages octets lie that the system copies: see [`whimbrel_base::copying`].

use std::cell::RefCell;

use whimbrel_base::copying::{self, PAGE_BYTES};

/// Where in a page the system's own copy of a datagram begins, in octets: that of a large one, and
/// of one whose headers of IPv4 or IPv6 are before it. These are those of Linux; with others
/// nothing is lost.
const STARTS: [usize; 3] = [0, 44, 64];

/// Parts of fewer octets are copied quickly wherever they lie.
const PART_BYTES_MIN: usize = 2048;

/// Places that far apart are slow for different ones of [`STARTS`].
const STEP_BYTES: usize = 32;

/// Slabs of fewer octets are used from their beginning.
const SLAB_BYTES_MIN: usize = 16 * 1024;

/// What is left free at most at the beginning of a slab.
pub(super) const SKIPPED_BYTES_MAX: usize = STEP_BYTES * STARTS.len();

thread_local! {
    /// For datagrams that lie where they would be copied slowly.
    static ROOM: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Empties `slab` but for what is left free at its beginning so that the system fills it quickly.
pub(super) fn make_room(slab: &mut Vec<u8>) {
    let skipped = skipped(slab.as_ptr() as usize, slab.capacity());
    slab.truncate(skipped);
    slab.resize(skipped, 0);
}

/// How many octets [`make_room`] leaves free at the beginning of a slab at `at`.
pub(super) fn skipped(at: usize, slab_bytes: usize) -> usize {
    if slab_bytes < SLAB_BYTES_MIN {
        return 0;
    }
    let skipped = SKIPPED.get(at % PAGE_BYTES).copied();
    usize::from(skipped.unwrap_or_default())
}

/// For each place in a page what is left free of a slab there. The places are known beforehand, and
/// each datagram asks twice.
static SKIPPED: [u8; PAGE_BYTES] = {
    let mut all = [0; PAGE_BYTES];
    let mut at = 0;
    while at < PAGE_BYTES {
        let mut skipped = 0;
        while skipped <= SKIPPED_BYTES_MAX && !is_filled_quickly(at + skipped) {
            skipped += STEP_BYTES;
        }
        // None is so far that it is not left free.
        all[at] = skipped as u8;
        at += 1;
    }
    all
};

/// Whether the system copies `part` quickly wherever it lies.
pub(super) const fn is_short(part: &[u8]) -> bool {
    part.len() < PART_BYTES_MIN
}

/// Whether the system copies a datagram of `parts` quickly from where they lie.
pub(super) fn is_read_quickly(parts: &[&[u8]]) -> bool {
    let mut before = 0usize;
    parts.iter().all(|part| {
        let at = before;
        before = before.wrapping_add(part.len());
        is_short(part) || is_sent_quickly(part.as_ptr() as usize, at)
    })
}

/// Calls `send` with the datagram of `parts` where the system copies it quickly from.
#[cold]
pub(super) fn with_copy<R>(parts: &[&[u8]], send: impl FnOnce(&[u8]) -> R) -> R {
    ROOM.with_borrow_mut(|room| {
        let len = parts.iter().map(|part| part.len()).sum::<usize>();
        room.clear();
        room.reserve(len + SKIPPED_BYTES_MAX);
        let at = room.as_ptr() as usize;
        let skipped = first_where(|skipped| is_sent_quickly(at.wrapping_add(skipped), 0));
        room.resize(skipped, 0);
        for part in parts {
            copying::append(room, part);
        }
        send(&room[skipped..])
    })
}

const fn is_filled_quickly(at: usize) -> bool {
    let mut number = 0;
    while number < STARTS.len() {
        if copying::is_slow(STARTS[number], at) {
            return false;
        }
        number += 1;
    }
    true
}

/// Of octets at `at` that are `before` octets after the beginning of their datagram.
fn is_sent_quickly(at: usize, before: usize) -> bool {
    let mut starts = STARTS.iter();
    starts.all(|start| !copying::is_slow(at, start.wrapping_add(before)))
}

fn first_where(is_quick: impl Fn(usize) -> bool) -> usize {
    let mut skipped = (0..=SKIPPED_BYTES_MAX).step_by(STEP_BYTES);
    skipped.find(|it| is_quick(*it)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_quick_place_near_any_other() {
        for at in 0..8192 {
            let skipped = first_where(|skipped| is_filled_quickly(at + skipped));
            assert!(is_filled_quickly(at + skipped), "{at}");
            assert_eq!(super::skipped(at, SLAB_BYTES_MIN), skipped, "{at}");
            let skipped = first_where(|skipped| is_sent_quickly(at + skipped, 0));
            assert!(is_sent_quickly(at + skipped, 0), "{at}");
        }
        assert!(!is_filled_quickly(4096 + 16) && is_filled_quickly(4096));
        assert!(!is_sent_quickly(4096 - 16, 0) && is_sent_quickly(4096, 0));
        assert!(!is_sent_quickly(40, 60) && is_sent_quickly(40, 800));
    }

    #[test]
    fn a_copy_lies_in_a_quick_place_and_is_the_same() {
        let octets: Vec<u8> = (0..20_000usize).map(|at| (at % 251) as u8).collect();
        let slow = (0..4096).find(|at| !is_read_quickly(&[&octets[*at..]]));
        let slow = &octets[slow.unwrap()..];
        for parts in [&[slow][..], &[&[1, 2, 3], slow], &[]] {
            with_copy(parts, |copy| {
                assert_eq!(copy, parts.concat());
                assert!(is_read_quickly(&[copy]));
            });
        }
        assert!(is_read_quickly(&[&slow[..PART_BYTES_MIN - 1]]));
    }
}
