//! What was sent against what was received: order within a key, checksums, nothing twice.

use std::collections::BTreeMap;

use super::cases::Arrival;

/// Number and checksum, by key.
pub(crate) type Samples = BTreeMap<String, Vec<(u32, String)>>;

/// Compares the lines of both peers.
///
/// # Errors
/// The first difference, in words.
pub(crate) fn compare(
    sent: &[String],
    received: &[String],
    arrival: Arrival,
) -> Result<(), String> {
    let sent = samples(sent, "sent ");
    let received = samples(received, "received ");
    if sent.is_empty() {
        return Err("nothing was sent".into());
    }
    if received.is_empty() {
        return Err("nothing was received".into());
    }
    if let Some(key) = received.keys().find(|key| !sent.contains_key(*key)) {
        return Err(format!("samples of key {key}, which was never sent"));
    }
    for (key, sent) in &sent {
        let got = received.get(key).map(Vec::as_slice).unwrap_or_default();
        let fits = match arrival {
            Arrival::All => got == sent,
            Arrival::Newest => sent.last().is_some_and(|last| got == [last.clone()]),
            Arrival::Some => is_subsequence(got, sent),
        };
        if !fits {
            return Err(format!("key {key}: {}", difference(sent, got)));
        }
    }
    Ok(())
}

/// The samples of the lines that begin with `verb`.
pub(crate) fn samples(lines: &[String], verb: &str) -> Samples {
    let mut samples = Samples::new();
    for line in lines {
        let mut words = line.strip_prefix(verb).unwrap_or_default().split(' ');
        if let (Some(seq), Some(key), Some(crc)) = (words.next(), words.next(), words.next())
            && let Ok(seq) = seq.parse()
        {
            let of_key = samples.entry(key.to_owned()).or_default();
            of_key.push((seq, crc.to_owned()));
        }
    }
    samples
}

/// True when all of `part` is in `whole`, in the same order.
pub(crate) fn is_subsequence<T: PartialEq>(part: &[T], whole: &[T]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|wanted| rest.any(|it| it == wanted))
}

/// How what was received differs from what was sent.
pub(crate) fn difference(sent: &[(u32, String)], got: &[(u32, String)]) -> String {
    let corrupt = got
        .iter()
        .find(|it| sent.iter().any(|other| other.0 == it.0 && other.1 != it.1));
    if let Some((seq, crc)) = corrupt {
        return format!("sample {seq} arrived with another checksum, {crc}");
    }
    let numbers = |samples: &[(u32, String)]| {
        let all: Vec<String> = samples.iter().map(|it| it.0.to_string()).collect();
        all.join(" ")
    };
    format!("sent {}; received {}", numbers(sent), numbers(got))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sent: &[&str], received: &[&str], arrival: Arrival) -> Result<(), String> {
        let own = |lines: &[&str]| lines.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        compare(&own(sent), &own(received), arrival)
    }

    const SENT: &[&str] = &[
        "ready",
        "sent 1 A 0a",
        "sent 2 B 0b",
        "sent 3 A 0c",
        "done 3",
    ];

    #[test]
    fn order_counts_within_a_key() {
        let whole = [
            "received 2 B 0b 16",
            "received 1 A 0a 16",
            "received 3 A 0c 16",
        ];
        assert_eq!(check(SENT, &whole, Arrival::All), Ok(()));
        assert_eq!(check(SENT, &whole, Arrival::Some), Ok(()));
        let turned = [
            "received 2 B 0b 16",
            "received 3 A 0c 16",
            "received 1 A 0a 16",
        ];
        assert!(check(SENT, &turned, Arrival::All).is_err());
        assert!(check(SENT, &turned, Arrival::Some).is_err());
    }

    #[test]
    fn losses_doubles_and_wrong_checksums_are_seen() {
        let lost = ["received 1 A 0a 16", "received 2 B 0b 16"];
        assert!(check(SENT, &lost, Arrival::All).is_err());
        assert_eq!(check(SENT, &lost, Arrival::Some), Ok(()));
        assert!(check(SENT, &lost, Arrival::Newest).is_err());
        let newest = ["received 3 A 0c 16", "received 2 B 0b 16"];
        assert_eq!(check(SENT, &newest, Arrival::Newest), Ok(()));
        let twice = ["received 1 A 0a 16", "received 1 A 0a 16"];
        assert!(check(SENT, &twice, Arrival::Some).is_err());
        let wrong = ["received 1 A ff 16"];
        let why = check(SENT, &wrong, Arrival::Some).unwrap_err();
        assert!(why.contains("checksum"), "{why}");
        let foreign = ["received 1 C 0a 16"];
        assert!(check(SENT, &foreign, Arrival::Some).is_err());
        assert!(check(SENT, &[], Arrival::Some).is_err());
    }
}
