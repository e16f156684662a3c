use super::*;
use crate::goal::Side;

fn report() -> Report {
    Report {
        name: "latency",
        facts: Facts::from([("kernel".to_owned(), "Linux 6".to_owned())]),
        tables: vec![Table {
            title: "two-cores".into(),
            head: vec!["who".into(), "16 B".into()],
            lines: vec![vec!["raw".into(), "5.00".into()]],
        }],
        records: vec![
            Record::new()
                .text("who", "raw, blocking")
                .number("p50_us", 5.25),
            Record::new()
                .text("who", "a \"bus\"")
                .number("p50_us", 1e6 / 3.0),
        ],
        goals: vec![
            Goal::worst("a", [(1.0, String::new())], Side::AtMost, 1.0).unwrap(),
            Goal::worst("b", [(2.0, String::new())], Side::AtMost, 1.0).unwrap(),
        ],
        partial: false,
    }
}

#[test]
fn csv_has_one_head_and_quotes_what_needs_it() {
    let none = Facts::new();
    let wanted = "who,p50_us\n\"raw, blocking\",5.25\n\"a \"\"bus\"\"\",333333.333\n";
    assert_eq!(csv::text(&none, &report().records), wanted);
    assert_eq!(csv::text(&none, &[]), "");
    let whole = [
        Record::new().number("n", 1000.0),
        Record::new().number("n", 0.0),
        Record::new().number("n", f64::NAN),
    ];
    assert_eq!(csv::text(&none, &whole), "n\n1000\n0\n\n");
}

#[test]
fn csv_begins_with_the_facts_and_names_what_changes() {
    let mut report = report();
    report.facts.insert("peer".into(), "one\ntwo".into());
    let records = [
        Record::new().number("a", 1.0),
        Record::new().number("b", 2.0),
        Record::new().number("b", 3.0),
    ];
    let wanted = "# kernel: Linux 6\n# peer: one; two\na\n1\n\nb\n2\n3\n";
    assert_eq!(csv::text(&report.facts, &records), wanted);
}

#[test]
fn a_partial_run_ends_otherwise_than_a_whole_one() {
    let mut report = report();
    report.partial = true;
    let text = report.text();
    assert!(
        text.ends_with("1 met, 1 missed, of a partial run\n"),
        "{text}"
    );
}

#[test]
fn json_reads_back_with_facts_figures_and_goals() {
    let read: serde_json::Value = serde_json::from_str(&report().json()).unwrap();
    assert_eq!(read["bench"], "latency");
    assert_eq!(read["facts"]["kernel"], "Linux 6");
    assert_eq!(read["measurements"][0]["who"], "raw, blocking");
    assert_eq!(read["measurements"][0]["p50_us"], 5.25);
    assert_eq!(read["goals"][1]["met"], false);
}

#[test]
fn the_text_shows_tables_and_counts_goals() {
    let text = report().text();
    assert!(text.contains("kernel: Linux 6\n"), "{text}");
    assert!(
        text.contains("| who | 16 B |\n|-----|------|\n| raw | 5.00 |\n"),
        "{text}"
    );
    assert!(text.ends_with("missed\ngoals: 1 met, 1 missed\n"), "{text}");
    assert!(!report().met());
}

#[test]
fn three_files_are_written() {
    let folder = std::env::temp_dir().join(format!("whimbrel-bench-{}", std::process::id()));
    report().write(&folder).unwrap();
    for ending in ["txt", "csv", "json"] {
        assert!(
            fs::metadata(folder.join(format!("latency.{ending}")))
                .unwrap()
                .len()
                > 0
        );
    }
    fs::remove_dir_all(folder).unwrap();
}
