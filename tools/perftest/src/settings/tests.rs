use super::*;

fn settings(line: &str) -> Result<Settings, Failure> {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    Settings::new(&Given::parse(&words)?)
}

fn refusal(line: &str) -> String {
    match settings(line) {
        Err(Failure::Options(why)) => why,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn defaults_are_those_of_the_original() {
    let publisher = settings("-pub").unwrap();
    assert_eq!(publisher.data_len, Some(100));
    assert_eq!(
        (publisher.iterations, publisher.latency_count),
        (100_000_000, 10_000)
    );
    assert_eq!((publisher.domain, publisher.send_queue), (1, 50));
    // The queue counts batches, of 81 samples here.
    assert_eq!((publisher.initial_burst, publisher.instances), (50 * 81, 1));
    assert!(!publisher.best_effort && !publisher.keyed && !publisher.unbounded);
    assert_eq!(publisher.execution, None);
    let latency = settings("-pub -latencyTest").unwrap();
    assert_eq!((latency.iterations, latency.latency_count), (10_000_000, 1));
    let thread = settings("-useReadThread").unwrap().read_thread.unwrap();
    assert_eq!(
        (thread.delay, thread.events),
        (Duration::from_micros(100), 5)
    );
    assert_eq!(settings("").unwrap().role, Role::Subscriber);
}

/// The words of the two sides of S0's scripts.
#[test]
fn the_seeds_command_lines_are_understood() {
    let both = "-transport UDPv4 -nic 172.16.1.1 -noPrint -noOutputHeaders -noXML \
        -compressionId LZ4 -compressionThreshold 0 -compressionLevel 5";
    for size in [32, 63_000, 100_000, 10_485_760] {
        let line = format!(
            "-best -datalen {size} -pub {both} -exec 30 -latencyTest -loadDataFromFile messages"
        );
        let publisher = settings(&line).unwrap();
        assert_eq!(publisher.data_len, Some(size));
        assert_eq!(publisher.unbounded, size > 65_470);
        assert_eq!(publisher.execution, Some(Duration::from_secs(30)));
        assert!(publisher.best_effort && publisher.latency_test);
        assert_eq!(publisher.interfaces.as_deref(), Some("172.16.1.1"));
        let subscriber = settings(&format!("-best -sub {both} -datalen {size}")).unwrap();
        assert_eq!(subscriber.unbounded, size > 65_470);
        for it in [publisher, subscriber] {
            assert_eq!(it.compression.offered(), CompressionIds::LZ4);
            assert_eq!(it.compression.writer_compression_level, 5);
            assert_eq!(it.compression.writer_compression_threshold, Some(0));
        }
    }
}

#[test]
fn rates_are_kept_in_one_way() {
    let pacing = |line: &str| settings(&format!("-pub {line}")).unwrap().pacing;
    let rate = |per_s, spins| Pacing::Rate { per_s, spins };
    assert_eq!(pacing("-pubRate 500:sleep"), rate(500, false));
    assert_eq!(pacing("-pubRate 500"), rate(500, true));
    assert_eq!(pacing("-pubRate 0:spin"), Pacing::None);
    assert_eq!(pacing("-pubRatebps 8000 -dataLen 100"), rate(10, true));
    assert_eq!(pacing("-pubRatebps 8 -dataLen 100"), rate(1, true));
    assert_eq!(pacing("-sleep 2"), Pacing::Sleep(Duration::from_millis(2)));
    assert_eq!(pacing("-spin 7"), Pacing::Spin(7));
    let why = refusal("-pub -pubRate 1 -sleep 2");
    assert_eq!(why, "-pubRate and -sleep: one says the rate");
}

#[test]
fn contradictions_are_refused() {
    assert!(refusal("-pub -latencyTest -pidMultiPubTest 1").contains("pidMultiPubTest 0"));
    assert_eq!(
        refusal("-pub -numIter 5 -latencyCount 6"),
        "-numIter 5 is below -latencyCount 6"
    );
    assert!(refusal("-pub -dataLen 100 -scan").contains("one says the size"));
    assert!(refusal("-pub -instances 2 -writeInstance 2").contains("-instances 2"));
    for size in [1262, 1263, 1264] {
        assert!(refusal(&format!("-dataLen {size}")).contains("marks"));
    }
    assert!(refusal("-dataLen 2000000000").contains("at most"));
}

#[test]
fn what_does_not_exist_is_refused_by_name() {
    for (line, name) in [
        ("-pub -batchSize 60001", "-batchSize 60001"),
        ("-messageSizeMax 507", "-messageSizeMax 507"),
        ("-messageSizeMax 65508", "-messageSizeMax 65508"),
        ("-durability 2", "-durability 2"),
        ("-transport shmem", "-transport SHMEM"),
        ("-domain 240", "-domain 240"),
        ("-multicastAddr 10.0.0.1", "-multicastAddr 10.0.0.1"),
        (
            "-multicastAddr 239.255.1.1,239.255.1.2,239.255.1.100",
            "-multicastAddr 239.255.1.1,239.255.1.2,239.255.1.100",
        ),
    ] {
        let why = refusal(line);
        assert!(why.starts_with(name), "{why}");
    }
    let nothing = "-compressionId MASK_NONE -compressionLevel 10 -compressionThreshold 0";
    let nothing = settings(nothing).unwrap().compression;
    assert!(nothing.offered().is_empty());
    // Nothing asked for is that of the original too: best level, no threshold.
    assert_eq!(settings("").unwrap().compression, nothing);
}

#[test]
fn peers_are_addresses_in_connexts_words() {
    let settings = settings("-peer udpv4://10.0.0.7 -peer 4@10.0.0.8 -nic eth0 -allow 10.0.0.0/8");
    let settings = settings.unwrap();
    assert_eq!(settings.peers, ["10.0.0.7", "10.0.0.8"]);
    assert_eq!(settings.interfaces.as_deref(), Some("eth0,10.0.0.0/8"));
}

#[test]
fn a_scan_has_sizes_and_a_time() {
    let all = settings("-pub -scan").unwrap();
    assert_eq!(all.scan.as_deref(), Some(SCAN));
    assert_eq!(all.execution, Some(Duration::from_secs(60)));
    let large = settings("-pub -scan 70000:80000 -exec 1").unwrap();
    assert!(large.unbounded);
}

#[test]
fn an_environment_can_only_shorten() {
    let mut long = settings("-pub -exec 30").unwrap();
    long.shorten("2").unwrap();
    assert_eq!(long.execution, Some(Duration::from_secs(2)));
    assert!(
        long.notes[0].contains("2 s instead of 30"),
        "{:?}",
        long.notes
    );
    let mut short = settings("-pub -exec 1").unwrap();
    short.shorten("2").unwrap();
    assert_eq!(
        (short.execution, short.notes.len()),
        (Some(Duration::from_secs(1)), 0)
    );
    for text in ["", "0", "-1", "soon"] {
        assert!(short.shorten(text).is_err(), "{text}");
    }
}

#[test]
fn keys_are_one_or_a_range() {
    let filter = |line: &str| settings(line).unwrap().filter.map(|it| it.to_string());
    assert_eq!(filter("-sub -cft 7").as_deref(), Some("instances 7 to 7"));
    assert_eq!(filter("-sub -cft 7:9").as_deref(), Some("instances 7 to 9"));
    assert_eq!(filter("-sub"), None);
    assert!(refusal("-sub -cft 9:7").contains("9 is above 7"));
    assert!(refusal("-pub -cft 7").contains("goes with -sub only"));
}

#[test]
fn batches_are_as_large_as_in_the_original_and_off_where_they_make_no_sense() {
    let batch = |line: &str| settings(line).unwrap().batch;
    assert_eq!(batch("-pub"), Some(8192));
    assert_eq!(batch("-pub -batchSize 1400"), Some(1400));
    assert_eq!(batch("-pub -dataLen 4096"), Some(8192));
    for line in [
        "-pub -batchSize 0",
        "-pub -latencyTest",
        "-pub -latencyTest -batchSize 0",
        "-pub -dataLen 4097",
        "-pub -dataLen 40 -batchSize 60",
        "-pub -pubRate 100:spin",
        "-sub",
    ] {
        assert_eq!(batch(line), None, "{line}");
    }
    assert_eq!(batch("-pub -pubRate 100:spin -batchSize 1000"), Some(1000));
    assert!(refusal("-pub -latencyTest -batchSize 100").contains("-latencyTest"));
}

#[test]
fn a_queue_counts_batches_and_the_burst_before_the_test_fills_it() {
    let settings = |line: &str| settings(line).unwrap();
    let batched = settings("-pub -sendQueueSize 20");
    assert_eq!((batched.per_batch, batched.initial_burst), (81, 20 * 81));
    let alone = settings("-pub -sendQueueSize 20 -batchSize 0");
    assert_eq!((alone.per_batch, alone.initial_burst), (1, 20));
    assert_eq!(settings("-pub -initialBurstSize 7").initial_burst, 7);
}

#[test]
fn another_thread_sends_as_fast_as_its_controller_says() {
    let mode = |line: &str| settings(line).unwrap().publish_mode;
    let bytes = |line: &str| mode(line).controller().unwrap().bytes_per_period;
    assert_eq!(mode("-pub"), PublishMode::Synchronous);
    assert_eq!(mode("-pub -flowController 1gbps"), PublishMode::Synchronous);
    assert_eq!(bytes("-pub -asynchronous"), u64::MAX);
    assert_eq!(bytes("-pub -async -flow default"), u64::MAX);
    // 1.05 and 10.5 Gbit/s, as the profiles of the original have it.
    assert_eq!(bytes("-pub -asynchronous -flowController 1Gbps"), 1_310_720);
    assert_eq!(
        bytes("-pub -asynchronous -flowController 10GBPS"),
        13_107_200
    );
    assert!(refusal("-pub -asynchronous -flowController 2Gbps").contains("2Gbps is none of"));
}

#[test]
fn messages_are_as_large_as_is_said() {
    let bytes = |line: &str| settings(line).unwrap().message_bytes_max;
    assert_eq!(bytes("-sub"), None);
    assert_eq!(bytes("-pub -messageSizeMax 1400"), Some(1400));
}
