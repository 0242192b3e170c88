//! Editions: a file whose features say what proto2 and proto3 said in one word, turned into the one that means the same.
//!
//! For a reader two features count: whether a field that is absent can be told from one that has its default, and whether a
//! message is a group. <https://protobuf.dev/editions/features/>

use std::collections::HashSet;

use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use prost_reflect::prost_types::{
    DescriptorProto, FieldDescriptorProto, FileDescriptorProto, MessageOptions, UninterpretedOption,
};
use prost_reflect::{DynamicMessage, Value};

/// Is what the features of a file, a message or a field come to, with those around it.
#[derive(Debug, Clone, Copy)]
struct Features {
    is_implicit: bool,
    is_delimited: bool,
}

/// Is the syntax that a file of an edition names.
pub(super) const EDITIONS: &str = "editions";
/// What the edition of a text may be; descriptors have its number.
pub(super) const TEXT_EDITION: &str = "2023";

/// Gives `file` a syntax. `whole` is the same file with the features, which the library's own type leaves out; those of a text
/// stand in the options that are not interpreted.
pub(super) fn lower(
    file: &mut FileDescriptorProto,
    whole: Option<&DynamicMessage>,
) -> Result<(), String> {
    let edition = whole.and_then(|whole| field(whole, "edition")?.as_enum_number());
    if edition.is_some_and(|edition| !EDITION_NUMBERS.contains(&edition)) {
        return Err(
            "its edition is not supported: those of 2023 and 2024 are, and proto2 and proto3"
                .to_owned(),
        );
    }
    let defaults = Features {
        is_implicit: false,
        is_delimited: false,
    };
    let options = file.options.as_mut().map(|of| &mut of.uninterpreted_option);
    let features = defaults.with(options, whole);
    let mut lowering = Lowering {
        enums: file
            .enum_type
            .iter()
            .map(|of| of.name().to_owned())
            .collect(),
        implicit: false,
    };
    file.message_type.iter().for_each(|of| lowering.collect(of));
    for (i, message) in file.message_type.iter_mut().enumerate() {
        let whole = whole.and_then(|whole| nth(whole, "message_type", i));
        lowering.message(message, whole.as_ref(), features);
    }
    for of in &mut file.enum_type {
        if let Some(options) = &mut of.options {
            options
                .uninterpreted_option
                .retain(|option| !is_feature(option));
        }
    }
    // Only proto3 has fields without presence, and only proto2 has enums that begin elsewhere than at 0.
    file.syntax = Some(
        if lowering.implicit {
            "proto3"
        } else {
            "proto2"
        }
        .to_owned(),
    );
    Ok(())
}

/// Is what is known of a file while it gets its syntax.
struct Lowering {
    /// The names of its enums: a text does not say which of its names are messages.
    enums: HashSet<String>,
    /// Some field has no presence.
    implicit: bool,
}

impl Lowering {
    fn collect(&mut self, message: &DescriptorProto) {
        let enums = message.enum_type.iter().map(|of| of.name().to_owned());
        self.enums.extend(enums);
        message.nested_type.iter().for_each(|of| self.collect(of));
    }

    fn message(
        &mut self,
        message: &mut DescriptorProto,
        whole: Option<&DynamicMessage>,
        around: Features,
    ) {
        let options = message.options.as_mut();
        let is_entry = options.as_ref().is_some_and(|of| of.map_entry());
        let features = around.with(options.map(|of| &mut of.uninterpreted_option), whole);
        let entries = message.nested_type.iter();
        let entries: Vec<String> = entries
            .filter(|nested| {
                nested
                    .options
                    .as_ref()
                    .is_some_and(MessageOptions::map_entry)
            })
            .map(|nested| nested.name().to_owned())
            .collect();
        for (i, of) in message.field.iter_mut().enumerate() {
            let whole = whole.and_then(|whole| nth(whole, "field", i));
            let options = of.options.as_mut().map(|of| &mut of.uninterpreted_option);
            let mut features = features.with(options, whole.as_ref());
            // A map's entries have a length, always, and so have their values.
            let name = of.type_name().rsplit('.').next();
            features.is_delimited &=
                !is_entry && !entries.iter().any(|entry| Some(&**entry) == name);
            self.field(of, features, is_entry);
        }
        for (i, nested) in message.nested_type.iter_mut().enumerate() {
            let whole = whole.and_then(|whole| nth(whole, "nested_type", i));
            self.message(nested, whole.as_ref(), features);
        }
        for of in &mut message.enum_type {
            if let Some(options) = &mut of.options {
                options
                    .uninterpreted_option
                    .retain(|option| !is_feature(option));
            }
        }
    }

    fn field(&mut self, field: &mut FieldDescriptorProto, features: Features, is_entry: bool) {
        let name = field.type_name().rsplit('.').next();
        let is_message = match field.r#type {
            Some(of) => of == i32::from(Type::Message),
            None => name.is_some_and(|name| !self.enums.contains(name)),
        };
        if is_message && features.is_delimited {
            field.set_type(Type::Group);
        }
        let is_single = field.label() != Label::Repeated;
        if !is_single || is_message || is_entry || field.oneof_index.is_some() {
            return;
        }
        if features.is_implicit {
            self.implicit = true;
        } else {
            field.proto3_optional = Some(true);
        }
    }
}

impl Features {
    /// Applies what an element's own options say, and takes features out of those that are not interpreted.
    fn with(
        mut self,
        options: Option<&mut Vec<UninterpretedOption>>,
        whole: Option<&DynamicMessage>,
    ) -> Self {
        if let Some(options) = options {
            for option in options.iter().filter(|option| is_feature(option)) {
                let name = option.name.get(1).map(|part| part.name_part.as_str());
                let values = match name {
                    Some(name) => vec![name, option.identifier_value()],
                    None => option
                        .aggregate_value()
                        .split([':', ',', ';', ' ', '\n', '\t'])
                        .filter(|word| !word.is_empty())
                        .collect(),
                };
                for pair in values.chunks_exact(2) {
                    match (pair[0], pair[1]) {
                        ("field_presence", value) => self.is_implicit = value == "IMPLICIT",
                        ("message_encoding", value) => self.is_delimited = value == "DELIMITED",
                        _ => {}
                    }
                }
            }
            options.retain(|option| !is_feature(option));
        }
        let features = whole
            .and_then(|whole| field(whole, "options"))
            .and_then(|options| field(options.as_message()?, "features"));
        if let Some(features) = features.as_ref().and_then(Value::as_message) {
            let number = |name| field(features, name).and_then(|value| value.as_enum_number());
            if let Some(presence) = number("field_presence") {
                self.is_implicit = presence == IMPLICIT;
            }
            if let Some(encoding) = number("message_encoding") {
                self.is_delimited = encoding == DELIMITED;
            }
        }
        self
    }
}

fn is_feature(option: &UninterpretedOption) -> bool {
    option
        .name
        .first()
        .is_some_and(|part| part.name_part == "features")
}

/// Gives a field that is set.
fn field(message: &DynamicMessage, name: &str) -> Option<Value> {
    message
        .has_field_by_name(name)
        .then(|| message.get_field_by_name(name))
        .flatten()
        .map(std::borrow::Cow::into_owned)
}

fn nth(message: &DynamicMessage, name: &str, place: usize) -> Option<DynamicMessage> {
    let list = message.get_field_by_name(name)?;
    list.as_list()?.get(place)?.as_message().cloned()
}

/// 2023 and 2024.
const EDITION_NUMBERS: [i32; 2] = [1000, 1001];
/// The numbers of the features' values.
const IMPLICIT: i32 = 2;
const DELIMITED: i32 = 2;
