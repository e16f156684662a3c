//! What the host of a virtual machine does to who is measured: it takes cores away for a while, has
//! others work on the same ones, or moves them apart, so that what one has written is several
//! times as far from the other.
//!
//! None of it is the doing of anybody who is measured, and all is seen without him: by the time
//! that the host took, which the kernel counts, by how long the same work takes, and by how long a
//! cache line takes from one core to the other. So what was measured meanwhile is measured again,
//! the same for all. Who looks must not be felt: threads that end keep the kernel's tick going for
//! as long as a block takes, by which whoever sleeps wakes up sooner, so those that look stay.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::thread::{CpuSet, sched_setaffinity};

use crate::machine::Ticks;
use crate::placement::Placement;

/// What reports call the blocks that were disturbed.
pub const BLOCKS: &str = "blocks that the host disturbed";

/// Ways of a cache line there and back by which a distance is told.
const TRIPS: u64 = 64;

/// So often it is told; the shortest counts, as threads are interrupted.
const TRIES: u64 = 4;

/// Cores are apart where a cache line takes so many times as long as it ever did: more than from
/// the other thread of a core to another core, less than out of the reach of a common cache.
const APART: f64 = 4.0;

/// Others work on a core where the same takes so many times as long as it ever did.
const SHARED: f64 = 1.2;

/// Steps of the work by which that is told: some microseconds.
const STEPS: u32 = 2000;

/// How often one block is measured at most.
const ATTEMPTS: u32 = 5;

/// What does not count may take so much longer in all than what does.
const GRACE: Duration = Duration::from_secs(60);

/// Until how long after a block began its host may put the cores together again, and how often is
/// looked.
const WAIT_MAX: Duration = Duration::from_secs(1);
const WAIT: Duration = Duration::from_millis(10);

/// What is looked at beside the time that the host took, and who does.
#[derive(Debug)]
enum Probe {
    /// Nothing.
    None,
    /// How far two cores are from each other.
    Distance([Looker; 2]),
    /// How fast the slower of two cores works.
    Speed([Looker; 2]),
}

/// A thread on a core of its own that sleeps until it is asked. It ends with this.
#[derive(Debug)]
struct Looker {
    asks: Sender<()>,
    /// Nanoseconds.
    answers: Receiver<f64>,
}

/// The host, as seen from within.
#[derive(Debug)]
pub struct Host {
    probe: Probe,
    /// Nanoseconds of what is looked at, at least.
    shortest_ns: f64,
    /// Time spent on what counts, and on what did not.
    counted: Duration,
    spent: Duration,
    told: Told,
}

/// What became of the blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Told {
    /// All that count.
    blocks: usize,
    /// Measured again, each time.
    again: usize,
    /// Count although they were disturbed: there was no time for more.
    disturbed: usize,
}

/// How the host was at one moment.
#[derive(Clone, Copy, Debug)]
struct Look {
    stolen: u64,
    /// What is looked at took so long; `None` where that is nothing.
    ns: Option<f64>,
}

impl Host {
    /// As it is for processes of this placement: where they have two cores, it is also watched how
    /// far from each other those are.
    pub fn of(placement: Placement) -> Self {
        let cores = placement.cores().filter(|[a, b]| a != b);
        let lookers = cores.and_then(distance);
        Self::probed(lookers.map_or(Probe::None, Probe::Distance))
    }

    /// As it is for a process that does everything itself, of which times count, not ratios: it is
    /// also watched how fast cores are.
    pub fn of_a_process() -> Self {
        let last = thread::available_parallelism().map_or(1, usize::from) - 1;
        let start = |core| Looker::start(core, work_ns);
        let lookers = start(0).zip(start(last.min(1) as u32));
        Self::probed(lookers.map_or(Probe::None, |(a, b)| Probe::Speed([a, b])))
    }

    fn probed(probe: Probe) -> Self {
        Self {
            probe,
            shortest_ns: f64::INFINITY,
            counted: Duration::ZERO,
            spent: Duration::ZERO,
            told: Told::default(),
        }
    }

    /// Has `block` measured until the host did not disturb it, as long as what does not count takes
    /// not much longer in all than what does, and gives what it measured last.
    ///
    /// # Errors
    /// Those of `block`.
    pub fn undisturbed<T>(
        &mut self,
        block: impl FnMut() -> Result<T, String>,
    ) -> Result<T, String> {
        self.undisturbed_by(Self::look, block)
    }

