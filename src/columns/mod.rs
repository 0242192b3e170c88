//! Rows under construction: one Arrow-shaped builder a field, and the rules for what a column may hold.

mod cells;
mod draft;
mod fit;
pub(crate) mod plain;
mod row;
mod schema;
mod tally;
pub(crate) mod time;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use cells::{Cells, Column, Text, Validity};
pub use fit::{Fit, Kind, fit};
pub use row::{FieldWriter, RowWriter};
pub(crate) use schema::{COORDINATES, ERROR};
pub use schema::{Group, Labels, SchemaField, SchemaView, StreamSchema};
pub use tally::{Count, Tally, Trouble};

use crate::config::{FieldType, TimeUnit};
use draft::{Request, SchemaDraft};

/// Names a column of a stream, for as long as the stream lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnId(u32);

/// Holds the rows that were decoded and not yet sent.
///
/// Rows stand at places: each is one row, or the rows of one line of line protocol, which share all cells but those of
/// [`Group::Field`]. A column has one cell a place, one of that group one a row: what the rows of a line share is held and
/// written once (`benches/workflow.rs`, `lineprotocol`); the twin is to write each row as the first.
///
/// The columns are those of the stream's schema; a column may be shorter than the set: what it lacks is null.
#[derive(Debug)]
pub struct ColumnSet {
    draft: SchemaDraft,
    max_fields: usize,
    field_types: BTreeMap<String, FieldType>,
    /// A key format is set, so `key` is a column of ours.
    has_key: bool,
    pub(crate) rows: usize,
    pub(crate) places: Vec<Place>,
    /// By id.
    pub(crate) columns: Vec<Column>,
    pub(crate) error: Column,
    pub(crate) tally: Tally,
    /// About how many bytes the rows take in a packet.
    bytes: usize,
    /// How many cells the row under construction holds.
    filled: usize,
    watch: Option<Watch>,
}

/// Reads times from one field of the payload: a float column would lose their last digits.
#[derive(Debug)]
struct Watch {
    path: String,
    unit: TimeUnit,
    column: Option<ColumnId>,
    /// What the row under construction holds there, exactly.
    found: Option<i64>,
}

/// Says what a row is of: its time and its place in Kafka, where it has one.
#[derive(Debug, Clone, Copy)]
pub struct Coordinates {
    /// Nanoseconds since 1970.
    pub time: i64,
    pub partition: Option<i32>,
    pub offset: Option<i64>,
}

/// Is one row, or some that share their coordinates and all cells but those of [`Group::Field`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) at: Coordinates,
    pub(crate) rows: u32,
}

/// Is where a record's rows begin.
#[derive(Debug, Clone, Copy)]
pub struct Mark {
    pub(crate) rows: usize,
    pub(crate) bytes: usize,
}

/// Holds rows that were taken out of a set.
#[derive(Debug)]
pub(crate) struct Rest {
    rows: usize,
    bytes: usize,
    places: Vec<Place>,
    columns: Vec<Column>,
}

impl ColumnSet {
    /// Makes an empty set over the stream's `schema`; at most `max_fields` value columns come to be, and those that
    /// `field_types` names have the type that stands there.
    pub fn new(
        schema: Arc<StreamSchema>,
        max_fields: usize,
        field_types: BTreeMap<String, FieldType>,
        has_key: bool,
    ) -> Self {
        let mut set = Self {
            draft: SchemaDraft::new(schema),
            max_fields,
            field_types,
            has_key,
            rows: 0,
            places: Vec::new(),
            columns: Vec::new(),
            error: Column::new(Group::Value, Kind::Text),
            tally: Tally::default(),
            bytes: 0,
            filled: 0,
            watch: None,
        };
        set.follow_columns();
        set
    }

    /// Gives the stream's schema.
    pub(crate) fn schema(&self) -> &Arc<StreamSchema> {
        self.draft.schema()
    }

