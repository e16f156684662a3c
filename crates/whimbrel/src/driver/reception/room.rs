//! Whether several datagrams are to be received by one call.

use whimbrel_base::time::Duration;

/// Receives that took less time than this found something there already.
const AT_ONCE: Duration = Duration::from_micros(2);

/// So many receives in a row at most have to find something there before several are asked for.
const WANTED_MAX: u32 = 64;

/// What is known of how many datagrams wait in the socket. One alone is received quicker by a call
/// for one, which is what most often waits for a thread that was driven off its core while it sent.
#[derive(Debug)]
pub(super) struct Room {
    /// Receives in a row that found something there.
    at_once: u32,
    /// As many are needed.
    wanted: u32,
}

impl Room {
    pub(super) const fn new() -> Self {
        Self {
            at_once: 0,
            wanted: 1,
        }
    }

    /// Whether a receive that took so long found something there.
    #[inline(always)]
    pub(super) fn found_at_once(took: Duration) -> bool {
        took < AT_ONCE
    }

    /// Whether to ask for several the next time, after a receive that `asked` for several or not,
    /// found something there `at_once` or later, and gave `count`.
    pub(super) fn wants_several(&mut self, asked: bool, at_once: bool, count: usize) -> bool {
        if asked && count > 1 {
            self.wanted = 1;
        } else if asked {
            self.wanted = self.wanted.saturating_mul(2).min(WANTED_MAX);
            self.at_once = 0;
        }
        if !at_once {
            self.at_once = 0;
            return false;
        }
        self.at_once = self.at_once.saturating_add(1);
        self.at_once >= self.wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUICK: bool = true;
    const SLOW: bool = false;

    #[test]
    fn what_takes_long_was_not_there() {
        assert!(Room::found_at_once(Duration::from_micros(1)));
        assert!(!Room::found_at_once(AT_ONCE));
    }

    #[test]
    fn several_are_asked_for_while_several_come() {
        let mut room = Room::new();
        assert!(!room.wants_several(false, SLOW, 1));
        assert!(room.wants_several(false, QUICK, 1));
        for _ in 0..100 {
            assert!(room.wants_several(true, QUICK, 8));
        }
        assert!(!room.wants_several(true, SLOW, 2));
        assert!(room.wants_several(false, QUICK, 1));
    }

    #[test]
    fn where_one_comes_at_a_time_several_are_asked_for_ever_less() {
        let mut room = Room::new();
        let mut asked = false;
        let mut asks = 0;
        for _ in 0..6400 {
            asked = room.wants_several(asked, QUICK, 1);
            asks += u32::from(asked);
        }
        assert!((100..=110).contains(&asks), "{asks}");
        // Until several come.
        while !asked {
            asked = room.wants_several(asked, QUICK, 1);
        }
        assert!(room.wants_several(asked, QUICK, 2));
        assert!(!room.wants_several(true, SLOW, 8));
        assert!(room.wants_several(false, QUICK, 1));
    }
}
