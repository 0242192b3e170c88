//! From a writer schema to a plan: what to read, and which column each leaf has.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread;

use apache_avro::Schema;

use super::resolve;
use super::types::{self, Type, TypeId};
use crate::columns::Kind;
use crate::flatten::push_segment;
use crate::schema::SchemaText;

/// Is a writer schema, compiled: immutable, names resolved, nothing looked up while it runs.
#[derive(Debug)]
pub(in crate::decode) struct Plan {
    /// What the schema's types are, by [`TypeId`].
    pub(super) types: Vec<Type>,
    /// Whether a value of the type takes no bytes, by [`TypeId`].
    pub(super) free: Vec<bool>,
    /// The schema's own type.
    pub(super) own: TypeId,
    pub(super) root: Scope,
}

/// Is what has columns of its own: the record, or the values of a map, whose keys come with the data.
#[derive(Debug, Default)]
pub(super) struct Scope {
    pub(super) leaves: Vec<Leaf>,
    pub(super) maps: Vec<MapScope>,
    pub(super) ops: Vec<Op>,
    by_path: HashMap<String, usize>,
}

/// Is a column: its path within the scope, and its type.
#[derive(Debug)]
pub(super) struct Leaf {
    pub(super) path: String,
    pub(super) kind: Kind,
}

/// Is a map: the path at which it stands, and what each of its values is.
#[derive(Debug)]
pub(super) struct MapScope {
    pub(super) path: String,
    pub(super) values: Scope,
    pub(super) value: TypeId,
}

/// Is one step of a plan.
#[derive(Debug)]
pub(super) enum Op {
    /// Reads what most fields have, into a leaf.
    Boolean(usize),
    Int(usize),
    Long(usize),
    Double(usize),
    Text(usize),
    /// Reads any other scalar, or anything as JSON, into a leaf.
    Leaf(TypeId, usize),
    /// Reads a branch's number, and goes on with the branch's own steps.
    Union(Box<[Vec<Op>]>),
    /// Reads a map, each value by the scope's steps.
    Map(usize),
    /// Passes over what has no column.
    Skip(TypeId),
    /// Reads what the bytes of the record lack, by its own steps, from bytes that the plan has.
    Default(Arc<[u8]>, Vec<Op>),
}

impl Plan {
    /// Parses and compiles a schema, resolved to `reader` where there is one; paths have at most `max_depth` segments.
    pub(super) fn parse(
        text: &SchemaText,
        reader: Option<&Schema>,
        max_depth: usize,
    ) -> Result<Self, String> {
        let references = text.references.iter();
        let texts = references
            .map(|reference| &reference.text)
            .chain([&text.text]);
        let nesting: usize = texts.map(|text| nesting(text)).sum();
        if nesting > MAX_NESTING {
            return Err(format!("it is nested deeper than {MAX_NESTING}"));
        }
        if nesting <= SHALLOW {
            return Self::parse_here(text, reader, max_depth);
        }
        // The parser follows names from one schema to the next: this many levels need a stack of their own.
        thread::scope(|scope| {
            thread::Builder::new()
                .stack_size(nesting * STACK_A_LEVEL)
                .spawn_scoped(scope, || Self::parse_here(text, reader, max_depth))
                .map_err(|error| error.to_string())?
                .join()
                .unwrap_or_else(|_| Err("it made the parser fail".to_owned()))
        })
    }

    fn parse_here(
        text: &SchemaText,
        reader: Option<&Schema>,
        max_depth: usize,
    ) -> Result<Self, String> {
        let references = text.references.iter().map(|reference| &reference.text);
        let (schema, references) = Schema::parse_str_with_list(&text.text, references)
            .map_err(|error| error.to_string())?;
        let (types, own) = match reader {
            None => types::list(&schema, &references),
            Some(reader) => resolve::list(&schema, &references, reader)
                .map_err(|reason| format!("it does not resolve to the reader schema: {reason}"))?,
        };
        Ok(Self::new(types, own, max_depth))
    }

    fn new(types: Vec<Type>, own: TypeId, max_depth: usize) -> Self {
        let mut compiler = Compiler {
            types: &types,
            max_depth,
            budget: MAX_OPS,
        };
        let mut scope = Scope::default();
        scope.ops = compiler.ops(&mut scope, own, &mut String::new(), 0);
        Self {
            free: free(&types),
            types,
            own,
            root: scope,
        }
    }
}

struct Compiler<'a> {
    types: &'a [Type],
    max_depth: usize,
    /// How many steps may still be made: what lies beyond is JSON.
    budget: usize,
}

