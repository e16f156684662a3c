//! What is set of Whimbrel, for reports.

use whimbrel::domain::Waiting;

/// What differs from the defaults in the bench of this name.
///
/// # Errors
/// There is no such bench.
pub(crate) fn of(bench: &str) -> Result<String, String> {
    let default = Waiting::default();
    let ping_pong = || {
        let (blocking, spinning) = (Waiting::Receive, Waiting::Spin);
        format!(
            "waiting {blocking}, modes that poll and those within a process {default}, spinning \
             {spinning}; large-system-buffers without receive_buffer_bytes and send_buffer_bytes"
        )
    };
    Ok(match bench {
        "latency" | "polling" => ping_pong(),
        "calls" => format!(
            "{}; streams {default}, unbundled; variables as the tables say",
            ping_pong()
        ),
        "throughput" => format!(
            "waiting {default}; reliable and best-effort bundled automatically, batched in up to \
             60000 octets, unbundled and +off not; best-effort-last keeps the last sample"
        ),
        "footprint" => format!("waiting {default}"),
        _ => return Err(format!("no bench {bench}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bench_has_some() {
        for bench in ["latency", "polling", "calls", "throughput", "footprint"] {
            assert!(of(bench).unwrap().contains("waiting"), "{bench}");
        }
        assert!(of("none").is_err());
    }
}
