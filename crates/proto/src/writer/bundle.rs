//! When new changes leave: at once, or together with others.
//!
//! What waits stays in history and has not been sent: nobody is told of it. Changes that wait for
//! each other are a *bundle*; it becomes as few messages as it fits. Where HISTORY gives up a
//! change that still waits, the bundle is *sealed*: put into its message, which stays open.

use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::time::{Duration, Instant};

use crate::message::MessageBuilder;

/// Bundles that form by themselves, in octets of message at most.
const AUTOMATIC_BYTES: usize = 60_000;

/// The same in changes: more would gain little and wait longer.
const AUTOMATIC_SAMPLES: u32 = 256;

/// How long a change waits for others that come.
const AUTOMATIC_AGE: Duration = Duration::from_micros(100);

/// How long it waits for others that did not come after all.
const AUTOMATIC_WAIT: Duration = Duration::from_micros(200);

/// So many changes in a row come faster than they can be sent before any of them waits: few at
/// once, as of several joints of a robot, leave as they come.
const AUTOMATIC_STREAK: u32 = 8;

/// More of them count no more.
const STREAK_MAX: u32 = 64;

/// A pause of so many times what sending takes ends a streak; a shorter one halves it, such as
/// while an acknowledgement was handled.
const PAUSE_COSTS: u32 = 16;

/// What sending takes before it was measured, and the bounds of what is believed.
const SEND_COST: Duration = Duration::from_micros(5);
const SEND_COST_MIN: Duration = Duration::from_micros(2);
const SEND_COST_MAX: Duration = Duration::from_micros(10);

/// How new changes leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bundling {
    /// Each at once.
    Off,
    /// Those that come faster than they can be sent leave together.
    Automatic,
    /// They wait for others.
    UpTo {
        /// Until they make a message of so many octets.
        message_bytes_max: usize,
        /// Or for so long.
        wait: Duration,
    },
}

/// What became of changes that waited for others.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct BundlingStatistics {
    /// Bundles that left.
    pub bundles: u64,
    /// Changes in them.
    pub samples: u64,
    /// Bundles that left because they were full.
    pub full: u64,
    /// Bundles that had waited as long as they may.
    pub time: u64,
    /// Bundles that the program flushed, at the end of a batch or of a suspension too.
    pub flush: u64,
    /// Bundles that had formed by themselves and to which nothing came any more.
    pub idle: u64,
    /// Bundles that left because others of the same participant did.
    pub shared: u64,
    /// Bundles that left because history had no room, or a reader wanted an answer.
    pub room: u64,
}

impl BundlingStatistics {
    /// Changes in a bundle on average; zero where none has left.
    pub fn samples_per_bundle(&self) -> f64 {
        if self.bundles == 0 {
            return 0.0;
        }
        self.samples as f64 / self.bundles as f64
    }
}

/// Why a bundle leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cause {
    Full,
    Time,
    Flush,
    Idle,
    Shared,
    Room,
}

/// How fast changes come, and how fast they could leave.
#[derive(Debug)]
struct Rate {
    /// When the last one was written, or had been sent.
    ready_at: Instant,
    /// What sending takes.
    cost: Duration,
    /// How many have come faster than that, in a row.
    streak: u32,
}

/// The changes that wait for others.
#[derive(Debug)]
pub(super) struct Bundle {
    pub(super) bundling: Bundling,
    /// The first change that waits, or that waited when it was sealed.
    pub(super) from: Option<SequenceNumber>,
    pub(super) samples: u32,
    /// Octets of message that they make, without its header.
    pub(super) bytes: usize,
    pub(super) leaves_at: Option<Instant>,
    /// How often they were told to wait for a flush.
    pub(super) holds: u32,
    rate: Rate,
    /// The message that a sealed bundle has begun.
    pub(super) message: MessageBuilder,
    pub(super) is_sealed: bool,
    pub(super) statistics: BundlingStatistics,
}

impl Bundle {
    pub(super) fn new(message: MessageBuilder, bundling: Bundling) -> Self {
        Self {
            bundling,
            from: None,
            samples: 0,
            bytes: 0,
            leaves_at: None,
            holds: 0,
            rate: Rate {
                ready_at: Instant::ZERO,
                cost: SEND_COST,
                streak: 0,
            },
            message,
            is_sealed: false,
            statistics: BundlingStatistics::default(),
        }
    }

