//! `-multicast` and `-multicastAddr` between two hosts, seen at the cable.

use whimbrel_rig::network::Network;

use super::{Running, numbers};

const SUBSCRIBERS: usize = 3;
const SAMPLES: usize = 400;
const BYTES: usize = 1000;

/// Octets that the publisher's host sends while it sends all samples to all subscribers.
fn sent_bytes(network: &Network, domain: u32, more: &str) -> usize {
    let common = format!("-domain {domain} -noPrint -noOutputHeaders {more}");
    let subs: Vec<Running> = (0..SUBSCRIBERS)
        .map(|id| Running::on(network, "b", &format!("-sub -sid {id} {common}")))
        .collect();
    let sent = || -> usize {
        let text = network.read("a", "cat /sys/class/net/va/statistics/tx_bytes");
        text.unwrap().trim().parse().unwrap()
    };
    let before = sent();
    let line = format!(
        "-pub -numSubscribers {SUBSCRIBERS} -dataLen {BYTES} -numIter {SAMPLES} -latencyCount 100 \
         -batchSize 0 -sendQueueSize 20 -pubRate 2000:sleep {common}"
    );
    let publisher = Running::on(network, "a", &line).end();
    assert_eq!(publisher.code(), Some(0), "{}", publisher.err);
    let after = sent();
    for sub in subs {
        let sub = sub.end();
        assert_eq!(sub.code(), Some(0), "{}", sub.err);
        let row = numbers(sub.out.trim_end());
        assert_eq!((row[1], row[4]), (SAMPLES as f64, 0.0), "{row:?}");
    }
    after - before
}

#[test]
fn one_datagram_serves_all_subscribers() {
    let Ok(network) = Network::pair() else {
        eprintln!("not shown: it needs root and `ip`");
        return;
    };
    let each = sent_bytes(&network, 221, "");
    let all = sent_bytes(&network, 222, "-multicast");
    let samples = SAMPLES * BYTES;
    assert!(each > SUBSCRIBERS * samples, "{each}");
    assert!((samples..2 * samples).contains(&all), "{all} beside {each}");
    let all = sent_bytes(&network, 223, "-multicastAddr 239.255.1.2");
    assert!((samples..2 * samples).contains(&all), "{all} beside {each}");
}
