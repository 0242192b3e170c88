//! Schema resolution: a writer's types as a reader wants them, by the specification's rules.
//! <https://avro.apache.org/docs/1.12.0/specification/#schema-resolution>
//!
//! It happens once, when a schema is compiled: what comes out is a list of types that read the writer's bytes and show the
//! reader's fields.

use std::collections::HashMap;

use apache_avro::Schema;
use apache_avro::schema::{DecimalSchema, EnumSchema, RecordField, RecordSchema, UnionSchema};

use super::defaults;
use super::types::{Field, Names, Type, TypeId, is_variable_decimal};

/// Lists the types of `writer`, which may name others of `references`, as `reader` wants them; tells which is the schema's own.
/// The error says where the two part.
pub(super) fn list(
    writer: &Schema,
    references: &[Schema],
    reader: &Schema,
) -> Result<(Vec<Type>, TypeId), String> {
    let mut list = Vec::new();
    // What is passed over is read by the writer's types alone, and a default by the reader's.
    let (mut writer_names, mut reader_names) = (Names::new(references), Names::new([]));
    for schema in references.iter().chain([writer]) {
        writer_names.add(schema, None, &mut list);
    }
    reader_names.add(reader, None, &mut list);
    let mut resolver = Resolver {
        writer: Definitions::new(references.iter().chain([writer])),
        reader: Definitions::new([reader]),
        writer_names,
        reader_names,
        pairs: HashMap::new(),
        list,
        depth: 0,
    };
    let own = resolver.resolve(writer, reader)?;
    Ok((resolver.list, own))
}

/// Knows the named schemas of one side, by full name.
pub(super) struct Definitions<'a>(HashMap<String, &'a Schema>);

impl<'a> Definitions<'a> {
    pub(super) fn new(roots: impl IntoIterator<Item = &'a Schema>) -> Self {
        let mut found = HashMap::new();
        let mut left: Vec<&Schema> = roots.into_iter().collect();
        while let Some(schema) = left.pop() {
            match schema {
                Schema::Ref { .. } => continue,
                Schema::Array(array) => left.push(&array.items),
                Schema::Map(map) => left.push(&map.types),
                Schema::Union(union) => left.extend(union.variants()),
                Schema::Record(record) => {
                    left.extend(record.fields.iter().map(|field| &field.schema));
                }
                _ => {}
            }
            if let Some(name) = schema.name() {
                found.insert(name.fullname(None), schema);
            }
        }
        Self(found)
    }

    /// Follows a name to what it stands for.
    pub(super) fn of(&self, schema: &'a Schema) -> Result<&'a Schema, String> {
        let Schema::Ref { name } = schema else {
            return Ok(schema);
        };
        let name = name.fullname(None);
        let found = self.0.get(&name).copied();
        found.ok_or_else(|| format!("`{name}` is not defined"))
    }
}

struct Resolver<'a> {
    writer: Definitions<'a>,
    reader: Definitions<'a>,
    writer_names: Names<'a>,
    reader_names: Names<'a>,
    /// Named types that have met: a schema that names itself is a finite list.
    pairs: HashMap<[String; 2], TypeId>,
    list: Vec<Type>,
    depth: usize,
}

impl<'a> Resolver<'a> {
    fn resolve(&mut self, writer: &'a Schema, reader: &'a Schema) -> Result<TypeId, String> {
        let (writer, reader) = (self.writer.of(writer)?, self.reader.of(reader)?);
        if let (false, Schema::Union(union)) = (matches!(writer, Schema::Union(_)), reader) {
            return self.reader_union(writer, union);
        }
        let pair = name(writer).zip(name(reader)).map(|(w, r)| [w, r]);
        if let Some(&known) = pair.as_ref().and_then(|pair| self.pairs.get(pair)) {
            return Ok(known);
        }
        if self.depth >= MAX_DEPTH || self.list.len() >= MAX_TYPES {
            return Err("it is nested too deep, or too large".to_owned());
        }
        let id = self.list.len();
        self.list.push(Type::Null);
        if let Some(pair) = &pair {
            self.pairs.insert(pair.clone(), id);
        }
        self.depth += 1;
        let resolved = self.meet(writer, reader);
        self.depth -= 1;
        match resolved {
            Ok(of) => {
                self.list[id] = of;
                Ok(id)
            }
            Err(reason) => {
                // Types that met this one while it was tried may still lead here.
                self.list[id] = Type::Never(reason.as_str().into());
                if let Some(pair) = &pair {
                    self.pairs.remove(pair);
                }
                Err(reason)
            }
        }
    }

