//! The shell scripts of RTI's compression benchmark as they were published, with our program as
//! `$1`: two hosts as namespaces, the file where the scripts look for it. Only the environment is
//! ours: `PERFTEST_EXECUTION_TIME_MAX`, and a `sleep` in `PATH` that sleeps less.
//!
//! The text is not part of this repository: `PERFTEST_SEEDS` names the folder that has it, which is
//! `../shared/seeds` beside it unless said. Without the text, or without root, nothing is shown.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use whimbrel_payload::{Payload, SEED};
use whimbrel_rig::network::Network;

use super::numbers;

const SEED_FILE: &str = "000_091be2d9f9a8ae38.txt";
/// The first line of each script, and what follows the last.
const BEGIN: &str = "sudo /set_lat_mode.sh\n";
const ENDS: [&str; 2] = ["\nSubscriber Side", "\nTest Hardware"];
/// Sizes with best effort, and with reliability.
const SIZES: [usize; 22] = [
    32, 64, 128, 256, 512, 1024, 8192, 63_000, 32, 64, 128, 256, 512, 1024, 8192, 63_000, 100_000,
    500_000, 1_048_576, 1_548_576, 4_194_304, 10_485_760,
];
/// Makes a root of its own with the file in it, then runs the script there.
const STAGE: &str = "set -e
mount -t tmpfs tmpfs \"$ROOT\"
for it in /*; do
  if [ -L \"$it\" ]; then cp -P \"$it\" \"$ROOT/\"
  elif [ -d \"$it\" ]; then mkdir \"$ROOT$it\"; mount --rbind \"$it\" \"$ROOT$it\"; fi
done
mkdir -p \"$ROOT/performance/validation/resources\"
ln -s \"$FOLDER/messages\" \"$ROOT/performance/validation/resources/messages\"
exec chroot \"$ROOT\" bash \"$@\"";

fn seed() -> Option<String> {
    let folder = std::env::var("PERFTEST_SEEDS").map_or_else(
        |_| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/seeds"),
        PathBuf::from,
    );
    fs::read_to_string(folder.join(SEED_FILE)).ok()
}

/// The scripts of both sides with the codec `id`.
fn scripts(text: &str, id: &str) -> Vec<String> {
    let all = text.split(BEGIN).skip(1).map(|rest| {
        let end = ENDS.iter().filter_map(|it| rest.find(it)).min().unwrap();
        format!("{BEGIN}{}\n", rest[..end].trim_end())
    });
    let word = format!("-compressionId {id} ");
    all.filter(|it| it.contains(&word)).collect()
}

/// One side under way; its processes are ended when dropped.
struct Side {
    child: Child,
    root: PathBuf,
}

impl Side {
    fn start(network: &Network, host: &str, folder: &Path, script: &str) -> Self {
        let (root, path) = (folder.join(format!("root-{host}")), folder.join(host));
        fs::create_dir(&root).unwrap();
        fs::write(&path, script).unwrap();
        let system = std::env::var("PATH").unwrap();
        let mut command = network.program(host, Path::new("unshare"));
        command.args([
            "--mount",
            "--propagation",
            "private",
            "sh",
            "-c",
            STAGE,
            "stage",
        ]);
        command
            .arg(&path)
            .arg(env!("CARGO_BIN_EXE_whimbrel-perftest"));
        command.arg(folder.join("out"));
        command.env("ROOT", &root).env("FOLDER", folder);
        command.env("PATH", format!("{}:{system}", folder.join("bin").display()));
        let seconds = std::env::var("PERFTEST_SECONDS").unwrap_or_else(|_| "1".into());
        command.env("PERFTEST_EXECUTION_TIME_MAX", seconds);
        let log = fs::File::create(folder.join(format!("{host}.log"))).unwrap();
        command.stdout(log.try_clone().unwrap()).stderr(log);
        let child = command
            .stdin(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        Self { child, root }
    }

    fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        let group = format!("-{}", self.child.id());
        // It may have ended by itself.
        let _ = Command::new("kill")
            .args(["-s", "KILL", "--", &group])
            .status();
        let _ = self.child.wait();
        // What was in it went with its namespace.
        let _ = fs::remove_dir(&self.root);
    }
}

/// What the scripts need in a new folder.
fn folder(codec: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("perftest-{}-{codec}", std::process::id()));
    fs::create_dir_all(folder.join("bin")).unwrap();
    let sleep = folder.join("bin/sleep");
    fs::write(&sleep, "#!/bin/sh\nexec /bin/sleep 0.5\n").unwrap();
    fs::set_permissions(&sleep, fs::Permissions::from_mode(0o755)).unwrap();
    let log: Payload = "log".parse().unwrap();
    fs::write(folder.join("messages"), log.octets(SEED, 11 << 20).unwrap()).unwrap();
    folder
}

fn network() -> Option<Network> {
    let mut network = Network::new().ok()?;
    network.host("a").unwrap();
    network.host("b").unwrap();
    let cable = [["a", "va", "172.16.1.1/24"], ["b", "vb", "172.16.1.2/24"]];
    network.cable(cable[0], cable[1]).unwrap();
    for [host, interface, _] in cable {
        network.carry_multicast(host, interface).unwrap();
    }
    Some(network)
}

/// The rows that one side has appended by now, best effort first.
fn rows(folder: &Path, side: &str, codec: &str) -> Vec<Vec<f64>> {
    let file = |kind: &str| {
        let codec = codec.to_lowercase();
        let name = format!("out/lat_udpv4_{side}_unkeyed_{kind}_compression_{codec}.csv");
        fs::read_to_string(folder.join(name)).unwrap_or_default()
    };
    let text = file("be") + &file("rel");
    text.lines().map(numbers).collect()
}

/// Runs both scripts until each side has `count` rows.
fn reproduce(codec: &str, count: usize, patience: Duration) {
    let (Some(text), Some(network)) = (seed(), network()) else {
        eprintln!("not shown: it needs root, `ip` and the text {SEED_FILE}");
        return;
    };
    let scripts = scripts(&text, codec);
    assert_eq!(scripts.len(), 2);
    let folder = folder(codec);
    let log = |host: &str| fs::read_to_string(folder.join(format!("{host}.log"))).unwrap();
    let mut publisher = Side::start(&network, "a", &folder, &scripts[0]);
    let mut sub = Side::start(&network, "b", &folder, &scripts[1]);
    let deadline = Instant::now() + patience;
    let sides = ["pub", "sub"];
    while sides
        .iter()
        .any(|it| rows(&folder, it, codec).len() < count)
    {
        let ended = publisher.has_ended() && sub.has_ended();
        assert!(
            Instant::now() < deadline && !ended,
            "{}\n{}",
            log("a"),
            log("b")
        );
        thread::sleep(Duration::from_millis(100));
    }
    for (side, columns) in [("pub", 10), ("sub", 6)] {
        for (row, size) in rows(&folder, side, codec).iter().zip(SIZES) {
            assert_eq!(
                (row.len(), row[0]),
                (columns, size as f64),
                "{side} {row:?}"
            );
        }
    }
    assert!(log("a").contains(&format!("Compression: {codec}, level 5, threshold 0")));
    drop((publisher, sub));
    fs::remove_dir_all(folder).unwrap();
}

/// Two rows of each side, or as many as `PERFTEST_ROWS` says: 22 are all. Samples of 10 MB need
/// more than the second that each row takes unless `PERFTEST_SECONDS` says otherwise.
#[test]
fn the_published_scripts_run_unchanged() {
    let count = std::env::var("PERFTEST_ROWS").map_or(2, |it| it.parse().unwrap());
    assert!((1..=SIZES.len()).contains(&count));
    let patience = Duration::from_secs(60 * count as u64);
    let first = thread::spawn(move || reproduce("LZ4", count, patience));
    reproduce("ZLIB", count, patience);
    first.join().unwrap();
}
