//! The columns of a message in one stream.

use std::collections::HashMap;

use super::plan::Scope;
use crate::columns::{ColumnId, Group, RowWriter};
use crate::flatten::push_segment;

/// Knows the columns of a scope in one stream.
#[derive(Debug)]
pub(super) struct Binding {
    pub(super) at: Place,
    /// By leaf; `None` is a column that the field limit leaves out.
    pub(super) columns: Vec<Option<ColumnId>>,
    /// By map.
    pub(super) maps: Vec<Keys>,
}

/// Is where a scope's paths begin.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) group: Group,
    pub(super) path: String,
}

/// Knows the keys of a map.
#[derive(Debug, Default)]
pub(super) struct Keys {
    list: Vec<Keyed>,
    places: HashMap<Box<[u8]>, usize>,
    /// The place of the key that comes next, if the keys come as they did.
    next: usize,
}

/// Is the columns of a map's key.
#[derive(Debug)]
pub(super) struct Keyed {
    pub(super) name: Box<[u8]>,
    pub(super) values: Binding,
    /// The run that wrote them last.
    pub(super) stamp: u64,
}

impl Binding {
    /// Makes the columns of `scope`, whose paths begin at `at`.
    pub(super) fn new(scope: &Scope, at: Place, row: &mut RowWriter<'_>) -> Self {
        let columns = scope.leaves.iter().map(|leaf| {
            let name = join(&at.path, &leaf.path);
            row.column(at.group, &name, leaf.kind)
        });
        Self {
            columns: columns.collect(),
            maps: scope.maps.iter().map(|_| Keys::default()).collect(),
            at,
        }
    }
}

impl Keys {
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Finds a key.
    ///
    /// Many producers write a map's keys in one order, so the one after the last is tried before the hash map.
    #[inline]
    pub(super) fn place(&self, name: &[u8]) -> Option<usize> {
        match self.list.get(self.next) {
            Some(keyed) if *keyed.name == *name => Some(self.next),
            _ => self.places.get(name).copied(),
        }
    }

    pub(super) fn add(&mut self, name: &[u8], values: Binding) -> usize {
        let place = self.list.len();
        self.places.insert(name.into(), place);
        self.list.push(Keyed {
            name: name.into(),
            values,
            stamp: 0,
        });
        place
    }

    #[inline]
    pub(super) fn turn_to(&mut self, place: usize) -> &mut Keyed {
        self.next = if place + 1 == self.list.len() {
            0
        } else {
            place + 1
        };
        &mut self.list[place]
    }
}

impl Place {
    /// Makes the columns of a map's `key`; the map stands at `map` within the scope that begins here.
    pub(super) fn of_key(
        &self,
        values: &Scope,
        map: &str,
        key: &[u8],
        row: &mut RowWriter<'_>,
    ) -> Binding {
        let mut path = join(&self.path, map);
        push_segment(&mut path, &String::from_utf8_lossy(key));
        let group = self.group;
        Binding::new(values, Self { group, path }, row)
    }
}

fn join(path: &str, within: &str) -> String {
    let dot = if path.is_empty() || within.is_empty() || within.starts_with('[') {
        ""
    } else {
        "."
    };
    format!("{path}{dot}{within}")
}
