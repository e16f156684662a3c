//! Shares of numbers, without overflow.

/// `whole` times `part` in `all`, rounded down; the greatest number where that is more, or `all` is
/// none.
pub fn share(whole: u64, part: u64, all: u64) -> u64 {
    let product = u128::from(whole).saturating_mul(u128::from(part));
    let share = product.checked_div(u128::from(all));
    share.map_or(u64::MAX, |it| u64::try_from(it).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_is_the_greatest_number() {
        assert_eq!(share(10, 2, 3), 6);
        assert_eq!(share(u64::MAX, 5, 10), u64::MAX / 2);
        assert_eq!(share(u64::MAX, 2, 1), u64::MAX);
        assert_eq!(share(0, 0, 0), u64::MAX);
    }
}
