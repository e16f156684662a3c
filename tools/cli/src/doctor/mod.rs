//! `whimbrel doctor`: what keeps participants from meeting, and what to do about it.
//!
//! It joins the domain, tests each multicast interface, listens for a while, prints what it saw
//! and ends with its [`findings`].

mod buffers;
mod finding;
mod findings;
mod multicast;
mod seen;

use std::time::{Duration, Instant};

use serde_json::json;
use whimbrel::DomainParticipant;
use whimbrel::domain::{Diagnostics, DomainParticipantBuilder, Interface, system_interfaces};

use self::finding::{Finding, Severity};
use self::seen::{Seen, Wanted};
use crate::bus::{self, vendor_name};
use crate::failure::Failure;
use crate::options::BusOptions;
use crate::output::{Output, Style, clean};
use crate::stop;

/// How long others get to be heard: a little more than the usual time between announcements.
const LISTEN: Duration = Duration::from_millis(3600);

pub(crate) fn run(options: &BusOptions, output: &mut Output) -> Result<(), Failure> {
    let started = Instant::now();
    let aside = multicast::aside(options)?;
    let wanted = wanted(&aside)?;
    let used: Vec<Interface> = aside.build()?.interfaces();
    // Before we listen, or the test's own announcements would be counted.
    let echoes = multicast::test(options, &used)?;
    let participant = bus::join(options, "doctor")?;
    let rest = options.wait.unwrap_or(LISTEN);
    stop::sleep_until(started + rest)?;
    let seen = Seen {
        domain: participant.domain_id(),
        interfaces: system_interfaces()?,
        used: used.iter().map(|it| it.name.clone()).collect(),
        echoes,
        diagnostics: participant.diagnostics(),
        others: participant.discovered_participants(),
        mismatches: mismatches(&participant),
        wanted,
    };
    let findings = findings::of(&seen);
    if output.json {
        objects(&seen, &findings, output)?;
    } else {
        text(&seen, output)?;
        conclude(&findings, output)?;
    }
    if findings.iter().any(|it| it.severity == Severity::Serious) {
        return Err(Failure::Said);
    }
    Ok(())
}

/// What is asked of the buffers of sockets, here by the environment or not at all.
fn wanted(builder: &DomainParticipantBuilder) -> Result<Wanted, Failure> {
    let settings = builder.settings()?;
    let bytes = |name: &str| {
        let setting = settings.iter().find(|it| it.name == name);
        setting.and_then(|it| it.value.parse().ok())
    };
    Ok(Wanted {
        receive_bytes: bytes("receive_buffer_bytes"),
        send_bytes: bytes("send_buffer_bytes"),
    })
}

/// Pairs of one topic that do not match; the first thousand pairs are looked at.
fn mismatches(participant: &DomainParticipant) -> Vec<(String, String)> {
    const PAIRS_MAX: usize = 1000;
    let (writers, readers) = (
        participant.discovered_writers(),
        participant.discovered_readers(),
    );
    let pairs = writers.iter().flat_map(|writer| {
        let same = readers
            .iter()
            .filter(|it| it.topic_name == writer.topic_name);
        same.map(move |reader| (writer, reader))
    });
    let failed = |(writer, reader): (
        &whimbrel::domain::DiscoveredWriter,
        &whimbrel::domain::DiscoveredReader,
    )| {
        let verdicts = participant.explain_match(writer.guid, reader.guid)?;
        let failed = verdicts.iter().filter(|it| !it.passed);
        let rules: Vec<_> = failed.map(|it| it.rule).collect();
        (!rules.is_empty()).then(|| (writer.topic_name.clone(), rules.join(", ")))
    };
    let mut found: Vec<_> = pairs.take(PAIRS_MAX).filter_map(failed).collect();
    found.sort();
    found.dedup();
    found
}

fn objects(seen: &Seen, findings: &[Finding], output: &mut Output) -> Result<(), Failure> {
    for it in &seen.interfaces {
        let addresses: Vec<_> = it.addresses.iter().map(ToString::to_string).collect();
        let echo = seen.echoes.iter().find(|echo| echo.interface == it.name);
        output.object(&json!({
            "section": "interface", "name": it.name, "addresses": addresses,
            "used": seen.used.contains(&it.name), "up": it.is_up,
            "loopback": it.is_loopback, "multicast": it.is_multicast,
            "multicast_joined": seen.diagnostics.multicast_interfaces.contains(&it.name),
            "multicast_came_back": echo.map(|echo| echo.came_back),
        }))?;
    }
    for it in &seen.diagnostics.sockets {
        output.object(&json!({
            "section": "socket", "address": it.address.to_string(),
            "receive_buffer_bytes": it.recv_buffer_bytes,
            "send_buffer_bytes": it.send_buffer_bytes,
            "datagrams_dropped": it.datagrams_dropped,
        }))?;
    }
    for it in &seen.others {
        output.object(&json!({
            "section": "participant", "guid": it.guid.to_string(),
            "vendor": vendor_name(it.vendor), "name": it.name, "host": it.host,
            "address": it.address.to_string(), "confirmed": it.confirmed,
        }))?;
    }
    for (kind, count) in seen.diagnostics.rejects.iter() {
        output.object(&json!({
            "section": "reject", "reason": kind.text(), "count": count,
        }))?;
    }
    let (it, discovery) = (&seen.diagnostics, &seen.diagnostics.discovery);
    output.object(&json!({
        "section": "counters", "domain": seen.domain,
        "participant_index": it.participant_index,
        "datagrams_received": it.received.0, "bytes_received": it.received.1,
        "datagrams_sent": it.sent.0, "bytes_sent": it.sent.1,
        "announcements_sent": discovery.announcements_sent,
        "probes_sent": discovery.probes_sent,
        "announcements_received": discovery.announcements_received,
        "own_heard": discovery.own_heard, "other_domain": discovery.other_domain,
        "messages_withheld": discovery.withheld,
        "participants_unanswered": discovery.participants_unanswered,
        "participants_displaced": discovery.participants_displaced,
        "participants_reborn": discovery.reborn,
        "own_guid_claimed": it.own_guid_claimed, "send_dropped": it.send_dropped,
        "oversize": it.oversize, "receive_errors": it.receive_errors,
    }))?;
    findings.iter().try_for_each(|it| {
        output.object(&json!({
            "section": "finding", "severity": it.severity.text(), "id": it.id,
            "cause": it.cause, "cure": it.cure,
        }))
    })
}

