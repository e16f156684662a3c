//! When new changes leave: at once, or together with others.
//!
//! What waits stays in history and has not been sent: nobody is told of it. Changes that wait for
//! each other are a *bundle*; it becomes as few messages as it fits. Where HISTORY gives up a
//! change that still waits, the bundle is *sealed*: put into its message, which stays open.

use alloc::boxed::Box;
use alloc::sync::Arc;

use whimbrel_base::rate::{Rate, Share, SharedRate};
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::streak::Streak;
use whimbrel_base::time::{Duration, Instant};

use crate::message::MessageBuilder;

/// Bundles that form by themselves, in octets of message at most.
const AUTOMATIC_BYTES: usize = 60_000;

/// The same in changes: more would gain little and wait longer.
pub(super) const AUTOMATIC_SAMPLES: u32 = 256;

/// How long a change waits for others that come.
const AUTOMATIC_AGE: Duration = Duration::from_micros(100);

/// How long it waits for others that did not come after all.
const AUTOMATIC_WAIT: Duration = Duration::from_micros(200);

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
    /// Nothing else came, or is likely to come.
    Idle,
    /// The next change came, but not fast.
    Slow,
    Shared,
    Room,
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
    /// They make several messages, which leave by one call.
    pub(super) is_joined: bool,
    /// How often they were told to wait for a flush.
    pub(super) holds: u32,
    rate: Rate,
    /// Of all writers of the participant.
    shared_rate: Option<Share>,
    /// What has arrived where a change is written next, as the count of that thread.
    pub(super) heard: u32,
    /// It matters how long sending the last change takes.
    pub(super) measures: bool,
    /// What waits does so because of that.
    waits_for_others: bool,
    /// The message that a sealed bundle has begun, if one ever was.
    pub(super) message: Option<Box<MessageBuilder>>,
    pub(super) is_sealed: bool,
    /// What is sealed leaves at the next transmission, whoever has not taken in what left before.
    pub(super) is_urgent: bool,
    pub(super) statistics: BundlingStatistics,
}

impl Bundle {
    pub(super) fn new(bundling: Bundling, shared_rate: Option<Arc<SharedRate>>) -> Self {
        Self {
            bundling,
            from: None,
            samples: 0,
            bytes: 0,
            leaves_at: None,
            is_joined: false,
            holds: 0,
            rate: Rate::default(),
            shared_rate: shared_rate.map(Share::of),
            heard: 0,
            measures: false,
            waits_for_others: false,
            message: None,
            is_sealed: false,
            is_urgent: false,
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
    /// `destination` stands for its addresses, where it may leave with changes of other writers.
    pub(super) fn holds(&mut self, now: Instant, pressed: bool, destination: Option<u64>) -> bool {
        let own = self.rate.note(now, pressed, self.heard);
        let waits = match self.bundling {
            Bundling::Off => false,
            Bundling::Automatic => {
                let fast = own.is_high();
                let shared = destination.filter(|_| !fast);
                let shared = shared.and_then(|to| self.shared_streak(now, to));
                let begun = |it: Streak| it.has_begun();
                self.measures =
                    begun(own) || shared.is_some_and(begun) || self.rate.wants_measuring();
                let shared = shared.is_some_and(Streak::is_high);
                if self.from.is_none() {
                    self.waits_for_others = shared;
                }
                fast || shared
            }
            Bundling::UpTo { .. } => true,
        };
        waits || self.holds > 0
    }

    /// How fast this and other writers write to the same addresses, where there are others.
    fn shared_streak(&self, now: Instant, destination: u64) -> Option<Streak> {
        let shared = self.shared_rate.as_ref().filter(|it| !it.is_of_one())?;
        Some(shared.note(now, destination, self.rate.cost(), self.heard))
    }

    pub(super) fn add(&mut self, now: Instant, sequence: SequenceNumber, bytes: usize) {
        if self.from.is_none() {
            self.from = Some(sequence);
            self.is_joined = false;
        }
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
        if let Some(shared) = self.shared_rate.as_ref().filter(|_| !self.rate.is_high()) {
            shared.note_departure(ended);
        }
        self.rate.note_departure(began, ended);
    }

    /// What left last had to wait for room at the socket.
    pub(super) fn note_full(&mut self) {
        self.rate.note_full();
    }

    /// What is written next was compressed alone, which took so long.
    pub(super) fn note_packing(&mut self, took: Duration) {
        self.rate.note_packing(took);
    }

    /// True where what waits does so by itself and nothing more is likely to come.
    pub(super) fn is_burst_over(&self) -> bool {
        if self.bundling != Bundling::Automatic || self.holds > 0 || self.from.is_none() {
            return false;
        }
        match &self.shared_rate {
            Some(shared) if self.waits_for_others => shared.is_burst_over(),
            _ => self.rate.is_burst_over(),
        }
    }

    /// Whether what is written now is to wait unless there was a pause before it.
    pub(super) fn is_gathering(&self) -> bool {
        self.holds > 0
            || match self.bundling {
                Bundling::Off => false,
                Bundling::Automatic => self.rate.is_nearly_high(),
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
            Cause::Idle | Cause::Slow => &mut statistics.idle,
            Cause::Shared => &mut statistics.shared,
            Cause::Room => &mut statistics.room,
        };
        *count = count.saturating_add(1);
        statistics.bundles = statistics.bundles.saturating_add(1);
        let samples = core::mem::take(&mut self.samples);
        statistics.samples = statistics.samples.saturating_add(u64::from(samples));
        if self.bundling == Bundling::Automatic {
            self.learn(cause, samples);
        }
        self.bytes = 0;
        self.leaves_at = None;
    }

    /// Whether it was right that changes waited, so many of them.
    fn learn(&mut self, cause: Cause, samples: u32) {
        match (cause, samples, &self.shared_rate) {
            (Cause::Shared, _, Some(shared)) => shared.note_company(),
            (Cause::Idle, 1, Some(shared)) if self.waits_for_others => shared.note_alone(),
            (Cause::Shared, ..) => {}
            (Cause::Idle, 1, _) => self.rate.note_alone(),
            (_, 2.., _) => self.rate.note_company(),
            _ => {}
        }
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

    /// True where what left last does so as several messages by one call.
    pub(super) fn leaves_joined(&self) -> bool {
        self.is_joined && self.from.is_none()
    }

    /// True where nothing waits, be it sealed.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.from.is_none() && !self.is_sealed
    }

    /// Forgets what waits in history: it is not to leave any more. What is sealed is.
    pub(super) fn skip(&mut self) {
        self.from = None;
        self.samples = 0;
        self.bytes = 0;
        self.leaves_at = None;
    }
}
