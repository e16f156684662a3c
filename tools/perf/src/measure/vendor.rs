//! What a maker's own tool says of its product, by its own clock and rules.

use std::path::{Path, PathBuf};
use std::time::Duration;

use whimbrel_rig::process::Process;

use crate::failure::Failure;
use crate::stop;
use crate::world::World;

/// The tool of Cyclone DDS, one way.
pub(crate) const DDSPERF: &str = "ddsperf";
/// Where it may be.
const FOLDERS: [&str; 2] = ["/usr/bin", "/usr/local/bin"];
/// How long it runs for a size; the first of them it takes to begin.
const SECONDS: &str = "3";
/// How long that may take with its beginning, and how long beginning may.
const SECONDS_MOST: u64 = 10;
const BEGINNING_S: u64 = 30;
/// How long it may be silent.
const SILENCE: Duration = Duration::from_secs(10);
/// Its domain.
const DOMAIN: &str = "201";

/// One of its lines: what one second had, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct VendorRow {
    pub(crate) size: usize,
    pub(crate) count: u64,
    pub(crate) mean_us: f64,
    pub(crate) min_us: f64,
    pub(crate) p50_us: f64,
    pub(crate) p90_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) max_us: f64,
}

/// The tool, if it is installed.
pub(crate) fn ddsperf() -> Option<PathBuf> {
    let all = FOLDERS.iter().map(|it| Path::new(it).join(DDSPERF));
    all.into_iter().find(|it| it.exists())
}

/// Its ping-pong in `world` for each of `sizes`: of each the second with the middle median.
///
/// # Errors
/// It does not start; a signal.
pub(crate) fn ping_pong(
    world: &World,
    program: &Path,
    sizes: &[usize],
) -> Result<Vec<VendorRow>, Failure> {
    let [a, b] = world.seats();
    let start = |seat: &crate::world::Seat, words: &[&str]| {
        let mut command = world.command(seat, program);
        command.args(["-i", DOMAIN]).args(words);
        let interface = format!(
            "<NetworkInterface name=\"{}\" multicast=\"true\"/>",
            seat.interface
        );
        command.env(
            "CYCLONEDDS_URI",
            format!(
                "<CycloneDDS><Domain><General><Interfaces>{interface}</Interfaces></General>\
                 </Domain></CycloneDDS>"
            ),
        );
        Process::start(DDSPERF, &mut command).map_err(Failure::Broke)
    };
    // Unlike our own processes it does not end with its input: whatever becomes of us, it ends.
    let most = BEGINNING_S + sizes.len() as u64 * SECONDS_MOST;
    let _answering = start(&b, &["-D", &most.to_string(), "pong"])?;
    let mut rows = Vec::new();
    for size in sizes {
        let asking = start(&a, &["-D", SECONDS, "ping", "size", &size.to_string()])?;
        let mut seconds = Vec::new();
        // It ends by itself.
        while let Ok(line) = asking.hear(SILENCE) {
            stop::check()?;
            seconds.extend(parse(&line, *size));
        }
        seconds.sort_by(|a: &VendorRow, b| a.p50_us.total_cmp(&b.p50_us));
        rows.extend(seconds.get(seconds.len() / 2));
    }
    stop::check()?;
    Ok(rows)
}

/// Reads `… size S mean A min B 50% C 90% D 99% E max F cnt N`, where latencies end with `us`.
fn parse(line: &str, size: usize) -> Option<VendorRow> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let after = |key: &str| {
        let at = words.iter().position(|it| *it == key)?;
        words.get(at + 1).copied()
    };
    let us = |key| after(key)?.strip_suffix("us")?.parse().ok();
    Some(VendorRow {
        size,
        count: after("cnt")?.parse().ok()?,
        mean_us: us("mean")?,
        min_us: us("min")?,
        p50_us: us("50%")?,
        p90_us: us("90%")?,
        p99_us: us("99%")?,
        max_us: us("max")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_lines_are_read() {
        let line = "[8561] 2.000  vm:8558 size 64 mean 21.644us min 11.875us 50% 14.130us 90% \
                    16.525us 99% 40.554us max 12968.445us cnt 22994";
        let row = VendorRow {
            size: 64,
            count: 22_994,
            mean_us: 21.644,
            min_us: 11.875,
            p50_us: 14.13,
            p90_us: 16.525,
            p99_us: 40.554,
            max_us: 12_968.445,
        };
        assert_eq!(parse(line, 64), Some(row));
        for line in [
            "",
            "[8561] participant vm:8558: new",
            "[8561] 2.000  rss:7.7MB vcsw:11437 ivcsw:11634",
            "size 64 mean 21.644us min 11.875us 50% nan",
        ] {
            assert_eq!(parse(line, 64), None, "{line}");
        }
    }
}
