//! What is measured, and of which programs.

use std::path::PathBuf;
use std::time::Duration;

use crate::contestant::{Product, Programs};

/// Readers beyond the first participant.
pub(super) const READERS: usize = 1000;

/// How long idle pairs are watched.
pub(super) const IDLE: Duration = Duration::from_secs(30);

/// A program whose footprint is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// Whimbrel built as README.md says for small processes: `[profile.small]`, statically linked.
    Small,
    /// Whimbrel built for speed, as it is measured everywhere else, and linked so that what runs
    /// lies together, as README.md says.
    Fast,
    /// The same, linked as it comes.
    Unordered,
    /// A peer, as it is delivered.
    Peer(Product),
}

impl Who {
    pub(super) const ALL: [Self; 5] = [
        Self::Small,
        Self::Peer(Product::Cyclone),
        Self::Fast,
        Self::Unordered,
        Self::Peer(Product::FastDds),
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Small => "whimbrel",
            Self::Fast => "whimbrel-fast",
            Self::Unordered => "whimbrel-unordered",
            Self::Peer(product) => product.name(),
        }
    }

    pub(super) fn product(self) -> Product {
        match self {
            Self::Small | Self::Fast | Self::Unordered => Product::Whimbrel,
            Self::Peer(product) => product,
        }
    }

    /// Its program.
    ///
    /// # Errors
    /// It is not there: who is missing is never passed over.
    pub(super) fn program(self, programs: &Programs) -> Result<PathBuf, String> {
        let name = "bench_footprint";
        let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
        match self {
            Self::Small => programs.own(&format!("../{target}/small/{name}")),
            Self::Fast => programs.own(&format!("../ordered/measured/{name}")),
            Self::Unordered => programs.own(name),
            Self::Peer(product) => programs.of(product),
        }
    }
}

/// Figures of one program: medians.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Figures {
    pub(super) who: Who,
    /// Of a process with one participant.
    pub(super) resident_kib: f64,
    pub(super) private_kib: f64,
    pub(super) threads: f64,
    /// Each of a thousand more readers of one topic.
    pub(super) reader_kib: f64,
    pub(super) threads_with_readers: f64,
    /// Of a process whose listener answers another's.
    pub(super) threads_with_listener: f64,
    /// Of one with eight participants, eight writers and eight readers each, whose listeners were
    /// all called; NaN of peers, whose threads are judged by nobody.
    pub(super) threads_of_crowd: f64,
    /// What it takes to start a program that does nothing, which `match_ms` and `sample_ms` leave
    /// out.
    pub(super) launch_ms: f64,
    /// From the start of a process until both sides know of each other's writer and reader.
    pub(super) match_ms: f64,
    /// The time of cores that the process used until then, its launch included.
    pub(super) match_cpu_ms: f64,
    /// From the start of that process until its first sample was answered.
    pub(super) sample_ms: f64,
    pub(super) idle_cpu_ms: f64,
    /// Of that, what a raw process takes that is woken as often and makes a call or two each time;
    /// NaN where that is more than all.
    pub(super) idle_system_ms: f64,
    pub(super) idle_wakes: f64,
    /// Stripped program and the product's libraries.
    pub(super) binary_kib: f64,
}
