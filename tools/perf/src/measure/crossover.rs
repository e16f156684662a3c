//! Where one thing begins to be better than another.

use crate::failure::Failure;

/// Narrows `between`, at whose lower end `wins` is false and at whose upper end it is true, until
/// both are within a factor of `near` or `steps` were taken.
///
/// # Errors
/// What `wins` gives.
pub(crate) fn bisect(
    between: [usize; 2],
    steps: usize,
    near: f64,
    mut wins: impl FnMut(usize) -> Result<bool, Failure>,
) -> Result<[usize; 2], Failure> {
    let [mut low, mut high] = between;
    for _ in 0..steps {
        // Sizes grow by factors, so the middle is that of their logarithms.
        let middle = (low as f64 * high as f64).sqrt() as usize;
        if high as f64 <= low as f64 * near || middle <= low || middle >= high {
            break;
        }
        if wins(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok([low, high])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_between_what_is_found() {
        for limit in [1100, 5000, 62_000] {
            let found = bisect([1024, 63_000], 20, 1.1, |size| Ok(size >= limit));
            let [low, high] = found.unwrap();
            assert!(low < limit && limit <= high, "{low} {high}");
            assert!(high as f64 <= low as f64 * 1.1, "{low} {high}");
        }
        let none = bisect([1024, 63_000], 0, 1.1, |_| Ok(true));
        assert_eq!(none, Ok([1024, 63_000]));
        assert_eq!(bisect([7, 8], 9, 1.0, |_| Ok(true)), Ok([7, 8]));
        let broke = bisect([1, 100], 9, 1.1, |_| Err(Failure::Signal(2)));
        assert_eq!(broke, Err(Failure::Signal(2)));
    }
}
