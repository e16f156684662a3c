//! A cable that is as slow as a real one.

use whimbrel_rig::network::Network;

/// A rate, and how many octets may pass at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) mbit_per_s: u32,
    /// Samples up to this size are never slowed down.
    pub(crate) burst_bytes: u32,
}

/// Sample of the self-test, in octets.
pub(crate) const PROBE_BYTES: usize = 63_000;
/// Share of the rate that is left for payload.
const PAYLOAD_SHARE: f64 = 0.95;

impl Link {
    /// 100 Mbit/s, steady on shared machines.
    pub(crate) const FAST_ETHERNET: Self = Self {
        mbit_per_s: 100,
        burst_bytes: 3072,
    };

    /// 1 Gbit/s: a larger burst would pass samples unslowed, one of a packet halves the rate.
    pub(crate) const GIGABIT: Self = Self {
        mbit_per_s: 1000,
        burst_bytes: 6144,
    };

    /// Both ends of the cable of [`Network::pair`] send at this rate from now on.
    ///
    /// # Errors
    /// The system has no token bucket filter.
    pub(super) fn shape(self, network: &Network) -> Result<(), String> {
        for (host, interface) in [("a", "va"), ("b", "vb")] {
            let line = format!(
                "tc qdisc add dev {interface} root tbf rate {}mbit burst {} latency 100ms",
                self.mbit_per_s, self.burst_bytes
            );
            network.on(host, &line)?;
        }
        Ok(())
    }

    /// What it is called once it has been tested.
    pub(crate) fn name(self) -> String {
        match self.mbit_per_s {
            1000 => "1 Gbit/s".into(),
            rate => format!("{rate} Mbit/s"),
        }
    }

    /// How long `bytes` take on the wire, in microseconds.
    pub(crate) fn ideal_us(self, bytes: usize) -> f64 {
        bytes as f64 * 8.0 / (f64::from(self.mbit_per_s) * PAYLOAD_SHARE)
    }

    /// Whether the wire is what its name says: one way for [`PROBE_BYTES`] within 10 % of the
    /// ideal, and a blast of payload at 85 % of the rate or more, but not above the rate.
    ///
    /// # Errors
    /// Both figures and what they should be.
    pub(crate) fn judge(self, one_way_us: f64, blast_mbit_per_s: f64) -> Result<String, String> {
        let ideal = self.ideal_us(PROBE_BYTES);
        let rate = f64::from(self.mbit_per_s);
        let text = format!(
            "self-test: {PROBE_BYTES} B one way {one_way_us:.0} µs (ideal {ideal:.0}), blast \
             {blast_mbit_per_s:.0} Mbit/s of {rate:.0}, burst {} B",
            self.burst_bytes
        );
        let is_near = (one_way_us / ideal - 1.0).abs() <= 0.1;
        let is_full = (0.85 * rate..=rate).contains(&blast_mbit_per_s);
        if is_near && is_full {
            Ok(text)
        } else {
            Err(text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_earned() {
        let link = Link::FAST_ETHERNET;
        assert!((link.ideal_us(PROBE_BYTES) - 5305.0).abs() < 1.0);
        assert!(link.judge(5012.0, 96.9).is_ok());
        let gigabit = Link::GIGABIT;
        assert_eq!([link, gigabit].map(Link::name), ["100 Mbit/s", "1 Gbit/s"]);
        assert!(gigabit.judge(539.0, 884.0).is_ok());
        assert!(gigabit.judge(1108.0, 586.0).is_err());
        // What an unshaped cable, a burst of a whole sample and a busy machine show.
        for (one_way, blast) in [(76.0, 1297.0), (3998.0, 98.0), (5300.0, 60.0)] {
            assert!(link.judge(one_way, blast).is_err());
        }
    }
}
