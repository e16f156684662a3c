//! All cases, in the order in which they are played.

use std::time::Duration;

use super::big_endian::{BigEndian, Traffic};
use super::mesh::Mesh;
use super::of_matrix::OfMatrix;
use super::pressure::Pressure;
use super::restarts::{Restarts, Which};
use super::stage::Stage;
use super::tally::Moved;
use super::{loss::Loss, restarts::End};
use crate::matrix::cases::{CASES, Pair, Peer, limit};

const OTHERS: [Peer; 3] = [Peer::Cyclone, Peer::CyclonePy, Peer::FastDds];

/// A case.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) class: &'static str,
    pub(crate) course: Course,
    /// Played however little time there is.
    pub(crate) first: bool,
    /// What it takes on a quiet machine.
    pub(crate) takes: Duration,
}

/// How a case goes.
#[derive(Debug)]
pub(crate) enum Course {
    Restarts(Restarts),
    Loss(Loss),
    Pressure(Pressure),
    Mesh(Mesh),
    BigEndian(BigEndian),
    OfMatrix(OfMatrix),
}

impl Job {
    /// Its name in reports.
    pub(crate) fn name(&self) -> String {
        let class = self.class;
        match &self.course {
            Course::Restarts(it) => format!("{class}: {it}"),
            Course::Loss(it) => format!("{class}: {it}"),
            Course::Pressure(it) => format!("{class}: {it}"),
            Course::Mesh(it) => format!("{class}: {it}"),
            Course::BigEndian(it) => format!("{class}: {it}"),
            Course::OfMatrix(it) => format!("{class}: {it}"),
        }
    }

    /// True when this product takes part.
    pub(crate) fn has(&self, peer: Peer) -> bool {
        let pair = match &self.course {
            Course::Restarts(it) => it.pair,
            Course::Loss(it) => it.pair,
            Course::Pressure(it) => it.pair,
            Course::BigEndian(it) => it.pair,
            Course::OfMatrix(it) => it.pair,
            Course::Mesh(it) => return it.members.contains(&peer),
        };
        pair.other() == peer
    }

    /// Plays and judges.
    pub(crate) fn play(&self, stage: &Stage<'_>) -> Result<Moved, String> {
        match &self.course {
            Course::Restarts(it) => it.play(stage),
            Course::Loss(it) => it.play(stage),
            Course::Pressure(it) => it.play(stage),
            Course::Mesh(it) => it.play(stage),
            Course::BigEndian(it) => it.play(stage),
            Course::OfMatrix(it) => it.play(stage),
        }
    }
}

/// All cases; `full` has the numbers where those take longer, `previous` plays previous
/// releases too. Classes take turns, and so do the products within a class.
pub(crate) fn jobs(full: bool, previous: bool) -> Vec<Job> {
    let mut classes = vec![
        mesh(full),
        restarts(full),
        loss(full),
        pressure(full),
        big_endian(),
        lossy(),
    ];
    if previous {
        classes.push(with_previous());
    }
    for class in &mut classes {
        if let Some(job) = class.first_mut() {
            job.first = true;
        }
    }
    let longest = classes.iter().map(Vec::len).max().unwrap_or_default();
    let mut classes: Vec<_> = classes.into_iter().map(Vec::into_iter).collect();
    (0..longest)
        .flat_map(|_| {
            classes
                .iter_mut()
                .filter_map(Iterator::next)
                .collect::<Vec<_>>()
        })
        .collect()
}

fn job(class: &'static str, seconds: u64, course: Course) -> Job {
    Job {
        class,
        course,
        first: false,
        takes: Duration::from_secs(seconds),
    }
}

/// Both directions with each of the others.
fn pairs() -> Vec<Pair> {
    let to = OTHERS.into_iter().map(Pair::to);
    let from = OTHERS.into_iter().map(Pair::from);
    to.zip(from).flat_map(|(to, from)| [to, from]).collect()
}

fn restarts(full: bool) -> Vec<Job> {
    let rounds = if full { 8 } else { 2 };
    let mut jobs = Vec::new();
    for (end, which) in [
        (End::Killed, Which::Reader),
        (End::Left, Which::Writer),
        (End::Killed, Which::Writer),
        (End::Left, Which::Reader),
    ] {
        for pair in pairs() {
            let course = Course::Restarts(Restarts {
                pair,
                which,
                end,
                rounds,
            });
            jobs.push(job("restarts", 2 + 2 * rounds, course));
        }
    }
    jobs
}

fn loss(full: bool) -> Vec<Job> {
    let count = if full { 20 } else { 3 };
    let mut jobs = Vec::new();
    for (percent, size_bytes) in [
        (5, 100_000),
        (20, 300_000),
        (5, 1_048_576),
        (20, 100_000),
        (20, 1_048_576),
    ] {
        for pair in pairs() {
            let course = Course::Loss(Loss {
                pair,
                percent,
                size_bytes,
                count,
            });
            jobs.push(job("loss", if full { 20 } else { 5 }, course));
        }
    }
    jobs
}

fn pressure(full: bool) -> Vec<Job> {
    let count = if full { 5000 } else { 800 };
    let pairs = pairs().into_iter();
    pairs
        .map(|pair| {
            let course = Course::Pressure(Pressure { pair, count });
            job("back-pressure", if full { 25 } else { 4 }, course)
        })
        .collect()
}

fn mesh(full: bool) -> Vec<Job> {
    use Peer::{Cyclone, CyclonePy, FastDds, Whimbrel};
    let count = if full { 50 } else { 10 };
    let mixes = [
        [Whimbrel, Cyclone, CyclonePy, FastDds],
        [Whimbrel, Whimbrel, Cyclone, FastDds],
        [Whimbrel, Whimbrel, CyclonePy, FastDds],
        [Whimbrel, Whimbrel, Whimbrel, Whimbrel],
    ];
    let mixes = mixes.into_iter();
    mixes
        .map(|members| {
            let course = Course::Mesh(Mesh {
                members,
                topics: 64,
                count,
            });
            job("mesh", 4, course)
        })
        .collect()
}

fn big_endian() -> Vec<Job> {
    let mut jobs = Vec::new();
    for traffic in [
        Traffic::Shape,
        Traffic::Fragments,
        Traffic::Telemetry,
        Traffic::SpoiledTypes,
    ] {
        for pair in pairs() {
            let course = Course::BigEndian(BigEndian { pair, traffic });
            jobs.push(job("big-endian", 4, course));
        }
    }
    jobs
}

/// What we send is lost by other seeds each time. The rows are those of the matrix.
fn lossy() -> Vec<Job> {
    let mut jobs = Vec::new();
    for case in CASES.iter().filter(|case| case.name.starts_with("lossy")) {
        for pair in pairs() {
            let course = Course::OfMatrix(OfMatrix { case, pair });
            jobs.push(job("seeds of loss", 3, course));
        }
    }
    jobs
}

/// The whole matrix, but for what a release cannot.
fn with_previous() -> Vec<Job> {
    let mut jobs = Vec::new();
    for case in CASES {
        let can = |pair: &Pair| limit(case.name, *pair).is_none();
        for pair in Pair::with_previous().into_iter().filter(can) {
            let course = Course::OfMatrix(OfMatrix { case, pair });
            jobs.push(job("previous release", 3, course));
        }
    }
    jobs
}
