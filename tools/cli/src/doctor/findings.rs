//! What follows from what was seen: causes and cures.

use super::buffers;
use super::finding::{Finding, Severity};
use super::seen::Seen;
use crate::output::count_of;

/// Everything that is wrong or noteworthy, the gravest first.
pub(super) fn of(seen: &Seen) -> Vec<Finding> {
    let mut findings = Findings(vec![]);
    identity(seen, &mut findings);
    meeting(seen, &mut findings);
    network(seen, &mut findings);
    sockets(seen, &mut findings);
    matching(seen, &mut findings);
    findings.0.sort_by_key(|it| it.severity as u8);
    findings.0
}

struct Findings(Vec<Finding>);

impl Findings {
    fn add(
        &mut self,
        severity: Severity,
        id: &'static str,
        cause: impl Into<String>,
        cure: impl Into<String>,
    ) {
        self.0.push(Finding {
            severity,
            id,
            cause: cause.into(),
            cure: cure.into(),
        });
    }
}

fn identity(seen: &Seen, findings: &mut Findings) {
    let claimed = seen.diagnostics.own_guid_claimed;
    if claimed > 0 {
        findings.add(
            Severity::Serious,
            "own_guid_claimed",
            format!("somebody else sends under our GUID ({claimed} times)"),
            "stop the copy: a cloned container or a replayed capture on this network",
        );
    }
    if seen.diagnostics.participant_index.is_none() {
        findings.add(
            Severity::Warning,
            "no_participant_index",
            format!(
                "all participant indices of domain {} are taken on this host; without multicast \
                 others cannot guess our port",
                seen.domain
            ),
            "stop unused participants, or give those others `--peer` with our address and port",
        );
    }
}

fn meeting(seen: &Seen, findings: &mut Findings) {
    let it = &seen.diagnostics;
    let other_domain = it.discovery.other_domain;
    if other_domain > 0 {
        findings.add(
            if seen.others.is_empty() {
                Severity::Serious
            } else {
                Severity::Note
            },
            "other_domain",
            format!("{other_domain} announcements came from another domain or domain tag"),
            "give both sides the same --domain (ROS_DOMAIN_ID) and the same domain tag",
        );
    }
    let silent: Vec<_> = seen.others.iter().filter(|it| !it.confirmed).collect();
    if !silent.is_empty() {
        let names: Vec<_> = silent.iter().map(|it| it.address.to_string()).collect();
        findings.add(
            Severity::Warning,
            "one_way",
            format!(
                "{} heard that may not hear us: {}",
                count_of(silent.len(), "participant"),
                names.join(", ")
            ),
            "let UDP through its firewall to ports 7400 and up, and back",
        );
    }
    strangers(seen, findings);
    if seen.others.is_empty() && other_domain == 0 {
        let (cause, cure) = silence(seen);
        findings.add(Severity::Serious, "nobody_answers", cause, cure);
    }
}

/// Addresses that were announced and stay silent, and participants that made room.
fn strangers(seen: &Seen, findings: &mut Findings) {
    let it = &seen.diagnostics.discovery;
    if it.withheld > 0 {
        findings.add(
            Severity::Warning,
            "addresses_silent",
            format!(
                "{} messages were withheld from announced addresses that do not answer",
                it.withheld
            ),
            "give an address that is a peer's as `--peer ADDRESS`, let its answers through \
             firewalls, or find out who announces addresses that are not its own",
        );
    }
    if it.participants_displaced > 0 {
        findings.add(
            Severity::Warning,
            "participants_displaced",
            format!(
                "{} participants that acknowledged nothing made room for others; {} such are known",
                it.participants_displaced, it.participants_unanswered
            ),
            "raise `unanswered_participants_max` where so many start at once, or find out who \
             announces participants without end",
        );
    }
}

/// Why nobody answers, and what to do about it.
fn silence(seen: &Seen) -> (String, &'static str) {
    let it = &seen.diagnostics;
    let refused = it.rejects.total();
    let senders: Vec<_> = seen
        .echoes
        .iter()
        .map(|echo| echo.interface.as_str())
        .collect();
    if refused > 0 {
        (
            format!("nobody answers, but {refused} packets came that were refused"),
            "look at the reasons above; a capture (`tshark -i any udp`) shows the sender",
        )
    } else if it.received.0 > it.discovery.own_heard {
        (
            "nobody answers, though datagrams of this domain's ports came".into(),
            "another program may use these ports; `ss -ulpn` shows which",
        )
    } else if only_loopback(seen) {
        (
            "nobody answers: only this host was asked, and nobody else on it is in this domain"
                .into(),
            "start another participant here in the same domain, or use a network interface \
             (--interfaces, WHIMBREL_INTERFACES)",
        )
    } else if senders.is_empty() {
        (
            "nobody answers: no interface carries multicast".into(),
            "give the address of the other host: `--peer ADDRESS` or WHIMBREL_PEERS=ADDRESS",
        )
    } else {
        (
            format!(
                "nobody answers: multicast sent by {}, none came back from anybody else in \
                 domain {}",
                senders.join(", "),
                seen.domain
            ),
            "start another participant in the same domain; where the network drops multicast \
             (WiFi, clouds, containers, routers) give the address of the other host: `--peer \
             ADDRESS` or WHIMBREL_PEERS=ADDRESS; let UDP ports 7400 and up through firewalls",
        )
    }
}

