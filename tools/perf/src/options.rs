//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::criteria::{Criteria, bound};
use crate::live::Live;
use crate::measure::Verdict;

/// Measures Whimbrel beside its peers and the raw socket, and reproduces the measurements that it
/// was founded on. Exit codes: 0 good, 1 a criterion was missed, 2 it could not begin, 3 it broke
/// off, 129, 130 and 143 by a signal.
#[derive(Parser, Debug)]
#[command(name = "whimbrel-perf", version, about, long_about = None)]
pub(crate) struct Options {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// What can be measured, and what waits for what.
    List,
    /// Runs scenarios: by name, or by the part of the name before a hyphen.
    Run {
        /// Such as `lat3-inter`, `lat3` or `comp-lat`.
        #[arg(required = true)]
        scenarios: Vec<String>,
        #[command(flatten)]
        how: How,
    },
    /// Runs all scenarios of a founding document, with its own figures beside ours.
    Reproduce {
        /// `S0` to `S4`, or `all`.
        seed: String,
        #[command(flatten)]
        how: How,
    },
    /// Measures again what a kept report says was measured, and compares both where they are of one
    /// machine.
    Again {
        /// Its report.json.
        report: PathBuf,
        /// Where the new report goes.
        #[arg(long, value_name = "DIR", default_value = "whimbrel-perf-report")]
        out: PathBuf,
        /// Where the programs of the peers are.
        #[arg(long, value_name = "DIR")]
        peers: Option<PathBuf>,
    },
    /// Whether A is faster than B: two configurations in turn, or two reports of one machine.
    Compare {
        /// `whimbrel`, `whimbrel:lz4`, `whimbrel:zlib:9:8192`, `cyclone`, `fastdds`, `raw`, or a
        /// report.json.
        a: String,
        /// The same.
        b: String,
        #[command(flatten)]
        race: Racing,
        /// Octets of a sample.
        #[arg(long, value_delimiter = ',', default_value = "64",
            value_parser = clap::value_parser!(u32).range(1..=1 << 29))]
        sizes: Vec<u32>,
        /// Ends with exit code 1 where any size has another verdict.
        #[arg(long)]
        expect: Option<Verdict>,
    },
    /// From which size on B is faster than A, by halving.
    Crossover {
        /// As for `compare`.
        a: String,
        /// As for `compare`.
        b: String,
        #[command(flatten)]
        race: Racing,
        /// The smallest size in octets.
        #[arg(long, default_value_t = 64,
            value_parser = clap::value_parser!(u32).range(1..=1 << 29))]
        from: u32,
        /// The largest.
        #[arg(long, default_value_t = 1 << 20,
            value_parser = clap::value_parser!(u32).range(1..=1 << 29))]
        to: u32,
    },
    /// The highest rate at which nothing is lost and 99 % of latencies keep to a bound.
    Rate {
        /// Octets of a sample.
        #[arg(long, default_value_t = 64,
            value_parser = clap::value_parser!(u32).range(1..=1 << 29))]
        size: u32,
        /// One-way latency from the schedule that 99 % must keep to, in microseconds.
        #[arg(long, default_value_t = 1000.0, value_parser = bound)]
        p99_max: f64,
    },
    /// Publishes, subscribes, asks or answers until Ctrl-C, with a line each second in which
    /// something happened: losses, rates, latency of each peer, memory, switches.
    Live(Live),
    /// What this tool must keep itself, then `reproduce all --quick`; prints `goal:` lines.
    Goals {
        #[command(flatten)]
        how: How,
    },
    /// What sending fewer bytes must come to; prints `goal:` lines, and draws a picture.
    Bytes {
        #[command(flatten)]
        how: How,
    },
    /// A few messages, to see that anything works at all; prints one line.
    Sanity {
        #[command(flatten)]
        criteria: Criteria,
    },
    /// A process that is measured; started by the others.
    #[command(hide = true)]
    Role {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
}

/// How two configurations take turns.
#[derive(Args, Clone, Debug)]
pub(crate) struct Racing {
    /// Where: two processes, one process, two hosts, or two hosts with a slow cable.
    #[arg(long, value_enum, default_value = "inter")]
    pub(crate) place: Where,
    /// How often each has its turn.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(5..=10_000))]
    pub(crate) rounds: u32,
    /// Round trips of each turn.
    #[arg(long, default_value_t = 200,
        value_parser = clap::value_parser!(u32).range(3..=1_000_000))]
    pub(crate) per_round: u32,
    /// What samples of Whimbrel hold: log, zeros, random, image or file:PATH.
    #[arg(long, default_value = "log")]
    pub(crate) payload: String,
    /// Where the programs of the peers are.
    #[arg(long, value_name = "DIR")]
    pub(crate) peers: Option<PathBuf>,
}

/// Where two configurations take turns.
#[derive(clap::ValueEnum, Clone, Copy, Debug)]
pub(crate) enum Where {
    Inter,
    Intra,
    Dual,
    #[value(name = "100mbit")]
    FastEthernet,
    #[value(name = "1gbit")]
    Gigabit,
}

/// How scenarios run.
#[derive(Args, Clone, Debug)]
pub(crate) struct How {
    /// About a minute for each scenario, the default.
    #[arg(long, conflicts_with = "full")]
    pub(crate) quick: bool,
    /// All sizes of the founding documents, 10,000 messages of each in S3; half an hour in all.
    #[arg(long)]
    pub(crate) full: bool,
    /// Moments: whether it runs, not how fast.
    #[arg(long, hide = true, conflicts_with_all = ["quick", "full"])]
    pub(crate) miniature: bool,
    /// Where the report goes: report.html, .csv, .json and histograms.
    #[arg(long, value_name = "DIR", default_value = "whimbrel-perf-report")]
    pub(crate) out: PathBuf,
    /// Where the programs of the peers are.
    #[arg(long, value_name = "DIR")]
    pub(crate) peers: Option<PathBuf>,
    /// What samples hold where that matters: log, zeros, random, image or file:PATH.
    #[arg(long, default_value = "log")]
    pub(crate) payload: String,
    /// Sizes of samples instead of the usual, in octets.
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1 << 29))]
    pub(crate) sizes: Vec<u32>,
    #[command(flatten)]
    pub(crate) criteria: Criteria,
}
