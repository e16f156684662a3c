//! Whose turn it is.

use std::ops::Range;

/// Those of all `rounds` that are run after `start` of `starts`, counted from 0.
pub fn of_start(rounds: usize, start: usize, starts: usize) -> Range<usize> {
    let until = |start: usize| rounds * start / starts;
    until(start)..until(start + 1)
}

/// Whose turn it is in a round of `count`, one after the other.
///
/// Whom one comes after matters: it leaves the caches and the cores in some state. So the order
/// changes from round to round; over `count` rounds, twice as many where that is odd, each begins
/// as often as any other, and within rounds comes as often after each (a balanced Latin square).
/// Other numbers of rounds come near that, and so does who comes first after the round before.
pub fn of_round(round: usize, count: usize) -> impl Iterator<Item = usize> {
    // Back and forth from the first, so that neighbours are apart by every distance once.
    let zigzag = move |at: usize| {
        if at.is_multiple_of(2) {
            at / 2
        } else {
            count - at.div_ceil(2)
        }
    };
    // An odd number of distances is not balanced until it was gone through backwards too.
    let is_backwards = !count.is_multiple_of(2) && !round.is_multiple_of(2);
    (0..count).map(move |at| {
        let at = if is_backwards { count - 1 - at } else { at };
        (zigzag(at) + round) % count
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn starts_share_all_rounds() {
        for (rounds, starts) in [(12, 3), (2, 1), (10, 4), (2, 3)] {
            let all = (0..starts).flat_map(|it| of_start(rounds, it, starts));
            assert!(all.eq(0..rounds), "{rounds}, {starts}");
        }
    }

    #[test]
    fn everybody_has_a_turn_in_every_round() {
        for count in 0..9 {
            for round in 0..20 {
                let mut turns: Vec<usize> = of_round(round, count).collect();
                turns.sort_unstable();
                assert!(turns.into_iter().eq(0..count), "{count}, {round}");
            }
        }
    }

    #[test]
    fn each_comes_after_each_other_equally_often() {
        for count in 2..9 {
            let rounds = if count % 2 == 0 { count } else { 2 * count };
            let (mut first, mut after) = (BTreeMap::new(), BTreeMap::new());
            for round in 0..rounds {
                let turns: Vec<usize> = of_round(round, count).collect();
                *first.entry(turns[0]).or_insert(0) += 1;
                for pair in turns.windows(2) {
                    *after.entry((pair[0], pair[1])).or_insert(0) += 1;
                }
            }
            assert_eq!(first.len(), count);
            assert_eq!(after.len(), count * (count - 1), "{count}");
            let each = rounds / count;
            assert!(
                first
                    .into_values()
                    .chain(after.into_values())
                    .all(|it| it == each)
            );
        }
    }
}