    /// Reads the value column of `path` as times in `unit`, beside what the column shows.
    pub fn watch_time(&mut self, path: &str, unit: TimeUnit) {
        self.watch = Some(Watch {
            path: path.to_owned(),
            unit,
            column: None,
            found: None,
        });
    }

    /// Gives the number of finished rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Tells about how many bytes the rows take in a packet.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Begins a row; dropping the writer without [`RowWriter::commit`] leaves no trace of it.
    pub fn begin_row(&mut self) -> RowWriter<'_> {
        if self.draft.is_behind() && self.columns.len() == self.draft.published() {
            self.draft.follow();
            self.follow_columns();
        }
        self.filled = 0;
        if let Some(watch) = &mut self.watch {
            watch.found = None;
        }
        RowWriter::new(self)
    }

    /// Tells where a record's rows begin, for [`ColumnSet::take_back`].
    pub fn mark(&self) -> Mark {
        Mark {
            rows: self.rows,
            bytes: self.bytes,
        }
    }

    /// Tells whether each place is one row.
    pub(crate) fn is_flat(&self) -> bool {
        self.rows == self.places.len()
    }

    /// Takes back the rows and the columns of a record that turned out to be bad; tells whether there were columns, which
    /// decoders have to forget.
    pub fn take_back(&mut self, mark: Mark) -> bool {
        self.take_back_rows(mark);
        self.take_back_columns(0)
    }

    /// Makes the columns of the record that was read the stream's. `false` means that another worker changed the schema
    /// meanwhile: the record has to be taken back and read again, on top of that.
    #[must_use]
    pub fn publish(&mut self) -> bool {
        self.draft.publish()
    }

    fn take_back_rows(&mut self, Mark { rows, bytes }: Mark) {
        let places = self.places_before(rows);
        self.places.truncate(places);
        for column in self.all_columns() {
            column.truncate(if column.by_row { rows } else { places });
        }
        self.rows = rows;
        self.bytes = bytes;
        self.tally.roll_back();
    }

    /// Takes back the columns from `columns` on, of those that are not the stream's.
    fn take_back_columns(&mut self, columns: usize) -> bool {
        let any = self.draft.take_back_to(columns);
        let known = self.draft.view().fields.len();
        self.columns.truncate(known);
        if let Some(watch) = &mut self.watch {
            watch.column = watch.column.filter(|id| (id.0 as usize) < known);
        }
        any
    }

    /// Adds a row that says what was wrong with a record, or with the run; `beside` writes what else is known of it.
    pub fn push_error(
        &mut self,
        at: Coordinates,
        text: &str,
        beside: impl FnOnce(&mut RowWriter<'_>),
    ) {
        if !self.view().error {
            self.draft.add_error();
            self.follow_columns();
        }
        let mut row = self.begin_row();
        beside(&mut row);
        row.error(text);
        row.commit(at, 1);
    }

    /// Empties the set; types and memory stay.
    pub fn clear(&mut self) {
        self.places.clear();
        for column in self.all_columns() {
            column.clear();
        }
        self.rows = 0;
        self.bytes = 0;
    }

    /// Takes the rows from `rows` on out, which is where a record's begin; what stays takes `bytes`.
    pub(crate) fn split_off(&mut self, rows: usize, bytes: usize) -> Rest {
        let places = self.places_before(rows);
        let rest = Rest {
            rows: self.rows - rows,
            bytes: self.bytes - bytes,
            places: self.places.split_off(places),
            columns: self
                .all_columns()
                .map(|column| column.split_off(if column.by_row { rows } else { places }))
                .collect(),
        };
        (self.rows, self.bytes) = (rows, bytes);
        rest
    }

    /// Counts the places before row `rows`, at which a place begins.
    fn places_before(&self, rows: usize) -> usize {
        let (mut places, mut left) = (self.places.len(), self.rows);
        while left > rows {
            places -= 1;
            left -= self.places[places].rows as usize;
        }
        places
    }

    /// Puts rows back that were taken out, into a set that has been emptied since.
    pub(crate) fn put_back(&mut self, rest: Rest) {
        for (column, cells) in self.all_columns().zip(rest.columns) {
            *column = cells;
        }
        (self.rows, self.bytes, self.places) = (rest.rows, rest.bytes, rest.places);
    }

    fn all_columns(&mut self) -> impl Iterator<Item = &mut Column> {
        std::iter::once(&mut self.error).chain(&mut self.columns)
    }

    /// Gives the stream's columns as this worker knows them.
    #[inline]
    pub(crate) fn view(&self) -> &SchemaView {
        self.draft.view()
    }

    /// Gives the schema and the columns, which are by id.
    pub(crate) fn parts(&mut self) -> (&SchemaView, &mut [Column]) {
        (self.draft.view(), &mut self.columns)
    }

    /// Sorts the columns again, as if nothing were known of them: what the field-order flag compares.
    pub(crate) fn sort_columns(&mut self) {
        self.draft.sort();
    }

    /// Finishes a place of `rows` rows.
    #[inline]
    fn finish_rows(&mut self, at: Coordinates, rows: usize) {
        self.places.push(Place {
            at,
            rows: rows as u32,
        });
        self.rows += rows;
        let nulls = (self.columns.len() * rows).saturating_sub(self.filled);
        self.bytes += COORDINATE_BYTES * rows + nulls * NULL_BYTES;
    }

    /// Has a column for each that the schema has, of its type.
    fn follow_columns(&mut self) {
        let fields = &self.draft.view().fields;
        for (column, field) in self.columns.iter_mut().zip(fields) {
            column.become_kind(field.kind);
        }
        for field in &fields[self.columns.len()..] {
            self.columns.push(Column::new(field.group, field.kind));
            self.bytes += self.rows * NULL_BYTES;
        }
    }

    /// Gives a column of which `cell` is the next cell.
    #[inline]
    fn cell(&mut self, id: ColumnId, cell: usize) -> &mut Column {
        let column = &mut self.columns[id.0 as usize];
        if column.len() != cell {
            column.align(cell);
        }
        column
    }

    /// Finds or makes the column of `path`; `None` where the field limit leaves it out.
    fn column(
        &mut self,
        group: Group,
        path: &str,
        kind: Kind,
        labels: Option<Arc<Labels>>,
    ) -> Option<ColumnId> {
        let reserved = |name: &str| {
            COORDINATES.contains(&name) || name == ERROR || (self.has_key && name == "key")
        };
        let renamed;
        let name = match group {
            Group::Value if reserved(path) => {
                renamed = format!("value.{path}");
                &renamed
            }
            Group::Tag if reserved(path) => {
                renamed = format!("tag_{path}");
                &renamed
            }
            _ => path,
        };
        let fixed = self
            .field_types
            .get(name)
            .or_else(|| self.field_types.get(path));
        let watched = group == Group::Value && self.watch.as_ref().is_some_and(|w| w.path == path);
        let limit = match group {
            // The time field finds a place in a frame that is full, too.
            Group::Value => self.max_fields + usize::from(watched),
            Group::Tag => self.max_fields,
            Group::Key | Group::Header => MAX_KEY_FIELDS,
            Group::Line | Group::Field => usize::MAX,
        };
        let kind = fixed.map_or(kind, |&fixed| Kind::from(fixed));
        let request = Request {
            group,
            path,
            name,
            kind,
            asked: fixed.is_some(),
            labels,
        };
        let id = self.draft.find_or_add(request, limit)?;
        if id as usize == self.columns.len() {
            self.columns.push(Column::new(group, kind));
            self.bytes += self.rows * NULL_BYTES;
        }
        let id = ColumnId(id);
        if let Some(watch) = self.watch.as_mut().filter(|_| watched) {
            watch.column = Some(id);
        }
        Some(id)
    }
}

/// What time, partition and offset take of a packet, in bytes a row.
const COORDINATE_BYTES: usize = 28;
/// What a null takes of a packet.
const NULL_BYTES: usize = 5;
/// The most columns that keys, and likewise headers, may make.
const MAX_KEY_FIELDS: usize = 100;
