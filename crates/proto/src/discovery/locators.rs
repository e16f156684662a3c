//! Which of the addresses that a peer announced to use.
//!
//! A pure function of what was announced, where the announcement came from and which addresses
//! are our own. It must never choose an address that cannot be the peer: a loopback address that
//! another host announced, a multicast group where one participant is meant, port 0.

use alloc::vec::Vec;
use core::net::IpAddr;

use whimbrel_base::locator::Locator;

/// Largest UDP payload over IPv4: what one datagram within a host may carry.
pub const LOCAL_MESSAGE_BYTES_MAX: usize = 65_507;

/// IPv6 and UDP headers, the larger of the two families. Towards hosts that are no neighbours what
/// IPv4 takes less is left to what lies between.
const IP_UDP_HEADER_BYTES: usize = 48;

/// IPv4 and UDP headers.
const IPV4_UDP_HEADER_BYTES: usize = 28;

/// Every IPv4 host takes datagrams of 576 octets, headers included. RFC 1122 §3.3.2.
pub const MESSAGE_BYTES_MIN: usize = 508;

/// What a link is taken to carry where nothing is known of it.
const DEFAULT_MTU: usize = 1500;

/// Addresses used at once for a peer of which no address is known to be better than the others.
pub const ROUTE_LOCATORS_MAX: usize = 4;

/// One address of this host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InterfaceAddress {
    /// The address.
    pub ip: IpAddr,
    /// Leading bits that it shares with its neighbours.
    pub prefix_len: u8,
    /// Largest IP packet on its link, in octets.
    pub mtu: u32,
    /// The interface reaches this host only.
    pub loopback: bool,
}

impl InterfaceAddress {
    /// True when `ip` is on this interface's subnet.
    pub fn is_neighbour(&self, ip: IpAddr) -> bool {
        shared_bits(self.ip, ip).is_some_and(|bits| bits >= u32::from(self.prefix_len))
    }
}

/// How to reach somebody.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Route {
    /// Where to send; empty when nothing announced is of use.
    pub locators: Vec<Locator>,
    /// Largest message that arrives without IP fragmentation, in octets of UDP payload.
    pub message_bytes_max: usize,
    /// The peer is on this host.
    pub same_host: bool,
}

/// Chooses from the `announced` unicast locators of a peer whose announcement came from `source`.
///
/// - What no UDP socket can send to, port 0, unspecified addresses, multicast groups and IPv6
///   link-local addresses (which mean nothing without an interface) are passed over.
/// - A peer on this host is reached by loopback where it announced that, else by the address
///   that its announcement came from, else by another of ours, else by whatever it announced.
/// - A peer elsewhere is reached by the address its announcement came from where that is
///   announced and a neighbour of ours, else by announced neighbours, else by the announced
///   address that its announcement came from, else by the first few it announced. Its loopback
///   addresses are of no use to us.
pub fn choose(announced: &[Locator], source: Locator, interfaces: &[InterfaceAddress]) -> Route {
    let source_ip = source.ip().map(canonical);
    let same_host = source_ip.is_some_and(|ip| is_own(ip, interfaces));
    let usable: Vec<Locator> = announced
        .iter()
        .copied()
        .filter(|locator| is_usable(*locator, same_host))
        .collect();
    let locators = if same_host {
        choose_local(&usable, source_ip, interfaces)
    } else {
        choose_remote(&usable, source_ip, interfaces)
    };
    let message_bytes_max = if same_host {
        LOCAL_MESSAGE_BYTES_MAX
    } else {
        locators
            .iter()
            .filter_map(|locator| locator.ip())
            .map(|ip| link_bytes_max(ip, interfaces))
            .min()
            .unwrap_or(MESSAGE_BYTES_MIN)
    };
    Route {
        locators,
        message_bytes_max,
        same_host,
    }
}

/// Largest message to a group that leaves by each of `interfaces` without IP fragmentation, in
/// octets of UDP payload.
pub fn group_bytes_max(interfaces: &[InterfaceAddress]) -> usize {
    if interfaces.iter().all(|it| it.loopback) {
        return LOCAL_MESSAGE_BYTES_MAX;
    }
    far_bytes_max(interfaces)
}

/// True when `ip` is an address of this host.
pub fn is_own(ip: IpAddr, interfaces: &[InterfaceAddress]) -> bool {
    let ip = canonical(ip);
    ip.is_loopback() || interfaces.iter().any(|interface| interface.ip == ip)
}

/// True when a UDP socket can send to `locator` and it can mean a single peer.
fn is_usable(locator: Locator, same_host: bool) -> bool {
    let Some(addr) = locator.to_socket_addr() else {
        return false;
    };
    let ip = canonical(addr.ip());
    let possible = match ip {
        IpAddr::V4(ip) => !ip.is_broadcast(),
        IpAddr::V6(ip) => !ip.is_unicast_link_local(),
    };
    possible && !ip.is_multicast() && !ip.is_unspecified() && (same_host || !ip.is_loopback())
}

