//! A stream's schema as one worker sees it: what all workers know, and what the record being read adds.
//!
//! A column becomes the stream's with the first good record that has it: until then it is the worker's own, and a record that
//! turns out to be bad takes its columns back. So a worker adds without a lock on what others do, and says at the end of the
//! record which version it built on; where another worker was faster, the record is read again, on top of that.

use std::sync::Arc;

use super::schema::{COORDINATES, ERROR, Index};
use super::{Group, Kind, Labels, SchemaField, SchemaView, StreamSchema};

#[derive(Debug)]
pub(super) struct SchemaDraft {
    schema: Arc<StreamSchema>,
    /// The columns that the stream has, and behind them those that the record adds.
    view: Arc<SchemaView>,
    /// How many of them the stream has.
    published: usize,
    added: Index,
    /// A column's type grew, or `_error` came to be, and the stream does not know it yet.
    changed: bool,
}

/// Asks for a column.
#[derive(Debug, Clone)]
pub(super) struct Request<'a> {
    pub(super) group: Group,
    /// What the column is found by: its dotted path.
    pub(super) path: &'a str,
    /// What it shall be called, unless that name is taken.
    pub(super) name: &'a str,
    pub(super) kind: Kind,
    /// The query fixed the type.
    pub(super) asked: bool,
    /// Those of a series.
    pub(super) labels: Option<Arc<Labels>>,
}

impl SchemaDraft {
    pub(super) fn new(schema: Arc<StreamSchema>) -> Self {
        let view = schema.view();
        Self {
            published: view.fields.len(),
            schema,
            view,
            added: Index::default(),
            changed: false,
        }
    }

    pub(super) fn schema(&self) -> &Arc<StreamSchema> {
        &self.schema
    }

    #[inline]
    pub(super) fn view(&self) -> &SchemaView {
        &self.view
    }

    /// Counts the columns that the stream has.
    #[inline]
    pub(super) fn published(&self) -> usize {
        self.published
    }

    /// Tells whether other workers added to the schema.
    #[inline]
    pub(super) fn is_behind(&self) -> bool {
        self.schema.version() != self.view.version
    }

    /// Takes over what other workers added; what was not published is gone, but for a type that grew.
    pub(super) fn follow(&mut self) {
        self.take_back_to(self.published);
        let mine = std::mem::replace(&mut self.view, self.schema.view());
        self.published = self.view.fields.len();
        self.changed = false;
        for (id, field) in mine.fields.iter().enumerate() {
            if field.kind != self.view.fields[id].kind && field.kind == Kind::Float {
                self.widen(id);
            }
        }
    }

    /// Gives the id of the column that `request` asks for: one that is there, or a new one while its group has less than
    /// `limit`. `None` is a column that is left out.
    pub(super) fn find_or_add(&mut self, request: Request<'_>, limit: usize) -> Option<u32> {
        let Request {
            group,
            path,
            name,
            kind,
            asked,
            labels,
        } = request;
        // What others added since is no part of this view; publishing finds that out.
        let known = self.schema.find(group, path);
        let known = known.filter(|&id| (id as usize) < self.published);
        if let Some(id) = known.or_else(|| self.added.id(group, path)) {
            return Some(id);
        }
        if self.view.counts[group as usize] >= limit {
            return None;
        }
        let id = self.view.fields.len() as u32;
        let field = SchemaField {
            group,
            path: path.into(),
            name: self.unique(group, name),
            kind,
            asked,
            labels,
        };
        self.added.add(&field, id);
        let view = Arc::make_mut(&mut self.view);
        view.counts[group as usize] += 1;
        view.fields.push(field);
        Some(id)
    }

    /// Gives `name`, or where it is taken `name_2`, `name_3`: two columns of one name break Grafana's streaming frame. A tag
    /// whose name is taken is called `tag_name`, `tag_tag_name`.
    fn unique(&self, group: Group, name: &str) -> Arc<str> {
        let taken = |name: &str| {
            COORDINATES.contains(&name)
                || name == ERROR
                || self.added.is_taken(name)
                || self.schema.is_taken(name)
        };
        if group == Group::Tag {
            let mut name = name.to_owned();
            while taken(&name) || NOT_FOR_TAGS.contains(&&*name) {
                name.insert_str(0, "tag_");
            }
            return name.into();
        }
        if !taken(name) {
            return name.into();
        }
        (2..=u32::MAX)
            .map(|n| format!("{name}_{n}"))
            .find(|name| !taken(name))
            .expect("a frame has fewer than 2^32 columns")
            .into()
    }

    /// Makes an integer column a float column; a record that is taken back leaves it one, which shows the same numbers.
    pub(super) fn widen(&mut self, id: usize) {
        Arc::make_mut(&mut self.view).fields[id].kind = Kind::Float;
        self.changed = true;
    }

