//! What happens to datagrams on the way from one node to another.

use whimbrel_base::time::{Duration, Instant};

use crate::random::Random;

/// Losses that come in bursts. Gilbert and Elliott's model of two states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bursts {
    /// How often, per thousand datagrams, a burst begins.
    pub enter_permille: u32,
    /// How often it ends.
    pub leave_permille: u32,
    /// How many are lost while it lasts.
    pub loss_permille: u32,
}

/// What a link does to datagrams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Faults {
    /// Datagrams lost independently, per thousand.
    pub loss_permille: u32,
    /// Losses in bursts.
    pub bursts: Option<Bursts>,
    /// Datagrams that arrive twice, per thousand.
    pub duplicate_permille: u32,
    /// Datagrams that are overtaken by later ones, per thousand.
    pub reorder_permille: u32,
    /// Shortest way.
    pub delay: Duration,
    /// What may be added to it, without changing the order.
    pub jitter: Duration,
    /// How late an overtaken or repeated datagram may be.
    pub late: Duration,
    /// Longer datagrams are dropped.
    pub datagram_bytes_max: usize,
    /// What the link carries; datagrams that would wait longer than `BACKLOG_MAX` are dropped.
    pub bytes_per_second: Option<u64>,
    /// Datagrams of which the header arrives damaged, or nothing but noise, per thousand.
    pub garbage_permille: u32,
    /// Datagrams that arrive with one bit turned over anywhere, per thousand.
    pub flip_permille: u32,
}

/// How long a datagram waits at most before a link that is busy.
const BACKLOG_MAX: Duration = Duration::from_millis(200);

impl Faults {
    /// A link that does nothing to datagrams but take a moment.
    pub const NONE: Self = Self {
        loss_permille: 0,
        bursts: None,
        duplicate_permille: 0,
        reorder_permille: 0,
        delay: Duration::from_micros(50),
        jitter: Duration::ZERO,
        late: Duration::ZERO,
        datagram_bytes_max: 65_507,
        bytes_per_second: None,
        garbage_permille: 0,
        flip_permille: 0,
    };
}

#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) faults: Faults,
    in_burst: bool,
    pub(super) blocked_until: Instant,
    last_arrival: Instant,
    /// When the last datagram has left.
    free_at: Instant,
    /// Nothing ever gets through.
    pub(super) closed: bool,
}

pub(super) enum Fate {
    Partitioned,
    TooLong,
    Lost,
    Arrives { at: Instant, again: Option<Instant> },
}

impl Link {
    pub(super) const fn new(faults: Faults) -> Self {
        Self {
            faults,
            in_burst: false,
            blocked_until: Instant::ZERO,
            last_arrival: Instant::ZERO,
            free_at: Instant::ZERO,
            closed: false,
        }
    }

    /// When a datagram has left, if it does not have to wait too long before.
    fn pass(&mut self, now: Instant, len: usize) -> Option<Instant> {
        let Some(rate) = self.faults.bytes_per_second else {
            return Some(now);
        };
        let starts_at = self.free_at.max(now);
        if starts_at.since(now) > BACKLOG_MAX {
            return None;
        }
        let nanos = len as u64 * 1_000_000_000 / rate.max(1);
        self.free_at = starts_at.after(Duration::from_nanos(nanos as i64));
        Some(self.free_at)
    }

    pub(super) fn decide(&mut self, now: Instant, len: usize, random: &mut Random) -> Fate {
        let faults = self.faults;
        if len > faults.datagram_bytes_max {
            return Fate::TooLong;
        }
        if self.closed || now < self.blocked_until {
            return Fate::Partitioned;
        }
        let Some(left_at) = self.pass(now, len) else {
            return Fate::Lost;
        };
        let mut loss = faults.loss_permille;
        if let Some(bursts) = faults.bursts {
            let turns = if self.in_burst {
                bursts.leave_permille
            } else {
                bursts.enter_permille
            };
            self.in_burst ^= random.chance(turns);
            if self.in_burst {
                loss = loss.max(bursts.loss_permille);
            }
        }
        if random.chance(loss) {
            return Fate::Lost;
        }
        let mut at = left_at
            .after(faults.delay)
            .after(random.span(faults.jitter));
        if random.chance(faults.reorder_permille) {
            at = at.after(random.span(faults.late));
        } else {
            at = at.max(self.last_arrival);
            self.last_arrival = at;
        }
        let again = random
            .chance(faults.duplicate_permille)
            .then(|| at.after(random.span(faults.late)));
        Fate::Arrives { at, again }
    }
}