fn text(seen: &Seen, output: &mut Output) -> Result<(), Failure> {
    heading("Interfaces", output)?;
    for it in &seen.interfaces {
        output.line(&format!("  {it}: {}", usage(seen, it)))?;
    }
    let it = &seen.diagnostics;
    heading("Ports", output)?;
    let index = it.participant_index.map_or_else(
        || "no participant index was free: any port".into(),
        |index| format!("participant index {index} of domain {}", seen.domain),
    );
    output.line(&format!("  {index}"))?;
    for socket in &it.sockets {
        let number = |count: Option<usize>| {
            count.map_or_else(|| "?".into(), |count| format!("{} KiB", count / 1024))
        };
        let dropped = socket
            .datagrams_dropped
            .map_or_else(|| "unknown".into(), |count| count.to_string());
        output.line(&format!(
            "  {}: receives into {}, sends from {}, datagrams dropped by the system: {dropped}",
            socket.address,
            number(socket.recv_buffer_bytes),
            number(socket.send_buffer_bytes),
        ))?;
    }
    heading("Heard", output)?;
    if seen.others.is_empty() {
        output.line("  nobody")?;
    }
    for other in &seen.others {
        let hears = if other.confirmed {
            "hears us"
        } else {
            "has not answered"
        };
        output.line(&format!(
            "  {} {} {:?} on {} at {}: {hears}",
            other.guid,
            vendor_name(other.vendor),
            other.name,
            clean(other.host.as_deref().unwrap_or("unknown host")),
            other.address,
        ))?;
    }
    traffic(it, output)
}

fn traffic(it: &Diagnostics, output: &mut Output) -> Result<(), Failure> {
    heading("Traffic", output)?;
    output.line(&format!(
        "  {} datagrams received, {} sent; {} announcements sent, {} received, own heard again {}",
        it.received.0,
        it.sent.0,
        it.discovery.announcements_sent + it.discovery.probes_sent,
        it.discovery.announcements_received,
        it.discovery.own_heard,
    ))?;
    if it.discovery.withheld > 0 {
        output.line(&format!(
            "  {} messages withheld from addresses that have not answered",
            it.discovery.withheld
        ))?;
    }
    if it.oversize > 0 {
        output.line(&format!(
            "  {} messages were too large for their path, which later ones are not",
            it.oversize
        ))?;
    }
    let rejects: Vec<_> = it
        .rejects
        .iter()
        .map(|(kind, count)| format!("{} ({count})", kind.text()))
        .collect();
    if !rejects.is_empty() {
        output.line(&format!("  refused: {}", rejects.join(", ")))?;
    }
    Ok(())
}

fn usage(seen: &Seen, it: &Interface) -> String {
    if !it.is_up {
        return "skipped, it is down".into();
    }
    if !seen.used.contains(&it.name) {
        return "skipped by --interfaces or WHIMBREL_INTERFACES".into();
    }
    let echo = seen.echoes.iter().find(|echo| echo.interface == it.name);
    match echo {
        Some(echo) if echo.came_back => "used, multicast works".into(),
        Some(_) => "used, multicast sent and none came back".into(),
        None if it.is_loopback => {
            "used, without multicast: others on this host are probed for".into()
        }
        None => "used, without multicast".into(),
    }
}

fn heading(text: &str, output: &mut Output) -> Result<(), Failure> {
    let text = output.paint(Style::Bold, text);
    output.line(&text)
}

fn conclude(findings: &[Finding], output: &mut Output) -> Result<(), Failure> {
    heading("Findings", output)?;
    if findings.is_empty() {
        let text = output.paint(Style::Good, "  nothing is wrong");
        return output.line(&text);
    }
    for it in findings {
        let style = match it.severity {
            Severity::Serious => Style::Bad,
            Severity::Warning => Style::Warning,
            Severity::Note => Style::Dim,
        };
        let mark = output.paint(style, it.severity.text());
        output.line(&format!("  {mark}: {}", clean(&it.cause)))?;
        output.line(&format!("    cure: {}", clean(&it.cure)))?;
    }
    Ok(())
}
