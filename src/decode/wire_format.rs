//! How a record names its schema: what stands before, and where the body begins.

use crate::config::Framing;

/// Gives the place where the body begins in `value`; `None` where it is not framed so.
pub(super) fn body(framing: Framing, value: &[u8]) -> Option<usize> {
    match framing {
        Framing::None | Framing::ConfluentHeader => Some(0),
        Framing::Auto | Framing::Confluent => prefix(value, &[0], 5),
        Framing::Apicurio => prefix(value, &[0], 9),
        // The second byte says that the body is not compressed.
        Framing::Glue => prefix(value, &[3, 0], 18),
    }
}

/// Says what [`body`] looks for.
pub(super) fn expected(framing: Framing) -> &'static str {
    match framing {
        Framing::None | Framing::ConfluentHeader => "a body",
        Framing::Auto | Framing::Confluent => "00 and a schema id of 4 bytes",
        Framing::Apicurio => "00 and a schema id of 8 bytes",
        Framing::Glue => "03, 00 and a schema version of 16 bytes",
    }
}

fn prefix(value: &[u8], magic: &[u8], len: usize) -> Option<usize> {
    (value.len() >= len && value.starts_with(magic)).then_some(len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies() {
        let (confluent, glue) = ([0, 0, 0, 0, 7], [3; 20]);
        for (framing, value, want) in [
            (Framing::None, &confluent[..], Some(0)),
            (Framing::Confluent, &confluent[..], Some(5)),
            (Framing::Confluent, &confluent[..4], None),
            (Framing::Confluent, &[1, 0, 0, 0, 7], None),
            (Framing::Apicurio, &confluent[..], None),
            (Framing::Apicurio, &[0; 9], Some(9)),
            (Framing::Glue, &glue, None),
            (Framing::ConfluentHeader, b"x", Some(0)),
        ] {
            assert_eq!(body(framing, value), want, "{framing:?} {value:?}");
        }
        let mut glue = glue;
        glue[1] = 0;
        assert_eq!(body(Framing::Glue, &glue), Some(18));
    }
}
