//! One record in so many.

use std::hash::{Hash, Hasher};

use crate::hash::Fnv1a;

/// Keeps one record in `n`: by count with [`keep`](Sample::keep), or by key with [`keeps`](Sample::keeps), where all records of a key
/// are kept or none.
///
/// ```
/// use spate_runtime::ops::Sample;
/// let mut sample = Sample::one_in(3);
/// let kept: Vec<bool> = (0..6).map(|_| sample.keep()).collect();
/// assert_eq!(kept, [true, false, false, true, false, false]);
///
/// let orders = Sample::one_in(100);
/// assert_eq!(orders.keeps(&4711), orders.keeps(&4711));
/// ```
#[derive(Debug, Clone)]
pub struct Sample {
    n: u64,
    /// How many are left out before the next one is kept.
    left: u64,
}

impl Sample {
    /// Keeps one in `n`; `one_in(1)` keeps all.
    ///
    /// # Panics
    /// If `n` is zero.
    #[must_use]
    pub fn one_in(n: u64) -> Self {
        assert!(n > 0, "one in none cannot be kept");
        Sample { n, left: 0 }
    }

    /// Whether to keep this record: the first one, then every `n`th.
    pub fn keep(&mut self) -> bool {
        if self.left == 0 {
            self.left = self.n - 1;
            return true;
        }
        self.left -= 1;
        false
    }

    /// Whether to keep the records of this key: about one key in `n`, the same ones in every thread and every run. Integers are hashed
    /// in the byte order of the machine.
    #[must_use]
    pub fn keeps<K: Hash + ?Sized>(&self, key: &K) -> bool {
        let mut hash = Fnv1a::default();
        key.hash(&mut hash);
        mix(hash.finish()).is_multiple_of(self.n)
    }
}

/// The finaliser of SplitMix64: spreads what short keys leave alike.
fn mix(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn about_one_key_in_n_is_kept_and_always_the_same() {
        let sample = Sample::one_in(10);
        let kept = |sample: &Sample| -> Vec<u64> {
            (0..10_000u64).filter(|key| sample.keeps(key)).collect()
        };
        let first = kept(&sample);
        assert!((800..1_200).contains(&first.len()), "{}", first.len());
        assert_eq!(first, kept(&Sample::one_in(10)));
        let texts = (0..10_000).filter(|n| sample.keeps(&format!("order-{n}")));
        assert!((800..1_200).contains(&texts.count()));
    }

    #[test]
    fn one_in_one_keeps_all() {
        let mut all = Sample::one_in(1);
        assert!((0..10).all(|n| all.keep() && all.keeps(&n)));
    }
}
