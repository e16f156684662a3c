use std::collections::BTreeMap;

use serde_json::Value;

use super::model::{
    Floor, LatencyFigure, OpenFigure, SCHEMA, Section, State, StreamFigure, VerdictFigure,
};
use super::*;
use crate::measure::Verdict;

fn report() -> Report {
    let latency = |contestant: &str, size, p50_us| LatencyFigure {
        contestant: contestant.into(),
        size,
        count: 200,
        min_us: p50_us / 2.0,
        mean_us: p50_us,
        p50_us,
        p90_us: Some(p50_us * 2.0),
        max_us: p50_us * 9.0,
        floor_multiple: Some(2.5),
        histogram: "x.hdr".into(),
        ..LatencyFigure::default()
    };
    let ran = Section {
        name: "lat3-inter".into(),
        seed: "S3".into(),
        title: "latency <here>".into(),
        shows: "What it shows.".into(),
        floor: Some(Floor {
            first_us: 4.0,
            last_us: 6.0,
        }),
        latencies: vec![latency("Whimbrel", 16, 10.0), latency("Whimbrel", 64, 12.0)],
        streams: vec![StreamFigure {
            contestant: "Whimbrel".into(),
            size: 64,
            samples_per_s: 1e6,
            mbytes_per_s: 64.0,
            lost_percent: 0.5,
            cpu_us: 1.0,
            cpu_sides_us: [0.4, 0.6],
            repairs: Some(3),
            wire_bytes: None,
        }],
        schedules: vec![OpenFigure {
            size: 64,
            rate: 100,
            sent: 50,
            lost: 0,
            intended_p50_us: 20.0,
            intended_p99_us: None,
            actual_p50_us: 10.0,
            actual_p99_us: None,
        }],
        verdicts: vec![VerdictFigure {
            a: "Whimbrel".into(),
            b: "Fast DDS".into(),
            size: 16,
            verdict: Verdict::Faster,
            ratio: [0.4, 0.5, 0.6],
        }],
        ..Section::default()
    };
    let waiting = Section {
        name: "cft".into(),
        state: State::Waiting("filters".into()),
        ..Section::default()
    };
    Report {
        schema: SCHEMA,
        command: "whimbrel-perf run lat3".into(),
        passport: BTreeMap::from([("cpu".into(), "one".into())]),
        sections: vec![ran, waiting],
        claims: Vec::new(),
    }
}

#[test]
fn the_page_explains_itself() {
    let html = html::text(&report());
    for part in [
        "What it shows.",
        "median one-way latency (µs)",
        "samples received per second",
        "rate of the schedule (samples per second)",
        "sample size (bytes)",
        "Waiting.</b> filters",
        "latency &lt;here&gt;",
        "50 % drift: the machine changed",
        "is … than B",
        "n/a",
        "<th>cpu</th><td>one</td>",
    ] {
        assert!(html.contains(part), "{part}");
    }
    // It needs no network: nothing is fetched.
    for part in ["http://", "https://", "<script", "<link", "url("] {
        assert!(!html.contains(part), "{part}");
    }
    assert_eq!(html.matches("<svg").count(), 3);
}

#[test]
fn json_has_a_schema_and_csv_a_header() {
    let json: Value = serde_json::to_value(report()).unwrap();
    assert_eq!(json["schema"], "whimbrel-perf/1");
    assert_eq!(json["sections"][0]["state"]["kind"], "ran");
    assert_eq!(json["sections"][1]["state"]["why"], "filters");
    assert_eq!(json["sections"][0]["verdicts"][0]["verdict"], "faster");
    assert_eq!(json["sections"][0]["latencies"][0]["p99_us"], Value::Null);
    let csv = csv::text(&report());
    let mut lines = csv.lines();
    assert_eq!(
        lines.next(),
        Some(
            "scenario,contestant,size_bytes,count,min_us,mean_us,p50_us,p90_us,p99_us,p99_9_us,\
             p99_99_us,max_us,floor_multiple,cpu_us,waits,resident_kib,wire_bytes,samples_per_s,\
             lost_percent,cpu_first_us,cpu_second_us,preempted,repairs"
        )
    );
    for line in lines {
        assert_eq!(line.matches(',').count(), 22, "{line}");
    }
}

#[test]
fn everything_is_written_and_nothing_half() {
    let folder = std::env::temp_dir().join(format!("perf-report-{}", std::process::id()));
    let mut spread = Spread::default();
    spread.add_round(&[1000, 2000]);
    let histograms = vec![("a.hdr".to_owned(), spread)];
    check(&folder).unwrap();
    write(&report(), &histograms, &folder).unwrap();
    for name in [
        "report.json",
        "report.csv",
        "report.html",
        "histograms/a.hdr",
        "lat3-inter-1.svg",
    ] {
        assert!(fs::metadata(folder.join(name)).unwrap().len() > 0, "{name}");
    }
    fs::remove_dir_all(&folder).unwrap();
    assert!(matches!(
        check(Path::new("/proc/nowhere")),
        Err(Failure::Setup(_))
    ));
    let broke = write(&report(), &histograms, Path::new("/proc/nowhere"));
    assert!(matches!(broke, Err(Failure::Broke(_))));
}
