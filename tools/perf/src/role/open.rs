//! Samples on a schedule, whether or not answers come: who is late makes the following late too,
//! and that is counted, from the time at which each should have left.

use std::hint::spin_loop;
use std::str::FromStr;
use std::thread;
use std::time::{Duration, Instant};

use whimbrel::DataWriter;
use whimbrel_bench::clock::now_ns;
use whimbrel_bench::exchange::Msg;

/// How long the last answers may take.
const SETTLING: Duration = Duration::from_secs(1);
/// Below this the schedule is kept by turning, not by sleeping.
const SLEEP_MIN: Duration = Duration::from_micros(200);

/// When samples are to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Schedule {
    pub(super) size: usize,
    pub(super) count: usize,
    /// In samples per second.
    pub(super) rate: u64,
}

impl Schedule {
    /// When sample `at` is to leave after the first, in nanoseconds.
    fn due_ns(self, at: usize) -> u64 {
        at as u64 * 1_000_000_000 / self.rate.max(1)
    }
}

impl FromStr for Schedule {
    type Err = String;

    fn from_str(words: &str) -> Result<Self, String> {
        let numbers: Result<Vec<u64>, _> = words.split_whitespace().map(str::parse).collect();
        match numbers.as_deref() {
            Ok([size, count, rate]) if *rate > 0 => Ok(Self {
                size: *size as usize,
                count: *count as usize,
                rate: *rate,
            }),
            _ => Err(format!("not SIZE COUNT RATE: {words}")),
        }
    }
}

/// When each sample of a schedule was answered.
pub(super) struct Answers {
    at_ns: Vec<Option<u64>>,
    missing: usize,
    schedule: Schedule,
}

impl Answers {
    pub(super) fn new(schedule: Schedule) -> Self {
        Self {
            at_ns: vec![None; schedule.count],
            missing: schedule.count,
            schedule,
        }
    }

    /// Numbers begin with 1.
    pub(super) fn note(&mut self, seq: u32, now_ns: u64) {
        let place = (seq as usize).checked_sub(1);
        if let Some(at @ None) = place.and_then(|it| self.at_ns.get_mut(it)) {
            *at = Some(now_ns);
            self.missing -= 1;
        }
    }

    pub(super) fn is_complete(&self) -> bool {
        self.missing == 0
    }

    /// `open_ns LOST`, then for each answered sample `INTENDED:ACTUAL`: the round trip from when it
    /// should have left, and from when it left.
    pub(super) fn report(&self, sent: &Sent) -> String {
        let mut text = format!("open_ns {}", self.missing);
        for (place, at) in self.at_ns.iter().enumerate() {
            let (Some(at), Some(left)) = (at, sent.left_ns.get(place)) else {
                continue;
            };
            let due = sent.begun_ns + self.schedule.due_ns(place);
            let intended = at.saturating_sub(due);
            let actual = at.saturating_sub(*left);
            text.push_str(&format!(" {intended}:{actual}"));
        }
        text
    }
}

/// When samples left.
pub(super) struct Sent {
    begun_ns: u64,
    left_ns: Vec<u64>,
}

/// Writes the samples of `schedule`.
pub(super) fn send(
    schedule: Schedule,
    mut sample: Msg,
    writer: &DataWriter<Msg>,
) -> Result<Sent, String> {
    let begun_ns = now_ns();
    let mut left_ns = Vec::with_capacity(schedule.count);
    for place in 0..schedule.count {
        let due = begun_ns + schedule.due_ns(place);
        loop {
            let wait = Duration::from_nanos(due.saturating_sub(now_ns()));
            if wait.is_zero() {
                break;
            }
            if wait > SLEEP_MIN {
                thread::sleep(wait - SLEEP_MIN);
            } else {
                spin_loop();
            }
        }
        sample.seq += 1;
        left_ns.push(now_ns());
        let written = writer.write(&sample);
        written.map_err(|error| format!("write: {error}"))?;
    }
    Ok(Sent { begun_ns, left_ns })
}

/// Waits until `complete`, within bounds: what has not come by then is lost.
pub(super) fn settle(complete: impl Fn() -> bool) {
    let deadline = Instant::now() + SETTLING;
    while !complete() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_counts_from_the_schedule() {
        let schedule: Schedule = "16 3 1000".parse().unwrap();
        let begun_ns = 7_000_000;
        let ms = |it: u64| begun_ns + it * 1_000_000;
        let mut answers = Answers::new(schedule);
        // The second left 4 ms late, and its answer came 1 ms after that.
        let sent = Sent {
            begun_ns,
            left_ns: vec![ms(0), ms(5), ms(6)],
        };
        answers.note(1, ms(1));
        answers.note(2, ms(6));
        answers.note(2, ms(9));
        answers.note(7, ms(9));
        assert!(!answers.is_complete());
        let report = answers.report(&sent);
        assert_eq!(report, "open_ns 1 1000000:1000000 5000000:1000000");
        for words in ["", "1 2", "1 2 0", "a b c"] {
            assert!(words.parse::<Schedule>().is_err(), "{words}");
        }
    }
}
