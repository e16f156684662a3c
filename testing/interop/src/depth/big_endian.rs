//! The remote speaks big-endian: a bridge between the two turns every datagram, both ways.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::stage::{Stage, wait};
use super::tally::Moved;
use crate::matrix::cases::{Arrival, Pair, Peer};
use crate::matrix::child::Child;
use crate::matrix::hosts::{Hosts, Side};
use crate::matrix::samples;
use crate::matrix::shared::root;

const PATIENCE: Duration = Duration::from_secs(40);
const BRIDGE: &str = "testing/interop/bigendian/bridge.py";

/// What is sent over the bridge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Traffic {
    /// Samples of two instances, one of which is disposed.
    Shape,
    /// Nested members, strings, sequences, in XCDR2 where the other product has it.
    Telemetry,
    /// Shapes whose TypeInformation is spoiled on the way: names must be enough.
    SpoiledTypes,
    /// Fragments, a tenth of the datagrams lost.
    Fragments,
}

/// Both sides hear big-endian alone.
#[derive(Debug)]
pub(crate) struct BigEndian {
    pub(crate) pair: Pair,
    pub(crate) traffic: Traffic,
}

impl fmt::Display for BigEndian {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}, {}", self.traffic, self.pair)
    }
}

impl BigEndian {
    /// Everything must match and arrive as it does in the peers' own order of octets.
    pub(crate) fn play(&self, stage: &Stage<'_>) -> Result<Moved, String> {
        let hosts = stage.bridged_hosts()?;
        let file = root().join(format!("target/interop/{}.pcap", stage.topic()));
        let mut bridge = self.bridge(stage, &hosts, &file)?;
        let (both, publisher, farewell) = self.words();
        let mut reader = stage.start_at(
            self.pair.subscriber,
            &format!("sub {both} --linger-ms 60000"),
            Some((&hosts, Side::B)),
        )?;
        let mut writer = stage.start_at(
            self.pair.publisher,
            &format!("pub {both} {publisher} --wait-matched 1 --settle-ms 700 --linger-ms 60000"),
            Some((&hosts, Side::A)),
        )?;
        let count = COUNT as usize;
        wait(
            &mut [&mut bridge, &mut writer, &mut reader],
            PATIENCE,
            "every sample to arrive, and the farewell",
            |it| {
                it[1].count("sent ") >= count
                    && it[2].count("received ") >= count
                    && farewell.is_none_or(|line| it[2].said(line))
            },
        )?;
        samples::compare(&writer.lines(), &reader.lines(), Arrival::All)?;
        writer.leave();
        reader.leave();
        bridge.leave();
        let (converted, lost) = passed(&bridge.lines())?;
        if self.traffic != Traffic::SpoiledTypes {
            well_formed(&file)?;
        }
        Ok(Moved {
            samples: COUNT.into(),
            converted,
            lost,
            ..Moved::default()
        })
    }

    /// Options of both, options of the publisher, and what the subscriber says at the end.
    fn words(&self) -> (String, &'static str, Option<&'static str>) {
        let xcdr = if self.pair.other() == Peer::FastDds {
            1
        } else {
            2
        };
        let common = format!("--keep-all --count {COUNT} --timeout-s 60");
        match self.traffic {
            Traffic::Shape | Traffic::SpoiledTypes => (
                format!("--type shape {common}"),
                "--key RED,BLUE --dispose RED",
                Some("state RED disposed"),
            ),
            Traffic::Telemetry => (
                format!("--type telemetry --xcdr {xcdr} {common}"),
                "--key 1,2,4294967295",
                None,
            ),
            Traffic::Fragments => (format!("--type keyless {common}"), "--size 100000", None),
        }
    }

    fn bridge(&self, stage: &Stage<'_>, hosts: &Hosts, file: &Path) -> Result<Child, String> {
        let folder = file.parent().unwrap_or(file);
        std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        let kind = match self.traffic {
            Traffic::Shape | Traffic::SpoiledTypes => "shape",
            Traffic::Telemetry => "telemetry",
            Traffic::Fragments => "keyless",
        };
        let drop = if self.traffic == Traffic::Fragments {
            100
        } else {
            0
        };
        let options = format!("ma mb --type {kind} --drop {drop} --seed {}", stage.number);
        let program = root().join(BRIDGE);
        let mut words = vec![
            "python3".to_owned(),
            "-B".into(),
            program.display().to_string(),
        ];
        words.extend(options.split(' ').map(str::to_owned));
        if self.traffic == Traffic::SpoiledTypes {
            words.push("--spoil-types".into());
        }
        words.extend(["--capture".into(), file.display().to_string()]);
        let mut bridge = stage.start_between(hosts, words)?;
        wait(&mut [&mut bridge], PATIENCE, "the bridge", |it| {
            it[0].said("ready")
        })?;
        Ok(bridge)
    }
}

const COUNT: u32 = 10;

/// Datagrams turned and dropped, by the bridge's last line.
fn passed(lines: &[String]) -> Result<(u64, u64), String> {
    let last = lines.last().map(String::as_str).unwrap_or_default();
    let words: Vec<&str> = last.split(' ').collect();
    match words.as_slice() {
        ["turned", turned, "dropped", dropped] => {
            let number = |text: &str| text.parse().map_err(|_| format!("bridge: {last}"));
            Ok((number(turned)?, number(dropped)?))
        }
        _ => Err(format!("bridge: {last}")),
    }
}

/// tshark must find nothing wrong with what was turned: it judges the bridge.
fn well_formed(file: &PathBuf) -> Result<(), String> {
    let output = Command::new("tshark")
        .arg("-r")
        .arg(file)
        .args([
            "-Y",
            "rtps and (_ws.malformed or _ws.expert.severity >= 6291456)",
        ])
        .args([
            "-T",
            "fields",
            "-e",
            "frame.number",
            "-e",
            "_ws.expert.message",
        ])
        .output()
        .map_err(|error| format!("tshark: {error} (cargo xtask setup installs it)"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let first = text.lines().next();
    match (output.status.success(), first) {
        (true, None) => {
            let _ = std::fs::remove_file(file);
            Ok(())
        }
        (true, Some(line)) => Err(format!("{}: frame {line}", file.display())),
        (false, _) => Err(format!(
            "tshark: {}",
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_of_a_bridge_counts() {
        let lines = |text: &str| vec!["ready".to_owned(), text.to_owned()];
        assert_eq!(passed(&lines("turned 7 dropped 2")), Ok((7, 2)));
        for text in ["unknown parameter", "turned x dropped 1", ""] {
            assert!(passed(&lines(text)).is_err(), "{text}");
        }
        assert!(passed(&[]).is_err());
    }
}
