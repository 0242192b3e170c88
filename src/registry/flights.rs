//! One question for any number of waiters, and its answer remembered.

use std::hash::Hash;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lru::LruCache;
use tokio::sync::watch;
use tokio::time::{Duration, Instant};

use super::errors::Cause;
use crate::schema::{SchemaId, SchemaText};

/// The most answers that are remembered; failures count too.
const MAX_ANSWERS: usize = 512;
/// The most bytes of schemas that are remembered.
const MAX_BYTES: usize = 16 << 20;
/// How long a subject's latest version is believed to be the latest; a stream asks for it seldom, and many may at once.
const LATEST_LIFE: Duration = Duration::from_secs(5);

type Answer<V> = Result<V, Cause>;

/// Remembers answers and who is asking.
pub(super) struct Flights<K, V>(Mutex<Entries<K, V>>);

struct Entries<K, V> {
    kept: LruCache<K, Entry<V>>,
    bytes: usize,
}

enum Entry<V> {
    Asking(watch::Receiver<Option<Answer<V>>>),
    Answered {
        answer: Answer<V>,
        until: Option<Instant>,
    },
}

/// Is what may be asked: how long its answer stands.
pub(super) trait Key: Hash + Eq + Clone + Send + 'static {
    /// Gives the life of a good answer; `None` is for ever.
    fn life(&self) -> Option<Duration>;
}

/// Is what may be answered: what it weighs.
pub(super) trait Weight: Clone + Send + Sync + 'static {
    fn bytes(&self) -> usize;
}

impl Key for super::Question {
    fn life(&self) -> Option<Duration> {
        matches!(self.id, SchemaId::Latest(_)).then_some(LATEST_LIFE)
    }
}

impl Weight for Arc<SchemaText> {
    fn bytes(&self) -> usize {
        let references = self.references.iter();
        self.text.len()
            + references
                .map(|reference| reference.text.len())
                .sum::<usize>()
    }
}

impl<K: Key, V> Default for Flights<K, V> {
    fn default() -> Self {
        let most = NonZeroUsize::new(MAX_ANSWERS).expect("more than zero");
        Self(Mutex::new(Entries {
            kept: LruCache::new(most),
            bytes: 0,
        }))
    }
}

impl<K: Key, V: Weight> Flights<K, V> {
    /// Gives the remembered answer, or that of whoever is asking; else asks, on a task that nobody's leaving ends.
    pub(super) async fn ask<F>(self: &Arc<Self>, key: K, ask: impl FnOnce(K) -> F) -> Answer<V>
    where
        F: Future<Output = Answer<V>> + Send + 'static,
    {
        let mut asking = match self.find(&key) {
            Found::Answer(answer) => return answer,
            Found::Asking(asking) => asking,
            Found::Nothing(sender, receiver) => {
                let flights = Arc::clone(self);
                let question = ask(key.clone());
                tokio::spawn(async move {
                    // Where `question` panics, or the process ends, the sender is dropped and the waiters learn it.
                    let answer = question.await;
                    flights.keep(key, answer.clone());
                    sender.send_replace(Some(answer));
                });
                receiver
            }
        };
        match asking.wait_for(Option::is_some).await {
            Ok(answer) => answer.clone().unwrap_or(Err(Cause::BrokenOff)),
            Err(_) => Err(Cause::BrokenOff),
        }
    }

    fn find(&self, key: &K) -> Found<V> {
        let mut entries = self.entries();
        match entries.kept.get(key) {
            Some(Entry::Asking(receiver))
                if receiver.has_changed().is_ok() || receiver.borrow().is_some() =>
            {
                return Found::Asking(receiver.clone());
            }
            Some(Entry::Answered { answer, until })
                if until.is_none_or(|until| Instant::now() < until) =>
            {
                return Found::Answer(answer.clone());
            }
            _ => {}
        }
        let (sender, receiver) = watch::channel(None);
        entries.put(key.clone(), Entry::Asking(receiver.clone()));
        Found::Nothing(sender, receiver)
    }

    fn keep(&self, key: K, answer: Answer<V>) {
        let life = match &answer {
            Ok(_) => key.life(),
            Err(cause) => Some(cause.life()),
        };
        let until = life.map(|life| Instant::now() + life);
        self.entries().put(key, Entry::Answered { answer, until });
    }

    fn entries(&self) -> MutexGuard<'_, Entries<K, V>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Found<V> {
    Answer(Answer<V>),
    Asking(watch::Receiver<Option<Answer<V>>>),
    Nothing(
        watch::Sender<Option<Answer<V>>>,
        watch::Receiver<Option<Answer<V>>>,
    ),
}

