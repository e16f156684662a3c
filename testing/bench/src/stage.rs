//! The hosts of a run: nothing of it reaches another network, and nobody's traffic reaches it.
//! Needs root and `ip`.

use std::path::{Path, PathBuf};
use std::process::Command;

use whimbrel_rig::network::{Network, Space};

use crate::placement::Placement;

/// Where one of the two processes runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seat {
    space: Space,
    /// The only interface to use.
    pub interface: &'static str,
    /// Its IPv4 address.
    pub address: &'static str,
    core: Option<u32>,
    variable: Option<(&'static str, &'static str)>,
}

impl Seat {
    /// With `variable` in the environment of what runs there.
    #[must_use]
    pub const fn with_variable(mut self, variable: (&'static str, &'static str)) -> Self {
        self.variable = Some(variable);
        self
    }

    /// Where the system shows its host.
    pub fn host(&self) -> PathBuf {
        self.space.path()
    }

    /// `program` on this seat.
    pub fn program(&self, program: &Path) -> Command {
        let mut command = self.space.enter();
        if let Some(core) = self.core {
            command.args(["taskset", "--cpu-list", &core.to_string()]);
        }
        command.arg(program);
        command.env("WHIMBREL_INTERFACES", self.interface);
        command.envs(self.variable);
        command
    }
}

/// The hosts of one placement; they go when this is dropped.
#[derive(Debug)]
pub struct Stage {
    network: Network,
    placement: Placement,
}

impl Stage {
    /// Builds what `placement` needs.
    ///
    /// # Errors
    /// The system refuses, most likely for want of root.
    pub fn new(placement: Placement) -> Result<Self, String> {
        let network = if placement == Placement::TwoHosts {
            Network::pair()?
        } else {
            let mut network = Network::new()?;
            network.host("a")?;
            network.carry_multicast("a", "lo")?;
            network
        };
        Ok(Self { network, placement })
    }

    /// The seats of the process that measures and of the one that answers.
    pub fn seats(&self) -> [Seat; 2] {
        seats(self.placement, |host| self.network.space(host))
    }
}

fn seats(placement: Placement, space: impl Fn(&str) -> Space) -> [Seat; 2] {
    let cores = placement.cores();
    let seat = |host: &str, interface, address, at: usize| Seat {
        space: space(host),
        interface,
        address,
        core: cores.map(|cores| cores[at]),
        variable: None,
    };
    match placement {
        Placement::TwoHosts => [
            seat("a", "va", "10.77.0.1", 0),
            seat("b", "vb", "10.77.0.2", 1),
        ],
        _ => [0, 1].map(|at| seat("a", "lo", "127.0.0.1", at)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seats_follow_the_placement() {
        let seats = |placement| seats(placement, Space::named);
        let [a, b] = seats(Placement::OneCore);
        assert_eq!((a.core, b.core), (Some(0), Some(0)));
        assert_eq!(a.space, b.space);
        let [a, b] = seats(Placement::TwoHosts);
        assert_eq!((a.core, b.core), (Some(0), Some(1)));
        assert_ne!((a.space, a.address), (b.space, b.address));
        assert_eq!(seats(Placement::Free)[1].core, None);
    }
}
