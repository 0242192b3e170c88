//! One file of a schema: `.proto` text, or a descriptor in base64 as some clients register it.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use prost_reflect::prost::Message as _;
use prost_reflect::prost_types::{
    DescriptorProto, EnumDescriptorProto, FileDescriptorProto, FileDescriptorSet,
    UninterpretedOption,
};
use prost_reflect::{DynamicMessage, ReflectMessage};
use protox::file::File;

use super::editions;

/// Is what a text holds.
#[derive(Debug)]
pub(super) struct Source {
    /// The one that the text is about last.
    pub(super) files: Vec<FileDescriptorProto>,
    pub(super) is_text: bool,
}

/// Reads the files of `text`; a `.proto` text is called `name`.
pub(super) fn read(name: &str, text: &str) -> Result<Source, String> {
    let decoded = descriptors(text)?;
    let is_text = decoded.is_none();
    let mut files = match decoded {
        Some(files) => files,
        None => vec![parse(name, text)?],
    };
    for file in &mut files {
        if !matches!(file.syntax(), "" | "proto2" | "proto3") {
            return Err(format!("its syntax `{}` is not known", file.syntax()));
        }
        strip(file);
    }
    Ok(Source { files, is_text })
}

fn parse(name: &str, text: &str) -> Result<FileDescriptorProto, String> {
    let lexed = Lexed::new(text);
    if lexed.depth > MAX_NESTING {
        return Err(format!(
            "it nests deeper than {MAX_NESTING} brackets, and at most {MAX_NESTING} are read"
        ));
    }
    let Some(edition) = lexed.edition else {
        return parse_syntax(name, text);
    };
    // The parser knows no editions. That of a text says little that proto3 does not, but for its features, which are options.
    let statement = &text[edition.clone()];
    if !statement.contains(editions::TEXT_EDITION) {
        return Err(format!(
            "its edition is not supported as text, other than {}: paste its descriptor set in base64, or write it as proto3",
            editions::TEXT_EDITION
        ));
    }
    let (before, after) = (&text[..edition.start], &text[edition.end..]);
    let mut file = parse_syntax(name, &format!("{before}syntax = 'proto3'{after}"))?;
    editions::lower(&mut file, None)?;
    Ok(file)
}

fn parse_syntax(name: &str, text: &str) -> Result<FileDescriptorProto, String> {
    let file = File::from_source(name, text).map_err(|error| format!("{error:?}"))?;
    Ok(file.file_descriptor_proto().clone())
}

/// Decodes base64 of a `FileDescriptorSet` or of one `FileDescriptorProto`; `None` where the text is neither.
fn descriptors(text: &str) -> Result<Option<Vec<FileDescriptorProto>>, String> {
    let text: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    let bytes = STANDARD.decode(text).unwrap_or_default();
    if bytes.is_empty() {
        return Ok(None);
    }
    // Field 1 is a set's file and a file's name, and a file within a set may look like a name. Only a file has more fields.
    if let Ok(mut file) = FileDescriptorProto::decode(&bytes[..])
        && (!file.message_type.is_empty() || !file.dependency.is_empty())
    {
        if file.syntax() == editions::EDITIONS {
            let whole = whole(&FileDescriptorProto::default(), &bytes);
            editions::lower(&mut file, whole.as_ref())?;
        }
        return Ok(Some(vec![file]));
    }
    let Ok(mut set) = FileDescriptorSet::decode(&bytes[..]) else {
        return Ok(None);
    };
    if set
        .file
        .iter()
        .any(|file| file.syntax() == editions::EDITIONS)
    {
        let whole = whole(&FileDescriptorSet::default(), &bytes);
        let files = whole
            .as_ref()
            .and_then(|whole| whole.get_field_by_name("file"));
        for (i, file) in set.file.iter_mut().enumerate() {
            if file.syntax() == editions::EDITIONS {
                let whole = files
                    .as_ref()
                    .and_then(|files| files.as_list()?.get(i)?.as_message());
                editions::lower(file, whole)?;
            }
        }
    }
    Ok(Some(set.file).filter(|files| !files.is_empty()))
}

/// Decodes a descriptor with all its fields: the type made for it leaves out those of editions.
fn whole(of: &impl ReflectMessage, bytes: &[u8]) -> Option<DynamicMessage> {
    DynamicMessage::decode(of.descriptor(), bytes).ok()
}

/// Takes out what no record needs: services, extensions, and the options that other files declare. So a schema is whole
/// without the imports that only those need.
fn strip(file: &mut FileDescriptorProto) {
    file.service.clear();
    file.extension.clear();
    if let Some(options) = &mut file.options {
        keep_own(&mut options.uninterpreted_option);
    }
    file.enum_type.iter_mut().for_each(strip_enum);
    file.message_type.iter_mut().for_each(strip_message);
}

fn strip_message(message: &mut DescriptorProto) {
    if let Some(options) = &mut message.options {
        keep_own(&mut options.uninterpreted_option);
    }
    message.extension.clear();
    for field in &mut message.field {
        if let Some(options) = &mut field.options {
            keep_own(&mut options.uninterpreted_option);
        }
    }
    for oneof in &mut message.oneof_decl {
        oneof.options = None;
    }
    for range in &mut message.extension_range {
        range.options = None;
    }
    message.enum_type.iter_mut().for_each(strip_enum);
    message.nested_type.iter_mut().for_each(strip_message);
}

fn strip_enum(of: &mut EnumDescriptorProto) {
    if let Some(options) = &mut of.options {
        keep_own(&mut options.uninterpreted_option);
    }
    for value in &mut of.value {
        value.options = None;
    }
}

fn keep_own(options: &mut Vec<UninterpretedOption>) {
    options.retain(|option| !option.name.iter().any(|part| part.is_extension));
}

/// Is what is known of a text before it is parsed: the parser goes one call deeper with each bracket.
#[derive(Debug, Default)]
struct Lexed {
    depth: usize,
    /// Where the first statement stands, without its semicolon, if it names an edition.
    edition: Option<Range<usize>>,
}

impl Lexed {
    fn new(text: &str) -> Self {
        let mut lexed = Self::default();
        let (mut depth, mut is_first) = (0_usize, true);
        let mut rest = text.as_bytes();
        while let Some(&byte) = rest.first() {
            let len = match byte {
                b'/' if rest.starts_with(b"//") => {
                    memchr::memchr(b'\n', rest).unwrap_or(rest.len())
                }
                b'/' if rest.starts_with(b"/*") => {
                    memchr::memmem::find(&rest[2..], b"*/").map_or(rest.len(), |end| end + 4)
                }
                b'"' | b'\'' => string_len(rest),
                b'{' | b'[' | b'<' | b'(' => {
                    depth += 1;
                    1
                }
                b'}' | b']' | b'>' | b')' => {
                    depth = depth.saturating_sub(1);
                    1
                }
                _ => 1,
            };
            lexed.depth = lexed.depth.max(depth);
            if is_first && byte.is_ascii_alphabetic() {
                is_first = false;
                let start = text.len() - rest.len();
                let end = memchr::memchr(b';', rest).filter(|_| rest.starts_with(b"edition"));
                lexed.edition = end.map(|len| start..start + len);
            }
            rest = &rest[len..];
        }
        lexed
    }
}

/// Counts the bytes of the string literal that `text` begins with.
fn string_len(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'\\' => at += 2,
            b'\n' => return at,
            byte if byte == text[0] => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// How deep brackets nest in a text.
const MAX_NESTING: usize = 64;
