//! What the buffers of sockets hold, beside what was asked of them.

use super::finding::{Finding, Severity};
use super::seen::Seen;

/// What buffers are raised to unless something else is asked for, in octets; less loses bursts.
const RECEIVE_USUAL: usize = 4 << 20;
const SEND_USUAL: usize = 1 << 20;

/// Buffers of one direction.
struct Direction {
    name: &'static str,
    id: &'static str,
    usual: usize,
    wanted: Option<usize>,
    /// What the smallest holds.
    held: Option<usize>,
    variable: &'static str,
    sysctl: &'static str,
    harm: &'static str,
}

/// What is wrong with the buffers of the sockets.
pub(super) fn findings(seen: &Seen) -> Vec<Finding> {
    let sockets = &seen.diagnostics.sockets;
    let receive = Direction {
        name: "receive",
        id: "small_receive_buffer",
        usual: RECEIVE_USUAL,
        wanted: seen.wanted.receive_bytes,
        held: sockets.iter().filter_map(|it| it.recv_buffer_bytes).min(),
        variable: "WHIMBREL_RECEIVE_BUFFER_BYTES",
        sysctl: "net.core.rmem_max",
        harm: "bursts may be lost",
    };
    let send = Direction {
        name: "send",
        id: "small_send_buffer",
        usual: SEND_USUAL,
        wanted: seen.wanted.send_bytes,
        held: sockets.iter().filter_map(|it| it.send_buffer_bytes).min(),
        variable: "WHIMBREL_SEND_BUFFER_BYTES",
        sysctl: "net.core.wmem_max",
        harm: "large samples leave in smaller bursts",
    };
    let dropped = sockets.iter().filter_map(|it| it.datagrams_dropped).sum();
    let small = [receive.small(), send.small(), receive.overrun(dropped)];
    small.into_iter().flatten().collect()
}

impl Direction {
    fn small(&self) -> Option<Finding> {
        let held = self.held?;
        let name = self.name;
        let (why, cure) = match self.wanted {
            Some(wanted) if held < wanted => (
                format!("{} KiB were wanted", wanted / 1024),
                format!("sysctl -w {}={wanted}", self.sysctl),
            ),
            _ if held < self.usual => (
                format!("as {} says", self.variable),
                format!(
                    "unset {}: they hold {} KiB then, or what {} allows",
                    self.variable,
                    self.usual / 1024,
                    self.sysctl
                ),
            ),
            _ => return None,
        };
        Some(Finding {
            severity: Severity::Note,
            id: self.id,
            cause: format!(
                "{name} buffers hold {} KiB, {why}: {}",
                held / 1024,
                self.harm
            ),
            cure,
        })
    }

    fn overrun(&self, dropped: u64) -> Option<Finding> {
        let enough = 4 * self.held.unwrap_or(0).max(self.usual);
        (dropped > 0).then(|| Finding {
            severity: Severity::Warning,
            id: "datagrams_dropped",
            cause: format!(
                "the system dropped {dropped} datagrams because {} buffers were full",
                self.name
            ),
            cure: format!(
                "sysctl -w {}={enough}, and {}={enough} where they were dropped",
                self.sysctl, self.variable
            ),
        })
    }
}