    fn undisturbed_by<T>(
        &mut self,
        mut look: impl FnMut(&mut Self) -> Look,
        mut block: impl FnMut() -> Result<T, String>,
    ) -> Result<T, String> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            let begun = Instant::now();
            let before = look(self);
            let found = block()?;
            let after = look(self);
            let is_disturbed = self.is_disturbed(before, after);
            let is_last = attempts == ATTEMPTS || self.spent > self.counted + GRACE;
            if !is_disturbed || is_last {
                self.counted += begun.elapsed();
                self.told.blocks += 1;
                self.told.disturbed += usize::from(is_disturbed);
                return Ok(found);
            }
            self.told.again += 1;
            while begun.elapsed() < WAIT_MAX {
                let now = look(self);
                if !self.is_slow(now) {
                    break;
                }
                thread::sleep(WAIT);
            }
            self.spent += begun.elapsed();
        }
    }

    fn look(&mut self) -> Look {
        let ns = match &self.probe {
            Probe::None => None,
            Probe::Distance([a, b]) => {
                b.ask();
                a.ask();
                a.answer().zip(b.answer()).map(|(shortest, _)| shortest)
            }
            // One after the other, as they may be the two threads of one core.
            Probe::Speed(both) => {
                let times = both.each_ref().map(|it| {
                    it.ask();
                    it.answer()
                });
                times[0].zip(times[1]).map(|(a, b)| a.max(b))
            }
        };
        self.shortest_ns = self.shortest_ns.min(ns.unwrap_or(f64::INFINITY));
        Look {
            stolen: Ticks::now().stolen,
            ns,
        }
    }

    fn is_disturbed(&self, before: Look, after: Look) -> bool {
        after.stolen != before.stolen || self.is_slow(before) || self.is_slow(after)
    }

    fn is_slow(&self, look: Look) -> bool {
        let times = match &self.probe {
            Probe::None => return false,
            Probe::Distance(_) => APART,
            Probe::Speed(_) => SHARED,
        };
        look.ns.is_some_and(|ns| ns > times * self.shortest_ns)
    }

    /// For reports.
    pub fn describe(&self) -> String {
        let Told {
            blocks,
            again,
            disturbed,
        } = self.told;
        let shortest = match &self.probe {
            Probe::None => String::new(),
            Probe::Distance(_) => format!(", cores {:.0} ns apart", self.shortest_ns),
            Probe::Speed(_) => format!(", the same work {:.0} ns", self.shortest_ns),
        };
        format!("{again} again, {disturbed} of {blocks} count though disturbed{shortest}")
    }
}

impl Looker {
    /// Has `look` called on `core` alone, each time somebody asks; it gives nanoseconds. `None`
    /// where the system lets nobody choose his core.
    fn start(core: u32, mut look: impl FnMut() -> f64 + Send + 'static) -> Option<Self> {
        let (asks, asked) = channel();
        let (answer, answers) = channel();
        thread::spawn(move || {
            let mut only = CpuSet::new();
            only.set(core as usize);
            let sits = sched_setaffinity(None, &only).is_ok() && answer.send(0.0).is_ok();
            while sits && asked.recv().is_ok() && answer.send(look()).is_ok() {}
        });
        let looker = Self { asks, answers };
        looker.answer().map(|_| looker)
    }

    fn ask(&self) {
        // Who has ended does not answer either.
        let _ = self.asks.send(());
    }

    fn answer(&self) -> Option<f64> {
        self.answers.recv().ok()
    }
}

/// Who tells how long a cache line takes from one of `cores` to the other and back: the first does,
/// the second answers it. Both are to be asked each time. `None` where nobody may.
fn distance(cores: [u32; 2]) -> Option<[Looker; 2]> {
    // On lines of its own, so that nothing else moves with it.
    #[repr(align(256))]
    struct Line(AtomicU64);
    let line = Arc::new(Line(AtomicU64::new(0)));
    // The first turns are run-up: the other one has to come first.
    let turns = TRIPS * (1 + TRIES);
    let (mine, other) = (line.clone(), line);
    let mut turn = 0;
    let first = Looker::start(cores[0], move || {
        let mut shortest = Duration::MAX;
        for round in 0..=TRIES {
            let begun = Instant::now();
            for _ in 0..TRIPS {
                mine.0.store(2 * turn + 1, Ordering::Release);
                wait_for(&mine.0, 2 * turn + 2);
                turn += 1;
            }
            if round > 0 {
                shortest = shortest.min(begun.elapsed());
            }
        }
        shortest.as_nanos() as f64 / TRIPS as f64
    });
    let mut turn = 0;
    let second = Looker::start(cores[1], move || {
        for _ in 0..turns {
            wait_for(&other.0, 2 * turn + 1);
            other.0.store(2 * turn + 2, Ordering::Release);
            turn += 1;
        }
        0.0
    });
    Some([first?, second?])
}

