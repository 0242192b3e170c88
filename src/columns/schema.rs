//! The one schema of a stream: append-only, so that packets of two workers never contradict each other.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Kind;

/// Is a group of columns; the groups stand in this order in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Group {
    Key,
    Header,
    Value,
}

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
    ids: HashMap<(Group, Box<str>), u32>,
    names: HashSet<Box<str>>,
}

/// Is a stream's schema at one version.
#[derive(Debug, Clone, Default)]
pub struct SchemaView {
    pub(crate) version: u64,
    /// By id, in the order in which the columns came to be.
    pub(crate) fields: Vec<SchemaField>,
    /// Ids in a frame's order: by group, then bytewise by name.
    pub(crate) order: Vec<u32>,
    /// A row with `_error` has been there.
    pub(crate) error: bool,
}

/// Is one column beside `time`, `partition`, `offset` and `_error`.
#[derive(Debug, Clone)]
pub struct SchemaField {
    pub(crate) group: Group,
    /// Unique in the stream.
    pub(crate) name: Box<str>,
    pub(crate) kind: Kind,
    /// The query fixed the type.
    pub(crate) asked: bool,
}

/// Asks for a column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(crate) group: Group,
    /// What the column is found by: its dotted path.
    pub(crate) path: &'a str,
    /// What it shall be called, unless that name is taken.
    pub(crate) name: &'a str,
    pub(crate) kind: Kind,
    /// The query fixed the type.
    pub(crate) asked: bool,
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

    /// Gives the id of the column that `request` asks for: one that is there, be it another worker's, or a new one while its
    /// group has less than `limit`. `None` is a column that is left out.
    pub(crate) fn register(&self, request: Request<'_>, limit: usize) -> Option<u32> {
        let Request {
            group,
            path,
            name,
            kind,
            asked,
        } = request;
        let mut inner = self.lock();
        if let Some(&id) = inner.ids.get(&(group, Box::from(path))) {
            return Some(id);
        }
        if inner.view.count(group) >= limit {
            return None;
        }
        let name = inner.unique(name);
        let mut view = SchemaView::clone(&inner.view);
        let id = view.fields.len() as u32;
        inner.names.insert(name.clone());
        inner.ids.insert((group, path.into()), id);
        view.fields.push(SchemaField {
            group,
            name,
            kind,
            asked,
        });
        view.order = view.sorted();
        self.publish(&mut inner, view);
        Some(id)
    }

    /// Makes an integer column a float column.
    pub(crate) fn widen(&self, id: u32) {
        let mut inner = self.lock();
        let mut view = SchemaView::clone(&inner.view);
        view.fields[id as usize].kind = Kind::Float;
        self.publish(&mut inner, view);
    }

    /// Adds the column `_error`.
    pub(crate) fn add_error(&self) {
        let mut inner = self.lock();
        let view = SchemaView {
            error: true,
            ..SchemaView::clone(&inner.view)
        };
        self.publish(&mut inner, view);
    }

    fn publish(&self, inner: &mut Inner, mut view: SchemaView) {
        view.version += 1;
        self.version.store(view.version, Ordering::Release);
        inner.view = Arc::new(view);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing is half done when a thread panics in here: a view is replaced whole.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Gives `name`, or where it is taken `name_2`, `name_3`: two columns of one name break Grafana's streaming frame.
    fn unique(&self, name: &str) -> Box<str> {
        let taken =
            |name: &str| self.names.contains(name) || COORDINATES.contains(&name) || name == ERROR;
        if !taken(name) {
            return name.into();
        }
        (2..=u32::MAX)
            .map(|n| format!("{name}_{n}"))
            .find(|name| !taken(name))
            .expect("a frame has fewer than 2^32 columns")
            .into()
    }
}

impl SchemaView {
    pub(crate) fn count(&self, group: Group) -> usize {
        self.fields
            .iter()
            .filter(|field| field.group == group)
            .count()
    }

    /// Sorts the columns' ids as a frame shows them.
    pub(crate) fn sorted(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.fields.len() as u32).collect();
        order.sort_unstable_by_key(|&id| {
            let field = &self.fields[id as usize];
            (field.group, field.name.as_bytes())
        });
        order
    }
}

/// The columns that every frame begins with.
pub(crate) const COORDINATES: [&str; 3] = ["time", "partition", "offset"];
/// The column that says what was wrong with a record; the last one, once there is such a row.
pub(crate) const ERROR: &str = "_error";

#[cfg(test)]
mod tests {
    use super::*;

    fn request(group: Group, path: &str, kind: Kind) -> Request<'_> {
        Request {
            group,
            path,
            name: path,
            kind,
            asked: false,
        }
    }

    #[test]
    fn names_are_unique_and_ordered() {
        let schema = StreamSchema::new();
        for (group, path, id) in [
            (Group::Value, "b", Some(0)),
            (Group::Value, "header.b", Some(1)),
            (Group::Header, "header.b", Some(2)),
            (Group::Header, "header.a", Some(3)),
            (Group::Key, "key", Some(4)),
            (Group::Value, "Z", Some(5)),
            (Group::Value, "b", Some(0)),
            (Group::Value, "one too many", None),
        ] {
            let got = schema.register(request(group, path, Kind::Text), 3);
            assert_eq!(got, id, "{group:?} {path}");
        }
        schema.add_error();
        assert_eq!(
            schema.field_names(),
            [
                "time",
                "partition",
                "offset",
                "key",
                "header.a",
                "header.b_2",
                "Z",
                "b",
                "header.b",
                "_error"
            ]
        );
    }

    #[test]
    fn the_first_type_stays() {
        let (schema, kinds) = (StreamSchema::new(), |schema: &StreamSchema| {
            schema
                .view()
                .fields
                .iter()
                .map(|f| f.kind)
                .collect::<Vec<_>>()
        });
        schema.register(request(Group::Value, "a", Kind::Integer), 1);
        let before = schema.version();
        // Nothing changes where a column is there, or is left out: other workers need not look.
        schema.register(request(Group::Value, "a", Kind::Text), 1);
        schema.register(request(Group::Value, "b", Kind::Text), 1);
        assert_eq!(
            (schema.version(), kinds(&schema)),
            (before, vec![Kind::Integer])
        );
        schema.widen(0);
        assert_eq!(kinds(&schema), [Kind::Float]);
        assert!(schema.version() > before);
    }
}
