//! From a writer schema to a plan: what to read, and which column each leaf has.

use std::collections::HashMap;

use apache_avro::Schema;
use apache_avro::schema::{InnerDecimalSchema, RecordSchema, UuidSchema};

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
    pub(super) root: Scope,
}

pub(super) type TypeId = usize;

/// Is one type of the schema; those in it are found by their ids, so a recursive schema is a finite list.
#[derive(Debug, Clone)]
pub(super) enum Type {
    Null,
    Boolean,
    Int,
    Long,
    Float,
    Double,
    Bytes,
    Text,
    Fixed(usize),
    Enum(Box<[Box<str>]>),
    /// With the bytes it takes, where they are fixed, and its scale.
    Decimal(Option<usize>, i64),
    BigDecimal,
    /// Debezium's record of a scale and an unscaled number.
    VariableDecimal,
    Uuid(Option<usize>),
    Date,
    TimeMillis,
    TimeMicros,
    /// With how many of its units a second has.
    Timestamp(i64),
    LocalTimestamp(i64),
    Duration,
    Array(TypeId),
    Map(TypeId),
    Union(Box<[TypeId]>),
    Record(Box<[(Box<str>, TypeId)]>),
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
    /// Reads a scalar, or anything as JSON, into a leaf.
    Leaf(TypeId, usize),
    /// Reads a branch's number, and goes on with the branch's own steps.
    Union(Box<[Vec<Op>]>),
    /// Reads a map, each value by the scope's steps.
    Map(usize),
}

impl Plan {
    /// Parses and compiles a schema; paths have at most `max_depth` segments.
    pub(super) fn parse(text: &SchemaText, max_depth: usize) -> Result<Self, String> {
        let references = text.references.iter().map(|reference| &reference.text);
        let (schema, references) = Schema::parse_str_with_list(&text.text, references)
            .map_err(|error| error.to_string())?;
        Ok(Self::new(&schema, &references, max_depth))
    }

    fn new(schema: &Schema, references: &[Schema], max_depth: usize) -> Self {
        let mut types = Types::default();
        for reference in references {
            if let Some(name) = reference.name() {
                types.references.insert(name.fullname(None), reference);
            }
        }
        let root = types.add(schema, None);
        let mut compiler = Compiler {
            types: &types.list,
            max_depth,
            budget: MAX_OPS,
        };
        let mut scope = Scope::default();
        scope.ops = compiler.ops(&mut scope, root, &mut String::new(), 0);
        Self {
            free: free(&types.list),
            types: types.list,
            root: scope,
        }
    }
}

#[derive(Default)]
struct Types<'a> {
    list: Vec<Type>,
    named: HashMap<String, TypeId>,
    /// Schemas beside the one that is compiled, by full name; added when they are first met.
    references: HashMap<String, &'a Schema>,
}

