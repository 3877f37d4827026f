//! The last so many distinct keys.

use std::borrow::Borrow;
use std::collections::{HashSet, VecDeque};
use std::hash::Hash;

/// Remembers the last `capacity` distinct keys, to drop records that come twice within a short time.
///
/// It is a convenience against duplicates that lie close together, no guarantee: it forgets the oldest key first, it belongs to one
/// thread, and it starts empty whenever records may be read again, so that a record which was read but not delivered
/// is never taken for a duplicate. For rows that may be stored once only let the table deduplicate.
///
/// ```
/// use spate_runtime::ops::Recent;
/// let mut seen = Recent::new(2);
/// assert!(seen.insert(1) && seen.insert(2));
/// assert!(!seen.insert(1), "still remembered");
/// assert!(seen.insert(3), "new, and the oldest is forgotten for it");
/// assert!(seen.insert(1), "forgotten");
/// ```
#[derive(Debug, Clone)]
pub struct Recent<K> {
    keys: HashSet<K>,
    order: VecDeque<K>,
    capacity: usize,
}

impl<K: Hash + Eq + Clone> Recent<K> {
    /// Remembers at most `capacity` keys. Memory for them is taken as they come, twice the size of a key and a few words each.
    ///
    /// # Panics
    /// If `capacity` is zero.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        assert!(capacity > 0, "nothing can be remembered in no room");
        Recent {
            keys: HashSet::new(),
            order: VecDeque::new(),
            capacity,
        }
    }

    /// Whether the key is new; it is remembered from now on. A key that is known keeps its place in the order.
    pub fn insert(&mut self, key: K) -> bool {
        if self.keys.contains(&key) {
            return false;
        }
        if self.order.len() == self.capacity
            && let Some(oldest) = self.order.pop_front()
        {
            self.keys.remove(&oldest);
        }
        self.order.push_back(key.clone());
        self.keys.insert(key)
    }

    /// As [`insert`](Recent::insert), for a borrowed key: it is copied only when it is new.
    ///
    /// ```
    /// # use spate_runtime::ops::Recent;
    /// let mut seen: Recent<String> = Recent::new(100);
    /// assert!(seen.insert_ref("a"));
    /// assert!(!seen.insert_ref("a"));
    /// ```
    pub fn insert_ref<Q>(&mut self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        !self.keys.contains(key) && self.insert(key.to_owned())
    }

    /// Whether the key is remembered.
    #[must_use]
    pub fn contains<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.keys.contains(key)
    }

    /// How many keys are remembered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_answers_as_a_plain_list_would(capacity in 1usize..8, keys in prop::collection::vec(0u8..12, 0..200)) {
            let mut recent = Recent::new(capacity);
            let mut list: Vec<u8> = Vec::new();
            for key in keys {
                let new = !list.contains(&key);
                if new {
                    list.push(key);
                    if list.len() > capacity {
                        list.remove(0);
                    }
                }
                prop_assert_eq!(recent.insert(key), new);
                prop_assert_eq!(recent.len(), list.len());
                prop_assert!((0..12).all(|key| recent.contains(&key) == list.contains(&key)));
            }
        }
    }
}
