//! Hosts that are hard to find: no multicast, more networks than one, addresses that lead nowhere.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use whimbrel_rig::network::Network;

use super::stage::{RECOVERY_MAX, Scale, Script, Stage};
use crate::peer::Peer;

/// Participants that know each other's address meet within this.
const MEETING_MAX: Duration = Duration::from_secs(2);

/// The doctor has spoken within this.
const DOCTOR_MAX: Duration = Duration::from_secs(5);

/// Hosts `a` and `b` on a bridge at `r` that forwards no multicast.
fn bridged() -> Result<Network, String> {
    let network = Network::of_hosts(["a", "r", "b"])?;
    network.on("r", "ip link add br0 type bridge")?;
    network.on("r", "ip link set br0 up")?;
    network.cable(["a", "va", "10.77.0.1/24"], ["r", "ra", "10.78.1.9/32"])?;
    network.cable(["b", "vb", "10.77.0.2/24"], ["r", "rb", "10.78.2.9/32"])?;
    for port in ["ra", "rb"] {
        network.on("r", &format!("ip link set {port} master br0"))?;
    }
    network.on("r", "nft add table bridge deaf")?;
    network.on(
        "r",
        "nft add chain bridge deaf drops { type filter hook forward priority 0 ; }",
    )?;
    network.on(
        "r",
        "nft add rule bridge deaf drops ip daddr 224.0.0.0/4 counter drop",
    )?;
    Ok(network)
}

fn met_within(stage: &Stage, begun: Instant, max: Duration) -> Result<Duration, String> {
    // What `Stage::open` waits for: data of all topics has arrived, so both directions work.
    let met = stage.opened_at - begun;
    if met <= max {
        Ok(met)
    } else {
        Err(format!("met after {} ms", met.as_millis()))
    }
}

/// Pain 1: a network that drops multicast.
pub(super) fn deaf_bridge(scale: Scale) -> Result<String, String> {
    let script = Script {
        peers: "10.77.0.2",
        ..Script::usual(scale.lease)
    };
    let begun = Instant::now();
    let network = bridged()?;
    let built = Instant::now();
    let stage = Stage::open(network, script)?;
    let met = met_within(&stage, built, MEETING_MAX)?;
    let dropped = stage
        .network
        .read("r", "nft list chain bridge deaf drops")?;
    if dropped.contains("packets 0 ") {
        return Err("the bridge met no multicast to drop".into());
    }
    drop(stage);

    let script = Script {
        listener_host: "a",
        ..Script::usual(scale.lease)
    };
    let network = bridged()?;
    let built = Instant::now();
    let stage = Stage::open(network, script)?;
    let alone = met_within(&stage, built, MEETING_MAX)?;
    let doctor = doctor(&stage.network, "b")?;
    Ok(format!(
        "one peer entry {} ms, same host with nothing set {} ms, doctor {} ms, in all {} s",
        met.as_millis(),
        alone.as_millis(),
        doctor.as_millis(),
        begun.elapsed().as_secs()
    ))
}

/// The doctor on `host` names the cause and the cure.
fn doctor(network: &Network, host: &str) -> Result<Duration, String> {
    let program = command_line()?;
    let begun = Instant::now();
    let output = network
        .program(host, &program)
        .arg("doctor")
        .output()
        .map_err(|error| format!("doctor: {error}"))?;
    let took = begun.elapsed();
    let text = String::from_utf8_lossy(&output.stdout);
    let named = text.contains("multicast sent by vb, none came back");
    if !named || !text.contains("WHIMBREL_PEERS=") {
        let status = output.status;
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(format!("doctor ({status}) says: {text}{errors}"));
    }
    if took > DOCTOR_MAX {
        return Err(format!("doctor took {} ms", took.as_millis()));
    }
    Ok(took)
}