impl Types<'_> {
    fn add(&mut self, schema: &Schema, namespace: Option<&str>) -> TypeId {
        if let Schema::Ref { name } = schema {
            let name = name.fullname(namespace);
            if let Some(&known) = self.named.get(&name) {
                return known;
            }
            let referred = self.references.remove(&name);
            return self.add(referred.expect("the parser knows every name"), None);
        }
        let id = self.list.len();
        self.list.push(Type::Null);
        let name = schema
            .name()
            .map(|name| name.fully_qualified_name(namespace));
        let namespace = name.as_ref().map_or(namespace, |name| name.namespace());
        if let Some(name) = &name {
            self.named.insert(name.fullname(None), id);
        }
        let of = match schema {
            Schema::Null | Schema::Ref { .. } => Type::Null,
            Schema::Boolean => Type::Boolean,
            Schema::Int => Type::Int,
            Schema::Long => Type::Long,
            Schema::Float => Type::Float,
            Schema::Double => Type::Double,
            Schema::Bytes => Type::Bytes,
            Schema::String | Schema::Uuid(UuidSchema::String) => Type::Text,
            Schema::Fixed(fixed) => Type::Fixed(fixed.size),
            Schema::Enum(of) => Type::Enum(of.symbols.iter().map(|s| s.as_str().into()).collect()),
            Schema::Decimal(decimal) => {
                let size = match &decimal.inner {
                    InnerDecimalSchema::Bytes => None,
                    InnerDecimalSchema::Fixed(fixed) => {
                        // A later reference means the fixed with its logical type.
                        self.named.insert(fixed.name.fullname(namespace), id);
                        Some(fixed.size)
                    }
                };
                Type::Decimal(size, decimal.scale as i64)
            }
            Schema::BigDecimal => Type::BigDecimal,
            Schema::Uuid(UuidSchema::Bytes) => Type::Uuid(None),
            Schema::Uuid(UuidSchema::Fixed(fixed)) => {
                self.named.insert(fixed.name.fullname(namespace), id);
                Type::Uuid(Some(fixed.size))
            }
            Schema::Date => Type::Date,
            Schema::TimeMillis => Type::TimeMillis,
            Schema::TimeMicros => Type::TimeMicros,
            Schema::TimestampMillis => Type::Timestamp(1_000),
            Schema::TimestampMicros => Type::Timestamp(1_000_000),
            Schema::TimestampNanos => Type::Timestamp(1_000_000_000),
            Schema::LocalTimestampMillis => Type::LocalTimestamp(1_000),
            Schema::LocalTimestampMicros => Type::LocalTimestamp(1_000_000),
            Schema::LocalTimestampNanos => Type::LocalTimestamp(1_000_000_000),
            Schema::Duration(_) => Type::Duration,
            Schema::Array(array) => Type::Array(self.add(&array.items, namespace)),
            Schema::Map(map) => Type::Map(self.add(&map.types, namespace)),
            Schema::Union(union) => Type::Union(
                union
                    .variants()
                    .iter()
                    .map(|branch| self.add(branch, namespace))
                    .collect(),
            ),
            Schema::Record(record) if is_variable_decimal(record) => Type::VariableDecimal,
            Schema::Record(record) => Type::Record(
                record
                    .fields
                    .iter()
                    .map(|field| {
                        (
                            field.name.as_str().into(),
                            self.add(&field.schema, namespace),
                        )
                    })
                    .collect(),
            ),
        };
        self.list[id] = of;
        id
    }
}

fn is_variable_decimal(record: &RecordSchema) -> bool {
    record.name.name() == "VariableScaleDecimal"
        && matches!(&record.fields[..], [scale, value]
            if scale.name == "scale" && value.name == "value"
                && matches!((&scale.schema, &value.schema), (Schema::Int, Schema::Bytes)))
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
            Type::Union(branches) if self.budget > 0 => {
                let ops = branches
                    .iter()
                    .map(|&branch| self.ops(scope, branch, path, depth))
                    .collect();
                vec![Op::Union(ops)]
            }
            Type::Record(fields) if may_enter => {
                let mut ops = Vec::new();
                for (name, field) in fields {
                    let end = path.len();
                    push_segment(path, name);
                    ops.append(&mut self.ops(scope, *field, path, depth + 1));
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
            of => vec![Op::Leaf(id, scope.leaf(path, kind(of)))],
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
        let before = free.clone();
        for (id, of) in types.iter().enumerate() {
            free[id] = match of {
                Type::Null | Type::Fixed(0) => true,
                Type::Record(fields) => fields.iter().all(|(_, field)| before[*field]),
                _ => false,
            };
        }
        if free == before {
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
        | Type::Decimal(..)
        | Type::BigDecimal
        | Type::VariableDecimal => Kind::Float,
        Type::Date | Type::Timestamp(_) => Kind::Time,
        _ => Kind::Text,
    }
}

/// The most steps of a plan: a schema that names itself many times over would have more than there is memory for.
const MAX_OPS: usize = 10_000;
