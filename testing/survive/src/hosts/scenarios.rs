//! What happens to two hosts.

use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

use whimbrel_rig::network::Network;

use super::groups::narrow_group;
use super::meeting::{deaf_bridge, loopback_only, many_networks};
use super::roles::{LOG, SIGHT};
use super::stage::{RECOVERY_MAX, Scale, Script, Stage, set_mtu};
use crate::peer::number;

/// A scenario: it says what was measured, or what did not hold.
pub(super) type Scenario = fn(Scale) -> Result<String, String>;

/// All of them.
pub(super) const SCENARIOS: &[(&str, Scenario)] = &[
    ("cable out shorter than the lease", pulled_shortly),
    ("cable out longer than the lease", pulled_long),
    ("address changed", moved),
    ("MTU 576", narrowed),
    ("MTU 576 behind a router", narrow_path),
    ("MTU 9000, then 1500", jumbo),
    ("256 kbit/s", slowed),
    ("stopped longer than the lease", stopped),
    ("killed and restarted", killed),
    ("bridge without multicast", deaf_bridge),
    ("two cables, VPN, containers", many_networks),
    ("loopback only", loopback_only),
    ("data by a group, MTU 1280", narrow_group),
];

/// Pulls the cable of `b` for `out` and puts it back; how many others each side knew at the end.
fn pull(stage: &mut Stage, out: Duration) -> Result<(i64, i64), String> {
    stage.network.on("b", "ip link set vb down")?;
    thread::sleep(out / 4);
    let before = stage.newest()?;
    thread::sleep(out - out / 4);
    if stage.newest()? != before {
        return Err("data came though the cable was out".into());
    }
    let others = stage.others()?;
    stage.network.on("b", "ip link set vb up")?;
    // The system forgets the route with the link; a network manager brings it back.
    stage
        .network
        .on("b", "ip route replace 224.0.0.0/4 dev vb")?;
    Ok(others)
}

fn pulled_shortly(scale: Scale) -> Result<String, String> {
    let mut stage = Stage::open(Network::pair()?, Script::usual(scale.lease))?;
    let mut longest = Duration::ZERO;
    for _ in 0..2 {
        if pull(&mut stage, scale.lease / 2)? != (1, 1) {
            return Err("a lease ended too early".into());
        }
        longest = longest.max(stage.recovers("cable replaced")?);
    }
    stage.nothing_lost(&["stream", "log", "bulk"])?;
    stage.log_complete()?;
    stage.same_guids()?;
    Ok(format!("back in {} ms, nothing lost", longest.as_millis()))
}

fn pulled_long(scale: Scale) -> Result<String, String> {
    let mut stage = Stage::open(Network::pair()?, Script::usual(scale.lease))?;
    if pull(&mut stage, scale.lease * 8 / 5)? != (0, 0) {
        return Err("the leases did not end".into());
    }
    let took = stage.recovers("cable replaced")?;
    stage.log_complete()?;
    stage.same_guids()?;
    Ok(format!("back in {} ms, log whole", took.as_millis()))
}

fn moved(scale: Scale) -> Result<String, String> {
    let mut stage = Stage::open(Network::pair()?, Script::usual(scale.lease))?;
    let mut longest = Duration::ZERO;
    let addresses = [
        ("b", "10.77.0.2", "10.77.0.12"),
        ("a", "10.77.0.1", "10.77.0.11"),
    ];
    for (host, old, new) in addresses {
        let network = &stage.network;
        network.on(host, &format!("ip addr del {old}/24 dev v{host}"))?;
        thread::sleep(Duration::from_millis(300));
        network.on(host, &format!("ip addr add {new}/24 dev v{host}"))?;
        network.on(host, &format!("ip route replace 224.0.0.0/4 dev v{host}"))?;
        longest = longest.max(stage.recovers("address changed")?);
    }
    stage.nothing_lost(&["stream", "log", "bulk"])?;
    stage.log_complete()?;
    stage.same_guids()?;
    Ok(format!("back in {} ms, nothing lost", longest.as_millis()))
}

