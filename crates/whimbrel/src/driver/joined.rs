//! Datagrams that leave together.

use std::cell::Cell;
use std::net::SocketAddr;

/// Octets that leave by one call at most; the system takes no more.
const JOINED_BYTES_MAX: usize = 63_000;

/// Datagrams that leave by one call at most; the system takes no more.
const JOINED_MAX: usize = 64;

/// Fewer leave one by one: there is little to be gained where so few arrive soon, and what loses
/// one of them may lose all.
const WORTH_MIN: usize = 4;

thread_local! {
    /// What this thread sent with last, so that none is made with every sample.
    static SPARE: Cell<Option<Box<Joined>>> = const { Cell::new(None) };
}

/// Datagrams of one size, the last of which may be shorter, to the same destinations.
#[derive(Default)]
pub(crate) struct Joined {
    pub(super) to: Vec<SocketAddr>,
    pub(super) bytes: Vec<u8>,
    pub(super) segment_bytes: u16,
    pub(super) count: usize,
    /// Octets of them that leave by one call at most.
    bytes_max: usize,
    /// They may wait behind everything else.
    pub(super) is_bulk: bool,
    /// Destinations of the datagram that is to be added.
    pub(super) next_to: Vec<SocketAddr>,
}

impl Joined {
    /// None yet, in room that was used before.
    pub(super) fn spare() -> Box<Self> {
        // At the end of a thread there may be no place for it any more.
        let known = SPARE.try_with(Cell::take).ok().flatten();
        known.unwrap_or_default()
    }

    /// Keeps the room for what this thread sends next.
    pub(super) fn put_back(mut self: Box<Self>) {
        self.clear();
        let _ = SPARE.try_with(|it| it.set(Some(self)));
    }

    /// Whether [`WORTH_MIN`] datagrams of `parts` would leave by one call of `bytes_max` octets at
    /// most.
    pub(super) fn is_worth(parts: &[&[u8]], bytes_max: usize) -> bool {
        let len: usize = parts.iter().map(|part| part.len()).sum();
        len <= bytes_max.min(JOINED_BYTES_MAX) / WORTH_MIN
    }

    /// Adds a datagram of `parts` for `next_to`, which may wait behind everything else where it
    /// `is_bulk`; false where it does not go with those that are there, or they would be more than
    /// `bytes_max` octets.
    pub(super) fn add_next(&mut self, parts: &[&[u8]], bytes_max: usize, is_bulk: bool) -> bool {
        if self.count == 0 {
            self.is_bulk = is_bulk;
        } else if self.is_bulk != is_bulk {
            return false;
        }
        self.bytes_max = bytes_max.min(JOINED_BYTES_MAX);
        let to = std::mem::take(&mut self.next_to);
        let goes = self.add(&to, parts);
        self.next_to = to;
        goes
    }

    fn add(&mut self, to: &[SocketAddr], parts: &[&[u8]]) -> bool {
        let len: usize = parts.iter().map(|part| part.len()).sum();
        let Ok(len) = u16::try_from(len) else {
            return false;
        };
        if self.count == 0 {
            self.to.clear();
            self.to.extend_from_slice(to);
            self.segment_bytes = len;
        }
        let whole = self.bytes.len() == self.count * usize::from(self.segment_bytes);
        let room = self.bytes_max.saturating_sub(self.bytes.len());
        let goes = whole
            && self.to == to
            && len <= self.segment_bytes
            && (self.count == 0 || (self.count < JOINED_MAX && usize::from(len) <= room));
        if goes {
            parts
                .iter()
                .for_each(|part| self.bytes.extend_from_slice(part));
            self.count += 1;
        }
        goes
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_datagrams_of_one_size_and_destination_go_together() {
        let (a, b) = (
            SocketAddr::from(([10, 0, 0, 1], 1)),
            SocketAddr::from(([10, 0, 0, 2], 1)),
        );
        let mut joined = Joined {
            bytes_max: JOINED_BYTES_MAX,
            ..Joined::default()
        };
        assert!(joined.add(&[a], &[&[1; 60], &[2; 40]]));
        assert!(!joined.add(&[b], &[&[3; 100]]));
        assert!(!joined.add(&[a, b], &[&[3; 100]]));
        assert!(!joined.add(&[a], &[&[3; 101]]));
        assert!(joined.add(&[a], &[&[3; 100]]));
        assert!(joined.add(&[a], &[&[4; 99]]));
        // A shorter one is the last.
        assert!(!joined.add(&[a], &[&[5; 99]]));
        assert!(!joined.add(&[a], &[&[5; 100]]));
        assert_eq!((joined.bytes.len(), joined.segment_bytes), (299, 100));
        joined.clear();
        joined.next_to = vec![a];
        assert!(
            joined.add_next(&[&[1; 60]], 120, false) && joined.add_next(&[&[2; 60]], 120, false)
        );
        assert!(!joined.add_next(&[&[3; 60]], 120, true) && joined.count == 2);
        joined.clear();
        assert!(joined.add_next(&[&[3; 60]], 120, true) && joined.is_bulk);
        joined.clear();
        assert!(
            joined.add_next(&[&[1; 60]], 120, false) && joined.add_next(&[&[2; 60]], 120, false)
        );
        assert!(
            !joined.add_next(&[&[3; 60]], 120, false),
            "more than leaves by one call"
        );
        joined.clear();
        assert!(Joined::is_worth(&[&[1; 60]], 240));
        assert!(!Joined::is_worth(&[&[1; 60], &[1]], 240));
        joined.bytes_max = JOINED_BYTES_MAX;
        let large = [0; 1400];
        let count = (0..100).take_while(|_| joined.add(&[b], &[&large])).count();
        assert_eq!(count, JOINED_BYTES_MAX / 1400);
        joined.clear();
        let count = (0..100)
            .take_while(|_| joined.add(&[b], &[&[0; 8]]))
            .count();
        assert_eq!(count, JOINED_MAX);
    }
}
