//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::criteria::Criteria;

/// Measures Whimbrel beside its peers and the raw socket, and reproduces the measurements that it
/// was founded on. Exit codes: 0 good, 1 a criterion was missed, 2 it could not begin, 3 it broke
/// off, 130 and 143 by a signal.
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
    /// The highest rate at which nothing is lost and 99 % of latencies keep to a bound.
    Rate {
        /// Octets of a sample.
        #[arg(long, default_value_t = 64)]
        size: usize,
        /// One-way latency from the schedule that 99 % must keep to, in microseconds.
        #[arg(long, default_value_t = 1000.0)]
        p99_max: f64,
    },
    /// What this tool must keep itself, then `reproduce all --quick`; prints `goal:` lines.
    Goals {
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

/// How scenarios run.
#[derive(Args, Clone, Debug)]
pub(crate) struct How {
    /// About a minute for each scenario, the default.
    #[arg(long, conflicts_with = "full")]
    pub(crate) quick: bool,
    /// All sizes, and as many messages as in the founding documents.
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
