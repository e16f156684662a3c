//! A list that is nearly always short, and then takes no memory of its own.

/// Up to two items in place, more on the heap.
pub(super) struct Few<T> {
    first: [Option<T>; 2],
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

    /// Has `take` take each, in order.
    pub(super) fn for_each(self, mut take: impl FnMut(T)) {
        self.first.into_iter().flatten().for_each(&mut take);
        self.more.into_iter().for_each(take);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_come_out_in_order() {
        for count in [0, 1, 2, 3, 9] {
            let few: Few<usize> = (0..count).collect();
            assert!(few.iter().copied().eq(0..count));
            let mut taken = Vec::new();
            few.for_each(|item| taken.push(item));
            assert!(taken.into_iter().eq(0..count));
        }
    }
}
