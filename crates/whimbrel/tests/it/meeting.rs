//! How participants meet: over each IP version, and where the well-known ports are taken.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::time::{Duration, Instant};

use whimbrel::base::reject::RejectKind;
use whimbrel::domain::{DomainParticipantBuilder, IpVersions, Warning};
use whimbrel::{DataReaderQos, DataWriterQos, DomainParticipant, Error, Topic};

use super::{PATIENCE, Position, pair, position, tag};

const V4_LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const V6_LOCALHOST: IpAddr = IpAddr::V6(Ipv6Addr::LOCALHOST);

/// Participant indices that have ports. RTPS 2.5 §9.6.2.3.
const INDICES: u16 = 120;

/// Domains that no other test uses, with ports below those that systems give out.
const FREE_DOMAINS: std::ops::Range<u16> = 80..100;

/// Sends a sample from one to the other, reliably, and one back.
fn exchange(here: &DomainParticipant, there: &DomainParticipant) {
    for (from, to, topic) in [(here, there, "forth"), (there, here, "back")] {
        let writer = from
            .create_datawriter(
                &from.create_topic::<Position>(topic).unwrap(),
                DataWriterQos::default().reliable(),
            )
            .unwrap();
        let reader = to
            .create_datareader(
                &to.create_topic::<Position>(topic).unwrap(),
                DataReaderQos::default().reliable(),
            )
            .unwrap();
        writer.wait_for_matched(1, PATIENCE).unwrap();
        reader.wait_for_matched(1, PATIENCE).unwrap();
        writer.write(&position("tram", 1)).unwrap();
        let samples = reader.take_timeout(1, PATIENCE).unwrap();
        let sample = samples.into_iter().next().unwrap();
        assert_eq!(sample.into_data(), Some(position("tram", 1)));
        writer.wait_for_acknowledgments(PATIENCE).unwrap();
    }
}

fn loopback(domain: u16, tag: &str) -> DomainParticipantBuilder {
    DomainParticipant::builder(domain.into())
        .domain_tag(tag)
        .interfaces("lo")
}

/// Where `participant` listens.
fn listens_on(participant: &DomainParticipant) -> Vec<IpAddr> {
    let sockets = participant.diagnostics().sockets;
    let own = sockets.iter().map(|it| it.address.ip());
    own.filter(|ip| !ip.is_multicast()).collect()
}

/// Where `participant` heard the only other one.
fn heard_from(participant: &DomainParticipant) -> Option<IpAddr> {
    let found = participant.discovered_participants();
    assert_eq!(found.len(), 1);
    found[0].address.ip()
}

/// Two participants with these IP versions exchange samples; the address that the first hears the
/// second from is of `version`, where that is certain.
fn check_versions(here: IpVersions, there: IpVersions, heard: Option<IpAddr>) {
    let tag = tag();
    let join = |ip| {
        let participant = loopback(77, &tag).ip(ip).build().unwrap();
        let (v4, v6) = (V4_LOCALHOST, V6_LOCALHOST);
        let expected = match ip {
            IpVersions::V4 => vec![v4],
            IpVersions::V6 => vec![v6],
            IpVersions::Both => vec![v4, v6],
        };
        assert_eq!(listens_on(&participant), expected, "{ip:?}");
        participant
    };
    let (one, other) = (join(here), join(there));
    exchange(&one, &other);
    if heard.is_some() {
        assert_eq!(heard_from(&one), heard, "{here:?} and {there:?}");
    }
}

#[test]
fn participants_meet_over_ipv6_alone() {
    check_versions(IpVersions::V6, IpVersions::V6, Some(V6_LOCALHOST));
}

#[test]
fn a_participant_with_both_ip_versions_meets_those_with_either() {
    check_versions(IpVersions::Both, IpVersions::Both, None);
    check_versions(IpVersions::Both, IpVersions::V4, Some(V4_LOCALHOST));
    check_versions(IpVersions::Both, IpVersions::V6, Some(V6_LOCALHOST));
}

/// Takes the ports of the first `count` participant indices of `domain` on loopback.
fn take_ports(domain: u16, count: u16) -> io::Result<Vec<UdpSocket>> {
    let port = |index| 7400 + 250 * domain + 10 + 2 * index;
    let bind = |index| UdpSocket::bind((Ipv4Addr::LOCALHOST, port(index)));
    (0..count).map(bind).collect()
}

