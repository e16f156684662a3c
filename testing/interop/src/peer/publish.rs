//! The publisher.

use std::thread;
use std::time::{Duration, Instant};

use whimbrel::{DataWriter, DomainParticipant};

use super::end::End;
use super::options::{Farewell, Options};
use super::setup::{MAX_BLOCKING, writer_qos};
use super::values::Value;
use super::watch::{Linger, Matched, POLL};

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
    let writer = participant.create_datawriter(&topic, qos)?;
    println!("ready");
    let mut matched = Matched::default();
    while matched.note(writer.matched_subscriptions().len()) < options.wait_matched {
        if Instant::now() > options.deadline {
            return Err(End::Timeout("not matched".into()));
        }
        thread::sleep(POLL);
    }
    let left = options.deadline.saturating_duration_since(Instant::now());
    writer
        .wait_for_matched(options.wait_matched, left)
        .map_err(|_| End::Timeout("matched in one direction only".into()))?;
    watch(&writer, &mut matched, options.settle_ms);
    write_all(options, &writer, &mut matched)?;
    farewell(options, &writer)?;
    if options.reliable {
        // A reader that left does not count, one that is stuck must not hold us.
        let _ = writer.wait_for_acknowledgments(ACKNOWLEDGMENT);
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

fn make<T: Value>(options: &Options, seq: u32, key: &str) -> Result<T, End> {
    T::make(options, seq, key).ok_or_else(|| End::Usage(format!("no sample {seq} of key {key}")))
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
