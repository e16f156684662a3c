//! Both roles on hosts of their own: namespaces with a cable of 1,500 octets a packet.

use whimbrel_rig::network::Network;

use super::{Running, numbers};

#[test]
fn samples_that_are_larger_than_a_packet_travel_in_batches() {
    let Ok(network) = Network::pair() else {
        eprintln!("not shown: it needs root and `ip`");
        return;
    };
    for (domain, bytes) in [(212, 2048), (213, 200)] {
        let both = format!("-domain {domain} -dataLen {bytes} -noPrint -noOutputHeaders");
        let sub = Running::on(&network, "b", &format!("-sub {both}"));
        let publisher = format!("-pub -numIter 400 -latencyCount 100 -batchSize 8000 {both}");
        let publisher = Running::on(&network, "a", &publisher).end();
        assert_eq!(publisher.code(), Some(0), "{}", publisher.err);
        let sub = sub.end();
        assert_eq!(sub.code(), Some(0), "{}", sub.err);
        let row = numbers(sub.out.trim_end());
        assert_eq!((row[0], row[1], row[4]), (f64::from(bytes), 400.0, 0.0));
    }
}
