//! From a schema's text and those that it refers to, to descriptors.

use std::collections::{HashMap, HashSet};

use prost_reflect::prost_types::{
    DescriptorProto, FieldDescriptorProto, FileDescriptorProto, MessageOptions,
    field_descriptor_proto::Type,
};
use prost_reflect::{DescriptorError, DescriptorPool, FileDescriptor, MessageDescriptor};

use super::source::{Source, read};
use crate::schema::Reference;

/// Is a Protobuf schema with all that it imports, names resolved.
#[derive(Debug)]
pub struct Descriptors {
    pool: DescriptorPool,
    root: String,
    /// Message indexes of those who register text count no map's entries; those of the others do.
    skips_entries: bool,
    /// Why a message cannot be read, by its full name: what it holds stands in an import that is broken.
    broken: HashMap<String, String>,
}

impl Descriptors {
    /// Compiles `text`: the source of a `.proto` file, or base64 of a `FileDescriptorProto` or `FileDescriptorSet`.
    ///
    /// `references` are what it may import, by the name that imports use, in any order. Those of Google's own types need not
    /// be there. A reference that is broken, or is not there, makes unreadable the messages that need it, and no others.
    pub fn compile(text: &str, references: &[Reference]) -> Result<Self, String> {
        check_len(text)?;
        let Source { mut files, is_text } = read(ROOT, text)?;
        let mut root = files.pop().ok_or("it holds no file")?;
        if root.name().is_empty() {
            root.name = Some(ROOT.to_owned());
        }
        let mut builder = Builder {
            texts: references.iter().map(|of| (&*of.name, &*of.text)).collect(),
            files: files
                .into_iter()
                .map(|file| (file.name().to_owned(), file))
                .collect(),
            ..Builder::default()
        };
        let name = root.name().to_owned();
        let others: Vec<String> = builder.files.keys().cloned().collect();
        builder.add(root)?;
        // A set may hold more than the one file imports; its messages can be named.
        for name in others {
            let _ = builder.import(&name);
        }
        builder.add_well_known();
        Ok(Self {
            pool: builder.pool,
            root: name,
            skips_entries: is_text,
            broken: builder.broken,
        })
    }

    /// Finds a message by its full name, with or without a dot before it.
    pub(crate) fn by_name(&self, name: &str) -> Option<MessageDescriptor> {
        let name = name.strip_prefix('.').unwrap_or(name);
        self.pool.get_message_by_name(name)
    }

    /// Finds a message by its place in the file, and in the message that it is nested in.
    pub(crate) fn by_path(&self, path: &[usize]) -> Option<MessageDescriptor> {
        let (&first, nested) = path.split_first()?;
        let root = self.root().messages().nth(first)?;
        let walk = |skips: bool| {
            let found = nested.iter().try_fold(root.clone(), |message, &index| {
                let mut nested = message.child_messages();
                if skips {
                    nested.filter(|child| !child.is_map_entry()).nth(index)
                } else {
                    nested.nth(index)
                }
            });
            found.filter(|message| !message.is_map_entry())
        };
        // Where the schema has no such place in the one way of counting, the producer used the other.
        walk(self.skips_entries).or_else(|| walk(!self.skips_entries))
    }

    /// Finds a message of the schema's own file by its full name, or by its own.
    pub(crate) fn by_any_name(&self, name: &str) -> Option<MessageDescriptor> {
        let is = |of: &MessageDescriptor| of.name() == name || of.full_name() == name;
        self.messages().into_iter().find(is)
    }

    /// Finds a message of the schema's own file by its place in the order of full names.
    pub(crate) fn by_order(&self, place: usize) -> Option<MessageDescriptor> {
        let mut all = self.messages();
        all.sort_by(|a, b| a.full_name().cmp(b.full_name()));
        all.into_iter().nth(place)
    }

    /// Gives the messages of the schema's own file, each before those nested in it.
    pub(crate) fn messages(&self) -> Vec<MessageDescriptor> {
        let mut list = Vec::new();
        for message in self.root().messages() {
            collect(message, &mut list);
        }
        list
    }

    /// Names the messages, for a person to choose from.
    pub(crate) fn message_names(&self) -> String {
        let messages = self.messages();
        let names = messages.iter().take(MAX_NAMES);
        let names = names.map(|of| format!("`{}`", of.full_name()));
        let more = messages.len().saturating_sub(MAX_NAMES);
        let more = (more > 0).then(|| format!("{more} more"));
        names.chain(more).collect::<Vec<_>>().join(", ")
    }