fn choose_local(
    usable: &[Locator],
    source: Option<IpAddr>,
    interfaces: &[InterfaceAddress],
) -> Vec<Locator> {
    let same_family = |locator: &&Locator| {
        locator
            .ip()
            .is_some_and(|ip| Some(ip.is_ipv4()) == family(source))
    };
    let loopback = || usable.iter().filter(|locator| locator.is_loopback());
    let one = loopback()
        .find(same_family)
        .or_else(|| loopback().next())
        .or_else(|| usable.iter().find(|locator| is_at(locator, source)))
        .or_else(|| {
            usable
                .iter()
                .find(|at| at.ip().is_some_and(|ip| is_own(ip, interfaces)))
        });
    one.map_or_else(|| first_few(usable), |locator| Vec::from([*locator]))
}

fn choose_remote(
    usable: &[Locator],
    source: Option<IpAddr>,
    interfaces: &[InterfaceAddress],
) -> Vec<Locator> {
    let neighbours: Vec<Locator> = usable
        .iter()
        .copied()
        .filter(|locator| {
            locator
                .ip()
                .is_some_and(|ip| neighbour(ip, interfaces).is_some())
        })
        .collect();
    let candidates = if neighbours.is_empty() {
        usable
    } else {
        &neighbours
    };
    match candidates.iter().find(|locator| is_at(locator, source)) {
        Some(locator) => Vec::from([*locator]),
        None => first_few(candidates),
    }
}

fn first_few(locators: &[Locator]) -> Vec<Locator> {
    let mut few: Vec<Locator> = Vec::new();
    for locator in locators {
        if few.len() >= ROUTE_LOCATORS_MAX {
            break;
        }
        if !few.iter().any(|known| known.ip() == locator.ip()) {
            few.push(*locator);
        }
    }
    few
}

fn is_at(locator: &Locator, ip: Option<IpAddr>) -> bool {
    ip.is_some() && locator.ip().map(canonical) == ip
}

fn family(ip: Option<IpAddr>) -> Option<bool> {
    ip.map(|ip| ip.is_ipv4())
}

/// The interface on whose subnet `ip` is; the most exact one where several are.
fn neighbour(ip: IpAddr, interfaces: &[InterfaceAddress]) -> Option<&InterfaceAddress> {
    interfaces
        .iter()
        .filter(|interface| !interface.loopback && interface.is_neighbour(ip))
        .max_by_key(|interface| interface.prefix_len)
}

fn link_bytes_max(ip: IpAddr, interfaces: &[InterfaceAddress]) -> usize {
    let ip = canonical(ip);
    match neighbour(ip, interfaces) {
        Some(near) if ip.is_ipv4() => payload_bytes(Some(near.mtu), IPV4_UDP_HEADER_BYTES),
        Some(near) => payload_bytes(Some(near.mtu), IP_UDP_HEADER_BYTES),
        None => far_bytes_max(interfaces),
    }
}

/// As [`link_bytes_max`] for what may leave by any interface.
fn far_bytes_max(interfaces: &[InterfaceAddress]) -> usize {
    let far = interfaces.iter().filter(|it| !it.loopback);
    payload_bytes(far.map(|it| it.mtu).min(), IP_UDP_HEADER_BYTES)
}

fn payload_bytes(mtu: Option<u32>, headers: usize) -> usize {
    let mtu = mtu.and_then(|mtu| usize::try_from(mtu).ok());
    mtu.unwrap_or(DEFAULT_MTU)
        .saturating_sub(headers)
        .clamp(MESSAGE_BYTES_MIN, LOCAL_MESSAGE_BYTES_MAX)
}

/// IPv4 addresses in IPv6 clothes, as sockets of both families report them, are IPv4 addresses.
fn canonical(ip: IpAddr) -> IpAddr {
    ip.to_canonical()
}

