//! What both products share: the roles of the bench, played by a link.
//!
//! `cargo xtask setup --rust-peers` builds `bench_rustdds` and `bench_dustdds` and puts them where
//! the other peers are (`target/peers`).
#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use whimbrel_bench::clock::now_ns;
use whimbrel_bench::protocol::{Order, option, serve, stand_by};

/// How long it may take to meet.
const MEETING: Duration = Duration::from_secs(20);

/// A writer of one topic and a reader of another: RELIABLE, KEEP_LAST 1, VOLATILE.
pub trait Link: Sized + Send + 'static {
    /// A sample: a number and octets.
    type Msg: Send;

    /// Writes the topic `written`, reads the topic `read` in `domain`.
    ///
    /// # Errors
    /// What the product says.
    fn open(domain: u16, written: &str, read: &str) -> Result<Self, String>;

    /// Whether both ends are matched.
    ///
    /// # Errors
    /// What the product says.
    fn is_matched(&mut self) -> Result<bool, String>;

    /// The sample `seq` with `payload`.
    fn sample(seq: u32, payload: Vec<u8>) -> Self::Msg;

    /// The number and size of `sample`.
    fn head(sample: &Self::Msg) -> (u32, usize);

    /// Writes `sample`.
    ///
    /// # Errors
    /// What the product says.
    fn send(&mut self, sample: Self::Msg) -> Result<(), String>;

    /// Waits for the next sample.
    ///
    /// # Errors
    /// What the product says.
    fn receive(&mut self) -> Result<Self::Msg, String>;
}

/// Plays the role that the command line names; `version` is the product's.
pub fn main<L: Link>(version: &str) -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|it| it == "version") {
        println!("{version}");
        return ExitCode::SUCCESS;
    }
    match play::<L>(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{}: {why}", words.join(" "));
            ExitCode::FAILURE
        }
    }
}

fn play<L: Link>(words: &[String]) -> Result<(), String> {
    let [bench, role, mode, ..] = words else {
        return Err("BENCH ROLE MODE OPTION...".into());
    };
    let domain = option(words, "--domain")?
        .parse()
        .map_err(|_| "bad domain")?;
    match (bench.as_str(), role.as_str(), mode.as_str()) {
        ("latency", _, "in-process") => Err("not measured within a process".into()),
        ("latency", "pong", _) => {
            let mut link = L::open(domain, "pong", "ping")?;
            std::thread::spawn(move || {
                while let Ok(sample) = link.receive() {
                    if let Err(why) = link.send(sample) {
                        eprintln!("answering: {why}");
                    }
                }
            });
            stand_by()
        }
        ("latency", "ping", _) => {
            let mut link = L::open(domain, "ping", "pong")?;
            let begun = Instant::now();
            while !link.is_matched()? {
                if begun.elapsed() > MEETING {
                    return Err("nobody answers".into());
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            // The other side may know of us a little later than we of it.
            std::thread::sleep(Duration::from_secs(1));
            let mut seq = 0;
            serve(|order| block(&mut link, order, &mut seq))
        }
        _ => Err(format!("no {role} of {bench}")),
    }
}

fn block<L: Link>(link: &mut L, order: Order, seq: &mut u32) -> Result<Vec<u64>, String> {
    let payload = vec![0x55; order.size];
    let mut ns = Vec::with_capacity(order.count);
    for turn in 0..order.count + order.warm {
        *seq += 1;
        // The product takes the sample itself, so each is made before it counts.
        let sample = L::sample(*seq, payload.clone());
        let begun_ns = now_ns();
        link.send(sample)?;
        let at = loop {
            let answer = link.receive()?;
            let now = now_ns();
            if L::head(&answer) == (*seq, order.size) {
                break now;
            }
        };
        if turn >= order.warm {
            ns.push(at.saturating_sub(begun_ns));
        }
    }
    Ok(ns)
}
