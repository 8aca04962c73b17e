//! A small map in a sorted vector: flat, ordered, the same on every machine.

use alloc::vec::Vec;

/// Keys and values by ascending key. Look-ups are binary searches over the keys alone, which lie close together however large
/// the values are; insertions shift. Tables here hold some hundred rows; where they may hold thousands of large ones, values are
/// boxes, so that little is shifted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SortedMap<K, V> {
    keys: Vec<K>,
    values: Vec<V>,
}

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        Self {
            keys: Vec::new(),
            values: Vec::new(),
        }
    }
}

impl<K: Ord + Copy, V> SortedMap<K, V> {
    fn find(&self, key: K) -> Result<usize, usize> {
        // Tables are mostly filled in order.
        if self.keys.last().is_none_or(|&last| last < key) {
            return Err(self.keys.len());
        }
        self.keys.binary_search(&key)
    }

    pub(crate) fn get(&self, key: K) -> Option<&V> {
        self.find(key).ok().map(|at| &self.values[at])
    }

    pub(crate) fn get_mut(&mut self, key: K) -> Option<&mut V> {
        match self.find(key) {
            Ok(at) => Some(&mut self.values[at]),
            Err(_) => None,
        }
    }

    /// As [`find`](Self::find), quick where `key` lies at `hint` or a few places behind it.
    fn find_near(&self, hint: usize, key: K) -> Result<usize, usize> {
        const NEAR: usize = 8;
        if self.keys.get(hint).is_none_or(|&there| there > key) {
            return self.find(key);
        }
        let near = &self.keys[hint..];
        for (at, &there) in near.iter().take(NEAR).enumerate() {
            if there >= key {
                let at = hint + at;
                return if there == key { Ok(at) } else { Err(at) };
            }
        }
        let passed = near.len().min(NEAR);
        let rest = near[passed..].binary_search(&key);
        let offset = |at: usize| hint + passed + at;
        rest.map(offset).map_err(offset)
    }

    /// As [`get`](Self::get), quick where keys are mostly asked for in order: `hint` is the place of the last one, and is brought
    /// up to date.
    pub(crate) fn get_near(&self, hint: &mut usize, key: K) -> Option<&V> {
        let found = self.find_near(*hint, key);
        *hint = found.unwrap_or_else(|at| at);
        found.ok().map(|at| &self.values[at])
    }

    /// As [`get_or_insert_with`](Self::get_or_insert_with), quick where keys are mostly asked for in order: `hint` is the
    /// place of the last one, and is brought up to date.
    pub(crate) fn get_or_insert_near(
        &mut self,
        hint: &mut usize,
        key: K,
        new: impl FnOnce() -> V,
    ) -> (&mut V, bool) {
        let (at, made) = match self.find_near(*hint, key) {
            Ok(at) => (at, false),
            Err(at) => {
                self.keys.insert(at, key);
                self.values.insert(at, new());
                (at, true)
            }
        };
        *hint = at;
        (&mut self.values[at], made)
    }

    /// The value of `key`, where keys are asked for in ascending order: `passed` counts the rows before the last one.
    pub(crate) fn get_onward(&self, passed: &mut usize, key: K) -> Option<&V> {
        while self.keys.get(*passed).is_some_and(|&there| there < key) {
            *passed += 1;
        }
        let found = self.keys.get(*passed).is_some_and(|&there| there == key);
        found.then(|| &self.values[*passed])
    }

    /// Adds a row behind all others, whose keys are lower.
    pub(crate) fn push(&mut self, key: K, value: V) {
        debug_assert!(self.keys.last().is_none_or(|&last| last < key));
        self.keys.push(key);
        self.values.push(value);
    }

    /// The value of `key`, made by `new` where there is none, and whether it was made.
    pub(crate) fn get_or_insert_with(&mut self, key: K, new: impl FnOnce() -> V) -> (&mut V, bool) {
        let (at, made) = match self.find(key) {
            Ok(at) => (at, false),
            Err(at) => {
                self.keys.insert(at, key);
                self.values.insert(at, new());
                (at, true)
            }
        };
        (&mut self.values[at], made)
    }

    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(key) {
            Ok(at) => Some(core::mem::replace(&mut self.values[at], value)),
            Err(at) => {
                self.keys.insert(at, key);
                self.values.insert(at, value);
                None
            }
        }
    }

    pub(crate) fn remove(&mut self, key: K) -> Option<V> {
        let at = self.find(key).ok()?;
        self.keys.remove(at);
        Some(self.values.remove(at))
    }

    pub(crate) fn retain(&mut self, mut keep: impl FnMut(K, &mut V) -> bool) {
        let mut kept = 0;
        let mut at = 0;
        let keys = &mut self.keys;
        self.values.retain_mut(|value| {
            let key = keys[at];
            at += 1;
            let stays = keep(key, value);
            if stays {
                keys[kept] = key;
                kept += 1;
            }
            stays
        });
        self.keys.truncate(kept);
    }

    pub(crate) fn clear(&mut self) {
        self.keys.clear();
        self.values.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (K, &V)> + Clone {
        self.keys.iter().copied().zip(&self.values)
    }

    pub(crate) fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = (K, &mut V)> {
        self.keys.iter().copied().zip(&mut self.values)
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
        map.retain(|key, _| key != 4);
        assert_eq!(map.iter().collect::<Vec<_>>(), vec![(1, &10), (5, &50)]);
        assert_eq!(map.get(4), None);
        assert_eq!(map.insert(9, 90), None);
        assert_eq!(map.get(9), Some(&90));
    }

    #[test]
    fn rows_are_found_from_anywhere() {
        let keys: Vec<u32> = (0..40).map(|key| key * 3).collect();
        let mut map = SortedMap::default();
        for &key in &keys {
            map.push(key, key);
        }
        for hint in 0..42 {
            for key in 0..125 {
                assert_eq!(map.find_near(hint, key), map.find(key), "{hint} {key}");
                let mut next = hint;
                assert_eq!(map.get_near(&mut next, key), map.get(key));
                assert_eq!(map.get_near(&mut next, key), map.get(key));
            }
        }
        let (mut hint, mut passed) = (39, 0);
        for key in [6, 7, 9, 50, 116] {
            assert_eq!(map.get_onward(&mut passed, key), map.get(key));
            *map.get_or_insert_near(&mut hint, key, || key).0 += 1;
            assert_eq!(map.get(key), Some(&(key + 1)));
        }
    }
}