impl<K: Key, V: Weight> Entries<K, V> {
    /// Puts an entry, and gives up what was asked for longest ago until the rest is small enough.
    fn put(&mut self, key: K, entry: Entry<V>) {
        self.bytes += entry.bytes();
        if let Some((_, old)) = self.kept.push(key, entry) {
            self.bytes -= old.bytes();
        }
        while self.bytes > MAX_BYTES && self.kept.len() > 1 {
            let Some((_, old)) = self.kept.pop_lru() else {
                break;
            };
            self.bytes -= old.bytes();
        }
    }
}

impl<V: Weight> Entry<V> {
    fn bytes(&self) -> usize {
        match self {
            Self::Answered {
                answer: Ok(value), ..
            } => value.bytes(),
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    impl Key for u32 {
        fn life(&self) -> Option<Duration> {
            (*self >= 100).then_some(Duration::from_mins(1))
        }
    }

    impl Weight for Arc<[u8]> {
        fn bytes(&self) -> usize {
            self.len()
        }
    }

    fn not_found() -> Cause {
        Cause::NotFound {
            at: String::new(),
            said: String::new(),
            by_registry: true,
        }
    }

    /// Asks, with an answer after a second; counts the questions.
    async fn ask(
        flights: &Arc<Flights<u32, Arc<[u8]>>>,
        asked: &Arc<AtomicUsize>,
        key: u32,
        answer: Answer<Arc<[u8]>>,
    ) -> Answer<Arc<[u8]>> {
        let asked = Arc::clone(asked);
        flights
            .ask(key, move |_| async move {
                asked.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_secs(1)).await;
                answer
            })
            .await
    }

    #[tokio::test(start_paused = true)]
    async fn many_waiters_ask_once_and_answers_have_their_lives() {
        let good: Answer<Arc<[u8]>> = Ok(Arc::from(&b"x"[..]));
        for (key, answer, lives) in [
            (1, good.clone(), None),
            (100, good, Some(60)),
            (2, Err(not_found()), Some(10)),
            (3, Err(Cause::BrokenOff), Some(2)),
        ] {
            let (flights, asked) = (Arc::new(Flights::default()), Arc::new(AtomicUsize::new(0)));
            let waiters = (0..500).map(|_| ask(&flights, &asked, key, answer.clone()));
            for seen in futures_util::future::join_all(waiters).await {
                assert_eq!(seen, answer, "{key}");
            }
            assert_eq!(asked.load(Ordering::Relaxed), 1, "{key}");
            let Some(lives) = lives else {
                tokio::time::advance(Duration::from_secs(1_000_000)).await;
                ask(&flights, &asked, key, answer).await.ok();
                assert_eq!(asked.load(Ordering::Relaxed), 1, "{key}");
                continue;
            };
            for (after, questions) in [(lives - 1, 1), (2, 2)] {
                tokio::time::advance(Duration::from_secs(after)).await;
                ask(&flights, &asked, key, answer.clone()).await.ok();
                assert_eq!(asked.load(Ordering::Relaxed), questions, "{key}");
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_waiter_that_leaves_ends_nothing() {
        let (flights, asked) = (Arc::new(Flights::default()), Arc::new(AtomicUsize::new(0)));
        let answer: Answer<Arc<[u8]>> = Ok(Arc::from(&b"x"[..]));
        let left = tokio::time::timeout(
            Duration::from_millis(10),
            ask(&flights, &asked, 1, answer.clone()),
        )
        .await;
        assert!(left.is_err());
        assert_eq!(ask(&flights, &asked, 1, answer.clone()).await, answer);
        assert_eq!(asked.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn a_question_that_panics_is_asked_again() {
        let flights = Arc::new(Flights::<u32, Arc<[u8]>>::default());
        let panicked = flights.ask(1, |_| async { panic!("a test's own") }).await;
        assert_eq!(panicked, Err(Cause::BrokenOff));
        let again = flights.ask(1, |_| async { Ok(Arc::from(&b"x"[..])) }).await;
        assert!(again.is_ok());
    }

    #[tokio::test]
    async fn what_is_remembered_is_bounded() {
        let flights = Arc::new(Flights::default());
        for key in 0..40 {
            let big: Arc<[u8]> = vec![0; 1 << 20].into();
            flights.ask(key, |_| async { Ok(big) }).await.ok();
        }
        let entries = flights.entries();
        assert_eq!((entries.kept.len(), entries.bytes), (16, MAX_BYTES));
    }
}
