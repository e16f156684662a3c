//! Commands that look at a running bus.

use super::{Place, finish, program};

#[test]
fn participants_topics_and_pairs_are_listed() {
    let place = Place::new();
    let _writer = place.spawn(&["shapes", "pub", "--color", "RED", "--transient-local", "-q"]);
    let _reader = place.spawn(&["shapes", "sub", "--shape", "square", "--reliable"]);

    let found = place.run(&["ps", "--json"]).expect(0).objects();
    assert_eq!(found.len(), 2);
    for it in &found {
        assert_eq!(it["vendor"], "Whimbrel");
        assert_eq!(it["name"], "whimbrel shapes");
        assert!(it["address"].as_str().unwrap().contains("127.0.0.1"));
        assert!(it["lease_left_seconds"].as_f64().unwrap() > 0.0);
        assert!(it["pid"].as_str().unwrap().parse::<u32>().is_ok());
    }
    let text = place.run(&["ps"]).expect(0).stdout;
    assert!(
        text.starts_with("GUID") && text.lines().count() == 3,
        "{text}"
    );
    assert!(!text.contains('\x1b'));

    let text = place.run(&["ls", "-v", "Sq*"]).expect(0).stdout;
    let last = text.lines().last().unwrap();
    assert!(last.contains("WHIMBREL_STATISTICS=on"), "{text}");
    let topics = place
        .run(&["ls", "--json", "-v", "Sq*"])
        .expect(0)
        .objects();
    assert_eq!(topics.len(), 1);
    let square = &topics[0];
    assert_eq!(
        (&square["writers"], &square["readers"]),
        (&1.into(), &1.into())
    );
    assert_eq!(square["types"], serde_json::json!(["ShapeType"]));
    let writer = endpoint(square, "writer");
    let reader = endpoint(square, "reader");
    assert_eq!(writer["qos"]["DURABILITY"], "TRANSIENT_LOCAL");
    place.run(&["ls", "Hexagon"]).expect(1);
    let held = place.run(&["mem", "--json"]).expect(0).objects();
    let discovery = held.last().unwrap();
    assert_eq!(discovery["entity"], "discovery");
    assert!(discovery["bytes"].as_u64().unwrap() > 100, "{discovery}");

    let (writer, reader) = (guid(writer), guid(reader));
    let run = place
        .run(&["why", &writer[..20], &reader, "--json"])
        .expect(0);
    let pair = &run.objects()[0];
    assert_eq!(pair["matched"], true);
    let rules = pair["rules"].as_array().unwrap();
    assert!(rules.len() > 8);
    let names: Vec<_> = rules.iter().filter_map(|it| it["rule"].as_str()).collect();
    for name in [
        "topic name",
        "type name",
        "PARTITION",
        "RELIABILITY",
        "security",
    ] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
}

fn endpoint<'a>(topic: &'a serde_json::Value, kind: &str) -> &'a serde_json::Value {
    let all = topic["endpoints"].as_array().unwrap();
    all.iter().find(|it| it["kind"] == kind).unwrap()
}

fn guid(endpoint: &serde_json::Value) -> String {
    endpoint["guid"].as_str().unwrap().to_owned()
}

#[test]
fn mismatches_are_explained() {
    let place = Place::new();
    let _writer = place.spawn(&["shapes", "pub", "--best-effort", "--xcdr", "2", "-q"]);
    let _reader = place.spawn(&[
        "shapes",
        "sub",
        "--shape",
        "square",
        "--reliable",
        "--transient-local",
        "--xcdr",
        "1",
    ]);
    let run = place.run(&["why", "Square", "--json"]).expect(1);
    let pair = &run.objects()[0];
    assert_eq!(pair["matched"], false);
    let rules = pair["rules"].as_array().unwrap().iter();
    let failed: Vec<_> = rules.filter(|it| it["passed"] == false).collect();
    let names: Vec<_> = failed
        .iter()
        .map(|it| it["rule"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["DURABILITY", "RELIABILITY", "DATA_REPRESENTATION"]);
    assert!(failed.iter().all(|it| it["advice"].is_string()));
    let text = place.run(&["why", "Square"]).expect(1).stdout;
    assert!(
        text.contains("writer BEST_EFFORT, reader RELIABLE"),
        "{text}"
    );

    let doctor = place.run(&["doctor", "--json"]);
    let findings = doctor.objects();
    assert!(
        findings.iter().any(|it| it["id"] == "mismatch"),
        "{doctor:?}"
    );
}

#[test]
fn doctor_names_the_cause_when_nobody_answers() {
    let place = Place::new();
    let started = std::time::Instant::now();
    let run = place.run(&["doctor", "--json"]).expect(1);
    assert!(started.elapsed().as_secs() < 5 + 5, "for a loaded machine");
    let objects = run.objects();
    let of = |section: &str| objects.iter().filter(|it| it["section"] == section).count();
    assert!(of("interface") >= 1 && of("socket") >= 1 && of("counters") == 1);
    let finding = |id: &str| objects.iter().find(|it| it["id"] == id);
    assert_eq!(finding("nobody_answers").unwrap()["severity"], "serious");
    assert!(finding("loopback_only").unwrap()["cure"].is_string());

    // Those with another tag do not answer, so they have to come while we listen.
    let running = place.start(&["doctor", "--json"]);
    let _others: Vec<_> = (0..4)
        .map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(500));
            place.beside().spawn(&["shapes", "sub"])
        })
        .collect();
    let run = running.join().unwrap().expect(1);
    assert!(
        run.objects().iter().any(|it| it["id"] == "other_domain"),
        "{run:?}"
    );

    let _same = place.spawn(&["shapes", "sub"]);
    place.run(&["doctor"]).expect(0);
}

