//! The processes of a run: a source and a sink of large samples, a ping and its echo.

use std::io::BufRead;
use std::net::UdpSocket;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration as StdDuration, Instant};

use whimbrel::{
    DataReader, DataReaderQos, DataWriter, DataWriterQos, DdsType, DomainParticipant, Duration,
    Error,
};

/// Octets of a large sample.
const LARGE_BYTES: usize = 4_000_000;

/// IP and UDP headers around a message.
const HEADER_BYTES: u64 = 28;

/// Where the echo of plain UDP listens.
const ECHO: &str = "10.77.0.2:9000";

/// Time between two pings.
const PING_PERIOD: StdDuration = StdDuration::from_millis(2);

/// A ping that is not answered by then was lost.
const PING_PATIENCE: StdDuration = StdDuration::from_millis(200);

#[derive(DdsType, Debug)]
struct Large {
    number: u64,
    bytes: Vec<u8>,
}

#[derive(DdsType, Debug)]
struct Small {
    number: u64,
}

pub(super) fn child(words: &[String]) -> ExitCode {
    let done = match words.first().map(String::as_str) {
        Some("source") => source(),
        Some("sink") => sink(),
        Some("ping") => ping(),
        Some("echo") => echo(),
        _ => Ok(()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{words:?}: {why}");
            ExitCode::FAILURE
        }
    }
}

fn reliable_writer<T: DdsType + 'static>(
    participant: &DomainParticipant,
    topic: &str,
) -> Result<DataWriter<T>, Error> {
    let topic = participant.create_topic::<T>(topic)?;
    let qos = DataWriterQos::default().reliable().keep_all();
    participant.create_datawriter(&topic, qos.max_blocking_time(Duration::from_secs(30)))
}

fn reliable_reader<T: DdsType + 'static>(
    participant: &DomainParticipant,
    topic: &str,
) -> Result<DataReader<T>, Error> {
    let topic = participant.create_topic::<T>(topic)?;
    participant.create_datareader(&topic, DataReaderQos::default().reliable().keep_all())
}

/// Answers every line of the input until it ends.
fn serve(mut answer: impl FnMut(&str) -> Result<String, Error>) -> Result<(), Error> {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        println!("{}", answer(&line)?);
    }
    Ok(())
}

fn source() -> Result<(), Error> {
    let participant = DomainParticipant::new(0)?;
    let writer = reliable_writer::<Large>(&participant, "large")?;
    let mut sample = Large {
        number: 0,
        bytes: (0..LARGE_BYTES).map(|at| at as u8).collect(),
    };
    serve(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            ["meet"] => writer
                .wait_for_matched(1, StdDuration::from_secs(15))
                .map(|()| "met=1".into()),
            ["write", count, period_ms] => {
                let count: u64 = count.parse().unwrap_or(0);
                let period = StdDuration::from_millis(period_ms.parse().unwrap_or(0));
                let begun = Instant::now();
                for turn in 0..count {
                    let due = begun + period * u32::try_from(turn).unwrap_or(u32::MAX);
                    thread::sleep(due.saturating_duration_since(Instant::now()));
                    sample.number += 1;
                    writer.write(&sample)?;
                }
                // A rate is kept up where no write comes late; without one, all must be there.
                let due = period * u32::try_from(count).unwrap_or(u32::MAX);
                let kept_up = begun.elapsed().max(due);
                writer.wait_for_acknowledgments(StdDuration::from_secs(15))?;
                let took = if period.is_zero() {
                    begun.elapsed()
                } else {
                    kept_up
                };
                Ok(format!(
                    "written={} bytes={} took_us={}",
                    sample.number,
                    count * LARGE_BYTES as u64,
                    took.as_micros()
                ))
            }
            _ => {
                let it = writer.statistics();
                let bytes = it.repaired_bytes + it.repairs * HEADER_BYTES;
                Ok(format!("repair_bytes={bytes} repairs={}", it.repairs))
            }
        }
    })
}

fn sink() -> Result<(), Error> {
    let participant = DomainParticipant::new(0)?;
    let reader = reliable_reader::<Large>(&participant, "large")?;
    let counts = Arc::new((AtomicU64::new(0), AtomicU64::new(0)));
    let counted = Arc::clone(&counts);
    thread::spawn(move || {
        for sample in reader.samples_timeout(StdDuration::from_secs(3600)) {
            let Some(data) = sample.data() else { continue };
            let next = counted.0.load(Ordering::Relaxed) + 1;
            let intact = data.number == next
                && data.bytes.len() == LARGE_BYTES
                && data
                    .bytes
                    .iter()
                    .enumerate()
                    .all(|(at, it)| *it == at as u8);
            counted.1.fetch_add(u64::from(intact), Ordering::Relaxed);
            counted.0.store(next, Ordering::Relaxed);
        }
    });
    serve(|_| {
        let (delivered, intact) = (&counts.0, &counts.1);
        Ok(format!(
            "delivered={} intact={}",
            delivered.load(Ordering::Relaxed),
            intact.load(Ordering::Relaxed)
        ))
    })
}

/// Round trips in microseconds, while somebody measures.
#[derive(Default)]
struct Trips {
    measuring: AtomicBool,
    us: Mutex<Vec<f64>>,
}