/// How many leading bits two addresses share; `None` across families.
fn shared_bits(a: IpAddr, b: IpAddr) -> Option<u32> {
    match (a, canonical(b)) {
        (IpAddr::V4(a), IpAddr::V4(b)) => Some((a.to_bits() ^ b.to_bits()).leading_zeros()),
        (IpAddr::V6(a), IpAddr::V6(b)) => Some((a.to_bits() ^ b.to_bits()).leading_zeros()),
        (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::SocketAddr;
    use whimbrel_base::locator::LocatorKind;

    fn at(text: &str) -> Locator {
        Locator::from(text.parse::<SocketAddr>().unwrap())
    }

    fn interface(ip: &str, prefix_len: u8, mtu: u32) -> InterfaceAddress {
        let ip: IpAddr = ip.parse().unwrap();
        InterfaceAddress {
            ip,
            prefix_len,
            mtu,
            loopback: ip.is_loopback(),
        }
    }

    fn host() -> Vec<InterfaceAddress> {
        [
            interface("127.0.0.1", 8, 65_536),
            interface("::1", 128, 65_536),
            interface("192.168.1.5", 24, 1500),
            interface("10.0.0.5", 8, 9000),
            interface("2001:db8::5", 64, 1400),
        ]
        .into()
    }

    fn check(announced: &[&str], source: &str, expected: &[&str], bytes_max: usize) {
        let announced: Vec<Locator> = announced.iter().map(|text| at(text)).collect();
        let expected: Vec<Locator> = expected.iter().map(|text| at(text)).collect();
        let route = choose(&announced, at(source), &host());
        assert_eq!(route.locators, expected, "from {source}");
        assert_eq!(route.message_bytes_max, bytes_max, "from {source}");
    }

    #[test]
    fn peers_on_this_host() {
        let both = ["192.168.1.5:7410", "127.0.0.1:7410"];
        check(&both, "127.0.0.1:5000", &["127.0.0.1:7410"], 65_507);
        check(&both, "192.168.1.5:5000", &["127.0.0.1:7410"], 65_507);
        let two = ["10.0.0.5:7410", "192.168.1.5:7410"];
        check(&two, "192.168.1.5:5000", &["192.168.1.5:7410"], 65_507);
        check(&two, "127.0.0.1:5000", &["10.0.0.5:7410"], 65_507);
        check(
            &["172.17.0.1:7410"],
            "127.0.0.1:5000",
            &["172.17.0.1:7410"],
            65_507,
        );
        let families = ["[::1]:7410", "127.0.0.1:7410"];
        check(&families, "127.0.0.1:5000", &["127.0.0.1:7410"], 65_507);
        check(&families, "[::1]:5000", &["[::1]:7410"], 65_507);
        check(&["[::1]:7410"], "127.0.0.1:5000", &["[::1]:7410"], 65_507);
    }

    #[test]
    fn peers_elsewhere() {
        let many = [
            "172.17.0.1:7410",
            "192.168.1.9:7410",
            "10.0.0.9:7410",
            "127.0.0.1:7410",
        ];
        check(&many, "192.168.1.9:5000", &["192.168.1.9:7410"], 1472);
        check(&many, "10.0.0.9:5000", &["10.0.0.9:7410"], 8972);
        // Another source than announced: every neighbour.
        check(
            &many,
            "10.0.0.77:5000",
            &["192.168.1.9:7410", "10.0.0.9:7410"],
            1472,
        );
        // No neighbours: where it came from, else the first few.
        let far = ["172.17.0.1:7410", "203.0.113.9:7410"];
        check(&far, "203.0.113.9:5000", &["203.0.113.9:7410"], 1352);
        check(&far, "198.51.100.1:5000", &far, 1352);
        check(
            &["[2001:db8::9]:7410"],
            "[2001:db8::9]:1",
            &["[2001:db8::9]:7410"],
            1352,
        );
    }

    #[test]
    fn useless_locators_are_passed_over() {
        let useless = [
            "239.255.0.1:7400",
            "0.0.0.0:7410",
            "192.168.1.9:0",
            "255.255.255.255:7410",
            "[::]:7410",
            "[fe80::1]:7410",
            "[ff02::1]:7410",
            "127.0.0.1:7410",
            "[::1]:7410",
        ];
        check(&useless, "192.168.1.9:5000", &[], 508);
        let strange = [
            Locator {
                kind: LocatorKind(16_777_216),
                ..at("192.168.1.9:7410")
            },
            Locator {
                port: 65_536,
                ..at("192.168.1.9:7410")
            },
            Locator::INVALID,
        ];
        assert!(
            choose(&strange, at("192.168.1.9:1"), &host())
                .locators
                .is_empty()
        );
    }

    #[test]
    fn a_flood_of_locators_is_cut() {
        let many: Vec<Locator> = (0..200u32)
            .map(|i| at(&alloc::format!("203.0.113.{i}:7410")))
            .collect();
        assert_eq!(
            choose(&many, at("198.51.100.1:1"), &host()).locators.len(),
            4
        );
        let ports: Vec<Locator> = (1..200u32)
            .map(|i| at(&alloc::format!("203.0.113.9:{i}")))
            .collect();
        assert_eq!(
            choose(&ports, at("198.51.100.1:1"), &host()).locators.len(),
            1
        );
    }

    #[test]
    fn neighbours_by_ipv6_get_less_in_a_message() {
        let own = [
            interface("2001:db8::5", 64, 1500),
            interface("192.168.1.5", 24, 1500),
        ];
        for (peer, bytes) in [("[2001:db8::9]:9", 1452), ("192.168.1.9:9", 1472)] {
            assert_eq!(choose(&[at(peer)], at(peer), &own).message_bytes_max, bytes);
        }
    }

    #[test]
    fn small_and_unknown_links() {
        let tiny = [interface("192.168.1.5", 24, 300)];
        let route = choose(&[at("192.168.1.9:1")], at("192.168.1.9:1"), &tiny);
        assert_eq!(route.message_bytes_max, 508);
        let route = choose(&[at("192.168.1.9:1")], at("192.168.1.9:1"), &[]);
        assert_eq!(route.message_bytes_max, 1452);
    }

    #[test]
    fn mapped_addresses_count_as_what_they_map() {
        let route = choose(
            &[at("127.0.0.1:7410")],
            at("[::ffff:192.168.1.5]:9"),
            &host(),
        );
        assert!(route.same_host);
        assert_eq!(route.locators, [at("127.0.0.1:7410")]);
    }
}
