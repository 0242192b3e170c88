//! The one schema of a stream: append-only, so that packets of two workers never contradict each other.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::Kind;

/// Is a group of columns; the groups stand in this order in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Group {
    Key,
    Header,
    /// What every line of line protocol has, in the order in which it came to be.
    Line,
    /// Likewise what each field of a line has: one cell a row, while the rows of a place share all others.
    Field,
    Value,
    /// The tags of line protocol, in the order in which they came to be.
    Tag,
}

/// How many groups there are.
const GROUPS: usize = 6;

/// Is what a column's values have in common, by name: a series' tags.
pub type Labels = [(Box<str>, Box<str>)];

/// Knows every column that a stream has shown, and is shared by the workers of its partitions.
///
/// It is locked only where it grows, or where a worker sees that it has grown.
#[derive(Debug, Default)]
pub struct StreamSchema {
    version: AtomicU64,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    view: Arc<SchemaView>,
    index: Index,
}

/// Finds columns by group and path, and knows the names that are taken.
#[derive(Debug, Default)]
pub(super) struct Index {
    ids: [HashMap<Arc<str>, u32>; GROUPS],
    names: HashSet<Arc<str>>,
}

/// Is a stream's schema at one version.
#[derive(Debug, Clone, Default)]
pub struct SchemaView {
    pub(crate) version: u64,
    /// By id, in the order in which the columns came to be.
    pub(crate) fields: Vec<SchemaField>,
    /// Ids in a frame's order: by group, then bytewise by name but where a group has an order of its own.
    pub(crate) order: Vec<u32>,
    /// How many columns each group has.
    pub(super) counts: [usize; GROUPS],
    /// A row with `_error` has been there.
    pub(crate) error: bool,
}

/// Is one column beside `time`, `partition`, `offset` and `_error`.
#[derive(Debug, Clone)]
pub struct SchemaField {
    pub(crate) group: Group,
    /// What it is found by: its dotted path in its group.
    pub(super) path: Arc<str>,
    /// Unique in the stream.
    pub(crate) name: Arc<str>,
    pub(crate) kind: Kind,
    /// The query fixed the type.
    pub(crate) asked: bool,
    /// Those of a series.
    pub(super) labels: Option<Arc<Labels>>,
}

impl StreamSchema {
    /// Makes the schema of a stream that has shown nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the columns known so far, in a frame's order.
    pub fn field_names(&self) -> Vec<String> {
        let view = self.view();
        let columns = view.order.iter().map(|&id| &*view.fields[id as usize].name);
        COORDINATES
            .into_iter()
            .chain(columns)
            .chain(view.error.then_some(ERROR))
            .map(str::to_owned)
            .collect()
    }

    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    pub(crate) fn view(&self) -> Arc<SchemaView> {
        Arc::clone(&self.lock().view)
    }

    /// Gives the id of the column of `path`.
    pub(super) fn find(&self, group: Group, path: &str) -> Option<u32> {
        self.lock().index.id(group, path)
    }

    /// Tells whether a column is called `name`.
    pub(super) fn is_taken(&self, name: &str) -> bool {
        self.lock().index.is_taken(name)
    }

    /// Takes over what a worker's `view` adds to the version that it is of, and gives the new one; `None` where the schema has
    /// another version by now.
    pub(super) fn publish(&self, view: &SchemaView) -> Option<Arc<SchemaView>> {
        let mut inner = self.lock();
        if view.version != inner.view.version {
            return None;
        }
        let known = inner.view.fields.len();
        for (id, field) in view.fields.iter().enumerate().skip(known) {
            inner.index.add(field, id as u32);
        }
        self.replace(
            &mut inner,
            SchemaView {
                order: view.sorted(),
                ..view.clone()
            },
        );
        Some(Arc::clone(&inner.view))
    }

    /// Adds the column `_error`.
    pub(crate) fn add_error(&self) {
        let mut inner = self.lock();
        let view = SchemaView {
            error: true,
            ..SchemaView::clone(&inner.view)
        };
        self.replace(&mut inner, view);
    }

    fn replace(&self, inner: &mut Inner, mut view: SchemaView) {
        view.version += 1;
        self.version.store(view.version, Ordering::Release);
        inner.view = Arc::new(view);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing is half done when a thread panics in here: a view is replaced whole.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Index {
    pub(super) fn id(&self, group: Group, path: &str) -> Option<u32> {
        self.ids[group as usize].get(path).copied()
    }

    pub(super) fn is_taken(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    pub(super) fn add(&mut self, field: &SchemaField, id: u32) {
        self.ids[field.group as usize].insert(Arc::clone(&field.path), id);
        self.names.insert(Arc::clone(&field.name));
    }

    pub(super) fn remove(&mut self, field: &SchemaField) {
        self.ids[field.group as usize].remove(&field.path);
        self.names.remove(&field.name);
    }
}

impl SchemaField {
    /// Gives the labels of a series as JSON.
    pub(crate) fn labels_json(&self) -> Option<Value> {
        let pairs = self.labels.as_ref()?.iter();
        Some(
            pairs
                .map(|(key, value)| (key.to_string(), Value::from(&**value)))
                .collect(),
        )
    }

    /// Gives what Grafana shows a series by: its name, which has the labels in it, and a line through the moments at which
    /// it has no value, since a row there is of other series.
    pub(crate) fn config_json(&self) -> Option<Value> {
        self.labels
            .as_ref()
            .map(|_| json!({ "displayNameFromDS": *self.name, "custom": { "spanNulls": true } }))
    }
}

impl SchemaView {
    /// Sorts the columns' ids as a frame shows them.
    pub(crate) fn sorted(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.fields.len() as u32).collect();
        order.sort_unstable_by_key(|&id| {
            let field = &self.fields[id as usize];
            match field.group {
                Group::Line | Group::Field | Group::Tag => (field.group, &b""[..], id),
                _ => (field.group, field.name.as_bytes(), id),
            }
        });
        order
    }
}

/// The columns that every frame begins with.
pub(crate) const COORDINATES: [&str; 3] = ["time", "partition", "offset"];
/// The column that says what was wrong with a record; the last one, once there is such a row.
pub(crate) const ERROR: &str = "_error";
