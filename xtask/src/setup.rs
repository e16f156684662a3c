//! `cargo xtask setup`: installs what the tests need and is missing.
//!
//! Peers come from the distribution's packages and from one wheel in a virtual environment below
//! the workspace root (`.peers/venv`); nothing is installed when everything is there. Without root
//! it says what to install by hand. `cargo xtask bench` installs what it needs of that itself.

use crate::metadata;
use crate::process::{self, End};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Distribution packages and what they are needed for: those of `cargo xtask bench`.
const BENCH_PACKAGES: &[Package] = &[
    ("cyclonedds-dev", "Cyclone DDS as a peer, C library"),
    ("cyclonedds-tools", "Cyclone DDS type compiler and ddsperf"),
    ("libfastrtps-dev", "Fast DDS as a peer, C++ library"),
    ("gcc", "builds the peers' C programs"),
    ("g++", "builds the peers' C++ programs"),
    ("linux-perf", "counts system calls for the bench"),
    ("valgrind", "tells what the program of the footprint runs"),
    (
        "ethtool",
        "tells which offloads are on, for passports of measurements",
    ),
    ("python3-venv", "virtual environment of the Python peer"),
];

/// Those that only other tests need.
const OTHER_PACKAGES: &[Package] = &[
    ("fastddsgen", "Fast DDS type compiler"),
    ("tshark", "dissects everything that is sent"),
    ("iproute2", "network namespaces for tests of two hosts"),
    ("nftables", "loses packets and multicast on purpose"),
    ("cmake", "builds the peers' programs"),
    ("make", "builds the peers' programs"),
];

/// The name of a distribution package, and what it is needed for.
type Package = (&'static str, &'static str);

/// The Python peer, exactly this version.
const WHEEL: &str = "cyclonedds==11.0.1";
const WHEEL_CHECK: &str =
    "import importlib.metadata as m; assert m.version('cyclonedds') == '11.0.1'; import cyclonedds";
const VENV: &str = ".peers/venv";

/// The interpreter of the Python peer, where a virtual environment is possible.
pub(crate) const PYTHON: &str = ".peers/venv/bin/python";

/// The variable that names it to those who build the peers.
const PYTHON_SETTING: &str = "WHIMBREL_PEER_PYTHON";

/// Build the peer programs; they must be quick when those are up to date.
const PEER_BUILDS: &[&str] = &["testing/interop/peers/build.sh", BENCH_PEER_BUILD];
const BENCH_PEER_BUILD: &str = "testing/bench/peers/build.sh";
pub(crate) const PEER_OUTPUT: &str = "target/peers";

/// The peers in Rust: a workspace of their own, for what they bring along.
pub(crate) const RUST_PEERS: &str = "testing/rust-peers/Cargo.toml";
const RUST_PEER_PROGRAMS: [&str; 2] = ["bench_rustdds", "bench_dustdds"];
const RUST_PEER_OUTPUT: &str = "target/rust-peers";

const INSTALL_LIMIT: Duration = Duration::from_secs(15 * 60);
const BUILD_LIMIT: Duration = Duration::from_secs(15 * 60);

/// A command at the workspace root, with what the peers need in its environment.
pub(crate) fn in_workspace(root: &Path, words: &[&str]) -> Command {
    let mut words = words.iter();
    let mut command = Command::new(words.next().copied().unwrap_or_default());
    command.args(words).current_dir(root);
    let python = root.join(PYTHON);
    if python.exists() {
        command.env(PYTHON_SETTING, python);
    }
    // What cargo told this program about itself is not meant for the next cargo.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// Makes everything ready; the error says what a person must do.
pub(crate) fn run() -> Result<(), String> {
    let root = metadata::root();
    distribution_packages()?;
    if has_wheel(&root) {
        println!("setup: {WHEEL} is there");
    } else {
        python_peer(&root)?;
    }
    peer_programs(&root)?;
    println!("setup: ready");
    Ok(())
}

/// Builds RustDDS and Dust DDS as contestants of `whimbrel-perf`; crates come from the registry.
pub(crate) fn rust_peers() -> Result<(), String> {
    let root = metadata::root();
    println!("setup: peers in Rust into {PEER_OUTPUT}");
    let mut build = in_workspace(
        &root,
        &[
            "cargo",
            "build",
            "--quiet",
            "--release",
            "--all-features",
            "--manifest-path",
            RUST_PEERS,
            "--target-dir",
            RUST_PEER_OUTPUT,
        ],
    );
    step(&mut build, BUILD_LIMIT)?;
    let output = root.join(PEER_OUTPUT);
    fs::create_dir_all(&output).map_err(|e| format!("{}: {e}", output.display()))?;
    for program in RUST_PEER_PROGRAMS {
        let built = root.join(RUST_PEER_OUTPUT).join("release").join(program);
        fs::copy(&built, output.join(program)).map_err(|e| format!("{}: {e}", built.display()))?;
    }
    println!("setup: ready");
    Ok(())
}

fn distribution_packages() -> Result<(), String> {
    let all = [BENCH_PACKAGES, OTHER_PACKAGES].concat();
    let missing = missing_of(&all);
    if missing.is_empty() {
        println!("setup: {} distribution packages are there", all.len());
        return Ok(());
    }
    install(&missing)
}

fn missing_of(packages: &[Package]) -> Vec<Package> {
    let missing = packages.iter().filter(|(name, _)| !installed(name));
    missing.copied().collect()
}

/// Installs packages; the error says how a person does.
fn install(missing: &[Package]) -> Result<(), String> {
    for (name, purpose) in missing {
        println!("setup: {name} is missing: {purpose}");
    }
    let names: Vec<&str> = missing.iter().map(|(name, _)| *name).collect();
    let by_hand = format!(
        "apt-get install --no-install-recommends {}",
        names.join(" ")
    );
    if process::output(Command::new("id").arg("-u"))?.trim() != "0" {
        return Err(format!("setup: not root, install by hand: {by_hand}"));
    }
    println!("setup: {by_hand}");
    step(apt().arg("update"), INSTALL_LIMIT)?;
    step(
        apt()
            .args(["install", "--yes", "--no-install-recommends"])
            .args(names),
        INSTALL_LIMIT,
    )
}

fn apt() -> Command {
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive").args([
        "--quiet",
        "--option",
        "Dpkg::Use-Pty=0",
    ]);
    command
}

