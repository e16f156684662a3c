//! Samples on a schedule, whether or not answers come: who is late makes the following late too,
//! and that is counted, from the time at which each should have left.

use std::hint::spin_loop;
use std::str::FromStr;
use std::thread;
use std::time::{Duration, Instant};

use whimbrel::DataWriter;
use whimbrel_bench::exchange::Msg;

use super::words::nanos;

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
    /// When sample `at` is to leave after the first.
    fn due(self, at: usize) -> Duration {
        Duration::from_nanos(at as u64 * 1_000_000_000 / self.rate.max(1))
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
    at: Vec<Option<Instant>>,
    missing: usize,
    schedule: Schedule,
}

impl Answers {
    pub(super) fn new(schedule: Schedule) -> Self {
        Self {
            at: vec![None; schedule.count],
            missing: schedule.count,
            schedule,
        }
    }

    /// Numbers begin with 1.
    pub(super) fn note(&mut self, seq: u32, now: Instant) {
        let place = (seq as usize).checked_sub(1);
        if let Some(at @ None) = place.and_then(|it| self.at.get_mut(it)) {
            *at = Some(now);
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
        for (place, at) in self.at.iter().enumerate() {
            let (Some(at), Some(left)) = (at, sent.left.get(place)) else {
                continue;
            };
            let due = sent.begun + self.schedule.due(place);
            let intended = nanos(at.saturating_duration_since(due));
            let actual = nanos(at.saturating_duration_since(*left));
            text.push_str(&format!(" {intended}:{actual}"));
        }
        text
    }
}

/// When samples left.
pub(super) struct Sent {
    begun: Instant,
    left: Vec<Instant>,
}

/// Writes the samples of `schedule`.
pub(super) fn send(
    schedule: Schedule,
    mut sample: Msg,
    writer: &DataWriter<Msg>,
) -> Result<Sent, String> {
    let begun = Instant::now();
    let mut left = Vec::with_capacity(schedule.count);
    for place in 0..schedule.count {
        let due = begun + schedule.due(place);
        loop {
            let wait = due.saturating_duration_since(Instant::now());
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
        left.push(Instant::now());
        let written = writer.write(&sample);
        written.map_err(|error| format!("write: {error}"))?;
    }
    Ok(Sent { begun, left })
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
        let begun = Instant::now();
        let ms = |it| begun + Duration::from_millis(it);
        let mut answers = Answers::new(schedule);
        // The second left 4 ms late, and its answer came 1 ms after that.
        let sent = Sent {
            begun,
            left: vec![ms(0), ms(5), ms(6)],
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
