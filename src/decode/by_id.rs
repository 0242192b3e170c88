//! The schemas that a stream's records name: found by id, compiled once, and kept with what the stream knows about them.

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::config::TopicName;
use crate::schema::{Lru, Role, SchemaFault, SchemaId, SchemaKind, SchemaText, shortened};

/// Is a format whose schemas are compiled.
pub(super) trait Typed: Debug {
    /// What a schema compiles to: the same for all streams.
    type Schema: Debug;
    /// What one stream knows about a schema: its columns.
    type Binding: Debug + Default;
    /// The language that the format's schemas are written in.
    const KIND: SchemaKind;

    /// Compiles a schema; the error says what is wrong with it.
    fn compile(&self, text: &SchemaText) -> Result<Self::Schema, String>;

    /// Tells apart two streams that compile the same schema to different things.
    fn variant(&self) -> Option<Arc<str>>;
}

/// Names a compiled schema among those of a data source. A registry with contexts may know an id twice: by topic and role it
/// finds the same one each time.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct CacheKey {
    id: SchemaId,
    role: Role,
    topic: Arc<str>,
    variant: Option<Arc<str>>,
}

pub(super) type Cache<S> = Lru<CacheKey, S>;

/// Is a schema in one stream.
#[derive(Debug)]
pub(super) struct Bound<T: Typed> {
    pub(super) schema: Arc<T::Schema>,
    pub(super) binding: T::Binding,
}

/// Keeps the schemas of one half of a stream's records.
#[derive(Debug)]
pub(super) struct ById<T: Typed> {
    typed: T,
    role: Role,
    topic: Arc<str>,
    /// `None`: a schema is parsed and compiled for each record.
    cache: Option<Arc<Cache<T::Schema>>>,
    slots: Vec<Slot<T>>,
    current: usize,
    uses: u64,
}

#[derive(Debug)]
struct Slot<T: Typed> {
    /// `None` is the query's own.
    id: Option<SchemaId>,
    state: State<T>,
    /// When the registry gave it.
    since: Instant,
    /// Which of the stream's changes from one schema to another came here last.
    used: u64,
}

#[derive(Debug)]
enum State<T: Typed> {
    Ready(Bound<T>),
    /// What is compiled for each record, and for the last one.
    Text(Arc<SchemaText>, Option<Bound<T>>),
    Failed(SchemaFault),
}

impl<T: Typed> ById<T> {
    /// Starts without schemas.
    pub(super) fn new(
        typed: T,
        role: Role,
        topic: &TopicName,
        cache: Option<Arc<Cache<T::Schema>>>,
    ) -> Self {
        Self {
            typed,
            role,
            topic: topic.as_str().into(),
            cache,
            slots: Vec::new(),
            current: 0,
            uses: 0,
        }
    }

    /// Turns to the schema of `id`; tells whether there is one, or a fault that is too fresh to ask again.
    ///
    /// Producers repeat their schemas, so the one of the last record is tried before the others.
    #[inline]
    pub(super) fn turn_to(&mut self, id: &SchemaId, now: Instant) -> bool {
        match self.slots.get(self.current) {
            Some(slot) if slot.id.as_ref() == Some(id) => slot.is_fresh(now),
            _ => self.find(id, now),
        }
    }

    fn find(&mut self, id: &SchemaId, now: Instant) -> bool {
        if let Some(place) = self.place(Some(id)) {
            self.enter(place);
            return self.slots[place].is_fresh(now);
        }
        let known = self.cache.as_ref().filter(|_| is_lasting(id));
        let Some(schema) = known.and_then(|cache| cache.find(&self.key(id))) else {
            return false;
        };
        self.put(Some(id), State::ready(schema), now);
        true
    }

    /// Takes the schema of `id`, or the reason why there is none. A schema that is known already stays where its newest version
    /// cannot be had.
    pub(super) fn provide(
        &mut self,
        id: &SchemaId,
        answer: Result<Arc<SchemaText>, SchemaFault>,
        now: Instant,
    ) {
        let state = answer
            .and_then(|text| self.compile(id, &text))
            .unwrap_or_else(State::Failed);
        if let (State::Failed(_), Some(place)) = (&state, self.place(Some(id))) {
            let slot = &mut self.slots[place];
            if !matches!(slot.state, State::Failed(_)) {
                slot.since = now;
                return;
            }
        }
        self.put(Some(id), state, now);
    }

    /// Takes the query's own schema.
    pub(super) fn provide_own(&mut self, text: &str) {
        let text = Arc::new(SchemaText {
            kind: T::KIND,
            text: text.to_owned(),
            references: Vec::new(),
        });
        let state = if self.cache.is_none() {
            State::Text(text, None)
        } else {
            match compile(&self.typed, &text) {
                Ok(schema) => State::ready(schema.into()),
                Err(reason) => State::Failed(SchemaFault::new(reason)),
            }
        };
        self.put(None, state, Instant::now());
    }

    /// Takes the query's own schema, which is compiled already, and its text.
    pub(super) fn provide_compiled(&mut self, text: &str, schema: Arc<T::Schema>) {
        if self.cache.is_none() {
            return self.provide_own(text);
        }
        self.put(None, State::ready(schema), Instant::now());
    }

    fn place(&self, id: Option<&SchemaId>) -> Option<usize> {
        self.slots.iter().position(|slot| slot.id.as_ref() == id)
    }

    fn compile(&self, id: &SchemaId, text: &Arc<SchemaText>) -> Result<State<T>, SchemaFault> {
        let Some(cache) = &self.cache else {
            return Ok(State::Text(Arc::clone(text), None));
        };
        let schema = compile(&self.typed, text)
            .map(Arc::new)
            .map_err(|reason| SchemaFault::new(format!("{id}: {reason}")))?;
        if is_lasting(id) {
            cache.keep(self.key(id), Arc::clone(&schema));
        }
        Ok(State::ready(schema))
    }

