//! Tests that run to their end, and those that are broken off.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::{Running, numbers, pair};

fn scratch(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("perftest-it-{}-{name}", std::process::id()));
    // Left by a run with the same number, if at all.
    let _ = std::fs::remove_file(&path);
    path
}

#[test]
fn a_latency_test_prints_one_row_on_each_side() {
    let bare = "-noPrint -noOutputHeaders";
    let (publisher, sub) = pair(201, &format!("-latencyTest -numIter 200 {bare}"), bare);
    let row = numbers(publisher.out.trim_end());
    assert_eq!(
        (publisher.out.lines().count(), row.len(), row[0]),
        (1, 10, 100.0)
    );
    let (min, max, p50, p99) = (row[3], row[4], row[5], row[7]);
    assert!(min <= p50 && p50 <= p99 && p99 <= max, "{row:?}");
    let row = numbers(sub.out.trim_end());
    assert_eq!((row.len(), row[0], row[1], row[4]), (6, 100.0, 200.0, 0.0));
    for word in [
        "Waiting to discover 1 subscribers ...",
        "Sending 50 initialization pings ...",
    ] {
        assert!(publisher.err.contains(word), "{}", publisher.err);
    }
    assert!(sub.err.contains("Waiting for data ...") && sub.err.ends_with("Test ended.\n"));
}

#[test]
fn keyed_samples_of_a_file_arrive_and_are_counted_in_json() {
    let file = scratch("payload");
    std::fs::write(&file, "a line of text\n".repeat(100)).unwrap();
    let latencies = scratch("latencies");
    let publisher = format!(
        "-best -keyed -instances 5 -load {} -dataLen 128 -numIter 300 -latencyCount 100 \
         -pubRate 2000:sleep -outputFormat json -latencyFile {}",
        file.display(),
        latencies.display()
    );
    let (publisher, sub) = pair(
        202,
        &publisher,
        "-best -keyed -dataLen 128 -outputFormat json",
    );
    let publisher: Value = serde_json::from_str(&publisher.out).unwrap();
    let sub: Value = serde_json::from_str(&sub.out).unwrap();
    assert_eq!(publisher["perftest"][0]["length"], 128);
    let all = &sub["perftest"][0]["summary"];
    let count = |name: &str| all[name].as_u64().unwrap();
    assert_eq!(count("packets") + count("lost"), 300);
    let text = std::fs::read_to_string(&latencies).unwrap();
    assert_eq!(text.lines().next(), Some("Sample Number, Value"));
    for path in [file, latencies] {
        std::fs::remove_file(path).unwrap();
    }
}

/// What `-writerStats` says of `name`.
fn statistic(text: &str, name: &str) -> u64 {
    let (_, rest) = text.split_once(&format!("{name}: ")).unwrap();
    let end = rest.find(|it: char| !it.is_ascii_digit()).unwrap();
    rest[..end].parse().unwrap()
}

#[test]
fn samples_travel_compressed_both_ways() {
    let file = scratch("compressed");
    std::fs::write(&file, "a line of text\n".repeat(1000)).unwrap();
    for (domain, codec) in [(209, "LZ4"), (210, "ZLIB"), (211, "bzip2")] {
        let both = format!("-compressionId {codec} -compressionLevel 5 -noPrint -noOutputHeaders");
        let publisher = format!(
            "-latencyTest -numIter 50 -load {} -dataLen 4000 -writerStats {both}",
            file.display()
        );
        let (publisher, sub) = pair(domain, &publisher, &format!("-dataLen 4000 {both}"));
        assert_eq!(numbers(sub.out.trim_end())[1], 50.0);
        let said = format!(
            "Compression: {}, level 5, threshold 0",
            codec.to_uppercase()
        );
        assert!(publisher.err.contains(&said), "{}", publisher.err);
        let (_, statistics) = publisher.err.split_once("CompressionStatistics").unwrap();
        assert!(statistic(statistics, "samples") >= 50, "{statistics}");
    }
    std::fs::remove_file(file).unwrap();
}

