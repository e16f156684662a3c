//! A scenario for people, short.

use std::fmt;

use super::Scenario;

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "seed {}{}: hosts {:?}, keys {:?}, multicast {} (data {}), loopback {}, \
             datagrams of {}, queues of {}, \
             {:?} each, news after {:?}, heals {:?}",
            self.seed,
            if self.discovery {
                " with discovery"
            } else {
                ""
            },
            self.hosts,
            self.keys,
            self.multicast,
            self.multicast_data,
            self.loopback,
            self.datagram_bytes_max,
            self.queue_bytes_max,
            self.service,
            self.news_delay,
            self.heals_at,
        )?;
        let nodes = self.hosts.len();
        for (index, faults) in self.faults.iter().enumerate() {
            if index / nodes != index % nodes {
                writeln!(
                    f,
                    "  link {} to {}: {faults:?}",
                    index / nodes,
                    index % nodes
                )?;
            }
        }
        for (index, plan) in self.writers.iter().enumerate() {
            writeln!(f, "  writer {index}: {plan:?}")?;
        }
        for (index, plan) in self.readers.iter().enumerate() {
            writeln!(f, "  reader {index}: {plan:?}")?;
        }
        let shown = 40;
        for (at, action) in self.actions.iter().take(shown) {
            writeln!(f, "  {at:?} {action:?}")?;
        }
        match self.actions.len().checked_sub(shown) {
            Some(more) if more > 0 => writeln!(f, "  and {more} more"),
            _ => Ok(()),
        }
    }
}