    /// Largest message in which changes leave together, where that is not all that fits.
    pub(super) fn bytes_max(&self) -> usize {
        match self.bundling {
            Bundling::UpTo {
                message_bytes_max, ..
            } => message_bytes_max,
            Bundling::Off => usize::MAX,
            Bundling::Automatic => AUTOMATIC_BYTES,
        }
    }

    /// Whether what is written now is to wait; `pressed` where it had to wait for room before.
    pub(super) fn holds(&mut self, now: Instant, pressed: bool) -> bool {
        let rate = &mut self.rate;
        let pause = now.since(rate.ready_at);
        rate.ready_at = now;
        // Whoever waits for an answer before it writes again takes longer.
        rate.streak = if pause < rate.cost.divided_by(2) {
            rate.streak.saturating_add(1).min(STREAK_MAX)
        } else if pressed {
            rate.streak
        } else if pause < rate.cost.times(PAUSE_COSTS) {
            rate.streak / 2
        } else {
            0
        };
        let waits = match self.bundling {
            Bundling::Off => false,
            Bundling::Automatic => rate.streak >= AUTOMATIC_STREAK,
            Bundling::UpTo { .. } => true,
        };
        waits || self.holds > 0
    }

    pub(super) fn add(&mut self, now: Instant, sequence: SequenceNumber, bytes: usize) {
        self.from.get_or_insert(sequence);
        self.samples = self.samples.saturating_add(1);
        self.bytes = self.bytes.saturating_add(bytes);
        if self.leaves_at.is_none() && self.holds == 0 {
            self.leaves_at = match self.bundling {
                Bundling::Off => Some(now),
                Bundling::Automatic => Some(now.after(AUTOMATIC_WAIT)),
                Bundling::UpTo { wait, .. } if wait.is_infinite() => None,
                Bundling::UpTo { wait, .. } => Some(now.after(wait)),
            };
        }
    }

    /// New changes were sent from `began` to `ended`.
    pub(super) fn note_departure(&mut self, began: Instant, ended: Instant) {
        let rate = &mut self.rate;
        rate.ready_at = ended;
        let took = ended.since(began).min(SEND_COST_MAX).max(SEND_COST_MIN);
        rate.cost = rate.cost.times(3).plus(took).divided_by(4);
    }

    /// What is written next could not have come sooner by `took`.
    pub(super) fn note_packing(&mut self, took: Duration) {
        self.rate.ready_at = self.rate.ready_at.after(took);
    }

    /// Whether what is written now is to wait unless there was a pause before it.
    pub(super) fn is_gathering(&self) -> bool {
        self.holds > 0
            || match self.bundling {
                Bundling::Off => false,
                Bundling::Automatic => self.rate.streak.saturating_add(1) >= AUTOMATIC_STREAK,
                Bundling::UpTo { .. } => true,
            }
    }

    /// What waits may leave.
    pub(super) fn leave(&mut self, cause: Cause) {
        if self.from.take().is_none() {
            return;
        }
        let statistics = &mut self.statistics;
        let count = match cause {
            Cause::Full => &mut statistics.full,
            Cause::Time => &mut statistics.time,
            Cause::Flush => &mut statistics.flush,
            Cause::Idle => &mut statistics.idle,
            Cause::Shared => &mut statistics.shared,
            Cause::Room => &mut statistics.room,
        };
        *count = count.saturating_add(1);
        statistics.bundles = statistics.bundles.saturating_add(1);
        let samples = u64::from(core::mem::take(&mut self.samples));
        statistics.samples = statistics.samples.saturating_add(samples);
        self.bytes = 0;
        self.leaves_at = None;
    }

    /// True where those that wait are enough, as far as that does not depend on their size.
    pub(super) fn is_enough(&self, now: Instant) -> bool {
        let old = self.leaves_at.map(|at| match self.bundling {
            Bundling::Automatic => now.after(AUTOMATIC_WAIT) >= at.after(AUTOMATIC_AGE),
            Bundling::Off | Bundling::UpTo { .. } => now >= at,
        });
        let many = self.bundling == Bundling::Automatic && self.samples >= AUTOMATIC_SAMPLES;
        old.unwrap_or(false) || many
    }

    /// Forgets what waits: it is not to leave any more.
    pub(super) fn clear(&mut self) {
        self.from = None;
        self.samples = 0;
        self.bytes = 0;
        self.leaves_at = None;
        self.is_sealed = false;
    }
}
