//! Small maps and sets in order, in one piece of memory each.
//!
//! For tables that are small or seldom change: adding to the middle moves what comes behind.
//! They take a tenth of the code that a B-tree takes for each type of key and value, no node
//! whose room is half empty, and are searched within a few cache lines. What may hold very many
//! entries, or loses the first all the time, belongs into `BTreeMap`.

use alloc::vec::Vec;
use core::borrow::Borrow;
use core::ops::RangeInclusive;

/// Values by keys, in order of the keys.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SortedMap<K, V> {
    entries: Vec<(K, V)>,
}

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, V> SortedMap<K, V> {
    /// An empty map, which takes no memory.
    pub const fn new() -> Self {
        Self {
            entries: Vec::new(),
        }
    }

    /// Number of entries.
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// True when there is no entry.
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Keys and values, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> + Clone {
        self.entries.iter().map(|(key, value)| (key, value))
    }

    /// The keys, in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + Clone {
        self.entries.iter().map(|(key, _)| key)
    }

    /// The values, in order of their keys.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + Clone {
        self.entries.iter().map(|(_, value)| value)
    }

    /// The values, to be changed.
    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut V> {
        self.entries.iter_mut().map(|(_, value)| value)
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Removes the entries for which `keep` is false.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        self.entries.retain_mut(|(key, value)| keep(key, value));
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    fn find<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        self.entries
            .binary_search_by(|(known, _)| known.borrow().cmp(key))
    }

    /// The value of `key`.
    #[inline]
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        match self.entries.as_slice() {
            // As it is most often: no loop then.
            [(only, value)] => (only.borrow() == key).then_some(value),
            _ => self.search(key),
        }
    }

    #[inline(never)]
    fn search<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let at = self.find(key).ok()?;
        self.entries.get(at).map(|(_, value)| value)
    }

    /// The value of `key`, to be changed.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let at = self.find(key).ok()?;
        self.entries.get_mut(at).map(|(_, value)| value)
    }

    /// True when there is a value of `key`.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.find(key).is_ok()
    }

    /// Sets the value of `key`; gives back the one before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(&key) {
            Ok(at) => {
                let known = self.entries.get_mut(at)?;
                Some(core::mem::replace(&mut known.1, value))
            }
            Err(at) => {
                self.entries.insert(at, (key, value));
                None
            }
        }
    }

    /// Changes the value of `key`, which is made by `make` where there is none.
    pub fn change(&mut self, key: K, make: impl FnOnce() -> V, change: impl FnOnce(&mut V)) {
        match self.find(&key) {
            Ok(at) => {
                if let Some((_, value)) = self.entries.get_mut(at) {
                    change(value);
                }
            }
            Err(at) => {
                let mut value = make();
                change(&mut value);
                self.entries.insert(at, (key, value));
            }
        }
    }

    /// Removes the entry of `key`; gives back its value.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let at = self.find(key).ok()?;
        Some(self.entries.remove(at).1)
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for SortedMap<K, V> {
    /// Of several values of one key the last one stays.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::new();
        for (key, value) in entries {
            map.insert(key, value);
        }
        map
    }
}

impl<K, V> IntoIterator for SortedMap<K, V> {
    type Item = (K, V);
    type IntoIter = alloc::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

/// Values in order, each once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SortedSet<T> {
    items: Vec<T>,
}

impl<T> Default for SortedSet<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> SortedSet<T> {
    /// An empty set, which takes no memory.
    pub const fn new() -> Self {
        Self { items: Vec::new() }
    }

    /// Number of items.
    pub const fn len(&self) -> usize {
        self.items.len()
    }

    /// True when there is no item.
    pub const fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The items, in order.
    pub fn iter(&self) -> core::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// Removes all items.
    pub fn clear(&mut self) {
        self.items.clear();
    }

    /// The least item.
    pub fn first(&self) -> Option<&T> {
        self.items.first()
    }
}

impl<T: Ord> SortedSet<T> {
    /// True when `item` is in it.
    pub fn contains(&self, item: &T) -> bool {
        self.items.binary_search(item).is_ok()
    }

    /// Adds `item`; true when it was not there.
    pub fn insert(&mut self, item: T) -> bool {
        let place = self.items.binary_search(&item);
        if let Err(at) = place {
            self.items.insert(at, item);
        }
        place.is_err()
    }

    /// Removes `item`; true when it was there.
    pub fn remove(&mut self, item: &T) -> bool {
        let place = self.items.binary_search(item);
        if let Ok(at) = place {
            self.items.remove(at);
        }
        place.is_ok()
    }

    /// The items from the start of `range` to its end, in order.
    pub fn range(&self, range: RangeInclusive<T>) -> &[T] {
        let first = self.items.partition_point(|it| it < range.start());
        let end = self.items.partition_point(|it| it <= range.end());
        self.items.get(first..end).unwrap_or_default()
    }
}

impl<T: Ord> Extend<T> for SortedSet<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        for item in items {
            self.insert(item);
        }
    }
}

impl<T: Ord> FromIterator<T> for SortedSet<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut items: Vec<T> = items.into_iter().collect();
        items.sort_unstable();
        items.dedup();
        Self { items }
    }
}

impl<T> IntoIterator for SortedSet<T> {
    type Item = T;
    type IntoIter = alloc::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a SortedSet<T> {
    type Item = &'a T;
    type IntoIter = core::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::{BTreeMap, BTreeSet};

    /// What many changes at random leave, beside what they leave in the maps of the library.
    #[test]
    fn they_hold_what_b_trees_hold() {
        let (mut map, mut wanted) = (SortedMap::new(), BTreeMap::new());
        let (mut set, mut members) = (SortedSet::new(), BTreeSet::new());
        let mut random = 1u64;
        for step in 0..3000u32 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let key = (random >> 33) % 40;
            match (random >> 50) % 4 {
                0 => {
                    assert_eq!(map.remove(&key), wanted.remove(&key));
                    assert_eq!(set.remove(&key), members.remove(&key));
                }
                1 => {
                    assert_eq!(map.insert(key, step), wanted.insert(key, step));
                    assert_eq!(set.insert(key), members.insert(key));
                }
                2 => {
                    map.change(key, || 7, |it| *it += 1);
                    *wanted.entry(key).or_insert(7) += 1;
                }
                _ => {
                    assert_eq!(map.get(&key), wanted.get(&key));
                    assert_eq!(set.contains(&key), members.contains(&key));
                }
            }
            assert!(map.iter().eq(wanted.iter()) && map.len() == wanted.len());
            assert!(set.iter().eq(members.iter()));
            let range = key..=key + 9;
            assert!(set.range(range.clone()).iter().eq(members.range(range)));
        }
    }

    #[test]
    fn they_are_made_of_what_comes() {
        let map: SortedMap<_, _> = [(2, "b"), (1, "a"), (2, "c")].into_iter().collect();
        assert!(map.into_iter().eq([(1, "a"), (2, "c")]));
        let mut set: SortedSet<u8> = [3, 1, 3].into_iter().collect();
        set.extend([2, 1]);
        assert_eq!(set.first(), Some(&1));
        assert!(set.into_iter().eq([1, 2, 3]));
    }
}