/// Others are there, but none of another host.
fn unheard(seen: &Seen, findings: &mut Findings) {
    let own = |ip: std::net::IpAddr| {
        let addresses = seen.interfaces.iter().flat_map(|it| &it.addresses);
        ip.is_loopback() || addresses.into_iter().any(|it| it.ip == ip)
    };
    let elsewhere = seen
        .others
        .iter()
        .any(|it| it.address.ip().is_some_and(|ip| !own(ip)));
    let senders: Vec<_> = seen.echoes.iter().map(|it| it.interface.as_str()).collect();
    if !seen.others.is_empty() && !elsewhere && !senders.is_empty() {
        findings.add(
            Severity::Note,
            "no_other_host",
            format!(
                "multicast sent by {}, none came back from another host",
                senders.join(", ")
            ),
            "nothing, if there is none; where the network drops multicast give the address of the \
             other host: `--peer ADDRESS` or WHIMBREL_PEERS=ADDRESS",
        );
    }
}

fn only_loopback(seen: &Seen) -> bool {
    let used = seen
        .interfaces
        .iter()
        .filter(|it| seen.used.contains(&it.name));
    used.clone().count() > 0 && used.clone().all(|it| it.is_loopback)
}

fn network(seen: &Seen, findings: &mut Findings) {
    if only_loopback(seen) {
        let others = seen
            .interfaces
            .iter()
            .filter(|it| it.is_up && !it.is_loopback);
        let names: Vec<_> = others.map(|it| it.name.as_str()).collect();
        let (cause, cure) = if names.is_empty() {
            (
                "no network interface is up but loopback: only this host can be reached",
                "nothing, if that is meant; else bring an interface up".into(),
            )
        } else {
            (
                "only loopback is in use: only this host can be reached",
                format!(
                    "nothing, if that is meant; else --interfaces or WHIMBREL_INTERFACES={}",
                    names.join(",")
                ),
            )
        };
        findings.add(Severity::Note, "loopback_only", cause, cure);
    }
    unheard(seen, findings);
    for echo in seen.echoes.iter().filter(|echo| !echo.came_back) {
        findings.add(
            Severity::Warning,
            "multicast_silent",
            format!("multicast sent by {} does not come back", echo.interface),
            format!(
                "allow UDP to 239.255.0.1 in the firewall, or do without: `--peer ADDRESS`, or \
                 WHIMBREL_INTERFACES=!{} when the interface is of no use",
                echo.interface
            ),
        );
    }
    let plain = seen.interfaces.iter().filter(|it| {
        seen.used.contains(&it.name)
            && !it.is_loopback
            && !seen.echoes.iter().any(|echo| echo.interface == it.name)
    });
    for it in plain {
        findings.add(
            Severity::Note,
            "no_multicast",
            format!("{} carries no multicast", it.name),
            "name the hosts behind it: `--peer ADDRESS` or WHIMBREL_PEERS=ADDRESS",
        );
    }
}

fn sockets(seen: &Seen, findings: &mut Findings) {
    findings.0.extend(buffers::findings(seen));
    let it = &seen.diagnostics;
    if it.send_dropped > 0 || it.receive_errors > 0 {
        findings.add(
            Severity::Warning,
            "socket_errors",
            format!(
                "{} datagrams found no room to leave, {} receive calls failed",
                it.send_dropped, it.receive_errors
            ),
            "see whether an interface went down or its queue is full (`ip -s link`)",
        );
    }
    if it.discovery.not_admitted > 0 || it.discovery.matches_refused > 0 {
        findings.add(
            Severity::Warning,
            "limit_reached",
            format!(
                "{} participants or endpoints and {} matches were refused at a limit",
                it.discovery.not_admitted, it.discovery.matches_refused
            ),
            "raise the participant's limits, or find out who announces so many",
        );
    }
    if it.rejects.total() > 0 && !seen.others.is_empty() {
        findings.add(
            Severity::Note,
            "rejects",
            format!(
                "{} packets or parts of packets were refused",
                it.rejects.total()
            ),
            "look at the reasons above; few are harmless, many tell of a broken peer",
        );
    }
}

