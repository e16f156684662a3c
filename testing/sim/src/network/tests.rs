//! What the network does to datagrams.

use super::*;
use std::net::SocketAddr;

fn address(text: &str) -> Locator {
    text.parse::<SocketAddr>().unwrap().into()
}

fn network(faults: Faults) -> Network {
    let node = |index: usize| NodeSettings {
        host: index / 2,
        subnet: 0,
        addresses: vec![
            address(&format!("10.0.0.{}:{}", index / 2 + 1, 7000 + index)),
            address(&format!("127.0.0.1:{}", 7000 + index)),
        ],
        groups: vec![address("239.255.0.1:7400")],
        queue_bytes_max: 10 * (10 + DATAGRAM_CHARGE_BYTES),
        service: Duration::ZERO,
    };
    Network::new((0..3).map(node).collect(), faults, Random::new(5))
}

fn receivers(network: &mut Network, until: Instant) -> Vec<(NodeIndex, Vec<u8>)> {
    let mut all = vec![];
    while let Some(now) = network.next_at().filter(|at| *at <= until) {
        while let Some((node, arrived)) = network.receive(now) {
            all.push((node, arrived.bytes.to_vec()));
        }
    }
    all
}

fn bytes(byte: u8) -> SharedBytes {
    SharedBytes::copy_from(&[byte; 10])
}

const START: Instant = Instant(1_000_000_000);
const LATER: Instant = Instant(9_000_000_000);

#[test]
fn addresses_decide_who_receives() {
    let mut network = network(Faults::NONE);
    let cases: [(&str, &[usize]); 5] = [
        ("10.0.0.2:7002", &[2]),
        ("127.0.0.1:7001", &[1]),
        ("127.0.0.1:7002", &[]),
        ("239.255.0.1:7400", &[0, 1, 2]),
        ("239.255.0.1:7401", &[]),
    ];
    for (to, expected) in cases {
        network.send(START, 0, &[address(to)], bytes(1));
        let mut nodes: Vec<_> = receivers(&mut network, LATER)
            .into_iter()
            .map(|(node, _)| node)
            .collect();
        nodes.sort_unstable();
        assert_eq!(nodes, expected, "{to}");
    }
}

#[test]
fn faults_do_what_they_say() {
    let to = [address("10.0.0.2:7002")];
    let check = |faults: Faults| {
        let mut network = network(faults);
        for byte in 0..200 {
            let now = Instant(START.0 + u64::from(byte) * 1_000_000);
            network.send(now, 0, &to, bytes(byte));
        }
        let order: Vec<u8> = receivers(&mut network, LATER)
            .into_iter()
            .map(|(_, bytes)| bytes[0])
            .collect();
        order
    };
    let all: Vec<u8> = (0..200).collect();
    assert_eq!(check(Faults::NONE), all);
    let jitter = Faults {
        jitter: Duration::from_millis(20),
        ..Faults::NONE
    };
    assert_eq!(
        check(Faults {
            jitter: Duration::from_micros(3),
            ..jitter
        }),
        all
    );
    let lossy = check(Faults {
        loss_permille: 400,
        ..Faults::NONE
    });
    assert!((90..150).contains(&lossy.len()));
    assert!(lossy.is_sorted());
    let late = Duration::from_millis(5);
    let mut mixed = check(Faults {
        reorder_permille: 300,
        late,
        ..Faults::NONE
    });
    assert!(!mixed.is_sorted());
    mixed.sort_unstable();
    assert_eq!(mixed, all);
    let twice = check(Faults {
        duplicate_permille: 1000,
        late,
        ..Faults::NONE
    });
    assert_eq!(twice.len(), 400);
    let bursts = Bursts {
        enter_permille: 50,
        leave_permille: 100,
        loss_permille: 1000,
    };
    let burst = check(Faults {
        bursts: Some(bursts),
        ..Faults::NONE
    });
    let gaps = burst
        .windows(2)
        .filter(|pair| pair[1] - pair[0] > 3)
        .count();
    assert!(gaps > 1 && burst.len() > 50, "{burst:?}");
    assert!(
        check(Faults {
            datagram_bytes_max: 9,
            ..Faults::NONE
        })
        .is_empty()
    );
}

#[test]
fn partitions_pauses_and_full_queues() {
    let mut network = network(Faults::NONE);
    let to = [address("10.0.0.2:7002")];
    let until = START.after(Duration::from_secs(1));
    network.partition(0, 2, until);
    network.send(START, 0, &to, bytes(1));
    network.send(START, 1, &to, bytes(2));
    assert_eq!(receivers(&mut network, LATER), [(2, vec![2; 10])]);
    network.pause(2, until);
    for byte in 0..20 {
        network.send(START, 1, &to, bytes(byte));
    }
    let soon = START.after(Duration::from_millis(10));
    assert!(receivers(&mut network, soon).is_empty());
    assert_eq!(network.statistics().overflowed, 10);
    assert_eq!(network.next_at(), Some(until));
    assert_eq!(receivers(&mut network, LATER).len(), 10);
    assert_eq!(network.next_at(), None);
}

#[test]
fn a_queue_in_which_nothing_waits_takes_what_is_larger_than_it() {
    let mut network = network(Faults::NONE);
    let to = [address("10.0.0.2:7002")];
    for _ in 0..2 {
        network.send(START, 0, &to, SharedBytes::from_vec(vec![1; 20_000]));
    }
    let lengths = receivers(&mut network, LATER).into_iter();
    let lengths: Vec<_> = lengths.map(|(_, bytes)| bytes.len()).collect();
    assert_eq!(lengths, [20_000]);
    assert_eq!(network.statistics().overflowed, 1);
}
