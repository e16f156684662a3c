//! Programs of the bench that are built once more after a training run, guided by its profile.
//!
//! What runs for a sample is spread thinly over the code of the bus; between two samples everything
//! else runs, so that it is fetched anew each time. A compiler that knows what runs lays it side by
//! side. README.md says how to do the same with any program.

use crate::metadata;
use crate::process;
use crate::setup;
use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const BUILD: &[&str] = &[
    "cargo",
    "build",
    "--quiet",
    "--profile",
    "guided",
    "-p",
    "whimbrel-bench",
    "--target-dir",
];
const PROGRAM: &str = "whimbrel-bench";
/// With which it ends then.
const GOALS_MISSED: i32 = 1;

/// What the programs are trained by: Whimbrel alone, in the quick forms, whose goals are no matter.
const TRAINING: [&[&str]; 2] = [
    &["latency", "--quick", "--contestant", "whimbrel"],
    &["throughput", "--quick", "--contestant", "whimbrel"],
];

/// How long one build may take.
const LIMIT: Duration = Duration::from_secs(30 * 60);

/// The compiler's tool that joins profiles.
const PROFDATA: &str = "llvm-profdata";

/// Builds and trains them; gives the referee, beside which they lie.
///
/// # Errors
/// Something cannot be built, trained or installed.
pub(crate) fn build(root: &Path) -> Result<PathBuf, String> {
    let profdata = profdata(root)?;
    let place = metadata::target(root).join("guided");
    let profiles = place.join("profiles");
    // What was learned from other sources is worth nothing.
    let _ = fs::remove_dir_all(&profiles);
    let flag = format!("-Cprofile-generate={}", profiles.display());
    let trained = build_with(root, &place.join("training"), &flag)?;
    for words in TRAINING {
        println!("training: {}", words.join(" "));
        let mut training = Command::new(&trained);
        training.args(words).arg("--out").arg(place.join("reports"));
        train(training.current_dir(root))?;
    }
    let joined = place.join("joined.profdata");
    let mut join = Command::new(profdata);
    process::output(join.arg("merge").arg("-o").arg(&joined).arg(&profiles))?;
    let kept = named_by_content(&joined)?;
    let flag = format!("-Cprofile-use={}", kept.display());
    build_with(root, &place.join("built"), &flag)
}

/// Runs what is trained, which may miss goals.
fn train(training: &mut Command) -> Result<(), String> {
    let done = training.output();
    let done = done.map_err(|error| format!("{training:?}: {error}"))?;
    match done.status.code() {
        Some(0 | GOALS_MISSED) => Ok(()),
        _ => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
    }
}

/// Builds the programs of the bench with the compiler's `flag`; gives the referee.
fn build_with(root: &Path, folder: &Path, flag: &str) -> Result<PathBuf, String> {
    // With a target named, what runs while building is built without the flag.
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let folder_name = folder.to_string_lossy();
    let words = [BUILD, &[folder_name.as_ref(), "--target", &target]].concat();
    let mut build = setup::in_workspace(root, &words);
    setup::step(build.env("RUSTFLAGS", flag), LIMIT)?;
    Ok(folder.join(target).join("guided").join(PROGRAM))
}

/// Where that tool is; it is a component of the toolchain, installed if missing.
fn profdata(root: &Path) -> Result<PathBuf, String> {
    let said = |words: &[&str]| {
        let said = process::output(&mut setup::in_workspace(root, words))?;
        Ok::<_, String>(said.trim().to_owned())
    };
    let libraries = said(&["rustc", "--print", "target-libdir"])?;
    let tool = Path::new(&libraries).with_file_name("bin").join(PROFDATA);
    if !tool.exists() {
        let words = ["rustup", "component", "add", "llvm-tools"];
        setup::step(&mut setup::in_workspace(root, &words), LIMIT)?;
    }
    if tool.exists() {
        return Ok(tool);
    }
    Err(format!("bench: {} is not there", tool.display()))
}

/// Renames `file` so that its name tells its content from others: builds look at the names of files
/// that they are given only. Gives its path.
///
/// # Errors
/// It cannot be read or renamed.
pub(crate) fn named_by_content(file: &Path) -> Result<PathBuf, String> {
    let failed = |error| format!("{}: {error}", file.display());
    let mut hasher = DefaultHasher::new();
    fs::read(file).map_err(failed)?.hash(&mut hasher);
    let name = format!("{:016x}", hasher.finish());
    let kept = file.with_file_name(name);
    let kept = kept.with_extension(file.extension().unwrap_or_default());
    fs::rename(file, &kept).map_err(failed)?;
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_trained_may_miss_goals_but_not_fail() {
        let check = |script: &str| train(Command::new("sh").args(["-c", script]));
        assert_eq!(check("exit 0"), Ok(()));
        assert_eq!(check("exit 1"), Ok(()));
        assert_eq!(check("echo why >&2; exit 2"), Err("why\n".to_owned()));
        assert!(check("kill -s KILL $$").is_err());
    }
}