fn installed(package: &str) -> bool {
    let mut query = Command::new("dpkg-query");
    query.args(["--show", "--showformat", "${db:Status-Status}", package]);
    process::output(&mut query).is_ok_and(|status| status.trim() == "installed")
}

/// True where the interpreter that [`in_workspace`] names has the Python peer.
fn has_wheel(root: &Path) -> bool {
    let own = root.join(PYTHON);
    let python = if own.exists() {
        own.into()
    } else {
        std::env::var_os(PYTHON_SETTING).unwrap_or_else(|| "python3".into())
    };
    process::output(Command::new(python).args(["-c", WHEEL_CHECK])).is_ok()
}

/// Installs the Python peer.
fn python_peer(root: &Path) -> Result<(), String> {
    let venv = root.join(VENV);
    let python = root.join(PYTHON);
    let venv_folder = venv.parent().unwrap_or(root);
    fs::create_dir_all(venv_folder).map_err(|e| format!("{}: {e}", venv_folder.display()))?;
    println!("setup: {WHEEL} into {VENV}: Cyclone DDS as a peer, Python");
    let mut create = Command::new("python3");
    if step(create.args(["-m", "venv"]).arg(&venv), INSTALL_LIMIT).is_ok() {
        step(
            Command::new(&python).args(["-m", "pip", "install", "--quiet", WHEEL]),
            INSTALL_LIMIT,
        )?;
        return process::output(Command::new(&python).args(["-c", WHEEL_CHECK])).map(drop);
    }
    println!("setup: no virtual environment possible, {WHEEL} into the system's Python");
    let mut pip = Command::new("python3");
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--break-system-packages",
        WHEEL,
    ]);
    step(&mut pip, INSTALL_LIMIT)?;
    process::output(Command::new("python3").args(["-c", WHEEL_CHECK])).map(drop)
}

fn peer_programs(root: &Path) -> Result<(), String> {
    println!("setup: peer programs into {PEER_OUTPUT}");
    PEER_BUILDS
        .iter()
        .try_for_each(|build| run_build(root, build))
}

/// Installs what `cargo xtask bench` needs and is missing, and builds its peers; says nothing where
/// all is there. Who must not install packages may have brought along what they hold: whether that
/// is enough shows when the peers are built.
pub(crate) fn bench_peers(root: &Path) -> Result<(), String> {
    let missing = missing_of(BENCH_PACKAGES);
    if !missing.is_empty()
        && let Err(why) = install(&missing)
    {
        println!("{why}");
    }
    if !has_wheel(root) {
        python_peer(root)?;
    }
    run_build(root, BENCH_PEER_BUILD)
}

fn run_build(root: &Path, build: &str) -> Result<(), String> {
    if !root.join(build).exists() {
        return Err(format!(
            "setup: {build} is missing, the peers cannot be built"
        ));
    }
    let mut command = in_workspace(root, &["sh", build, PEER_OUTPUT]);
    step(&mut command, BUILD_LIMIT)
}

/// Runs a command, showing its output.
pub(crate) fn step(command: &mut Command, limit: Duration) -> Result<(), String> {
    let shown = format!("{command:?}");
    match process::watch(command, limit, |line| println!("  {line}"))? {
        End::Success => Ok(()),
        End::Failure(how) => Err(format!("{shown}: {how}")),
        End::TimedOut => Err(format!("{shown}: not done after {} s", limit.as_secs())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_exist_is_not_installed() {
        assert!(!installed("no-such-package-anywhere"));
    }

    #[test]
    fn only_what_is_not_installed_is_missing() {
        let nowhere = ("no-such-package-anywhere", "nothing");
        assert_eq!(missing_of(&[nowhere]), [nowhere]);
        assert_eq!(missing_of(&[]), []);
    }

    #[test]
    fn a_workspace_whose_interpreter_lacks_the_peer_must_be_set_up() {
        let root = std::env::temp_dir().join(format!("whimbrel-setup-{}", std::process::id()));
        let python = root.join(PYTHON);
        fs::create_dir_all(python.parent().unwrap()).unwrap();
        for (program, has) in [("/bin/false", false), ("/bin/true", true)] {
            std::os::unix::fs::symlink(program, &python).unwrap();
            assert_eq!(has_wheel(&root), has, "{program}");
            fs::remove_file(&python).unwrap();
        }
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn a_failing_step_says_which() {
        let why = step(Command::new("sh").args(["-c", "exit 4"]), INSTALL_LIMIT).unwrap_err();
        assert!(
            why.contains("exit 4") && why.ends_with("exit status: 4"),
            "{why}"
        );
        assert_eq!(step(&mut Command::new("true"), INSTALL_LIMIT), Ok(()));
    }
}