    /// Gives every message that is known, Google's own too.
    pub(crate) fn all_messages(&self) -> impl Iterator<Item = MessageDescriptor> {
        self.pool
            .all_messages()
            .filter(|message| !message.is_map_entry())
    }

    /// Says why the message cannot be read, where it cannot.
    pub(crate) fn broken(&self, name: &str) -> Option<&str> {
        self.broken.get(name).map(String::as_str)
    }

    /// Says why some message cannot be read, where one cannot.
    pub(crate) fn any_broken(&self) -> Option<&str> {
        self.broken.values().map(String::as_str).min()
    }

    fn root(&self) -> FileDescriptor {
        self.pool
            .get_file_by_name(&self.root)
            .expect("the pool was made of it")
    }
}

#[derive(Default)]
struct Builder<'a> {
    pool: DescriptorPool,
    /// By the name that imports use.
    texts: HashMap<&'a str, &'a str>,
    files: HashMap<String, FileDescriptorProto>,
    /// The files whose imports are being added, to find cycles.
    open: Vec<String>,
    /// Why an import could not be added.
    missing: HashMap<String, String>,
    broken: HashMap<String, String>,
    read: usize,
}

impl Builder<'_> {
    /// Adds a file after those that it imports.
    fn add(&mut self, mut file: FileDescriptorProto) -> Result<(), String> {
        if self.open.len() > MAX_IMPORT_DEPTH {
            return Err(format!("its imports nest deeper than {MAX_IMPORT_DEPTH}"));
        }
        self.open.push(file.name().to_owned());
        let (mut dependencies, mut public) = (Vec::new(), Vec::new());
        let mut reason = None;
        for (i, import) in std::mem::take(&mut file.dependency).into_iter().enumerate() {
            match self.import(&import) {
                Ok(()) => {
                    if file.public_dependency.contains(&(i as i32)) {
                        public.push(dependencies.len() as i32);
                    }
                    if !dependencies.contains(&import) {
                        dependencies.push(import);
                    }
                }
                Err(why) => {
                    reason.get_or_insert_with(|| format!("its import `{import}`: {why}"));
                }
            }
        }
        self.open.pop();
        file.dependency = dependencies;
        file.public_dependency = public;
        file.weak_dependency.clear();
        if let Some(reason) = reason {
            self.cut(&mut file, &reason);
        }
        // Where the text's lines are is only said in an error, and would fill most of what a schema takes of memory.
        let lines = file.source_code_info.take();
        if self.pool.add_file_descriptor_proto(file.clone()).is_ok() {
            return Ok(());
        }
        file.source_code_info = lines;
        let added = self.pool.add_file_descriptor_proto(file);
        added.map_err(|error| describe(&error))
    }

    fn import(&mut self, name: &str) -> Result<(), String> {
        if self.pool.get_file_by_name(name).is_some() {
            return Ok(());
        }
        if let Some(reason) = self.missing.get(name) {
            return Err(reason.clone());
        }
        if self.open.iter().any(|open| open == name) {
            return Err("it imports itself".to_owned());
        }
        let added = self.open(name).and_then(|file| self.add(file));
        if let Err(reason) = &added {
            self.missing.insert(name.to_owned(), reason.clone());
        }
        added
    }

    /// Finds the file that is imported as `name`.
    fn open(&mut self, name: &str) -> Result<FileDescriptorProto, String> {
        let bundled = DescriptorPool::global();
        if let Some(file) = bundled.get_file_by_name(name) {
            return Ok(file.file_descriptor_proto().clone());
        }
        if let Some(file) = self.files.remove(name) {
            return Ok(file);
        }
        let text = self.texts.get(name).ok_or(
            "it is not there: a schema in the query must hold everything but google/protobuf/…, for instance as a descriptor set in base64",
        )?;
        check_len(text)?;
        self.read += text.len();
        if self.read > MAX_REFERENCES {
            return Err(format!(
                "the references take more than {} MiB",
                MAX_REFERENCES >> 20
            ));
        }
        let mut file = read(name, text)?.files.pop().ok_or("it holds no file")?;
        file.name = Some(name.to_owned());
        Ok(file)
    }

    /// Adds what an `Any` may hold without an import.
    fn add_well_known(&mut self) {
        for name in WELL_KNOWN {
            // Fails where the schema has its own copy of a type; then that one is used.
            let _ = self.import(&format!("google/protobuf/{name}.proto"));
        }
    }

    /// Makes bytes of the fields whose types cannot be found, and notes the messages as broken for `reason`.
    fn cut(&mut self, file: &mut FileDescriptorProto, reason: &str) {
        let package = file.package().to_owned();
        let mut names = HashSet::new();
        for of in &file.enum_type {
            names.insert(join(&package, of.name()));
        }
        for message in &file.message_type {
            declared(message, &package, &mut names);
        }
        for message in &mut file.message_type {
            self.cut_message(message, &package, &names, reason);
        }
    }

    fn cut_message(
        &mut self,
        message: &mut DescriptorProto,
        scope: &str,
        names: &HashSet<String>,
        reason: &str,
    ) {
        let name = join(scope, message.name());
        for field in &mut message.field {
            if !self.resolves(field, &name, names) {
                field.type_name = None;
                field.default_value = None;
                field.set_type(Type::Bytes);
                self.broken.insert(name.clone(), reason.to_owned());
            }
        }
        for nested in &mut message.nested_type {
            self.cut_message(nested, &name, names, reason);
            let entry = join(&name, nested.name());
            if nested
                .options
                .as_ref()
                .is_some_and(MessageOptions::map_entry)
                && self.broken.contains_key(&entry)
            {
                self.broken.insert(name.clone(), reason.to_owned());
            }
        }
    }

    /// Tells whether a field's type is known: a name is looked for in the innermost scope first.
    fn resolves(&self, field: &FieldDescriptorProto, scope: &str, names: &HashSet<String>) -> bool {
        let Some(name) = &field.type_name else {
            return true;
        };
        let known = |name: &str| {
            names.contains(name)
                || self.pool.get_message_by_name(name).is_some()
                || self.pool.get_enum_by_name(name).is_some()
        };
        if let Some(name) = name.strip_prefix('.') {
            return known(name);
        }
        let mut scope = scope;
        loop {
            if known(&join(scope, name)) {
                return true;
            }
            if scope.is_empty() {
                return false;
            }
            scope = scope.rsplit_once('.').map_or("", |(outer, _)| outer);
        }
    }
}