fn narrowed(scale: Scale) -> Result<String, String> {
    let mut stage = Stage::open(Network::pair()?, Script::usual(scale.lease))?;
    set_mtu(&stage.network, 576)?;
    let took = stage.recovers("MTU shrunk")?;
    thread::sleep(Duration::from_millis(500));
    stage.recovers("with the small MTU")?;
    stage.nothing_lost(&["stream", "log", "bulk"])?;
    stage.no_fragments()?;
    Ok(format!("back in {} ms, no IP fragment", took.as_millis()))
}

fn narrow_path(scale: Scale) -> Result<String, String> {
    let network = Network::of_hosts(["a", "r", "b"])?;
    network.cable(["a", "va", "10.77.1.1/24"], ["r", "ra", "10.77.1.9/24"])?;
    network.cable(["r", "rb", "10.77.2.9/24"], ["b", "vb", "10.77.2.2/24"])?;
    network.on("r", "sysctl -q -w net.ipv4.ip_forward=1")?;
    network.on("a", "ip route add default via 10.77.1.9")?;
    network.on("b", "ip route add default via 10.77.2.9")?;
    let script = Script {
        peers: "10.77.2.2",
        ..Script::usual(scale.lease)
    };
    let mut stage = Stage::open(network, script)?;
    // The far link of the router shrinks: nobody at `a` is told but by ICMP.
    stage.network.on("r", "ip link set rb mtu 576")?;
    stage.network.on("b", "ip link set vb mtu 576")?;
    let took = stage.recovers("path narrowed")?;
    stage.nothing_lost(&["stream", "log", "bulk"])?;
    stage.no_fragments()?;
    stage.makes_no_fragments("r")?;
    Ok(format!("back in {} ms, no IP fragment", took.as_millis()))
}

/// Packets of 9000 octets where that is asked for and the link carries them, and smaller ones once
/// it does not.
fn jumbo(scale: Scale) -> Result<String, String> {
    let network = Network::pair()?;
    set_mtu(&network, 9000)?;
    let script = Script {
        periods_ms: [0, 0, 0, 10, 10],
        // Each packet is to be counted by itself.
        settings: &[
            ("WHIMBREL_PACKET_BYTES_MAX", "9000"),
            ("WHIMBREL_SEGMENTATION_OFFLOAD", "off"),
        ],
        ..Script::usual(scale.lease)
    };
    let mut stage = Stage::open(network, script)?;
    let large = datagrams_each(&mut stage)?;
    set_mtu(&stage.network, 1500)?;
    let took = stage.recovers("MTU back to usual")?;
    let usual = datagrams_each(&mut stage)?;
    // Of 3000 and 8000 octets: one packet of 9000 each, three and six of 1500.
    if large >= 2.0 || usual < 4.0 {
        return Err(format!("{large:.2} datagrams a sample, then {usual:.2}"));
    }
    stage.nothing_lost(&["bulk"])?;
    stage.no_fragments()?;
    Ok(format!(
        "{large:.2} datagrams a sample, then {usual:.2}, back in {} ms, no IP fragment",
        took.as_millis()
    ))
}

/// How many datagrams come to the listener for each sample.
fn datagrams_each(stage: &mut Stage) -> Result<f64, String> {
    let look = |stage: &mut Stage| -> Result<(i64, i64), String> {
        let heard = stage.listener.ask("count")?;
        let samples = number(&heard, "bulk.last")? + number(&heard, &format!("{SIGHT}.last"))?;
        Ok((samples, stage.datagrams("b")?))
    };
    let before = look(stage)?;
    thread::sleep(Duration::from_secs(1));
    let after = look(stage)?;
    Ok((after.1 - before.1) as f64 / (after.0 - before.0).max(1) as f64)
}

fn slowed(scale: Scale) -> Result<String, String> {
    let network = Network::pair()?;
    for host in ["a", "b"] {
        let shape =
            format!("tc qdisc add dev v{host} root tbf rate 256kbit burst 3000 limit 12800");
        network.on(host, &shape)?;
    }
    let script = Script {
        periods_ms: [50, 50, 100, 0, 0],
        ..Script::usual(scale.lease)
    };
    let begun = Instant::now();
    let mut stage = Stage::open(network, script)?;
    let met = begun.elapsed();
    if met > RECOVERY_MAX {
        return Err(format!("met after {} ms", met.as_millis()));
    }
    thread::sleep(scale.lease);
    let behind = stage.recovers("on the slow link")?;
    stage.nothing_lost(&["stream", "log"])?;
    stage.log_complete()?;
    Ok(format!(
        "met in {} ms, {} ms behind, nothing lost",
        met.as_millis(),
        behind.as_millis()
    ))
}

