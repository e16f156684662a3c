//! The publisher.

use std::thread;
use std::time::{Duration, Instant};

use whimbrel::qos::Bundling;
use whimbrel::{DataWriter, DomainParticipant};

use super::beside::Beside;
use super::end::End;
use super::options::{Farewell, Options};
use super::setup::{MAX_BLOCKING, writer_qos};
use super::values::{Value, make};
use super::watch::{Linger, Matched, POLL};

/// Smaller samples stay plain, in octets.
const COMPRESSED_FROM: usize = 100;

/// Longest wait for acknowledgments at the end, as the other peers have it.
const ACKNOWLEDGMENT: Duration = Duration::from_secs(5);

/// Writes as the options say; the number of samples.
pub(super) fn run<T: Value>(
    options: &Options,
    participant: &DomainParticipant,
) -> Result<u32, End> {
    let topic = participant.create_topic::<T>(&options.topic)?;
    let mut qos = writer_qos(options);
    qos.reliability.max_blocking_time = MAX_BLOCKING;
    qos.writer_data_lifecycle.autodispose_unregistered_instances = false;
    if let Some(codec) = options.codec {
        qos = qos.compression_ids(codec);
        qos = qos.writer_compression_threshold(Some(COMPRESSED_FROM));
    }
    if let Some(message_bytes_max) = options.bundle_bytes {
        qos = qos.bundling(Bundling::UpTo { message_bytes_max });
    } else if options.codec.is_some() {
        qos = qos.bundling(Bundling::Off);
    }
    let writer = participant.create_datawriter(&topic, qos)?;
    let beside = options.beside.then(|| Beside::<T>::start(options));
    let beside = beside.transpose()?;
    let wanted = options.wait_matched + usize::from(options.beside);
    println!("ready");
    let mut matched = Matched::default();
    while matched.note(writer.matched_subscriptions().len()) < wanted {
        if Instant::now() > options.deadline {
            return Err(End::Timeout("not matched".into()));
        }
        thread::sleep(POLL);
    }
    let left = options.deadline.saturating_duration_since(Instant::now());
    writer
        .wait_for_matched(wanted, left)
        .map_err(|_| End::Timeout("matched in one direction only".into()))?;
    watch(&writer, &mut matched, options.settle_ms);
    write_all(options, &writer, &mut matched)?;
    farewell(options, &writer)?;
    if options.reliable {
        // A reader that left does not count, one that is stuck must not hold us.
        let _ = writer.wait_for_acknowledgments(ACKNOWLEDGMENT);
    }
    if let Some(beside) = beside {
        beside.check(options)?;
        check_smaller(options, &writer)?;
    }
    let linger = Linger::begin(options);
    while !linger.is_over() {
        watch(&writer, &mut matched, 2);
    }
    Ok(options.count)
}

fn write_all<T: Value>(
    options: &Options,
    writer: &DataWriter<T>,
    matched: &mut Matched,
) -> Result<(), End> {
    for seq in 1..=options.count {
        let value = make::<T>(options, seq, options.key_of(seq))?;
        let facts = value.facts();
        writer.write(&value)?;
        println!("sent {} {} {:08x}", facts.seq, facts.key, facts.crc);
        watch(writer, matched, options.period_ms);
        if Instant::now() > options.deadline {
            return Err(End::Timeout(format!("sent {seq} of {}", options.count)));
        }
    }
    Ok(())
}

/// What the options ask for was done beside the readers of others: bundles left as such, and
/// compressed; or samples did, where there are no bundles.
fn check_smaller<T: Value>(options: &Options, writer: &DataWriter<T>) -> Result<(), End> {
    let bundles = writer.statistics().bundling.bundles;
    let packed_bundles = writer.bundle_compression_statistics().bundles;
    let packed_samples = writer.compression_statistics().samples;
    let missing = match (options.bundle_bytes, options.codec) {
        (Some(_), _) if bundles == 0 => "no bundles",
        (Some(_), Some(_)) if packed_bundles == 0 => "no compressed bundles",
        (None, Some(_)) if packed_samples == 0 => "no compressed samples",
        _ => return Ok(()),
    };
    Err(End::Failure(missing.into()))
}

fn farewell<T: Value>(options: &Options, writer: &DataWriter<T>) -> Result<(), End> {
    match &options.farewell {
        Farewell::Nothing => {}
        Farewell::Dispose(key) => writer.dispose(&make(options, options.count, key)?)?,
        Farewell::Unregister(key) => {
            writer.unregister_instance(&make(options, options.count, key)?)?;
        }
    }
    Ok(())
}

/// Watches matches for a while.
fn watch<T: Value>(writer: &DataWriter<T>, matched: &mut Matched, ms: u32) {
    let end = Instant::now() + Duration::from_millis(ms.into());
    loop {
        matched.note(writer.matched_subscriptions().len());
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        thread::sleep(left.min(POLL));
    }
}
