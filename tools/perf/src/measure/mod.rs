//! How figures come about: contestants start together and take turns, round by round.

mod crossover;
mod latency;
mod octets;
mod open;
mod pair;
mod probe;
mod spread;
mod stages;
mod stream;
mod vendor;
mod verdict;

use std::time::Duration;

pub(crate) use crossover::bisect;
pub(crate) use latency::{LatencyRow, Race};
pub(crate) use octets::{Octets, Watched};
pub(crate) use open::{OpenRow, Turns, measure as open_loop, side_by_side, sustainable};
pub(crate) use probe::{floor_us, test_link};
pub(crate) use spread::Spread;
pub(crate) use stages::{Stages, Staging};
pub(crate) use stream::{StreamRow, sweep};
pub(crate) use vendor::{DDSPERF, VendorRow, ddsperf, ping_pong};
pub(crate) use verdict::{Verdict, judge, judge_apart};

/// How long it may take to meet.
const MEETING: Duration = Duration::from_secs(30);
/// How long one round of one contestant may take.
const ROUND: Duration = Duration::from_secs(90);