fn stopped(scale: Scale) -> Result<String, String> {
    let mut stage = Stage::open(Network::pair()?, Script::usual(scale.lease))?;
    let mut longest = Duration::ZERO;
    for talker in [false, true] {
        let peer = |stage: &Stage, signal: &str| {
            let peer = if talker {
                &stage.talker
            } else {
                &stage.listener
            };
            peer.signal(signal)
        };
        peer(&stage, "STOP")?;
        thread::sleep(scale.lease * 8 / 5);
        peer(&stage, "CONT")?;
        longest = longest.max(stage.recovers("continued")?);
    }
    stage.log_complete()?;
    stage.same_guids()?;
    Ok(format!("back in {} ms, log whole", longest.as_millis()))
}

fn killed(scale: Scale) -> Result<String, String> {
    let mut stage = Stage::open(Network::pair()?, Script::usual(scale.lease))?;
    let begun = Instant::now();
    let mut longest = Duration::ZERO;
    let mut rounds: u32 = 0;
    // From then on leases of the dead end as fast as new ones begin: no more are known at once. The
    // system's allocator still takes some hundred rounds until what comes and goes finds a place in
    // what it has.
    let warm = (scale.lease * 2).max(scale.time / 6);
    let mut before = None;
    while before.is_none() || begun.elapsed() < scale.time {
        stage.restart_listener()?;
        longest = longest.max(stage.recovers("listener restarted")?);
        stage.log_complete()?;
        rounds += 1;
        if before.is_none() && rounds >= 4 && begun.elapsed() >= warm {
            // What a history that grows leaves between what comes and goes is another matter.
            stage.close_log()?;
            before = Some((rounds, Memory::at_rest(&mut stage)?));
        }
    }
    let (warm_rounds, before) = before.ok_or("memory was not measured")?;
    let after = Memory::at_rest(&mut stage)?;
    after.judge(&before, rounds - warm_rounds)?;
    stage.restart_talker()?;
    longest = longest.max(stage.recovers("talker restarted")?);
    Ok(format!(
        "{rounds} times, back in {} ms, talker with one arena at rest {before} -> {after}",
        longest.as_millis()
    ))
}

/// What the talker holds once it has forgotten all the dead: how many there are at once, and what
/// of its history waits for them, is a matter of how quickly they were started.
struct Memory {
    resident_kb: i64,
    heap_kb: i64,
    /// Entries of the log.
    entries: i64,
}

impl Memory {
    /// Growth that counts as none: of the heap as in `churn`; of what is resident, a tenth or this.
    const HEAP_GRAIN_KB: i64 = 512;
    const RESIDENT_GRAIN_KB: i64 = 1024;

    fn at_rest(stage: &mut Stage) -> Result<Self, String> {
        let (begun, patience) = (Instant::now(), stage.script.lease * 3);
        while stage.others()?.0 != 1 {
            if begun.elapsed() > patience {
                return Err("the dead are not forgotten".into());
            }
            thread::sleep(Duration::from_millis(100));
        }
        // History is let go once nobody waits for it.
        thread::sleep(Duration::from_secs(1));
        let said = stage.talker.ask("memory")?;
        Ok(Self {
            resident_kb: number(&said, "rss_kb")?,
            heap_kb: number(&said, "heap_kb")?,
            entries: number(&said, LOG)?,
        })
    }

    fn judge(&self, before: &Self, restarts: u32) -> Result<(), String> {
        let resident_kb = Self::RESIDENT_GRAIN_KB.max(before.resident_kb / 10);
        if self.heap_kb > before.heap_kb + Self::HEAP_GRAIN_KB
            || self.resident_kb > before.resident_kb + resident_kb
        {
            return Err(format!(
                "memory of the talker: {before}, after {restarts} restarts {self}"
            ));
        }
        Ok(())
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            resident_kb,
            heap_kb,
            entries,
        } = self;
        write!(
            f,
            "{resident_kb} kB resident, {heap_kb} kB heap with {entries} log entries"
        )
    }
}