    fn meet(&mut self, writer: &'a Schema, reader: &'a Schema) -> Result<Type, String> {
        match (writer, reader) {
            (Schema::Union(union), _) => self.writer_union(union, reader),
            (Schema::Array(w), Schema::Array(r)) => {
                Ok(Type::Array(self.resolve(&w.items, &r.items)?))
            }
            (Schema::Map(w), Schema::Map(r)) => Ok(Type::Map(self.resolve(&w.types, &r.types)?)),
            (Schema::Record(w), Schema::Record(r))
                if is_variable_decimal(w) && is_variable_decimal(r) =>
            {
                Ok(Type::VariableDecimal)
            }
            (Schema::Record(w), Schema::Record(r)) => {
                same_name(writer, reader)?;
                self.record(w, r)
            }
            (Schema::Enum(w), Schema::Enum(r)) => {
                same_name(writer, reader)?;
                Ok(symbols(w, r))
            }
            _ => scalar(writer, reader),
        }
    }

    /// Each branch for itself: one that does not fit is an error only where a record has it.
    fn writer_union(&mut self, union: &'a UnionSchema, reader: &'a Schema) -> Result<Type, String> {
        let mut reasons = Vec::new();
        let mut branches = Vec::new();
        for branch in union.variants() {
            branches.push(self.resolve(branch, reader).unwrap_or_else(|reason| {
                self.list.push(Type::Never(reason.as_str().into()));
                reasons.push(reason);
                self.list.len() - 1
            }));
        }
        if !reasons.is_empty() && reasons.len() == branches.len() {
            return Err(reasons.swap_remove(0));
        }
        Ok(Type::Union(branches.into()))
    }

    /// The first branch that is of the writer's own type, else the first that fits.
    fn reader_union(
        &mut self,
        writer: &'a Schema,
        union: &'a UnionSchema,
    ) -> Result<TypeId, String> {
        for must_be_same in [true, false] {
            for branch in union.variants() {
                let is_same = is_same_type(writer, self.reader.of(branch)?);
                if is_same == must_be_same
                    && let Ok(id) = self.resolve(writer, branch)
                {
                    return Ok(id);
                }
            }
        }
        Err(format!(
            "no branch of the reader's union takes {}",
            describe(writer)
        ))
    }

    fn record(
        &mut self,
        writer: &'a RecordSchema,
        reader: &'a RecordSchema,
    ) -> Result<Type, String> {
        let sources: Vec<Option<usize>> = reader
            .fields
            .iter()
            .map(|field| source(field, &writer.fields))
            .collect();
        let mut fields = Vec::new();
        for (place, from) in writer.fields.iter().enumerate() {
            let to = sources.iter().position(|&source| source == Some(place));
            fields.push(match to.map(|to| &reader.fields[to]) {
                Some(to) => Field {
                    name: Some(to.name.as_str().into()),
                    of: self
                        .resolve(&from.schema, &to.schema)
                        .map_err(|reason| format!("field `{}`: {reason}", to.name))?,
                },
                None => Field {
                    name: None,
                    of: self.writer_names.add(&from.schema, None, &mut self.list),
                },
            });
        }
        for (field, _) in reader
            .fields
            .iter()
            .zip(&sources)
            .filter(|(_, s)| s.is_none())
        {
            let bytes = defaults::of(field, &self.reader)?;
            let of = self.reader_names.add(&field.schema, None, &mut self.list);
            self.list.push(Type::Default(bytes.into(), of));
            fields.push(Field {
                name: Some(field.name.as_str().into()),
                of: self.list.len() - 1,
            });
        }
        Ok(Type::Record(fields.into()))
    }
}

/// Finds the writer's field that a reader's field has its value from: by its name, else by an alias.
fn source(field: &RecordField, writer: &[RecordField]) -> Option<usize> {
    let find = |name: &str| writer.iter().position(|from| from.name == name);
    find(&field.name).or_else(|| field.aliases.iter().find_map(|alias| find(alias)))
}

/// Gives the reader's symbols in the writer's order.
fn symbols(writer: &EnumSchema, reader: &EnumSchema) -> Type {
    let symbols = writer.symbols.iter().map(|symbol| {
        let known = reader.symbols.contains(symbol).then_some(symbol);
        match known.or(reader.default.as_ref()) {
            Some(shown) => Ok(shown.as_str().into()),
            None => Err(symbol.as_str().into()),
        }
    });
    Type::Enum(symbols.collect())
}

