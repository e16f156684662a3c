//! The command line of roles.

use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::criteria::Criteria;

/// How often somebody looks whether to stop.
pub(super) const LOOK: Duration = Duration::from_millis(50);

/// What a process does; several at once are fine.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Writes samples.
    Pub,
    /// Counts them.
    Sub,
    /// Asks, and measures how long answers take.
    Ping,
    /// Answers.
    Pong,
}

/// What runs, and for how long.
#[derive(Args, Clone, Debug)]
pub(crate) struct Live {
    /// One or more of pub, sub, ping, pong.
    #[arg(required = true)]
    pub(super) roles: Vec<Role>,
    /// The domain.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=232))]
    pub(super) domain: u32,
    /// Samples per second of pub, 0 for as many as possible.
    #[arg(long, default_value_t = 0)]
    pub(super) rate: u32,
    /// Questions per second of ping.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) ping_rate: u32,
    /// Octets of a sample.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(8..=1 << 29))]
    pub(super) size: u32,
    /// BEST_EFFORT instead of RELIABLE.
    #[arg(long)]
    pub(super) best_effort: bool,
    /// Ends after so many seconds, else by Ctrl-C.
    #[arg(long, value_name = "S")]
    pub(super) seconds: Option<u32>,
    /// Other participants that must be there after `--match-within`.
    #[arg(long, value_name = "COUNT")]
    pub(super) matches_min: Option<usize>,
    /// In seconds.
    #[arg(long, value_name = "S", default_value_t = 10)]
    pub(super) match_within: u32,
    #[command(flatten)]
    pub(super) criteria: Criteria,
}
