//! Who listens where.

use std::net::{Ipv4Addr, SocketAddr};

use whimbrel_base::locator::Locator;

use crate::network::NodeIndex;
use crate::scenario::Scenario;

/// This host, for those on it.
pub(crate) const LOOPBACK: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// Everything a node listens on: without discovery one address, with it two ports for unicast.
pub(crate) fn addresses(scenario: &Scenario, node: NodeIndex) -> Vec<Locator> {
    if scenario.discovery {
        let [metatraffic, user] = ports(scenario, node);
        [metatraffic, user].concat()
    } else {
        vec![address(node)]
    }
}

/// The groups a node has joined.
pub(crate) fn groups(scenario: &Scenario, node: NodeIndex) -> Vec<Locator> {
    if !scenario.discovery {
        vec![data_group()]
    } else if scenario.multicast && !scenario.deaf.contains(&node) {
        vec![group()]
    } else {
        Vec::new()
    }
}

/// The node's address where matches are given.
pub(crate) fn address(node: NodeIndex) -> Locator {
    let ip = Ipv4Addr::new(10, 0, 0, node as u8 + 1);
    SocketAddr::from((ip, 7410)).into()
}

/// The group for user data.
pub(crate) fn data_group() -> Locator {
    SocketAddr::from((Ipv4Addr::new(239, 255, 0, 2), 7401)).into()
}

/// The group for announcements. RTPS 2.5 §9.6.2.3.
pub(crate) fn group() -> Locator {
    SocketAddr::from((Ipv4Addr::new(239, 255, 0, 1), 7400)).into()
}

/// The host's address on the network.
pub(crate) fn host_address(scenario: &Scenario, node: NodeIndex) -> Ipv4Addr {
    let (subnet, host) = (scenario.subnets[node], scenario.hosts[node]);
    Ipv4Addr::new(10, 0, subnet as u8, host as u8 + 1)
}

/// Where a node listens: for discovery, and for user data. RTPS 2.5 §9.6.2.3.
pub(crate) fn ports(scenario: &Scenario, node: NodeIndex) -> [Vec<Locator>; 2] {
    let host = scenario.hosts[node];
    let index = scenario.hosts[..node]
        .iter()
        .filter(|other| **other == host)
        .count() as u16;
    [7410 + 2 * index, 7411 + 2 * index].map(|port| {
        let ips = [host_address(scenario, node), LOOPBACK];
        ips.into_iter()
            .map(|ip| SocketAddr::from((ip, port)).into())
            .collect()
    })
}