impl Compiler<'_> {
    /// Makes the steps of `id` at `path`, which has `depth` segments.
    fn ops(&mut self, scope: &mut Scope, id: TypeId, path: &mut String, depth: usize) -> Vec<Op> {
        self.budget = self.budget.saturating_sub(1);
        let may_enter = depth < self.max_depth && self.budget > 0;
        match &self.types[id] {
            Type::Null => Vec::new(),
            Type::Never(_) => vec![Op::Skip(id)],
            Type::Default(bytes, of) => {
                let bytes = Arc::clone(bytes);
                vec![Op::Default(bytes, self.ops(scope, *of, path, depth))]
            }
            Type::Union(branches) if self.budget > 0 => {
                let ops = branches
                    .iter()
                    .map(|&branch| self.ops(scope, branch, path, depth))
                    .collect();
                vec![Op::Union(ops)]
            }
            Type::Record(fields) if may_enter => {
                let mut ops = Vec::new();
                for field in fields {
                    let Some(name) = &field.name else {
                        ops.push(Op::Skip(field.of));
                        continue;
                    };
                    let end = path.len();
                    push_segment(path, name);
                    ops.append(&mut self.ops(scope, field.of, path, depth + 1));
                    path.truncate(end);
                }
                ops
            }
            Type::Map(value) if may_enter => {
                let mut values = Scope::default();
                values.ops = self.ops(&mut values, *value, &mut String::new(), depth + 1);
                scope.maps.push(MapScope {
                    path: path.clone(),
                    values,
                    value: *value,
                });
                vec![Op::Map(scope.maps.len() - 1)]
            }
            of => {
                let leaf = scope.leaf(path, kind(of));
                vec![match of {
                    Type::Boolean => Op::Boolean(leaf),
                    Type::Int => Op::Int(leaf),
                    Type::Long => Op::Long(leaf),
                    Type::Double => Op::Double(leaf),
                    Type::Text => Op::Text(leaf),
                    _ => Op::Leaf(id, leaf),
                }]
            }
        }
    }
}

impl Scope {
    /// Finds or makes the leaf of `path`. Where a union's branches meet, numbers are numbers, and all else is text.
    fn leaf(&mut self, path: &str, kind: Kind) -> usize {
        if let Some(&leaf) = self.by_path.get(path) {
            let settled = &mut self.leaves[leaf].kind;
            *settled = match (*settled, kind) {
                (a, b) if a == b => a,
                (Kind::Integer | Kind::Float, Kind::Integer | Kind::Float) => Kind::Float,
                _ => Kind::Text,
            };
            return leaf;
        }
        let leaf = self.leaves.len();
        self.by_path.insert(path.to_owned(), leaf);
        self.leaves.push(Leaf {
            path: path.to_owned(),
            kind,
        });
        leaf
    }
}

/// Finds the types whose values take no bytes.
fn free(types: &[Type]) -> Vec<bool> {
    let mut free = vec![false; types.len()];
    loop {
        let mut changed = false;
        for (id, of) in types.iter().enumerate() {
            let is_free = match of {
                Type::Null | Type::Fixed(0) | Type::Default(..) => true,
                Type::Record(fields) => fields.iter().all(|field| free[field.of]),
                _ => false,
            };
            changed |= is_free != std::mem::replace(&mut free[id], is_free);
        }
        if !changed {
            return free;
        }
    }
}

fn kind(of: &Type) -> Kind {
    match of {
        Type::Boolean => Kind::Boolean,
        Type::Int | Type::Long => Kind::Integer,
        Type::Float
        | Type::Double
        | Type::ToFloat(_)
        | Type::ToDouble(_)
        | Type::Decimal(..)
        | Type::BigDecimal
        | Type::VariableDecimal => Kind::Float,
        Type::Date | Type::Timestamp(_) => Kind::Time,
        _ => Kind::Text,
    }
}

/// Counts how deep lists and objects stand in each other in a JSON text.
fn nesting(text: &str) -> usize {
    let (mut deepest, mut depth, mut bytes) = (0_usize, 0_usize, text.bytes());
    let mut quoted = false;
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => quoted = !quoted,
            b'\\' if quoted => {
                bytes.next();
            }
            b'{' | b'[' if !quoted => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// How deep a schema and what it refers to may be nested together.
const MAX_NESTING: usize = 1_000;
/// How deep they are parsed on any thread's stack.
const SHALLOW: usize = 128;
const STACK_A_LEVEL: usize = 32 * 1024;
/// The most steps of a plan: a schema that names itself many times over would have more than there is memory for.
const MAX_OPS: usize = 10_000;
