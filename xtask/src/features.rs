//! `cargo xtask features`: what is optional only adds, so that the codecs build with none of the
//! features and with each alone, and the public crate without those that are on by default.

use crate::metadata::{self, Metadata};
use crate::process;
use crate::setup;

const CODECS: &str = "whimbrel-compress";
const PUBLIC: &str = "whimbrel";

/// Checks all of them.
pub(crate) fn run() -> Result<(), String> {
    let root = metadata::root();
    let metadata = Metadata::load(&root)?;
    let codecs = metadata.members().find(|it| it.name == CODECS);
    let codecs = codecs.ok_or_else(|| format!("no package {CODECS}"))?;
    let choices = choices(&codecs.features);
    for (package, feature) in &choices {
        let which = feature.map_or("no feature".to_owned(), |it| format!("{it} alone"));
        let words = words(package, *feature);
        process::output(&mut setup::in_workspace(&root, &words))
            .map_err(|why| format!("{package} with {which}: {why}"))?;
        println!("features: {package} with {which}");
    }
    println!("features: {} choices, all build", choices.len());
    Ok(())
}

/// Packages and the one feature each is built with, where there is one.
fn choices(features: &[String]) -> Vec<(&'static str, Option<&str>)> {
    let alone = features.iter().filter(|it| *it != "default");
    let alone = alone.map(|it| (CODECS, Some(it.as_str())));
    let without = [(CODECS, None), (PUBLIC, None)];
    without.into_iter().chain(alone).collect()
}

/// The command that builds `package` with `feature`, and says whether anything is unused then.
fn words<'a>(package: &'a str, feature: Option<&'a str>) -> Vec<&'a str> {
    let mut words = vec!["cargo", "clippy", "--quiet", "--locked", "-p", package];
    words.push("--no-default-features");
    words.extend(feature.into_iter().flat_map(|it| ["--features", it]));
    words.extend(["--", "-D", "warnings"]);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_feature_is_tried_alone() {
        let features = ["default", "lz4", "zlib"].map(str::to_owned);
        let wanted = [
            (CODECS, None),
            (PUBLIC, None),
            (CODECS, Some("lz4")),
            (CODECS, Some("zlib")),
        ];
        assert_eq!(choices(&features), wanted);
        let line = words(CODECS, Some("lz4")).join(" ");
        assert!(line.contains("--no-default-features --features lz4 -- -D"));
        assert!(!words(PUBLIC, None).contains(&"--features"));
    }
}
