//! A bounded cache of what was compiled, shared by all streams of a data source.

use std::fmt;
use std::hash::Hash;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;

/// Keeps the values that were asked for last. It is locked only where a stream meets a schema for the first time: what a
/// stream has met it keeps itself.
pub struct Lru<K, V> {
    kept: Mutex<LruCache<K, Arc<V>>>,
}

impl<K: Hash + Eq, V> Lru<K, V> {
    /// Keeps at most `entries` values, at least one.
    pub fn new(entries: usize) -> Self {
        let entries = NonZeroUsize::new(entries).unwrap_or(NonZeroUsize::MIN);
        Self {
            kept: Mutex::new(LruCache::new(entries)),
        }
    }

    pub fn find(&self, key: &K) -> Option<Arc<V>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(key).cloned()
    }

    /// Keeps `value`, and gives up the one that nobody asked for longest where there are too many.
    pub fn keep(&self, key: K, value: Arc<V>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.put(key, value);
    }
}

impl<K, V> fmt::Debug for Lru<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lru").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_asked_for_longest_ago_goes() {
        let lru = Lru::new(2);
        for key in [1, 2] {
            lru.keep(key, Arc::new(key * 10));
        }
        assert_eq!(lru.find(&1).as_deref(), Some(&10));
        lru.keep(3, Arc::new(30));
        let kept = [1, 2, 3].map(|key| lru.find(&key).is_some());
        assert_eq!(kept, [true, false, true]);
    }
}
