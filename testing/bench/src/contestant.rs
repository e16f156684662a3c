//! Who takes part: a program of a product, and the way in which it receives.

use std::path::{Path, PathBuf};

use crate::placement::Placement;

/// Who made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Product {
    /// The UDP socket of the operating system and nothing else.
    Raw,
    /// Whimbrel.
    Whimbrel,
    /// Eclipse Cyclone DDS.
    Cyclone,
    /// eProsima Fast DDS.
    FastDds,
}

impl Product {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Raw, Self::Whimbrel, Self::Cyclone, Self::FastDds];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Whimbrel => "whimbrel",
            Self::Cyclone => "cyclone",
            Self::FastDds => "fastdds",
        }
    }

    /// Whether it is somebody else's bus.
    pub fn is_peer(self) -> bool {
        matches!(self, Self::Cyclone | Self::FastDds)
    }
}

/// How the processes of a contestant receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// Send and receive on one connected socket in one thread: what the system calls alone cost.
    Calls,
    /// A blocking receive call.
    Blocking,
    /// The same on a connected socket, whose calls name no address.
    BlockingConnected,
    /// A wait in the set that Whimbrel's driver waits in, then a receive call.
    Polling,
    /// Receive calls that do not block, over and over; of Whimbrel by the call that takes.
    Spinning,
    /// The same on a connected socket.
    SpinningConnected,
    /// A callback of the product, which writes the answer.
    Listener,
    /// A thread of the program waits in a wait set, then takes.
    WaitSet,
    /// A thread of the program takes and waits in one call.
    Take,
    /// As `Take`, with polling before blocking where that pays; only modes of this name poll.
    Automatic,
    /// As `Listener`, so.
    AutomaticListener,
    /// As `WaitSet`, so.
    AutomaticWaitSet,
    /// As `Async`, so.
    AutomaticAsync,
    /// A task awaits a sample.
    Async,
    /// As `Take`, with BEST_EFFORT.
    BestEffort,
    /// As `Take`, with samples of some instances in turn.
    Keyed,
    /// A callback, with what the product offers for large samples; Whimbrel needs no settings.
    Large,
    /// The same with socket buffers of the size that the system gives them.
    LargeSystemBuffers,
    /// A callback, both ends in one process.
    InProcess,
    /// The same, with samples that are handed on by reference.
    InProcessShared,
}

impl Mode {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Calls => "calls",
            Self::Blocking => "blocking",
            Self::BlockingConnected => "blocking-connected",
            Self::Polling => "polling",
            Self::Spinning => "spinning",
            Self::SpinningConnected => "spinning-connected",
            Self::Listener => "listener",
            Self::WaitSet => "waitset",
            Self::Take => "take",
            Self::Automatic => "automatic",
            Self::AutomaticListener => "automatic-listener",
            Self::AutomaticWaitSet => "automatic-waitset",
            Self::AutomaticAsync => "automatic-async",
            Self::Async => "async",
            Self::BestEffort => "best-effort",
            Self::Keyed => "keyed",
            Self::Large => "large",
            Self::LargeSystemBuffers => "large-system-buffers",
            Self::InProcess => "in-process",
            Self::InProcessShared => "in-process-shared",
        }
    }

    /// Whether it does nothing but look for what came.
    pub fn only_spins(self) -> bool {
        matches!(self, Self::Spinning | Self::SpinningConnected)
    }

    /// For a mode that polls before it blocks: the one that does the same without.
    pub fn without_polling(self) -> Option<Self> {
        match self {
            Self::Automatic => Some(Self::Take),
            Self::AutomaticListener => Some(Self::Listener),
            Self::AutomaticWaitSet => Some(Self::WaitSet),
            Self::AutomaticAsync => Some(Self::Async),
            _ => None,
        }
    }
}

/// A product and a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Contestant {
    /// Who made it.
    pub product: Product,
    /// How it receives.
    pub mode: Mode,
}

/// Everyone who takes part in the ping-pong of usual samples, in the order of the first round.
pub const USUAL: &[Contestant] = &[
    of(Product::Raw, Mode::Calls),
    of(Product::Raw, Mode::Blocking),
    of(Product::Raw, Mode::BlockingConnected),
    of(Product::Raw, Mode::Polling),
    of(Product::Raw, Mode::Spinning),
    of(Product::Raw, Mode::SpinningConnected),
    of(Product::Whimbrel, Mode::Listener),
    of(Product::Whimbrel, Mode::WaitSet),
    of(Product::Whimbrel, Mode::Take),
    of(Product::Whimbrel, Mode::Automatic),
    of(Product::Whimbrel, Mode::AutomaticListener),
    of(Product::Whimbrel, Mode::AutomaticWaitSet),
    of(Product::Whimbrel, Mode::AutomaticAsync),
    of(Product::Whimbrel, Mode::Async),
    of(Product::Whimbrel, Mode::Spinning),
    of(Product::Cyclone, Mode::Listener),
    of(Product::Cyclone, Mode::WaitSet),
    of(Product::FastDds, Mode::Listener),
    of(Product::FastDds, Mode::WaitSet),
];

