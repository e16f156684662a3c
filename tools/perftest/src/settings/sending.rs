//! How a publisher sends: its rate, its batches, which thread.

use std::time::Duration;

use whimbrel::qos::{Batch, FlowController, PublishMode};

use crate::failure::Failure;
use crate::options::Given;

/// Octets of a batch.
const BATCH_BYTES: u64 = 8192;
/// Octets of a token of a flow controller of the original.
const TOKEN_BYTES: u64 = 65_536;
/// Its controllers, and how many tokens they add every 10 ms.
const CONTROLLERS: [(&str, u64); 2] = [("1Gbps", 20), ("10Gbps", 200)];

/// How the publisher keeps its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pacing {
    /// As fast as it can.
    None,
    /// So many samples a second, waiting by turning or by sleeping.
    Rate { per_s: u64, spins: bool },
    /// So long between samples.
    Sleep(Duration),
    /// So many empty loops between samples.
    Spin(u64),
}

/// Octets of a batch: 8192 unless said, as in the code of the original. A test of latency has none,
/// nor have samples of which it does not hold two; one that keeps a rate has some if asked for.
pub(super) fn batch(given: &Given, data_len: Option<usize>) -> Result<Option<usize>, Failure> {
    let asked = given.has("batchSize");
    if asked && given.has("latencyTest") && given.count("batchSize", 0) > 0 {
        return Err(Failure::Options(
            "-batchSize and -latencyTest: a ping waits for nobody".into(),
        ));
    }
    let keeps_rate = ["pubRate", "pubRatebps", "sleep", "spin"]
        .iter()
        .any(|it| given.has(it));
    if given.has("latencyTest") || (keeps_rate && !asked) || given.has("sub") {
        return Ok(None);
    }
    let bytes = usize::try_from(given.count("batchSize", BATCH_BYTES)).unwrap_or(usize::MAX);
    let holds_two = data_len.is_none_or(|it| 2 * it <= bytes);
    Ok((holds_two && bytes > 0).then_some(bytes.min(Batch::DATA_BYTES_MAX)))
}

/// Samples of `data_len` octets in a batch of so many.
pub(super) fn per_batch(batch: Option<usize>, data_len: Option<usize>) -> u64 {
    let samples = batch.zip(data_len).map(|(batch, each)| batch / each.max(1));
    samples.unwrap_or(1).max(1) as u64
}

/// Samples before the test: as many as the queue holds, which counts batches.
pub(super) fn initial_burst(given: &Given, per_batch: u64) -> u64 {
    let queue = given.count("sendQueueSize", 50).saturating_mul(per_batch);
    let instances = given.count("instances", 1);
    given.count("initialBurstSize", queue.max(instances))
}

/// Which thread sends, and how fast; a controller without `-asynchronous` controls nothing, as in
/// the original.
pub(super) fn publish_mode(given: &Given) -> PublishMode {
    if !given.has("asynchronous") {
        return PublishMode::Synchronous;
    }
    let named = given.text("flowController").unwrap_or_default();
    let tokens = CONTROLLERS.iter().find(|it| it.0 == named);
    PublishMode::Asynchronous(tokens.map_or(FlowController::UNLIMITED, |(_, tokens)| {
        FlowController {
            bytes_per_period: tokens * TOKEN_BYTES,
            period: whimbrel::Duration::from_millis(10),
            burst_bytes_max: tokens * TOKEN_BYTES,
        }
    }))
}

pub(super) fn pacing(given: &Given, data_len: Option<usize>) -> Result<Pacing, Failure> {
    let set: Vec<&str> = ["pubRate", "pubRatebps", "sleep", "spin"]
        .into_iter()
        .filter(|it| given.has(it))
        .collect();
    if let [first, second, ..] = set[..] {
        return Err(Failure::Options(format!(
            "-{first} and -{second}: one says the rate"
        )));
    }
    let rate = |text: &str, unit: u64| {
        let (number, method) = text.split_once(':').unwrap_or((text, "spin"));
        let per_s = number.parse::<u64>().unwrap_or(0) / unit;
        match number {
            "0" => Pacing::None,
            _ => Pacing::Rate {
                per_s: per_s.max(1),
                spins: method == "spin",
            },
        }
    };
    if let Some(text) = given.text("pubRate") {
        return Ok(rate(text, 1));
    }
    if let Some(text) = given.text("pubRatebps") {
        let size = match (given.has("scan"), data_len) {
            (false, Some(size)) => size,
            _ => return Err(Failure::Options("-pubRatebps: needs -dataLen".into())),
        };
        return Ok(rate(text, 8 * size as u64));
    }
    let (sleep, spin) = (given.count("sleep", 0), given.count("spin", 0));
    Ok(match (sleep, spin) {
        (0, 0) => Pacing::None,
        (0, _) => Pacing::Spin(spin),
        _ => Pacing::Sleep(Duration::from_millis(sleep)),
    })
}
