//! What threads do while they wait.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::error::Error;

/// What a thread does while it waits for something at an entity of a participant: in a wait set, in
/// `take_timeout`, in a `write` that has no room, for a listener.
///
/// Text: `sleep`, `receive`, `auto`, `auto:30` (microseconds) or `spin`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Waiting {
    /// It sleeps; a thread of the bus receives and wakes it.
    Sleep,
    /// It receives from the participant's socket itself, blocked in the receive call: nothing
    /// happens until something arrives, and no other thread is needed then.
    Receive,
    /// As [`Waiting::Receive`], but it polls the socket for up to `budget` first, for as long as
    /// that pays: while what it waited for last came about as soon as that. Where it does not, it
    /// stops trying for a while. A few times it polls for up to eight budgets, to find out whether
    /// who answers is quicker when he is not waited for asleep.
    ///
    /// Waits that begin more than eight budgets after the last one ended, as those of a program
    /// that asks a thousand times a second, poll for a fiftieth of the time in all, and block where
    /// that is used up. The larger the budget, the fewer waits are such.
    ///
    /// While datagrams come less than 4 µs apart it leaves the socket alone until about four have
    /// come, 12 µs at most, which leaves who sends them that much faster.
    Automatic {
        /// Longest that it polls at a time where that goes on, at most a second.
        budget: Duration,
    },
    /// It polls the socket without end, which takes a processor.
    Spin,
}

impl Waiting {
    /// Longest budget that makes sense.
    pub(crate) const BUDGET_MAX: Duration = Duration::from_secs(1);

    /// The values that make sense, in words.
    pub(super) const ALLOWED: &str =
        "sleep, receive, auto, auto: with a number of microseconds, or spin";

    /// What is wrong with `text`.
    pub(super) fn unknown(text: &str) -> String {
        format!("{:?} is no way to wait", text.trim())
    }
}

impl Default for Waiting {
    fn default() -> Self {
        Self::Automatic {
            budget: Duration::from_micros(50),
        }
    }
}

impl FromStr for Waiting {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let budget = |micros: &str| {
            let budget = Duration::from_micros(micros.parse().ok()?);
            (budget <= Self::BUDGET_MAX).then_some(Self::Automatic { budget })
        };
        let found = match text {
            "sleep" => Some(Self::Sleep),
            "receive" => Some(Self::Receive),
            "auto" => Some(Self::default()),
            "spin" => Some(Self::Spin),
            other => other.strip_prefix("auto:").and_then(budget),
        };
        found.ok_or_else(|| {
            Error::BadParameter(format!("{}: {}", Self::unknown(text), Self::ALLOWED))
        })
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sleep => f.write_str("sleep"),
            Self::Receive => f.write_str("receive"),
            Self::Automatic { budget } => write!(f, "auto:{}", budget.as_micros()),
            Self::Spin => f.write_str("spin"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_read_back() {
        for text in [
            "sleep",
            "receive",
            "auto:0",
            "auto:30",
            "auto:1000000",
            "spin",
        ] {
            assert_eq!(text.parse::<Waiting>().unwrap().to_string(), text);
        }
        assert_eq!(" auto ".parse::<Waiting>().unwrap(), Waiting::default());
        for text in [
            "",
            "auto:",
            "auto:-1",
            "auto:1000001",
            "auto:1.5",
            "Spin",
            "off",
        ] {
            assert!(text.parse::<Waiting>().is_err(), "{text}");
        }
    }
}