fn collect(message: MessageDescriptor, list: &mut Vec<MessageDescriptor>) {
    let nested: Vec<_> = message.child_messages().collect();
    list.push(message);
    for message in nested.into_iter().filter(|of| !of.is_map_entry()) {
        collect(message, list);
    }
}

fn declared(message: &DescriptorProto, scope: &str, names: &mut HashSet<String>) {
    let name = join(scope, message.name());
    for of in &message.enum_type {
        names.insert(join(&name, of.name()));
    }
    for nested in &message.nested_type {
        declared(nested, &name, names);
    }
    names.insert(name);
}

fn join(scope: &str, name: &str) -> String {
    if scope.is_empty() {
        name.to_owned()
    } else {
        format!("{scope}.{name}")
    }
}

fn describe(error: &DescriptorError) -> String {
    match (error.line(), error.column()) {
        (Some(line), Some(column)) => {
            let file = error.file().unwrap_or(ROOT);
            format!("{file}:{}:{}: {error}", line + 1, column + 1)
        }
        _ => error.to_string(),
    }
}

fn check_len(text: &str) -> Result<(), String> {
    if text.len() > MAX_TEXT {
        return Err(format!(
            "it has {} KiB, and at most {} KiB are read",
            text.len() / 1024,
            MAX_TEXT / 1024
        ));
    }
    Ok(())
}

/// What a schema's own file is called in errors.
const ROOT: &str = "schema.proto";
/// The most bytes of one text.
const MAX_TEXT: usize = 1 << 20;
/// The most bytes of all references that are imported.
const MAX_REFERENCES: usize = 8 << 20;
const MAX_IMPORT_DEPTH: usize = 64;
/// So many names stand in an error.
const MAX_NAMES: usize = 20;
const WELL_KNOWN: [&str; 7] = [
    "any",
    "duration",
    "empty",
    "field_mask",
    "struct",
    "timestamp",
    "wrappers",
];
