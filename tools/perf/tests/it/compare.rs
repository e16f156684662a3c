//! A against B, of configurations and of reports.

use std::fs;

use super::{Folder, run, text};

const QUICK: [&str; 4] = ["--rounds", "5", "--per-round", "5"];

/// Runs `words` and gives its exit code and what it said.
fn said(words: &[&str]) -> (Option<i32>, String) {
    let output = run(words);
    let said = text(&output.stdout) + &text(&output.stderr);
    (output.status.code(), said)
}

#[test]
fn configurations_take_turns() {
    let words = [
        &["compare", "whimbrel", "whimbrel:lz4", "--sizes", "64,1024"],
        &QUICK[..],
    ];
    let (code, said) = said(&words.concat());
    assert_eq!(code, Some(0), "{said}");
    for part in [
        "64 B: ",
        "1024 B: ",
        "Whimbrel LZ4",
        "95 % within",
        "noise floor",
        "payload: log, seed 1, entropy",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn an_unexpected_verdict_is_an_exit_code() {
    // Nobody is both.
    let codes = ["faster", "slower"].map(|verdict| {
        let words = [
            &["compare", "raw", "whimbrel", "--expect", verdict],
            &QUICK[..],
        ];
        said(&words.concat()).0
    });
    assert!(codes.contains(&Some(1)), "{codes:?}");
}

#[test]
fn the_search_ends_with_a_size_or_says_why_not() {
    let span = ["--from", "64", "--to", "128", "--place", "intra"];
    let words = [
        &["crossover", "whimbrel", "whimbrel:lz4"],
        &span[..],
        &QUICK[..],
    ];
    let (code, said) = said(&words.concat());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("faster than whimbrel"), "{said}");
}

#[test]
fn reports_of_one_machine_are_compared_and_others_refused() {
    let out = Folder::new("reports");
    let words = ["run", "lat3-inter", "--miniature", "--peers", "nowhere"];
    let output = run(&[&words[..], &["--out", out.text()]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let path = out.0.join("report.json");
    let path = path.to_str().unwrap();
    let (code, same) = said(&["compare", path, path, "--expect", "cannot-tell"]);
    assert_eq!(code, Some(0), "{same}");
    let line = "lat3-inter, Whimbrel, 16 B: cannot tell the first from the second";
    assert!(same.contains(line), "{same}");
    let mut report = out.report();
    report["passport"]["cpu"] = "another".into();
    let other = out.0.join("other.json");
    fs::write(&other, report.to_string()).unwrap();
    let (code, unlike) = said(&["compare", path, other.to_str().unwrap()]);
    assert_eq!(code, Some(2), "{unlike}");
    assert!(unlike.contains("cannot be compared: cpu: "), "{unlike}");
}

#[test]
fn what_cannot_be_compared_is_told() {
    for (words, part) in [
        (["whimbrel", "whimbrel"], "are the same"),
        (["whimbrel", "connext"], "connext: there are raw"),
        (["cyclone:lz4", "whimbrel"], "no codec of this product"),
        (["whimbrel", "a.json"], "with a report only"),
        (["/nowhere.json", "a.json"], "No such file"),
        (["/dev/null.json", "a.json"], "null.json"),
    ] {
        let (code, said) = said(&[&["compare"], &words[..]].concat());
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(part), "{said}");
    }
    let (code, said) = said(&["compare", "whimbrel", "raw", "--place", "intra"]);
    assert_eq!(code, Some(2), "{said}");
    let span = ["--from", "100", "--to", "100"];
    let (code, _) = self::said(&[&["crossover", "raw", "whimbrel"], &span[..]].concat());
    assert_eq!(code, Some(2));
}

#[test]
fn a_kept_report_is_measured_again_and_compared() {
    let (first, second) = (Folder::new("again-1"), Folder::new("again-2"));
    let nowhere = ["--peers", "nowhere", "--out"];
    let words = [
        &["run", "lat3-inter", "--miniature", "--sizes", "32"],
        &nowhere[..],
        &[first.text()],
    ];
    let (code, said_first) = said(&words.concat());
    assert_eq!(code, Some(0), "{said_first}");
    let kept = first.0.join("report.json");
    let kept = kept.to_str().unwrap();
    let again = |out: &str| said(&[&["again", kept], &nowhere[..], &[out]].concat());
    let (code, told) = again(second.text());
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("lat3-inter, Whimbrel, 32 B: "), "{told}");
    let command = |folder: &Folder| folder.report()["sections"][0]["latencies"][0]["size"].clone();
    assert_eq!(command(&first), command(&second));
    // What is kept stays.
    let (code, told) = again(first.text());
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("is where it is kept"), "{told}");
    let (code, told) = said(&["again", "/nowhere/report.json"]);
    assert_eq!(code, Some(2), "{told}");
}