/// How long the same work takes, in nanoseconds.
fn work_ns() -> f64 {
    // Several things at a time, as who shares a core has fewer places for them.
    let work = || {
        let begun = Instant::now();
        let mut lanes = black_box([1_u64, 2, 3, 4, 5, 6]);
        for _ in 0..STEPS {
            lanes = lanes.map(|it| it.rotate_left(9).wrapping_add(it ^ 0x55));
        }
        black_box(lanes);
        begun.elapsed()
    };
    let shortest = (0..=TRIES).map(|_| work()).min();
    shortest.unwrap_or_default().as_nanos() as f64
}

/// Polls, as whoever sleeps would be woken later than a cache line comes.
fn wait_for(line: &AtomicU64, value: u64) {
    while line.load(Ordering::Acquire) != value {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(stolen: u64, ns: f64) -> Look {
        let ns = Some(ns);
        Look { stolen, ns }
    }

    #[test]
    fn time_taken_and_cores_apart_or_shared_disturb() {
        let known = |mut host: Host| {
            host.shortest_ns = 50.0;
            host
        };
        let host = known(Host::of(Placement::TwoCores));
        let near = look(7, 199.0);
        assert!(!host.is_disturbed(near, near));
        assert!(host.is_disturbed(near, look(8, 199.0)));
        assert!(host.is_disturbed(near, look(7, 201.0)));
        assert!(host.is_disturbed(look(7, 201.0), near));
        let unknown = Look {
            stolen: 7,
            ns: None,
        };
        assert!(!host.is_disturbed(unknown, unknown));
        let host = known(Host::of_a_process());
        assert!(!host.is_slow(look(7, 59.0)) && host.is_slow(look(7, 61.0)));
    }

    /// How often a block is measured whose first looks, so many, all find more time taken; a block
    /// takes three: before, after, and before the next attempt.
    fn measured(host: &mut Host, looks: u64) -> u64 {
        let mut seen = 0;
        let look_at = |_: &mut Host| {
            seen += 1;
            look(looks.min(seen), 50.0)
        };
        let mut times = 0;
        let found = host.undisturbed_by(look_at, || {
            times += 1;
            Ok(times)
        });
        assert_eq!(found, Ok(times), "the last one counts");
        times
    }

    #[test]
    fn a_block_that_was_disturbed_is_measured_again_while_there_is_time() {
        let told = |blocks, again, disturbed| Told {
            blocks,
            again,
            disturbed,
        };
        let mut host = Host::of(Placement::TwoCores);
        host.counted = Duration::from_secs(3600);
        assert_eq!((measured(&mut host, 0), host.told), (1, told(1, 0, 0)));
        assert_eq!((measured(&mut host, 2), host.told), (2, told(2, 1, 0)));
        assert_eq!((measured(&mut host, 99), host.told), (5, told(3, 5, 1)));
        host.spent = Duration::from_secs(7200);
        assert_eq!((measured(&mut host, 99), host.told), (1, told(4, 5, 2)));
        let failed: Result<(), String> = host.undisturbed(|| Err("stalls".to_owned()));
        assert_eq!(failed, Err("stalls".to_owned()));
    }

    #[test]
    fn only_two_cores_have_a_distance() {
        for placement in [Placement::OneCore, Placement::Free] {
            assert!(!Host::of(placement).describe().contains("apart"));
        }
        let host = Host::of(Placement::TwoHosts);
        assert!(host.describe().contains("apart"));
    }

    #[test]
    fn speeds_and_distances_are_told_again_and_again() {
        for mut host in [Host::of(Placement::TwoCores), Host::of_a_process()] {
            for _ in 0..3 {
                let ns = host.look().ns;
                assert!(ns.is_some_and(|ns| ns > 0.0 && ns.is_finite()), "{host:?}");
            }
        }
    }
}