#[test]
fn samples_share_messages_and_pings_are_in_every_place() {
    let common = "-noPrint -noOutputHeaders";
    let publisher = format!("-numIter 20000 -latencyCount 1 -batchSize 1400 -writerStats {common}");
    let (publisher, sub) = pair(213, &publisher, common);
    let row = numbers(sub.out.trim_end());
    assert_eq!((row[1], row[4]), (20_000.0, 0.0), "{row:?}");
    let said = &publisher.err;
    assert!(said.contains("Batching: 1400 Bytes"), "{said}");
    let (_, statistics) = said.split_once("WriterStatistics").unwrap();
    // Fourteen samples of 100 octets fit, and marks come before and after them.
    let batches = statistic(statistics, "batches");
    assert!((1400..2400).contains(&batches), "{batches}: {statistics}");
}

#[test]
fn batches_are_compressed_and_their_rate_is_kept() {
    let both = "-compressionId ZLIB -noPrint -noOutputHeaders";
    let publisher = format!(
        "-numIter 3000 -latencyCount 10 -sendQueueSize 2 -pubRate 10000:sleep -batchSize 8000 -writerStats {both}"
    );
    let (publisher, sub) = pair(214, &publisher, both);
    let row = numbers(sub.out.trim_end());
    assert_eq!((row[1], row[4]), (3000.0, 0.0), "{row:?}");
    // Marks of 1,262 octets are six to a batch.
    let (_, statistics) = publisher.err.split_once("WriterStatistics").unwrap();
    let batches = statistic(statistics, "batches");
    assert!((38..200).contains(&batches), "{batches}: {statistics}");
    let (_, statistics) = publisher.err.split_once("CompressionStatistics").unwrap();
    let packed = statistic(statistics, "samples");
    assert!((3000..3400).contains(&packed), "{packed}: {statistics}");
}

#[test]
fn another_thread_sends_in_messages_of_the_size_that_is_said() {
    let common = "-dataLen 5000 -noPrint -noOutputHeaders -messageSizeMax 1400";
    for (domain, more) in [(215, ""), (216, "-flowController 1Gbps"), (217, "-best")] {
        let publisher =
            format!("-numIter 500 -latencyCount 50 -asynchronous {more} {common} -writerStats");
        let sub = format!("{common} {}", if more == "-best" { more } else { "" });
        let (publisher, sub) = pair(domain, &publisher, &sub);
        let row = numbers(sub.out.trim_end());
        assert_eq!(row[0], 5000.0);
        if more != "-best" {
            assert_eq!((row[1], row[4]), (500.0, 0.0), "{row:?}");
        }
        let said = &publisher.err;
        assert!(said.contains("Asynchronous Publishing: Yes"), "{said}");
    }
}

#[test]
fn a_filter_takes_its_keys_and_loses_nothing() {
    let (_, sub) = pair(
        212,
        "-keyed -instances 4 -numIter 400 -latencyCount 10 -noPrint",
        "-keyed -cft 1:2 -noPrint -noOutputHeaders",
    );
    let row = numbers(sub.out.trim_end());
    assert_eq!((row[1], row[4]), (200.0, 0.0), "{row:?}");
    assert!(sub.err.contains("instances 1 to 2"), "{}", sub.err);
}

#[test]
fn samples_beyond_the_bound_take_the_large_type() {
    let (_, sub) = pair(
        203,
        "-dataLen 100000 -numIter 30 -latencyCount 10 -noPrint -noOutputHeaders -useReadThread",
        "-dataLen 100000 -noPrint -noOutputHeaders -useReadThread",
    );
    let row = numbers(sub.out.trim_end());
    assert_eq!((row[0], row[1], row[4]), (100_000.0, 30.0, 0.0));
}