    /// Takes back the columns from `columns` on, of those that are not the stream's; tells whether there were any.
    pub(super) fn take_back_to(&mut self, columns: usize) -> bool {
        let columns = columns.max(self.published);
        if columns >= self.view.fields.len() {
            return false;
        }
        let view = Arc::make_mut(&mut self.view);
        for field in view.fields.drain(columns..) {
            view.counts[field.group as usize] -= 1;
            self.added.remove(&field);
        }
        true
    }

    /// Makes what the record added the stream's. `false` means that another worker was faster, and nothing was added: follow,
    /// and read the record again.
    pub(super) fn publish(&mut self) -> bool {
        if self.view.fields.len() == self.published && !self.changed {
            return true;
        }
        let Some(view) = self.schema.publish(&self.view) else {
            return false;
        };
        self.view = view;
        self.published = self.view.fields.len();
        self.added = Index::default();
        self.changed = false;
        true
    }

    /// Adds the column `_error`: of the record being read, where it adds others, else of the stream at once.
    pub(super) fn add_error(&mut self) {
        if self.view.fields.len() == self.published {
            self.schema.add_error();
            self.follow();
        } else {
            Arc::make_mut(&mut self.view).error = true;
            self.changed = true;
        }
    }

    /// Sorts the columns again, as if nothing were known of them.
    pub(super) fn sort(&mut self) {
        let order = self.view.sorted();
        Arc::make_mut(&mut self.view).order = order;
    }
}

/// What else the Go plugin calls columns of its own.
const NOT_FOR_TAGS: [&str; 2] = ["Time", "error"];

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
            labels: None,
        }
    }

    #[test]
    fn names_are_unique_and_ordered() {
        let schema = Arc::new(StreamSchema::new());
        let mut draft = SchemaDraft::new(Arc::clone(&schema));
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
            let got = draft.find_or_add(request(group, path, Kind::Text), 3);
            assert_eq!(got, id, "{group:?} {path}");
        }
        assert!(draft.publish());
        draft.add_error();
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
        let schema = Arc::new(StreamSchema::new());
        let mut draft = SchemaDraft::new(Arc::clone(&schema));
        let kinds = |draft: &SchemaDraft| {
            let fields = draft.view().fields.iter();
            fields.map(|field| field.kind).collect::<Vec<_>>()
        };
        draft.find_or_add(request(Group::Value, "a", Kind::Integer), 1);
        assert!(draft.publish());
        let before = schema.version();
        // Nothing changes where a column is there, or is left out: other workers need not look.
        draft.find_or_add(request(Group::Value, "a", Kind::Text), 1);
        draft.find_or_add(request(Group::Value, "b", Kind::Text), 1);
        assert!(draft.publish());
        assert_eq!(
            (schema.version(), kinds(&draft)),
            (before, vec![Kind::Integer])
        );
        let mut other = SchemaDraft::new(Arc::clone(&schema));
        draft.widen(0);
        assert!(draft.publish() && other.is_behind());
        other.follow();
        assert_eq!(kinds(&other), [Kind::Float]);
    }

    #[test]
    fn what_is_taken_back_was_never_there() {
        let schema = Arc::new(StreamSchema::new());
        let mut draft = SchemaDraft::new(Arc::clone(&schema));
        for path in ["a", "b", "c"] {
            draft.find_or_add(request(Group::Value, path, Kind::Text), 3);
        }
        assert!(draft.take_back_to(1) && !draft.take_back_to(1));
        // Its name and its place are free again.
        let again = draft.find_or_add(request(Group::Value, "c", Kind::Float), 3);
        assert_eq!((again, schema.field_names().len()), (Some(1), 3));
        assert!(draft.publish() && !draft.take_back_to(0));
        assert_eq!(schema.field_names()[3..], ["a", "c"]);
    }

    #[test]
    fn the_slower_worker_reads_again() {
        let schema = Arc::new(StreamSchema::new());
        let [mut fast, mut slow] = [(); 2].map(|()| SchemaDraft::new(Arc::clone(&schema)));
        let add = |draft: &mut SchemaDraft, path| {
            draft.find_or_add(request(Group::Value, path, Kind::Text), 2)
        };
        assert_eq!(
            (add(&mut fast, "b"), add(&mut slow, "a")),
            (Some(0), Some(0))
        );
        assert!(fast.publish() && !slow.publish());
        slow.follow();
        assert_eq!(
            (add(&mut slow, "a"), add(&mut slow, "b")),
            (Some(1), Some(0))
        );
        assert!(slow.publish());
        assert_eq!(schema.field_names()[3..], ["a", "b"]);
    }
}