/// The program `whimbrel` of the same build as this one, also where this one is a copy that is no
/// longer where it was built.
fn command_line() -> Result<PathBuf, String> {
    let this = std::env::current_exe().map_err(|error| format!("this program: {error}"))?;
    let folder = this.parent().unwrap_or(Path::new("."));
    let built_here = ["release", "debug"].iter().any(|it| folder.ends_with(it));
    let target = folder.parent().filter(|_| built_here);
    let released = !cfg!(debug_assertions);
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet", "-p", "whimbrel-cli"]);
    if released {
        build.arg("--release");
    }
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = target.map_or_else(|| workspace.join("target"), Path::to_owned);
    build.arg("--target-dir").arg(&target);
    let built = build
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null())
        .status();
    if !built.as_ref().is_ok_and(std::process::ExitStatus::success) {
        return Err(format!("{build:?}: {built:?}"));
    }
    let program = target
        .join(if released { "release" } else { "debug" })
        .join("whimbrel");
    match program.is_file() {
        true => Ok(program),
        false => Err(format!("{build:?} made no {}", program.display())),
    }
}

/// Pain 9: two networks that lead to the other host, one that leads nowhere and is the default,
/// and one of containers with the same address on both hosts.
pub(super) fn many_networks(scale: Scale) -> Result<String, String> {
    let network = Network::of_hosts(["a", "b", "v"])?;
    for (number, host) in [(1, "a"), (2, "b")] {
        let vpn = format!("10.8.0.{number}/16");
        network.cable(
            [host, "tun0", &vpn],
            ["v", &format!("v{host}"), "10.8.255.9/32"],
        )?;
        network.on(host, "ip route add default dev tun0")?;
        network.on(host, "ip link add docker0 type bridge")?;
        let port = format!("c{host}");
        network.cable([host, "veth0", "10.9.0.1/32"], ["v", &port, "10.9.0.9/32"])?;
        network.on(host, "ip link set veth0 master docker0")?;
        network.on(host, "ip addr add 172.17.0.1/16 dev docker0")?;
        network.on(host, "ip link set docker0 up")?;
        network.wait_until_up(host, "docker0")?;
    }
    network.cable(["a", "eth0", "10.77.1.1/24"], ["b", "eth0", "10.77.1.2/24"])?;
    network.cable(["a", "eth1", "10.77.2.1/24"], ["b", "eth1", "10.77.2.2/24"])?;
    let built = Instant::now();
    let mut stage = Stage::open(network, Script::usual(scale.lease))?;
    let met = met_within(&stage, built, RECOVERY_MAX)?;
    let mut longest = Duration::ZERO;
    for (pulled, other) in [("eth0", "eth1"), ("eth1", "eth0")] {
        stage.network.on("b", &format!("ip link set {other} up"))?;
        stage.network.wait_until_up("b", other)?;
        stage.recovers("with both cables")?;
        stage
            .network
            .on("b", &format!("ip link set {pulled} down"))?;
        longest = longest.max(stage.recovers(&format!("without {pulled}"))?);
    }
    stage.nothing_lost(&["stream", "log", "bulk"])?;
    stage.same_guids()?;
    Ok(format!(
        "met in {} ms with nothing set, either cable pulled: back in {} ms, nothing lost",
        met.as_millis(),
        longest.as_millis()
    ))
}

/// Loopback only means that nothing else is bound.
pub(super) fn loopback_only(scale: Scale) -> Result<String, String> {
    let network = Network::pair()?;
    let mut command = network.this_program("a")?;
    let lease_ms = scale.lease.as_millis().to_string();
    command.args(["child", "hosts", "talk", &lease_ms, "10", "10", "10", "10"]);
    command.env("WHIMBREL_INTERFACES", "lo");
    let mut peer = Peer::start(&mut command)?;
    peer.ask("count")?;
    let mut bound = 0;
    for table in ["udp", "udp6"] {
        let text = network.read("a", &format!("cat /proc/net/{table}"))?;
        let locals = text
            .lines()
            .skip(1)
            .filter_map(|line| line.split_whitespace().nth(1));
        for local in locals {
            bound += 1;
            let loopback = local.starts_with("0100007F:")
                || local.starts_with("00000000000000000000000001000000:");
            if !loopback {
                return Err(format!("{local} of /proc/net/{table} is bound"));
            }
        }
    }
    if bound == 0 {
        return Err("no UDP socket was found".into());
    }
    Ok(format!("{bound} sockets, all on 127.0.0.1"))
}
