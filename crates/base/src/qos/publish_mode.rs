//! Who sends samples, and how fast. Not part of the standard, and nothing that travels.

use crate::time::Duration;

/// Who sends what a writer writes. Named after the policy PUBLISH_MODE of Connext.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PublishMode {
    /// The thread that writes, unless samples wait for others ([`super::Bundling`]).
    #[default]
    Synchronous,
    /// A thread of the bus, as fast as the flow controller allows: a write only puts the sample
    /// into history, and what is there when that thread comes leaves together. A KEEP_LAST writer
    /// that is faster than that waits for at most `max_blocking_time` of RELIABILITY and then
    /// replaces what has not left. Listeners of the same process are called by another thread too.
    Asynchronous(FlowController),
}

impl PublishMode {
    /// The flow controller; none where the thread that writes sends.
    pub const fn controller(self) -> Option<FlowController> {
        match self {
            Self::Synchronous => None,
            Self::Asynchronous(controller) => Some(controller),
        }
    }
}

/// How many octets of RTPS messages, new samples and repairs, a writer sends in which time: those
/// of a bucket, which is full at first and is added to in equal steps. What is sent while the
/// bucket is not empty may overdraw it by one message. Heartbeats are not counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowController {
    /// What is added to the bucket each time, in octets.
    pub bytes_per_period: u64,
    /// How often.
    pub period: Duration,
    /// What the bucket holds at most, in octets.
    pub burst_bytes_max: u64,
}

impl FlowController {
    /// As much as the network takes.
    pub const UNLIMITED: Self = Self {
        bytes_per_period: u64::MAX,
        period: Duration::from_millis(10),
        burst_bytes_max: u64::MAX,
    };

    /// So many octets per second, added every 10 ms, of which those of 10 ms may leave at once.
    pub const fn bytes_per_second(bytes: u64) -> Self {
        let each = bytes.div_ceil(100);
        Self {
            bytes_per_period: each,
            period: Duration::from_millis(10),
            burst_bytes_max: each,
        }
    }

    /// True where it lets anything leave.
    pub const fn is_valid(&self) -> bool {
        let often = !self.period.is_zero() && !self.period.is_infinite();
        often && self.bytes_per_period > 0 && self.burst_bytes_max > 0
    }

    /// True where it never holds anything back.
    pub const fn is_unlimited(&self) -> bool {
        self.bytes_per_period == u64::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_lets_something_leave() {
        let rate = FlowController::bytes_per_second(1_000_001);
        assert_eq!(
            (rate.bytes_per_period, rate.burst_bytes_max),
            (10_001, 10_001)
        );
        assert!(rate.is_valid() && !rate.is_unlimited());
        assert!(FlowController::UNLIMITED.is_valid() && FlowController::UNLIMITED.is_unlimited());
        assert!(!FlowController::bytes_per_second(0).is_valid());
        let never = FlowController {
            period: Duration::INFINITE,
            ..rate
        };
        let always = FlowController {
            period: Duration::ZERO,
            ..rate
        };
        assert!(!never.is_valid() && !always.is_valid());
    }

    #[test]
    fn the_thread_that_writes_sends_unless_said() {
        assert_eq!(PublishMode::default().controller(), None);
        let other = PublishMode::Asynchronous(FlowController::UNLIMITED);
        assert_eq!(other.controller(), Some(FlowController::UNLIMITED));
    }
}
