use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::*;

const FORM: Form = Form {
    format: Format::Csv,
    intervals: true,
    headers: true,
    cpu: false,
    serialization: false,
    nanoseconds: false,
};

#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn printed(form: Form, print: impl FnOnce(&mut Printer)) -> String {
    let page = Page::default();
    let mut printer = Printer::to(form, Box::new(page.clone()));
    printer.begin();
    print(&mut printer);
    printer.end().unwrap();
    let bytes = page.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

const ALL: Latencies = Latencies {
    ave: 230_400.0,
    std: 299_660.0,
    min: 51_999,
    max: 902_000,
};

fn latencies(printer: &mut Printer) {
    printer.latency_header(100);
    printer.latency_interval(100, 88_000, ALL, 1.5);
    printer.latency_summary(&LatencySummary {
        length: 100,
        all: ALL,
        percentiles: [88_000, 902_000, 902_000, 902_000, 902_000],
        serialization_us: Some((0.125, 0.25)),
        cpu: 2.25,
    });
}

fn throughput(printer: &mut Printer) {
    printer.throughput_header(100);
    printer.throughput_interval(&ThroughputInterval {
        length: 100,
        packets: 3_583_926,
        per_s: 2_046_014,
        per_s_ave: 2_046_014.0,
        mbps: 1636.8,
        mbps_ave: 1636.8,
        lost: 3,
        lost_percent: 0.01,
        cpu: 1.5,
    });
    printer.throughput_summary(&ThroughputSummary {
        length: 100,
        packets: 5_887_953,
        per_s: 1_963_048,
        mbps: 1570.4,
        lost: 3,
        lost_percent: 0.01,
        cpu: 2.25,
    });
}

#[test]
fn csv_of_a_publisher_is_that_of_the_original() {
    let text = printed(FORM, latencies);
    let wanted = [
        "",
        "Intervals One-Way Latency for 100 Bytes:",
        "Length (Bytes), Latency (μs), Ave (μs), Std (μs), Min (μs), Max (μs)",
        "           100,           88,      230,    299.7,       51,      902",
        "",
        "One-way Latency Summary:",
        "Sample Size (Bytes), Ave (μs), Std (μs), Min (μs), Max (μs), 50% (μs), 90% (μs), \
         99% (μs), 99.99% (μs), 99.9999% (μs)",
        concat!(
            "                100,      230,    299.7,       51,      902,",
            "       88,      902,      902,         902,           902"
        ),
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), wanted);
}

#[test]
fn csv_of_a_subscriber_is_that_of_the_original() {
    let text = printed(FORM, throughput);
    let wanted = [
        "",
        "Interval Throughput for 100 Bytes:",
        "Length (Bytes), Total Samples,  Samples/s, Avg Samples/s,     Mbps,  Avg Mbps, \
         Lost Samples, Lost Samples (%)",
        concat!(
            "           100,       3583926,    2046014,       2046014,   1636.8,    1636.8,",
            "            3,             0.01"
        ),
        "",
        "Throughput Summary:",
        "Sample Size (Bytes), Total Samples, Avg Samples/s,    Avg Mbps, Lost Samples, \
         Lost Samples (%)",
        concat!(
            "                100,       5887953,       1963048,      1570.4,",
            "            3,             0.01"
        ),
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), wanted);
}

#[test]
fn csv_has_further_columns_where_asked_for() {
    let form = Form {
        cpu: true,
        serialization: true,
        nanoseconds: true,
        ..FORM
    };
    let text = printed(form, latencies);
    assert!(text.contains("Max (μs), CPU (%)\n"), "{text}");
    let end = ", 99.9999% (μs), Serialization (μs), Deserialization (μs), Total (μs), CPU (%)\n";
    assert!(text.contains(end), "{text}");
    assert!(text.contains("       88.000,  230.400,  299.660,   51.999,  902.000,    1.50\n"));
    assert!(text.ends_with(",              0.125,                0.250,      0.375,    2.25\n"));
}