fn matching(seen: &Seen, findings: &mut Findings) {
    for (topic, rules) in &seen.mismatches {
        findings.add(
            Severity::Warning,
            "mismatch",
            format!("topic {topic:?} has a writer and a reader that do not match: {rules}"),
            format!("`whimbrel why {topic}` shows both values and what to change"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::multicast::Echo;
    use super::super::seen::Wanted;
    use super::*;
    use whimbrel::DomainParticipant;
    use whimbrel::base::reject::RejectKind;
    use whimbrel::domain::{Diagnostics, Interface};

    /// What a participant alone in its domain sees.
    fn alone() -> Seen {
        let participant = DomainParticipant::builder(99)
            .interfaces("lo")
            .domain_tag(format!("findings {}", std::process::id()))
            .build()
            .unwrap();
        let mut diagnostics = participant.diagnostics();
        diagnostics.received = (0, 0);
        diagnostics.discovery.other_domain = 0;
        Seen {
            domain: 99,
            interfaces: participant.interfaces(),
            used: vec!["lo".into()],
            echoes: vec![],
            diagnostics,
            others: vec![],
            mismatches: vec![],
            wanted: Wanted {
                receive_bytes: Some(4 << 20),
                send_bytes: Some(1 << 20),
            },
        }
    }

    fn with_ethernet(came_back: Option<bool>) -> Seen {
        let mut seen = alone();
        seen.interfaces.push(Interface {
            name: "eth0".into(),
            is_loopback: false,
            is_multicast: true,
            ..seen.interfaces[0].clone()
        });
        seen.used.push("eth0".into());
        seen.echoes.extend(came_back.map(|came_back| Echo {
            interface: "eth0".into(),
            came_back,
        }));
        seen
    }

    fn check(seen: &Seen, id: &str, words: &str) {
        let findings = of(seen);
        let found = findings.iter().find(|it| it.id == id);
        let found = found.unwrap_or_else(|| panic!("no {id} in {findings:?}"));
        let text = format!("{} {}", found.cause, found.cure);
        assert!(text.contains(words), "{text}");
    }

    #[test]
    fn each_cause_is_named_with_a_cure() {
        check(&alone(), "nobody_answers", "only this host was asked");
        check(&alone(), "loopback_only", "loopback");
        check(&with_ethernet(None), "nobody_answers", "--peer");
        check(&with_ethernet(None), "no_multicast", "eth0");
        check(
            &with_ethernet(Some(true)),
            "nobody_answers",
            "multicast sent by eth0, none came",
        );
        check(
            &with_ethernet(Some(false)),
            "multicast_silent",
            "WHIMBREL_INTERFACES=!eth0",
        );
        assert!(
            of(&with_ethernet(Some(true)))
                .iter()
                .all(|it| it.id != "loopback_only")
        );

        let changed = |change: fn(&mut Diagnostics)| {
            let mut seen = with_ethernet(Some(true));
            change(&mut seen.diagnostics);
            seen
        };
        let seen = changed(|it| it.own_guid_claimed = 3);
        check(&seen, "own_guid_claimed", "3 times");
        let seen = changed(|it| it.participant_index = None);
        check(&seen, "no_participant_index", "all participant indices");
        let seen = changed(|it| it.discovery.other_domain = 2);
        check(&seen, "other_domain", "--domain");
        let seen = changed(|it| it.rejects.count(RejectKind::NotRtps));
        check(&seen, "nobody_answers", "refused");
        let seen = changed(|it| it.received = (9, 900));
        check(&seen, "nobody_answers", "ss -ulpn");
        let seen = changed(|it| it.sockets[0].recv_buffer_bytes = Some(200 << 10));
        check(
            &seen,
            "small_receive_buffer",
            "sysctl -w net.core.rmem_max=4194304",
        );
        let mut seen = seen;
        seen.wanted.receive_bytes = None;
        let says = "200 KiB, as WHIMBREL_RECEIVE_BUFFER_BYTES says";
        check(&seen, "small_receive_buffer", says);
        seen.wanted.receive_bytes = Some(100 << 10);
        check(&seen, "small_receive_buffer", says);
        let seen = changed(|it| it.sockets[0].send_buffer_bytes = Some(200 << 10));
        let cure = "sysctl -w net.core.wmem_max=1048576";
        check(&seen, "small_send_buffer", cure);
        let seen = changed(|it| it.sockets[0].datagrams_dropped = Some(7));
        let cure = "WHIMBREL_RECEIVE_BUFFER_BYTES=16777216";
        check(&seen, "datagrams_dropped", cure);
        check(&seen, "datagrams_dropped", "dropped 7 datagrams");
        let seen = changed(|it| it.discovery.withheld = 4);
        check(&seen, "addresses_silent", "4 messages");
        let seen = changed(|it| it.discovery.participants_displaced = 5);
        check(&seen, "participants_displaced", "5 participants");
        let seen = changed(|it| it.discovery.not_admitted = 1);
        check(&seen, "limit_reached", "limit");
        let seen = changed(|it| it.send_dropped = 1);
        check(&seen, "socket_errors", "no room");
        let mut seen = alone();
        seen.mismatches = vec![("T".into(), "RELIABILITY".into())];
        check(&seen, "mismatch", "whimbrel why T");
    }

    #[test]
    fn the_gravest_comes_first() {
        let findings = of(&with_ethernet(Some(false)));
        assert_eq!(findings[0].severity, Severity::Serious);
        assert!(findings.is_sorted_by_key(|it| it.severity as u8));
    }
}