/// Resolves what has no other type in it: the reader's type, as far as the writer's bytes can be read by it.
fn scalar(writer: &Schema, reader: &Schema) -> Result<Type, String> {
    use Base::{Boolean, Bytes, Double, Fixed, Float, Int, Long, Null, Text};
    let to = || Type::scalar(reader);
    let from = || Box::new(Type::scalar(&plain(writer)));
    Ok(match (Base::of(writer), Base::of(reader)) {
        (Null, Null)
        | (Boolean, Boolean)
        | (Int, Int | Long)
        | (Long, Long)
        | (Float, Float)
        | (Double, Double) => to(),
        (Int | Long, Float) => Type::ToFloat(from()),
        (Int | Long | Float, Double) => Type::ToDouble(from()),
        (Bytes | Text, Bytes | Text) => {
            same_scale(writer, reader)?;
            to()
        }
        (Fixed(w), Fixed(r)) if w == r => {
            same_name(writer, reader)?;
            same_scale(writer, reader)?;
            to()
        }
        _ => {
            return Err(format!(
                "{} cannot be read as {}",
                describe(writer),
                describe(reader)
            ));
        }
    })
}

/// Is what a type is in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    Null,
    Boolean,
    Int,
    Long,
    Float,
    Double,
    Bytes,
    Text,
    Fixed(usize),
    Other,
}

impl Base {
    fn of(schema: &Schema) -> Self {
        match Type::scalar(schema) {
            Type::Null if matches!(schema, Schema::Null) => Self::Null,
            Type::Boolean => Self::Boolean,
            Type::Int | Type::Date | Type::TimeMillis => Self::Int,
            Type::Long | Type::TimeMicros | Type::Timestamp(_) | Type::LocalTimestamp(_) => {
                Self::Long
            }
            Type::Float => Self::Float,
            Type::Double => Self::Double,
            Type::Bytes | Type::Decimal(None, _) | Type::BigDecimal | Type::Uuid(None) => {
                Self::Bytes
            }
            Type::Text => Self::Text,
            Type::Fixed(size) | Type::Decimal(Some(size), _) | Type::Uuid(Some(size)) => {
                Self::Fixed(size)
            }
            Type::Duration => Self::Fixed(12),
            _ => Self::Other,
        }
    }
}

/// Gives the type that a number has without its logical type.
fn plain(schema: &Schema) -> Schema {
    match Base::of(schema) {
        Base::Int => Schema::Int,
        Base::Long => Schema::Long,
        _ => Schema::Float,
    }
}

fn same_scale(writer: &Schema, reader: &Schema) -> Result<(), String> {
    match (writer, reader) {
        (
            Schema::Decimal(DecimalSchema { scale: w, .. }),
            Schema::Decimal(DecimalSchema { scale: r, .. }),
        ) if w != r => Err(format!(
            "a decimal with scale {w} cannot be read as one with scale {r}"
        )),
        _ => Ok(()),
    }
}

/// Makes sure that two named types have one name, without their namespaces, or that the reader knows the writer's as an alias.
fn same_name(writer: &Schema, reader: &Schema) -> Result<(), String> {
    if is_same_name(writer, reader) {
        return Ok(());
    }
    Err(format!(
        "{} is not {}: give the reader's the other name as an alias",
        describe(writer),
        describe(reader)
    ))
}

fn is_same_name(writer: &Schema, reader: &Schema) -> bool {
    let (Some(w), Some(r)) = (writer.name(), reader.name()) else {
        return writer.name().is_none() && reader.name().is_none();
    };
    let mut aliases = reader.aliases().into_iter().flatten();
    w.name() == r.name() || aliases.any(|alias| alias.name() == w.name())
}

fn is_same_type(writer: &Schema, reader: &Schema) -> bool {
    let is_same = match (Base::of(writer), Base::of(reader)) {
        (Base::Other, Base::Other) => {
            std::mem::discriminant(writer) == std::mem::discriminant(reader)
        }
        (w, r) => w == r,
    };
    is_same && is_same_name(writer, reader)
}

fn name(schema: &Schema) -> Option<String> {
    schema.name().map(|name| name.fullname(None))
}

/// Says what a schema is, for a text that people read.
fn describe(schema: &Schema) -> String {
    let of = match schema {
        Schema::Array(_) => "array",
        Schema::Map(_) => "map",
        Schema::Union(_) => "union",
        Schema::Record(_) => "record",
        Schema::Enum(_) => "enum",
        _ => match Base::of(schema) {
            Base::Null | Base::Other => "null",
            Base::Boolean => "boolean",
            Base::Int => "int",
            Base::Long => "long",
            Base::Float => "float",
            Base::Double => "double",
            Base::Bytes => "bytes",
            Base::Text => "string",
            Base::Fixed(size) => {
                let name = name(schema).unwrap_or_default();
                return format!("fixed `{name}` of {size} bytes");
            }
        },
    };
    match name(schema) {
        Some(name) => format!("{of} `{name}`"),
        None => of.to_owned(),
    }
}

/// How deep types may stand in each other, by name too.
const MAX_DEPTH: usize = 128;
/// How many types a resolved schema may have.
const MAX_TYPES: usize = 100_000;
