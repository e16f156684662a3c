//! A list that is nearly always short, and then takes no memory of its own.

/// Up to four items in place, more on the heap.
pub(super) struct Few<T> {
    first: [Option<T>; 4],
    more: Vec<T>,
}

impl<T> FromIterator<T> for Few<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut items = items.into_iter();
        Self {
            first: std::array::from_fn(|_| items.next()),
            more: items.collect(),
        }
    }
}

impl<T> Few<T> {
    /// The items, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().flatten().chain(&self.more)
    }
}

impl<T> IntoIterator for Few<T> {
    type Item = T;
    type IntoIter = std::iter::Chain<
        std::iter::Flatten<std::array::IntoIter<Option<T>, 4>>,
        std::vec::IntoIter<T>,
    >;

    /// The items, in order.
    fn into_iter(self) -> Self::IntoIter {
        self.first.into_iter().flatten().chain(self.more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_come_out_in_order() {
        for count in [0, 1, 4, 5, 9] {
            let few: Few<usize> = (0..count).collect();
            assert!(few.iter().copied().eq(0..count));
            assert!(few.into_iter().eq(0..count));
        }
    }
}