#[test]
fn a_scan_has_a_summary_of_each_size() {
    // What waits in a queue would be answered too late to count.
    let publisher = "-scan 64:2000 -executionTime 1 -latencyCount 5 -pubRate 1000:sleep -noPrint";
    let (publisher, sub) = pair(204, publisher, "-noPrint");
    for out in [publisher.out, sub.out] {
        let rows: Vec<&str> = out.lines().collect();
        assert_eq!(rows.len(), 3, "{out}");
        assert!(rows[0].starts_with("Sample Size (Bytes)"));
        assert_eq!([numbers(rows[1])[0], numbers(rows[2])[0]], [64.0, 2000.0]);
    }
}

#[test]
fn several_subscribers_answer_in_turn() {
    let first = Running::start("-sub -domain 205 -noPrint -noOutputHeaders");
    let second = Running::start("-sub -domain 205 -noPrint -noOutputHeaders -sid 1");
    let line = "-pub -domain 205 -latencyTest -numIter 100 -numSubscribers 2 -noPrint";
    let publisher = Running::start(line).end();
    assert_eq!(publisher.code(), Some(0), "{}", publisher.err);
    for sub in [first.end(), second.end()] {
        assert_eq!(numbers(sub.out.trim_end())[1], 100.0);
    }
}

/// A publisher at work, and its subscriber.
fn at_work(domain: u32) -> (Running, Running) {
    let sub = Running::start(&format!("-sub -domain {domain} -noPrint -noOutputHeaders"));
    let line = format!("-pub -domain {domain} -latencyTest -noPrint -noOutputHeaders -exec 50");
    let publisher = Running::start(&line);
    publisher.wait_until("Sending data ...");
    // There is a pause of a second first.
    thread::sleep(Duration::from_secs(2));
    (publisher, sub)
}

#[test]
fn who_is_interrupted_prints_what_it_has() {
    let (publisher, sub) = at_work(206);
    sub.signal("INT");
    let sub = sub.end();
    assert_eq!(sub.code(), Some(130), "{}", sub.err);
    assert!(numbers(sub.out.trim_end())[1] > 0.0);
    // It left the bus, so the other side knows at once.
    let publisher = publisher.end();
    assert_eq!(publisher.code(), Some(1), "{}", publisher.err);
    assert!(
        publisher.err.contains("subscribers left"),
        "{}",
        publisher.err
    );
    assert_eq!(numbers(publisher.out.trim_end()).len(), 10);
}

#[test]
fn a_publisher_that_is_killed_is_missed() {
    let (publisher, sub) = at_work(207);
    publisher.signal("KILL");
    let sub = sub.end();
    assert_eq!(sub.code(), Some(1), "{}", sub.err);
    assert!(sub.err.contains("the publishers left"), "{}", sub.err);
    assert!(numbers(sub.out.trim_end())[1] > 0.0);
    drop(publisher);
}

#[test]
fn a_subscriber_that_is_killed_is_missed() {
    let file = scratch("killed");
    let sub = Running::start("-sub -domain 219 -noPrint");
    // The time of the test is over before anybody could be given up.
    let publisher = Running::start(&format!(
        "-pub -domain 219 -executionTime 4 -pubRate 1000:sleep -latencyCount 10 -outputFile {}",
        file.display()
    ));
    publisher.wait_until("Sending data ...");
    thread::sleep(Duration::from_secs(2));
    sub.signal("KILL");
    let publisher = publisher.end();
    assert_eq!(publisher.code(), Some(1), "{}", publisher.err);
    assert!(
        publisher.err.contains("the test is over"),
        "{}",
        publisher.err
    );
    let out = std::fs::read_to_string(&file).unwrap();
    assert!(out.contains("One-way Latency Summary"), "{out}");
    std::fs::remove_file(file).unwrap();
}

#[test]
fn a_full_disk_is_told() {
    let sub = Running::start("-sub -domain 208 -noPrint -outputFile /dev/full");
    let publisher = Running::start("-pub -domain 208 -numIter 20000 -noPrint").end();
    assert_eq!(publisher.code(), Some(0), "{}", publisher.err);
    let sub = sub.end();
    assert_eq!(sub.code(), Some(1));
    assert!(
        sub.err.contains("writing results: No space left"),
        "{}",
        sub.err
    );
}
