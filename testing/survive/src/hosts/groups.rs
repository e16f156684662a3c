//! Data that goes to several by a group.

use std::mem;
use std::thread;
use std::time::Duration;

use whimbrel_rig::network::Network;

use super::roles::SIGHT;
use super::stage::{Scale, Script, Stage, set_mtu};
use crate::peer::number;

/// How long data flows to each number of listeners.
const FLOWING: Duration = Duration::from_secs(1);

/// Packets without which a sample of [`SIGHT`] does not pass a link of 1280 octets.
const SIGHT_PACKETS: i64 = 7;

/// A link of 1280 octets from `a` to `b` and one of 1500 to `c`. At first somebody listens on `a`
/// only, to whom alone the largest messages might go, then on `c` and `b` too.
pub(super) fn narrow_group(scale: Scale) -> Result<String, String> {
    let network = Network::of_hosts(["a", "b", "c"])?;
    network.cable(["a", "va", "10.77.1.1/24"], ["b", "vb", "10.77.1.2/24"])?;
    network.cable(["a", "vx", "10.77.2.1/24"], ["c", "vc", "10.77.2.3/24"])?;
    set_mtu(&network, 1280)?;
    let script = Script {
        periods_ms: [0, 0, 0, 25, 25],
        listener_host: "a",
        settings: &[("WHIMBREL_MULTICAST_DATA", "on")],
        ..Script::usual(scale.lease)
    };
    let mut stage = Stage::open(network, script)?;
    thread::sleep(FLOWING);
    let mut others = Vec::new();
    for host in ["c", "b"] {
        others.push(stage.listen_at(host)?);
        thread::sleep(FLOWING);
    }
    let heard = stage.listener.ask("count")?;
    let count = |name: &str| number(&heard, &format!("{SIGHT}.{name}"));
    let (samples, packets) = (
        count("last")? - count("first")? + 1,
        stage.group_packets("b")?,
    );
    if packets < samples * SIGHT_PACKETS {
        return Err(format!("{samples} samples, {packets} packets by a group"));
    }
    stage.nothing_lost(&["bulk", SIGHT])?;
    for other in &mut others {
        mem::swap(&mut stage.listener, other);
        stage.recovers("to several")?;
        stage.nothing_lost(&["bulk", SIGHT])?;
    }
    stage.no_fragments()?;
    let refused = number(&stage.talker.ask("count")?, "oversize")?;
    if refused != 0 {
        return Err(format!("{refused} messages were too large for a link"));
    }
    Ok(format!(
        "{samples} samples in {packets} packets, no IP fragment, nothing lost"
    ))
}
