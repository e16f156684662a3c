//! Where the processes of a run are: one host or two, with a cable between them.

mod link;

use std::path::Path;
use std::process::Command;

use whimbrel_rig::network::Network;

pub(crate) use link::{Link, PROBE_BYTES};

/// Which hosts there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Two processes on one host, over loopback.
    Inter,
    /// The same on one core: no wake-up across cores hides what software costs.
    OneCore,
    /// One process.
    Intra,
    /// Two hosts and a cable, which may be slow.
    Dual(Option<Link>),
}

/// Where one of two processes runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seat {
    host: &'static str,
    pub(crate) interface: &'static str,
    pub(crate) address: &'static str,
    core: Option<usize>,
}

/// The hosts of a run; they go when this is dropped.
#[derive(Debug)]
pub(crate) struct World {
    /// None without root: then it is this host.
    network: Option<Network>,
    pub(crate) place: Place,
    /// What must be said of it beside its name.
    pub(crate) notes: Vec<String>,
}

impl World {
    /// Builds `place`. Without root one host is this host.
    ///
    /// # Errors
    /// Two hosts need root and tools; the system may refuse.
    pub(crate) fn new(place: Place) -> Result<Self, String> {
        let mut notes = Vec::new();
        let network = match place {
            Place::Dual(link) => {
                let network = Network::pair()?;
                if let Some(link) = link {
                    link.shape(&network)?;
                }
                Some(network)
            }
            Place::Inter | Place::OneCore | Place::Intra => match alone() {
                Ok(network) => Some(network),
                Err(why) => {
                    notes.push(format!("on this host's own loopback: {why}"));
                    None
                }
            },
        };
        let mut world = Self {
            network,
            place,
            notes,
        };
        world.notes.extend(world.path());
        if world.seats()[0].core.is_none() {
            world.notes.push("one core for both processes".into());
        }
        Ok(world)
    }

    /// The cable as the system sees it: largest packet and queue.
    fn path(&self) -> Option<String> {
        let (network, Place::Dual(_)) = (self.network.as_ref()?, self.place) else {
            return None;
        };
        let link = network.read("a", "ip -o link show dev va").ok()?;
        let queue = network.read("a", "tc qdisc show dev va").ok()?;
        let words: Vec<&str> = link.split_whitespace().collect();
        let mtu = words.windows(2).find(|it| it[0] == "mtu")?[1];
        let queue = queue.lines().next().unwrap_or_default().trim();
        Some(format!("cable: virtual, MTU {mtu}, {queue}"))
    }

    /// The seats of the process that measures and of the one that answers.
    pub(crate) fn seats(&self) -> [Seat; 2] {
        let cores = std::thread::available_parallelism().map_or(1, |it| it.get());
        let seat = |host, interface, address, at: usize| Seat {
            host,
            interface,
            address,
            core: (cores > 1).then_some(at),
        };
        match self.place {
            Place::Dual(_) => [
                seat("a", "va", "10.77.0.1", 0),
                seat("b", "vb", "10.77.0.2", 1),
            ],
            Place::OneCore => [1, 1].map(|at| seat("a", "lo", "127.0.0.1", at)),
            Place::Inter | Place::Intra => [0, 1].map(|at| seat("a", "lo", "127.0.0.1", at)),
        }
    }

    /// `program` on `seat`, with the settings of nobody's environment.
    pub(crate) fn command(&self, seat: &Seat, program: &Path) -> Command {
        let first = if seat.core.is_some() {
            Path::new("taskset")
        } else {
            program
        };
        let mut command = match &self.network {
            Some(network) => network.program(seat.host, first),
            None => Command::new(first),
        };
        if let Some(core) = seat.core {
            command.args(["--cpu-list", &core.to_string()]).arg(program);
        }
        command.env("WHIMBREL_INTERFACES", seat.interface);
        command
    }

    /// Octets that have left and arrived at the first host's end of the cable.
    pub(crate) fn wire_bytes(&self) -> Option<u64> {
        let network = self.network.as_ref()?;
        if !matches!(self.place, Place::Dual(_)) {
            return None;
        }
        let read = |name: &str| -> Option<u64> {
            let line = format!("cat /sys/class/net/va/statistics/{name}_bytes");
            network.read("a", &line).ok()?.trim().parse().ok()
        };
        Some(read("tx")? + read("rx")?)
    }
}

/// One host of its own.
fn alone() -> Result<Network, String> {
    let mut network = Network::new()?;
    network.host("a")?;
    network.carry_multicast("a", "lo")?;
    Ok(network)
}
