//! A small map in a sorted vector: flat, ordered, the same on every machine.

use alloc::vec::Vec;

/// Keys and values by ascending key. Look-ups are binary searches, insertions shift; tables here hold some hundred rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SortedMap<K, V> {
    rows: Vec<(K, V)>,
}

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        Self { rows: Vec::new() }
    }
}

impl<K: Ord + Copy, V> SortedMap<K, V> {
    fn find(&self, key: K) -> Result<usize, usize> {
        self.rows.binary_search_by_key(&key, |row| row.0)
    }

    pub(crate) fn get(&self, key: K) -> Option<&V> {
        self.find(key).ok().map(|at| &self.rows[at].1)
    }

    pub(crate) fn get_mut(&mut self, key: K) -> Option<&mut V> {
        match self.find(key) {
            Ok(at) => Some(&mut self.rows[at].1),
            Err(_) => None,
        }
    }

    /// The value of `key`, made by `new` where there is none, and whether it was made.
    pub(crate) fn get_or_insert_with(&mut self, key: K, new: impl FnOnce() -> V) -> (&mut V, bool) {
        let (at, made) = match self.find(key) {
            Ok(at) => (at, false),
            Err(at) => {
                self.rows.insert(at, (key, new()));
                (at, true)
            }
        };
        (&mut self.rows[at].1, made)
    }

    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(key) {
            Ok(at) => Some(core::mem::replace(&mut self.rows[at].1, value)),
            Err(at) => {
                self.rows.insert(at, (key, value));
                None
            }
        }
    }

    pub(crate) fn remove(&mut self, key: K) -> Option<V> {
        self.find(key).ok().map(|at| self.rows.remove(at).1)
    }

    pub(crate) fn retain(&mut self, mut keep: impl FnMut(K, &mut V) -> bool) {
        self.rows.retain_mut(|(key, value)| keep(*key, value));
    }

    pub(crate) fn clear(&mut self) {
        self.rows.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (K, &V)> + Clone {
        self.rows.iter().map(|(key, value)| (*key, value))
    }

    pub(crate) fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = (K, &mut V)> {
        self.rows.iter_mut().map(|(key, value)| (*key, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn rows_stay_sorted() {
        let mut map = SortedMap::default();
        for key in [5, 1, 3, 1] {
            map.insert(key, key * 10);
        }
        assert_eq!(
            map.iter().collect::<Vec<_>>(),
            vec![(1, &10), (3, &30), (5, &50)]
        );
        assert_eq!(map.remove(3), Some(30));
        assert_eq!(map.get(3), None);
        assert_eq!(map.get_or_insert_with(4, || 7), (&mut 7, true));
        assert_eq!(map.len(), 3);
    }
}