#[test]
fn where_all_ports_are_taken_a_participant_uses_another_and_finds_those_that_have_one() {
    // All 120 are tried, so that a domain in which somebody is about counts as taken.
    let (domain, mut taken) = FREE_DOMAINS
        .filter_map(|domain| Some((domain, take_ports(domain, INDICES).ok()?)))
        .next()
        .unwrap();
    let tag = tag();
    let join = || loopback(domain, &tag).ip(IpVersions::V4).build().unwrap();
    drop(taken.pop());
    let last = join();
    let index = |participant: &DomainParticipant| participant.diagnostics().participant_index;
    assert_eq!(index(&last), Some(u32::from(INDICES) - 1));
    let beyond = join();
    assert_eq!(index(&beyond), None);
    exchange(&last, &beyond);
}

#[test]
fn a_peer_is_met_at_the_address_that_was_given_for_it() {
    let tag = tag();
    let deaf = || {
        let builder = loopback(77, &tag).ip(IpVersions::V4);
        builder.multicast(false).loopback_probing(false)
    };
    let one = deaf().build().unwrap();
    let stranger = deaf().build().unwrap();
    let at = one.diagnostics().sockets[0].address;
    let other = deaf().peers([at.to_string()]).build().unwrap();
    exchange(&one, &other);
    assert!(stranger.discovered_participants().is_empty());
}

#[test]
fn whoever_claims_our_guid_is_reported_once() {
    let participant = loopback(77, &tag()).ip(IpVersions::V4).build().unwrap();
    let prefix = participant.guid().prefix.0;
    // An announcement under our GUID that is not ours. RTPS 2.5 §9.4.5.3, §9.6.2.2.
    let parts: [&[u8]; 7] = [
        b"RTPS\x02\x05\x01\x10",
        &prefix,
        &[0x15, 0x05, 48, 0, 0, 0, 16, 0, 0, 1, 0, 0xc7, 0, 1, 0, 0xc2],
        &[0, 0, 0, 0, 1, 0, 0, 0, 0, 3, 0, 0, 0x50, 0, 16, 0],
        &prefix,
        &[0, 0, 1, 0xc1],
        &[1, 0, 0, 0],
    ];
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let to = participant.diagnostics().sockets[0].address;
    let mut sent = 0;
    let begun = Instant::now();
    let rejected = || participant.diagnostics().rejects.of(RejectKind::OwnGuid);
    // Of what came in one batch nobody is warned before all of it was looked at.
    while rejected() < 2 || participant.warnings().is_empty() {
        assert!(begun.elapsed() < PATIENCE, "{sent} sent");
        socket.send_to(&parts.concat(), to).unwrap();
        sent += 1;
        std::thread::sleep(Duration::from_millis(5));
    }
    let from = socket.local_addr().unwrap().into();
    assert_eq!(participant.warnings(), [Warning::OwnGuidClaimed { from }]);
    assert_eq!(participant.diagnostics().own_guid_claimed, 1);
}

#[test]
fn writes_are_held_until_enough_readers_are_there() {
    let (here, there) = pair();
    let qos = DataWriterQos::default()
        .reliable()
        .keep_all()
        .max_blocking_time(whimbrel::Duration::from_secs(20));
    let topic: Topic<Position> = here.create_topic("positions").unwrap();
    let writer = here.create_datawriter(&topic, qos).unwrap();
    writer.hold_until_matched(2);
    let early = writer.try_write(&position("tram", 0));
    assert!(matches!(early, Err(Error::Timeout)), "{early:?}");
    let topic: Topic<Position> = there.create_topic("positions").unwrap();
    let read = || {
        let qos = DataReaderQos::default().reliable().keep_all();
        there.create_datareader(&topic, qos).unwrap()
    };
    let first = read();
    writer.wait_for_matched(1, PATIENCE).unwrap();
    assert!(writer.try_write(&position("tram", 0)).is_err());
    let blocked = std::thread::spawn({
        let writer = writer.clone();
        move || writer.write(&position("tram", 1))
    });
    let second = read();
    blocked.join().unwrap().unwrap();
    for reader in [&first, &second] {
        let samples = reader.take_timeout(10, PATIENCE).unwrap();
        assert_eq!(samples[0].data(), Some(&position("tram", 1)));
    }
    // Held once, not again when they leave.
    drop((first, second));
    writer.try_write(&position("tram", 2)).unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn multicast_is_used_on_loopback_only_where_that_carries_it() {
    // IFF_MULTICAST of netdevice(7).
    let flags = std::fs::read_to_string("/sys/class/net/lo/flags").unwrap();
    let flags = u32::from_str_radix(flags.trim().trim_start_matches("0x"), 16).unwrap();
    let carries = flags & 0x1000 != 0;
    let participant = loopback(0, &tag()).build().unwrap();
    let sockets = participant.diagnostics().sockets;
    let joined = sockets.iter().any(|it| it.address.ip().is_multicast());
    assert_eq!(joined, carries);
}