impl Trips {
    fn note(&self, trip: StdDuration) {
        if self.measuring.load(Ordering::Relaxed) {
            let us = trip.as_secs_f64() * 1e6;
            self.us
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(us);
        }
    }

    /// Those since the last call.
    fn take(&self) -> Vec<f64> {
        std::mem::take(&mut *self.us.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The median of `trips` but the slowest, of which there are `slowest` in each of them.
fn median(mut trips: Vec<f64>, slowest: f64) -> f64 {
    trips.sort_by(f64::total_cmp);
    let kept = trips.len() as f64 * (1.0 - slowest);
    trips
        .get((kept / 2.0) as usize)
        .copied()
        .unwrap_or(f64::MAX)
}

fn ping() -> Result<(), Error> {
    let participant = DomainParticipant::new(0)?;
    let writer = reliable_writer::<Small>(&participant, "ping")?;
    let reader = reliable_reader::<Small>(&participant, "pong")?;
    let (bus, udp) = (Arc::new(Trips::default()), Arc::new(Trips::default()));
    let met = Arc::new(AtomicBool::new(false));
    let (trips, go) = (Arc::clone(&bus), Arc::clone(&met));
    thread::spawn(move || {
        while !go.load(Ordering::Relaxed) {
            thread::sleep(PING_PERIOD);
        }
        for number in 0.. {
            let begun = Instant::now();
            if writer.write(&Small { number }).is_err() {
                return;
            }
            // A reliable answer comes however often its packets are lost.
            for sample in reader.samples_timeout(StdDuration::from_secs(10)) {
                if sample.data().is_some_and(|it| it.number == number) {
                    break;
                }
            }
            trips.note(begun.elapsed());
            thread::sleep(PING_PERIOD);
        }
    });
    let trips = Arc::clone(&udp);
    thread::spawn(move || ping_udp(&trips));
    serve(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            ["meet"] => {
                // The echo writes, too, and both ways must stand.
                thread::sleep(StdDuration::from_secs(1));
                met.store(true, Ordering::Relaxed);
            }
            ["begin"] => [&bus, &udp].into_iter().for_each(|it| {
                it.take();
                it.measuring.store(true, Ordering::Relaxed);
            }),
            ["end", lost_percent] => {
                for it in [&bus, &udp] {
                    it.measuring.store(false, Ordering::Relaxed);
                }
                // What is lost there or back waits for its repair, mostly longer than all else:
                // the bus has it among its trips, plain UDP has not.
                let lost: f64 = lost_percent.parse().map_err(|_| unknown(line))?;
                let kept = 1.0 - lost / 100.0;
                let (bus, udp) = (
                    median(bus.take(), 1.0 - kept * kept),
                    median(udp.take(), 0.0),
                );
                return Ok(format!("bus_us={bus:.0} udp_us={udp:.0}"));
            }
            _ => return Err(unknown(line)),
        }
        Ok("done=1".into())
    })
}

fn ping_udp(trips: &Trips) {
    let Ok(socket) = UdpSocket::bind("0.0.0.0:0") else {
        return;
    };
    let ready = socket.connect(ECHO).is_ok();
    let ready = ready && socket.set_read_timeout(Some(PING_PATIENCE)).is_ok();
    let mut room = [0; 64];
    for number in 0_u64.. {
        let begun = Instant::now();
        if !ready || socket.send(&number.to_le_bytes()).is_err() {
            thread::sleep(PING_PATIENCE);
            continue;
        }
        loop {
            match socket.recv(&mut room) {
                // An answer to an earlier ping came late.
                Ok(8) if room.get(..8) != Some(&number.to_le_bytes()) => {}
                Ok(_) => {
                    trips.note(begun.elapsed());
                    break;
                }
                Err(_) => break,
            }
        }
        thread::sleep(PING_PERIOD);
    }
}

fn unknown(line: &str) -> Error {
    Error::BadParameter(format!("no such order: {line}"))
}

fn echo() -> Result<(), Error> {
    let participant = DomainParticipant::new(0)?;
    let writer = reliable_writer::<Small>(&participant, "pong")?;
    let reader = reliable_reader::<Small>(&participant, "ping")?;
    thread::spawn(move || {
        for sample in reader.samples_timeout(StdDuration::from_secs(3600)) {
            if let Some(data) = sample.data()
                && writer.write(data).is_err()
            {
                return;
            }
        }
    });
    thread::spawn(|| {
        let Ok(socket) = UdpSocket::bind(ECHO) else {
            return;
        };
        let mut room = [0; 64];
        while let Ok((len, from)) = socket.recv_from(&mut room) {
            if let Some(bytes) = room.get(..len) {
                // Lost answers are what the ping waits for in vain.
                let _ = socket.send_to(bytes, from);
            }
        }
    });
    serve(|_| Ok("done=1".into()))
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_slowest_do_not_count_towards_the_median_of_the_others() {
        let trips = || (0..100).rev().map(f64::from).collect();
        assert_eq!((median(trips(), 0.0), median(trips(), 0.2)), (50.0, 40.0));
        assert_eq!(median(Vec::new(), 0.2), f64::MAX);
    }
}
