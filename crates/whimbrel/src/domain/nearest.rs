//! Did you mean: the known word that a mistaken one is nearest to.

/// The word of `known` nearest to `word`, where it is near enough to be meant: letter case aside,
/// at most a third of its letters are wrong, missing or too many.
pub(super) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    known
        .into_iter()
        .map(|it| (distance(&word, &it.to_lowercase()), it))
        .filter(|(distance, it)| distance * 3 <= it.chars().count().max(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, it)| it)
}

/// Letters to change, insert, remove or swap with their neighbour, to make one word of the other.
fn distance(one: &str, two: &str) -> usize {
    let (one, two): (Vec<char>, Vec<char>) = (one.chars().collect(), two.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=two.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in two.iter().enumerate() {
            let mut best = last[j] + usize::from(a != b);
            best = best.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == two[j - 1] && one[i - 1] == *b {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[two.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_other_words_are_not() {
        let known = ["WHIMBREL_INTERFACES", "WHIMBREL_PEERS", "WHIMBREL_IP"];
        let check = |word, expected| assert_eq!(nearest(word, known), expected, "{word}");
        check("WHIMBREL_INTERFACE", Some("WHIMBREL_INTERFACES"));
        check("WHIMBREL_PERES", Some("WHIMBREL_PEERS"));
        check("whimbrel_ip", Some("WHIMBREL_IP"));
        check("WHIMBREL_COMPRESSION_LEVEL", None);
        assert_eq!(nearest("of", ["warn", "off"]), Some("off"));
        assert_eq!(nearest("loud", ["warn", "off"]), None);
        assert_eq!(nearest("", ["warn"]), None);
    }

    #[test]
    fn a_swap_is_one_slip() {
        assert_eq!(distance("wran", "warn"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