/// Who takes part besides where system calls are counted: no time is lost by it, or won.
pub const COUNTED: &[Contestant] = &[
    of(Product::Whimbrel, Mode::BestEffort),
    of(Product::Whimbrel, Mode::Keyed),
];

/// Everyone who takes part in that of large ones.
pub const LARGE: &[Contestant] = &[
    of(Product::Whimbrel, Mode::Large),
    of(Product::Whimbrel, Mode::LargeSystemBuffers),
    of(Product::Cyclone, Mode::Large),
    of(Product::FastDds, Mode::Large),
];

/// Everyone who takes part in that within a process.
pub const IN_PROCESS: &[Contestant] = &[
    of(Product::Whimbrel, Mode::InProcess),
    of(Product::Whimbrel, Mode::InProcessShared),
    of(Product::Cyclone, Mode::InProcess),
    of(Product::FastDds, Mode::InProcess),
];

const fn of(product: Product, mode: Mode) -> Contestant {
    Contestant { product, mode }
}

impl Contestant {
    /// Its name: product and mode.
    pub fn name(self) -> String {
        format!("{} {}", self.product.name(), self.mode.name())
    }

    /// Whether it can run so placed.
    pub fn fits(self, placement: Placement) -> bool {
        // On one core each would spin away the time of the other.
        !self.mode.only_spins() || placement != Placement::OneCore
    }

    /// Whether it measures without a process that answers.
    pub fn is_alone(self) -> bool {
        self.mode == Mode::Calls || self.is_within_a_process()
    }

    /// Whether its samples stay within a process, where no socket is.
    pub fn is_within_a_process(self) -> bool {
        matches!(self.mode, Mode::InProcess | Mode::InProcessShared)
    }
}

/// Where the programs are.
#[derive(Clone, Debug)]
pub struct Programs {
    own: PathBuf,
    peers: PathBuf,
}

impl Programs {
    /// Our own beside the running program, the peers' in `peers`.
    ///
    /// # Errors
    /// The system does not tell where this program is.
    pub fn new(peers: &Path) -> Result<Self, String> {
        let program = std::env::current_exe().map_err(|error| format!("this program: {error}"))?;
        Ok(Self {
            own: program.parent().unwrap_or(Path::new(".")).to_owned(),
            peers: peers.to_owned(),
        })
    }

    /// The program of `product`.
    ///
    /// # Errors
    /// It is not there: who is missing is never passed over.
    pub fn of(&self, product: Product) -> Result<PathBuf, String> {
        let name = format!("bench_{}", product.name());
        if product.is_peer() {
            existing(self.peers.join(name))
        } else {
            self.own(&name)
        }
    }

    /// Our own program `name`.
    ///
    /// # Errors
    /// It is not there.
    pub fn own(&self, name: &str) -> Result<PathBuf, String> {
        existing(self.own.join(name))
    }
}

fn existing(program: PathBuf) -> Result<PathBuf, String> {
    if program.exists() {
        return Ok(program);
    }
    Err(format!(
        "{} is missing: cargo xtask bench footprint builds it",
        program.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn contestants_are_named_once() {
        let all: Vec<String> = [USUAL, COUNTED, LARGE, IN_PROCESS]
            .iter()
            .flat_map(|it| it.iter().map(|it| it.name()))
            .collect();
        let names: BTreeSet<&String> = all.iter().collect();
        assert_eq!(names.len(), all.len());
    }

    #[test]
    fn every_way_of_receiving_is_there_with_polling_too() {
        let ours = USUAL.iter().filter(|it| it.product == Product::Whimbrel);
        let (polling, blocking): (Vec<_>, Vec<_>) = ours
            .filter(|it| it.mode != Mode::Spinning)
            .partition(|it| it.mode.without_polling().is_some());
        let of = |it: &&Contestant| it.mode.without_polling().unwrap();
        let alike: BTreeSet<Mode> = polling.iter().map(of).collect();
        let blocking: BTreeSet<Mode> = blocking.iter().map(|it| it.mode).collect();
        assert_eq!(alike, blocking);
    }

    #[test]
    fn only_spinning_needs_a_second_core() {
        for contestant in USUAL {
            let fits = contestant.fits(Placement::OneCore);
            let spins = [Mode::Spinning, Mode::SpinningConnected];
            assert_eq!(fits, !spins.contains(&contestant.mode));
            assert!(contestant.fits(Placement::TwoHosts));
        }
    }

    #[test]
    fn who_is_missing_is_an_error() {
        let programs = Programs::new(Path::new("nowhere")).unwrap();
        let why = programs.of(Product::Cyclone).unwrap_err();
        assert!(why.starts_with("nowhere/bench_cyclone is missing"), "{why}");
    }

    #[test]
    fn nobody_answers_from_another_process_to_one_that_has_both_ends() {
        assert!(IN_PROCESS.iter().all(|it| it.is_alone()));
        assert!(!LARGE.iter().any(|it| it.is_alone()));
    }
}
