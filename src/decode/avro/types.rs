//! What a schema is made of, with every name resolved.

use std::collections::HashMap;
use std::sync::Arc;

use apache_avro::Schema;
use apache_avro::schema::{InnerDecimalSchema, RecordSchema, UuidSchema};

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
    /// By the number in the bytes; an error is the writer's symbol that the reader lacks.
    Enum(Box<[Result<Box<str>, Box<str>>]>),
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
    Record(Box<[Field]>),
    /// A number that the reader has as a float.
    ToFloat(Box<Type>),
    /// A number that the reader has as a double.
    ToDouble(Box<Type>),
    /// What the writer lacks: no bytes of the record, but these, which are of the other type.
    Default(Arc<[u8]>, TypeId),
    /// What the reader cannot take, and why; an error where a record has it.
    Never(Box<str>),
}

/// Is a field of a record, in the order of the bytes.
#[derive(Debug, Clone)]
pub(super) struct Field {
    /// `None`: the reader has no such field.
    pub(super) name: Option<Box<str>>,
    pub(super) of: TypeId,
}

/// Lists the types of `schema`, which may name others of `references`; tells which is its own.
pub(super) fn list(schema: &Schema, references: &[Schema]) -> (Vec<Type>, TypeId) {
    let (mut list, mut names) = (Vec::new(), Names::new(references));
    for reference in references {
        names.add(reference, None, &mut list);
    }
    let own = names.add(schema, None, &mut list);
    (list, own)
}

/// Adds types to a list, and knows those that have a name.
#[derive(Debug, Default)]
pub(super) struct Names<'a> {
    known: HashMap<String, TypeId>,
    /// Schemas beside the one that is read, by full name; added when they are first met.
    others: HashMap<String, &'a Schema>,
}

impl<'a> Names<'a> {
    pub(super) fn new(others: impl IntoIterator<Item = &'a Schema>) -> Self {
        let others = others.into_iter();
        let named = others.filter_map(|schema| Some((schema.name()?.fullname(None), schema)));
        Self {
            known: HashMap::new(),
            others: named.collect(),
        }
    }

    /// Adds the type of `schema`, and those in it.
    pub(super) fn add(
        &mut self,
        schema: &Schema,
        namespace: Option<&str>,
        list: &mut Vec<Type>,
    ) -> TypeId {
        if let Schema::Ref { name } = schema {
            let name = name.fullname(namespace);
            if let Some(&known) = self.known.get(&name) {
                return known;
            }
            let other = self.others.remove(&name);
            return self.add(other.expect("the parser knows every name"), None, list);
        }
        let name = schema
            .name()
            .map(|name| name.fully_qualified_name(namespace));
        let namespace = name.as_ref().map_or(namespace, |name| name.namespace());
        let full_name = name.as_ref().map(|name| name.fullname(None));
        if let Some(&known) = full_name.as_ref().and_then(|name| self.known.get(name)) {
            return known;
        }
        let id = list.len();
        list.push(Type::Null);
        self.known.extend(full_name.map(|name| (name, id)));
        let of = match schema {
            Schema::Array(array) => Type::Array(self.add(&array.items, namespace, list)),
            Schema::Map(map) => Type::Map(self.add(&map.types, namespace, list)),
            Schema::Union(union) => Type::Union(
                union
                    .variants()
                    .iter()
                    .map(|branch| self.add(branch, namespace, list))
                    .collect(),
            ),
            Schema::Record(record) if !is_variable_decimal(record) => Type::Record(
                record
                    .fields
                    .iter()
                    .map(|field| Field {
                        name: Some(field.name.as_str().into()),
                        of: self.add(&field.schema, namespace, list),
                    })
                    .collect(),
            ),
            scalar => Type::scalar(scalar),
        };
        list[id] = of;
        id
    }
}

impl Type {
    /// Gives the type of a schema in which there is no other one.
    pub(super) fn scalar(schema: &Schema) -> Self {
        match schema {
            Schema::Null
            | Schema::Ref { .. }
            | Schema::Array(_)
            | Schema::Map(_)
            | Schema::Union(_) => Self::Null,
            Schema::Record(_) => Self::VariableDecimal,
            Schema::Boolean => Self::Boolean,
            Schema::Int => Self::Int,
            Schema::Long => Self::Long,
            Schema::Float => Self::Float,
            Schema::Double => Self::Double,
            Schema::Bytes => Self::Bytes,
            Schema::String | Schema::Uuid(UuidSchema::String) => Self::Text,
            Schema::Fixed(fixed) => Self::Fixed(fixed.size),
            Schema::Enum(of) => {
                Self::Enum(of.symbols.iter().map(|s| Ok(s.as_str().into())).collect())
            }
            Schema::Decimal(decimal) => {
                let size = match &decimal.inner {
                    InnerDecimalSchema::Bytes => None,
                    InnerDecimalSchema::Fixed(fixed) => Some(fixed.size),
                };
                Self::Decimal(size, decimal.scale as i64)
            }
            Schema::BigDecimal => Self::BigDecimal,
            Schema::Uuid(UuidSchema::Bytes) => Self::Uuid(None),
            Schema::Uuid(UuidSchema::Fixed(fixed)) => Self::Uuid(Some(fixed.size)),
            Schema::Date => Self::Date,
            Schema::TimeMillis => Self::TimeMillis,
            Schema::TimeMicros => Self::TimeMicros,
            Schema::TimestampMillis => Self::Timestamp(1_000),
            Schema::TimestampMicros => Self::Timestamp(1_000_000),
            Schema::TimestampNanos => Self::Timestamp(1_000_000_000),
            Schema::LocalTimestampMillis => Self::LocalTimestamp(1_000),
            Schema::LocalTimestampMicros => Self::LocalTimestamp(1_000_000),
            Schema::LocalTimestampNanos => Self::LocalTimestamp(1_000_000_000),
            Schema::Duration(_) => Self::Duration,
        }
    }
}

/// Tells whether a record is Debezium's, whose fields are one number.
pub(super) fn is_variable_decimal(record: &RecordSchema) -> bool {
    record.name.name() == "VariableScaleDecimal"
        && matches!(&record.fields[..], [scale, value]
            if scale.name == "scale" && value.name == "value"
                && matches!((&scale.schema, &value.schema), (Schema::Int, Schema::Bytes)))
}