#[test]
fn samples_are_printed_typed_and_in_hexadecimal() {
    let place = Place::new();
    let _writer = place.spawn(&["shapes", "pub", "--color", "GREEN", "--xcdr", "2", "-q"]);
    let run = place
        .run(&["sub", "Square", "--count", "3", "--json"])
        .expect(0);
    let samples = run.objects();
    assert_eq!(samples.len(), 3);
    for it in samples {
        assert_eq!(it["data"]["color"], "GREEN");
        assert_eq!(it["instance_state"], "ALIVE");
    }
    let run = place
        .run(&["sub", "Square", "--count", "1", "--hex"])
        .expect(0);
    assert!(
        run.stdout.contains("# payloads in hexadecimal: --hex"),
        "{run:?}"
    );
    assert!(run.stdout.contains("XCDR2 little-endian"), "{run:?}");
    assert!(run.stdout.contains("47 52 45 45 4e 00"), "{run:?}");
    place.run(&["sub", "Circle", "--timeout", "1"]).expect(1);
}

#[test]
fn shapes_come_and_go() {
    let place = Place::new();
    let publish = |end: &'static str, color: &'static str| {
        place.spawn(&[
            "shapes",
            "pub",
            "--readers",
            "1",
            "--count",
            "5",
            "--end",
            end,
            "--color",
            color,
            "--keep-all",
        ])
    };
    let _first = publish("dispose", "BLUE");
    let _second = publish("unregister", "RED");
    let run = place.run(&[
        "shapes",
        "sub",
        "--shape",
        "square",
        "--reliable",
        "--keep-all",
        "--timeout",
        "4",
        "--json",
    ]);
    let samples = run.expect(0).objects();
    let of = |color: &str, state: &str| {
        let same = |it: &&serde_json::Value| it["color"] == color && it["instance_state"] == state;
        samples.iter().filter(same).count()
    };
    let with_data = |color: &str| {
        let data = |it: &&serde_json::Value| it["color"] == color && it["x"].is_number();
        samples.iter().filter(data).count()
    };
    assert_eq!((with_data("BLUE"), with_data("RED")), (5, 5));
    assert!(of("BLUE", "NOT_ALIVE_DISPOSED") >= 1, "{samples:?}");
    assert!(of("RED", "NOT_ALIVE_NO_WRITERS") >= 1, "{samples:?}");
    assert_eq!(of("RED", "NOT_ALIVE_DISPOSED"), 0);
}

#[test]
fn trace_tells_what_happens() {
    let place = Place::new();
    let _writer = place.spawn(&["shapes", "pub", "-q"]);
    let run = place
        .run(&["trace", "*", "--timeout", "2", "--json"])
        .expect(0);
    let events = run.objects();
    let tells = |source: &str, text: &str| {
        events
            .iter()
            .any(|it| it["source"] == source && it["text"].as_str().unwrap().contains(text))
    };
    assert!(tells("participants", "found"), "{events:?}");
    assert!(tells("writers", "Square: ShapeType, RELIABLE"));
    assert!(tells("Square", "\"color\":\"BLUE\""));
}

#[test]
fn the_demo_proves_that_all_lines_arrive() {
    for args in [
        &["demo", "--quick", "--json"][..],
        &["demo", "--quick", "--json", "--bad-network"],
    ] {
        let run = finish(program(args)).expect(0);
        let report = run.objects().pop().unwrap();
        assert_eq!(report["report"], "ok");
        assert_eq!(report["published"], report["received"]);
        assert!(report["received"].as_u64().unwrap() > 1000);
        assert!(report["steady"]["p50_us"].as_f64().unwrap() > 0.0);
        assert!(report["bytes_per_line"].as_f64() > report["payload_bytes_per_line"].as_f64());
        let repairs = report["repairs"].as_u64().unwrap();
        if args.contains(&"--bad-network") {
            assert!(repairs > 0, "{report}");
        }
    }
    let run = finish(program(&["demo", "--quick"])).expect(0);
    assert!(run.stdout.contains("all of it arrived"), "{run:?}");
}

#[test]
fn the_demo_takes_any_text_file() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let run = finish(program(&["demo", "--quick", "--json", file])).expect(0);
    assert_eq!(run.objects().pop().unwrap()["file"], file);
}

#[test]
fn the_demo_tells_of_a_child_that_dies() {
    let mut command = program(&["demo"]);
    command
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped());
    let demo = command.spawn().unwrap();
    let children = format!("/proc/{0}/task/{0}/children", demo.id());
    let started = std::time::Instant::now();
    let victim = loop {
        let pids = std::fs::read_to_string(&children).unwrap();
        if let Some(publisher) = pids.split_whitespace().nth(1) {
            break publisher.to_owned();
        }
        assert!(started.elapsed() < super::PATIENCE, "no children");
        std::thread::sleep(std::time::Duration::from_millis(10));
    };
    std::thread::sleep(std::time::Duration::from_millis(500));
    let killed = std::process::Command::new("kill").arg(&victim).status();
    assert!(killed.unwrap().success());
    let output = demo.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("the publisher process died"), "{text}");
}
