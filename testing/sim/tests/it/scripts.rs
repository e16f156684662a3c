//! Every script that was kept.

use std::fs;
use std::path::Path;

use whimbrel_sim::scenario::script;
use whimbrel_sim::world::play;

#[test]
fn kept_scripts_find_nothing_any_more() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let mut played = 0;
    for entry in fs::read_dir(directory).expect("scripts") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|it| it == "txt") {
            let text = fs::read_to_string(&path).expect("text");
            let scenario = script::read(&text).unwrap_or_else(|why| panic!("{path:?}: {why}"));
            let findings = play(&scenario, false).findings;
            assert!(findings.is_empty(), "{path:?}: {findings:#?}");
            played += 1;
        }
    }
    assert!(played > 0);
}