    fn put(&mut self, id: Option<&SchemaId>, state: State<T>, since: Instant) {
        let slot = Slot {
            id: id.cloned(),
            state,
            since,
            used: 0,
        };
        let place = match self.place(id) {
            None if self.slots.len() < MAX_SCHEMAS => {
                self.slots.push(slot);
                self.slots.len() - 1
            }
            known => {
                let oldest = || (0..self.slots.len()).min_by_key(|&at| self.slots[at].used);
                let place = known.or_else(oldest).expect("there is one");
                self.slots[place] = slot;
                place
            }
        };
        self.enter(place);
    }

    fn enter(&mut self, place: usize) {
        self.uses += 1;
        self.slots[place].used = self.uses;
        self.current = place;
    }

    fn key(&self, id: &SchemaId) -> CacheKey {
        CacheKey {
            id: id.clone(),
            role: self.role,
            topic: Arc::clone(&self.topic),
            variant: self.typed.variant(),
        }
    }

    /// Forgets what the stream knows about its schemas.
    pub(super) fn forget_columns(&mut self) {
        for slot in &mut self.slots {
            if let State::Ready(bound) = &mut slot.state {
                bound.binding = T::Binding::default();
            }
        }
    }

    /// Gives the schema that the last call turned to.
    #[inline]
    pub(super) fn current(&mut self) -> Result<&mut Bound<T>, SchemaFault> {
        let slot = self.slots.get(self.current);
        if !slot.is_some_and(|slot| matches!(slot.state, State::Ready(_))) {
            self.compile_current()?;
        }
        match self.slots.get_mut(self.current).map(|slot| &mut slot.state) {
            Some(State::Ready(bound) | State::Text(_, Some(bound))) => Ok(bound),
            _ => Err(unknown()),
        }
    }

    /// Compiles what is compiled for each record.
    #[cold]
    fn compile_current(&mut self) -> Result<(), SchemaFault> {
        let slot = self.slots.get_mut(self.current).ok_or_else(unknown)?;
        match &mut slot.state {
            State::Ready(_) => Ok(()),
            State::Failed(fault) => Err(fault.clone()),
            State::Text(text, bound) => {
                let schema = compile(&self.typed, text).map_err(|reason| match &slot.id {
                    Some(id) => SchemaFault::new(format!("{id}: {reason}")),
                    None => SchemaFault::new(reason),
                })?;
                *bound = Some(Bound::new(schema.into()));
                Ok(())
            }
        }
    }

    /// Gives what to ask for again where the current schema does not fit a record: a subject may have a newer version.
    pub(super) fn doubt(&self, now: Instant) -> Option<SchemaId> {
        let slot = self.slots.get(self.current)?;
        let is_old = now.saturating_duration_since(slot.since) >= MIN_AGE;
        slot.id.clone().filter(|id| is_old && !is_lasting(id))
    }
}

impl<T: Typed> Slot<T> {
    fn is_fresh(&self, now: Instant) -> bool {
        let limit = match &self.state {
            State::Failed(_) => MIN_AGE,
            State::Ready(_) | State::Text(..) if self.id.as_ref().is_none_or(is_lasting) => {
                return true;
            }
            State::Ready(_) | State::Text(..) => MAX_AGE,
        };
        now.saturating_duration_since(self.since) < limit
    }
}

impl<T: Typed> State<T> {
    fn ready(schema: Arc<T::Schema>) -> Self {
        Self::Ready(Bound::new(schema))
    }
}

impl<T: Typed> Bound<T> {
    pub(super) fn new(schema: Arc<T::Schema>) -> Self {
        Self {
            schema,
            binding: T::Binding::default(),
        }
    }
}

/// Compiles a schema, whatever it holds: a registry's text is not to be trusted.
pub(super) fn compile<T: Typed>(typed: &T, text: &SchemaText) -> Result<T::Schema, String> {
    if text.kind != T::KIND {
        return Err(format!(
            "the schema is {}, and the query asks for {}: choose the other format in the query editor",
            text.kind,
            T::KIND
        ));
    }
    let bytes = text.references.iter().map(|reference| reference.text.len());
    let bytes = text.text.len() + bytes.sum::<usize>();
    if bytes > MAX_SCHEMA_BYTES {
        return Err(format!(
            "the schema and what it refers to have {} KiB, and at most {} KiB are read",
            bytes / 1024,
            MAX_SCHEMA_BYTES / 1024
        ));
    }
    catch_unwind(AssertUnwindSafe(|| typed.compile(text)))
        .unwrap_or_else(|_| Err("the schema made the parser fail".to_owned()))
        .map_err(|reason| {
            format!(
                "the {} schema cannot be used: {}",
                T::KIND,
                shortened(reason)
            )
        })
}

/// Tells whether an id always means the same schema.
fn is_lasting(id: &SchemaId) -> bool {
    !matches!(id, SchemaId::Latest(_))
}

fn unknown() -> SchemaFault {
    SchemaFault::new("the schema is not known")
}

/// How many schemas one stream keeps at hand.
const MAX_SCHEMAS: usize = 64;
/// How long a fault stands before the registry is asked again; a newest version, before it is doubted.
const MIN_AGE: Duration = Duration::from_secs(10);
/// How long a newest version is taken for the newest.
const MAX_AGE: Duration = Duration::from_mins(1);
/// The most that one schema takes, with those it refers to.
const MAX_SCHEMA_BYTES: usize = 4 << 20;
