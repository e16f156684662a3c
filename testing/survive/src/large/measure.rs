//! One run over one link.

use std::env;
use std::num::NonZero;
use std::path::Path;
use std::thread;
use std::time::Duration;

use whimbrel_rig::network::Network;

use super::others::Others;
use crate::peer::{Answer, Peer, number};

/// How the large samples come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Traffic {
    /// Ten a second.
    TenHertz,
    /// As fast as history takes them.
    Unpaced,
}

/// What one run gave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) written: i64,
    pub(super) delivered: i64,
    /// Octets of IP packets towards the reader that were sent again.
    pub(super) repair_bytes: f64,
    /// Octets of IP packets towards the reader that were lost.
    pub(super) lost_bytes: u64,
    pub(super) goodput_mbits: f64,
    /// The share of the cores that other programs took meanwhile.
    pub(super) others: f64,
    /// Median round trips on the idle link, the slower of before and after, and of those beside
    /// the large samples that the link did not lose, in microseconds.
    pub(super) bus_us: (f64, f64),
    pub(super) udp_us: (f64, f64),
}

impl Run {
    pub(super) fn repair_ratio(&self) -> f64 {
        self.repair_bytes / self.lost_bytes.max(1) as f64
    }

    /// The round trip on the idle link that the bus is held to, in microseconds: its own, or that
    /// of plain UDP where the bus was quicker by polling for answers. It polls as long as they come
    /// soon, so beside large samples it sleeps until they are there, as plain UDP always does.
    pub(super) fn bus_idle_us(&self) -> f64 {
        self.bus_us.0.max(self.udp_us.0)
    }
}

/// How long the idle link is measured.
const IDLE: Duration = Duration::from_millis(700);

/// Starts a program that comes before all others that want its cores.
const BEFORE_OTHERS: &[&str] = &["chrt", "--rr", "10"];

/// How long everything may take to arrive after the last write.
const ARRIVAL_TRIES: u32 = 300;

/// Two hosts, each of which sends one packet after the other at `mbits`, out of the queue that
/// Linux gives an interface by default.
fn link(mbits: u32) -> Result<Network, String> {
    let network = Network::pair()?;
    for host in ["a", "b"] {
        let shape = format!("rate {mbits}mbit burst 6000 limit 2000000");
        let tc = format!("tc qdisc add dev v{host}");
        network.on(host, &format!("{tc} root handle 1: tbf {shape}"))?;
        network.on(host, &format!("{tc} parent 1:1 handle 10: pfifo_fast"))?;
    }
    Ok(network)
}

/// Writes `samples` large samples from `a` to `b`, of whose packets `percent` are lost both ways.
pub(super) fn measure(
    percent: u32,
    mbits: u32,
    samples: u32,
    traffic: Traffic,
) -> Result<Run, String> {
    let network = link(mbits)?;
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let [first, last] = halves(cores);
    let program = env::current_exe().map_err(|e| format!("this program: {e}"))?;
    let start = |host: &str, role: &str, cores: &str, starter: &[&str]| {
        let mut command = network.program(host, Path::new("taskset"));
        command.args(["--cpu-list", cores]).args(starter);
        Peer::start(command.arg(&program).args(["child", "large", role]))
    };
    // The small traffic has processes of its own, as ssh has. Two hosts share no core: on one,
    // both its ends would answer an idle link sooner than any other. It comes first on its cores,
    // so that what it waits for is the link; and they are those of the other host's large samples,
    // since on the source's own it would mostly run when that has just let the link run dry.
    let mut echo = start("b", "echo", &first, BEFORE_OTHERS)?;
    let mut ping = start("a", "ping", &last, BEFORE_OTHERS)?;
    let mut sink = start("b", "sink", &last, &[])?;
    let mut source = start("a", "source", &first, &[])?;
    ping.ask("meet")?;
    source.ask("meet")?;
    ping.ask("begin")?;
    thread::sleep(IDLE);
    let idle = ping.ask("end 0")?;
    network.lose("a", percent)?;
    network.lose("b", percent)?;

    ping.ask("begin")?;
    let period_ms = match traffic {
        Traffic::TenHertz => 100,
        Traffic::Unpaced => 0,
    };
    let others = Others::beside(&[&echo, &ping, &sink, &source].map(Peer::id));
    let written = source.ask(&format!("write {samples} {period_ms}"))?;
    let others = others.share();
    let beside = ping.ask(&format!("end {percent}"))?;
    let wanted = number(&written, "written")?;
    let mut arrived = sink.ask("count")?;
    for _ in 0..ARRIVAL_TRIES {
        if number(&arrived, "delivered")? >= wanted {
            break;
        }
        thread::sleep(Duration::from_millis(100));
        arrived = sink.ask("count")?;
    }
    let sent = source.ask("repairs")?;
    let (_, lost_bytes) = network.lost("b")?;
    // The idle link loses nothing, as before.
    network.keep("a")?;
    network.keep("b")?;
    ping.ask("begin")?;
    thread::sleep(IDLE);
    let after = ping.ask("end 0")?;
    drop((echo.ask("end")?, ping, source, sink));
    let run = summary(&written, &arrived, &sent, [&idle, &after, &beside])?;
    Ok(Run {
        lost_bytes,
        others,
        ..run
    })
}

/// The first and the last half of so many cores, as `taskset` wants them; of one both are that.
fn halves(cores: usize) -> [String; 2] {
    let half = (cores / 2).max(1);
    let last = half.min(cores - 1);
    [format!("0-{}", half - 1), format!("{last}-{}", cores - 1)]
}

fn summary(
    written: &Answer,
    arrived: &Answer,
    sent: &Answer,
    [before, after, beside]: [&Answer; 3],
) -> Result<Run, String> {
    let value = |answer: &Answer, name: &str| number(answer, name).map(|it| it as f64);
    let both = |name: &str| {
        let idle = value(before, name)?.max(value(after, name)?);
        Ok::<_, String>((idle, value(beside, name)?))
    };
    let took_us = value(written, "took_us")?.max(1.0);
    Ok(Run {
        written: number(written, "written")?,
        delivered: number(arrived, "intact")?,
        repair_bytes: value(sent, "repair_bytes")?,
        lost_bytes: 0,
        others: 0.0,
        goodput_mbits: value(written, "bytes")? * 8.0 / took_us,
        bus_us: both("bus_us")?,
        udp_us: both("udp_us")?,
    })
}

#[cfg(test)]
mod tests {
    use super::halves;

    #[test]
    fn two_hosts_share_no_core_where_there_are_two() {
        for (cores, expected) in [
            (1, ["0-0", "0-0"]),
            (2, ["0-0", "1-1"]),
            (3, ["0-0", "1-2"]),
            (8, ["0-3", "4-7"]),
        ] {
            assert_eq!(halves(cores), expected);
        }
    }
}
