//! What the lines of peers say of samples.

use crate::matrix::samples::{Samples, difference, is_subsequence};

/// How many there are.
pub(crate) fn count(samples: &Samples) -> u64 {
    samples.values().map(|it| it.len() as u64).sum()
}

/// How much of what was sent must have arrived; always in order, and nothing twice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wanted {
    /// At least the last so many of each key, and after them nothing else.
    Newest(usize),
    /// Exactly the last so many of each key.
    ExactlyNewest(usize),
    /// The first ones without a hole, as far as the reader came.
    Prefix,
}

/// Compares, key by key, what `sent` has with what arrived.
///
/// # Errors
/// The first difference, in words.
pub(crate) fn compare(sent: &Samples, received: &Samples, wanted: Wanted) -> Result<(), String> {
    for (key, sent) in sent {
        let got = received.get(key).map(Vec::as_slice).unwrap_or_default();
        let fits = match wanted {
            Wanted::Newest(depth) => {
                let newest = sent.get(sent.len().saturating_sub(depth)..);
                is_subsequence(got, sent) && newest.is_some_and(|it| got.ends_with(it))
            }
            Wanted::ExactlyNewest(depth) => {
                sent.get(sent.len().saturating_sub(depth)..) == Some(got)
            }
            Wanted::Prefix => sent.starts_with(got),
        };
        if !fits {
            let why = difference(sent, got);
            return Err(format!("key {key}, {wanted:?}: {why}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::samples::samples;

    fn of(numbers: &[u32]) -> Samples {
        let of_key = numbers.iter().map(|it| (*it, format!("{it:08x}")));
        Samples::from([("A".to_owned(), of_key.collect())])
    }

    fn check(received: &[u32], wanted: Wanted) -> bool {
        compare(&of(&[1, 2, 3, 4]), &of(received), wanted).is_ok()
    }

    #[test]
    fn what_must_arrive_arrives_in_order_and_once() {
        assert!(check(&[3, 4], Wanted::Newest(2)) && check(&[1, 3, 4], Wanted::Newest(2)));
        assert!(!check(&[4], Wanted::Newest(2)) && !check(&[4, 3], Wanted::Newest(2)));
        assert!(!check(&[3, 4, 4], Wanted::Newest(2)) && !check(&[3, 3, 4], Wanted::Newest(2)));
        assert!(check(&[3, 4], Wanted::ExactlyNewest(2)));
        assert!(!check(&[2, 3, 4], Wanted::ExactlyNewest(2)));
        assert!(check(&[1, 2], Wanted::Prefix) && check(&[], Wanted::Prefix));
        assert!(!check(&[2], Wanted::Prefix) && !check(&[1, 3], Wanted::Prefix));
    }

    #[test]
    fn lines_are_read_by_key() {
        let lines = ["sent 1 A 0a", "ready", "sent 2 B 0b", "received 1 A 0a 4"];
        let lines: Vec<String> = lines.map(str::to_owned).to_vec();
        let sent = samples(&lines, "sent ");
        assert_eq!(count(&sent), 2);
        assert_eq!(sent["B"], [(2, "0b".to_owned())]);
    }
}