#[test]
fn without_intervals_and_headers_only_the_summary_is_left() {
    let form = Form {
        intervals: false,
        ..FORM
    };
    let text = printed(form, |printer| {
        latencies(printer);
        latencies(printer);
    });
    // Several sizes share one header.
    assert_eq!(text.matches("Sample Size (Bytes)").count(), 1);
    assert_eq!(text.lines().count(), 3);
    assert!(!text.contains("Summary:"));
    let bare = Form {
        headers: false,
        ..form
    };
    assert_eq!(printed(bare, latencies).lines().count(), 1);
}

fn json(form: Form, print: impl FnOnce(&mut Printer)) -> Value {
    let form = Form {
        format: Format::Json,
        ..form
    };
    let text = printed(form, print);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    keys.sort_unstable();
    keys
}

fn sorted<const N: usize>(mut names: [&str; N]) -> Vec<&str> {
    names.sort_unstable();
    names.to_vec()
}

#[test]
fn json_has_the_keys_of_the_original() {
    let form = Form {
        cpu: true,
        serialization: true,
        ..FORM
    };
    let latency = json(form, latencies);
    let element = &latency["perftest"][0];
    assert_eq!(keys(element), ["intervals", "length", "summary"]);
    let interval = sorted([
        "latency",
        "latency_ave",
        "latency_std",
        "latency_min",
        "latency_max",
        "CPU",
    ]);
    assert_eq!(keys(&element["intervals"][0]), interval);
    let summary = sorted([
        "latency_ave",
        "latency_std",
        "latency_min",
        "latency_max",
        "latency_50",
        "latency_90",
        "latency_99",
        "latency_99.99",
        "latency_99.9999",
        "serialize",
        "deserialize",
        "total_s",
        "CPU",
    ]);
    assert_eq!(keys(&element["summary"]), summary);
    let throughput = json(FORM, throughput);
    let element = &throughput["perftest"][0];
    let interval = sorted([
        "length",
        "packets",
        "packets/s",
        "packets/s_ave",
        "mbps",
        "mbps_ave",
        "lost",
        "lost_percent",
    ]);
    assert_eq!(keys(&element["intervals"][0]), interval);
    let summary = sorted(["packets", "packets/sAve", "mbpsAve", "lost", "lostPercent"]);
    assert_eq!(keys(&element["summary"]), summary);
}

#[test]
fn json_is_whole_whatever_came() {
    assert_eq!(json(FORM, |_| ())["perftest"], Value::Array(vec![]));
    let two = json(FORM, |printer| {
        latencies(printer);
        latencies(printer);
    });
    assert_eq!(two["perftest"].as_array().unwrap().len(), 2);
    let quiet = Form {
        intervals: false,
        ..FORM
    };
    assert_eq!(
        keys(&json(quiet, throughput)["perftest"][0]),
        ["length", "summary"]
    );
    for form in [FORM, quiet] {
        // The test broke off after the first sample of a size.
        json(form, |printer| printer.throughput_header(100));
    }
}

#[test]
fn legacy_lines_are_those_of_the_original() {
    let form = Form {
        format: Format::Legacy,
        ..FORM
    };
    let text = printed(form, latencies);
    let wanted = "\n\n********** New data length is 100\n\
        One-Way Latency:     88 μs Ave    230 μs Std  299.7 μs Min     51 μs Max    902 μs\n\
        Length:   100 Latency: Ave    230 μs Std  299.7 μs Min     51 μs Max    902 μs \
        50%     88 μs 90%    902 μs 99%    902 μs 99.99%    902 μs 99.9999%    902 μs\n";
    assert_eq!(text, wanted);
    let text = printed(form, throughput);
    let wanted = "\n\n********** New data length is 100\n\
        Packets:  3583926  Packets/s: 2046014  Packets/s(ave): 2046014  Mbps:  1636.8  \
        Mbps(ave):  1636.8  Lost:     3 (0.01%)\n\
        Length:   100  Packets:  5887953  Packets/s(ave): 1963048  Mbps(ave):  1570.4  \
        Lost:     3 (0.01%)\n";
    assert_eq!(text, wanted);
}

#[test]
fn what_cannot_be_written_is_told_at_the_end() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut printer = Printer::to(FORM, Box::new(Full));
    latencies(&mut printer);
    assert!(matches!(printer.end(), Err(Failure::Run(_))));
}
