//! One file of a schema: `.proto` text, or a descriptor in base64 as some clients register it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use prost_reflect::prost::Message as _;
use prost_reflect::prost_types::{
    DescriptorProto, EnumDescriptorProto, FileDescriptorProto, FileDescriptorSet,
    UninterpretedOption,
};
use protox::file::File;

/// Is what a text holds.
#[derive(Debug)]
pub(super) struct Source {
    /// The one that the text is about last.
    pub(super) files: Vec<FileDescriptorProto>,
    pub(super) is_text: bool,
}

/// Reads the files of `text`; a `.proto` text is called `name`.
pub(super) fn read(name: &str, text: &str) -> Result<Source, String> {
    let decoded = descriptors(text);
    let is_text = decoded.is_none();
    let mut files = match decoded {
        Some(files) => files,
        None => vec![parse(name, text)?],
    };
    files.iter_mut().for_each(strip);
    Ok(Source { files, is_text })
}

fn parse(name: &str, text: &str) -> Result<FileDescriptorProto, String> {
    let lexed = Lexed::new(text);
    if lexed.is_edition {
        return Err(
            "its syntax is an edition, which is not supported as text: paste its descriptor set in base64, or write it as proto3"
                .to_owned(),
        );
    }
    if lexed.depth > MAX_NESTING {
        return Err(format!(
            "it nests deeper than {MAX_NESTING} brackets, and at most {MAX_NESTING} are read"
        ));
    }
    let file = File::from_source(name, text).map_err(|error| format!("{error:?}"))?;
    Ok(file.file_descriptor_proto().clone())
}

/// Decodes base64 of a `FileDescriptorSet` or of one `FileDescriptorProto`; `None` where the text is neither.
fn descriptors(text: &str) -> Option<Vec<FileDescriptorProto>> {
    let text: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    let bytes = STANDARD
        .decode(text)
        .ok()
        .filter(|bytes| !bytes.is_empty())?;
    // Field 1 is a set's file and a file's name, and a file within a set may look like a name. Only a file has more fields.
    if let Ok(file) = FileDescriptorProto::decode(&bytes[..])
        && (!file.message_type.is_empty() || !file.dependency.is_empty())
    {
        return Some(vec![file]);
    }
    let set = FileDescriptorSet::decode(&bytes[..]).ok()?;
    (!set.file.is_empty()).then_some(set.file)
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
    is_edition: bool,
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
                lexed.is_edition = rest.starts_with(b"edition");
                is_first = false;
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
