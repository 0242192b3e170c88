//! The type-conflict rule: what happens to a value that is not of its column's type.

use crate::config::FieldType;

/// Is what a cell holds; three of them are Grafana's one number type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Float,
    /// Signed, from a typed format.
    Integer,
    /// Unsigned, from a typed format.
    Unsigned,
    Boolean,
    Text,
    Time,
}

impl From<FieldType> for Kind {
    fn from(fixed: FieldType) -> Self {
        match fixed {
            FieldType::Number => Self::Float,
            FieldType::Text => Self::Text,
            FieldType::Boolean => Self::Boolean,
            FieldType::Time => Self::Time,
        }
    }
}

impl Kind {
    /// Names the type as Grafana's editors do.
    pub fn label(self) -> &'static str {
        match self {
            Self::Float | Self::Integer | Self::Unsigned => "number",
            Self::Boolean => "boolean",
            Self::Text => "text",
            Self::Time => "time",
        }
    }
}

/// Says what becomes of a value in a column that has its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// The column takes it as it is (a float column also takes integers).
    Keep,
    /// The integer column becomes a float column, for good.
    Widen,
    /// The value is converted; where that fails the cell is null.
    Convert,
    /// The cell is null.
    Null,
}

/// Decides what becomes of an `incoming` value in a `settled` column.
///
/// A column never changes its Grafana type. `asked` says that the query fixed the type (`fieldTypes`): then text is
/// parsed and numbers become times, which nothing does unasked.
pub fn fit(settled: Kind, asked: bool, incoming: Kind) -> Fit {
    use Kind::{Boolean, Float, Integer, Text, Time, Unsigned};
    match (settled, incoming) {
        (Float, Float | Integer | Unsigned)
        | (Integer, Integer)
        | (Unsigned, Unsigned)
        | (Boolean, Boolean)
        | (Text, Text)
        | (Time, Time) => Fit::Keep,
        (Integer, Float | Unsigned) | (Unsigned, Float | Integer) => Fit::Widen,
        (Text, _) => Fit::Convert,
        (Float | Boolean | Time, Text) | (Time, Float | Integer | Unsigned) if asked => {
            Fit::Convert
        }
        _ => Fit::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::{Fit::*, Kind::*, fit};

    #[test]
    fn table() {
        // One row a settled type; the columns are what comes in: float, integer, unsigned, boolean, text, time.
        let incoming = [Float, Integer, Unsigned, Boolean, Text, Time];
        for (settled, asked, want) in [
            (Float, false, [Keep, Keep, Keep, Null, Null, Null]),
            (Integer, false, [Widen, Keep, Widen, Null, Null, Null]),
            (Unsigned, false, [Widen, Widen, Keep, Null, Null, Null]),
            (Boolean, false, [Null, Null, Null, Keep, Null, Null]),
            (
                Text,
                false,
                [Convert, Convert, Convert, Convert, Keep, Convert],
            ),
            (Time, false, [Null, Null, Null, Null, Null, Keep]),
            (Float, true, [Keep, Keep, Keep, Null, Convert, Null]),
            (Boolean, true, [Null, Null, Null, Keep, Convert, Null]),
            (
                Text,
                true,
                [Convert, Convert, Convert, Convert, Keep, Convert],
            ),
            (Time, true, [Convert, Convert, Convert, Null, Convert, Keep]),
        ] {
            for (incoming, want) in incoming.into_iter().zip(want) {
                assert_eq!(
                    fit(settled, asked, incoming),
                    want,
                    "{settled:?} asked={asked} {incoming:?}"
                );
            }
        }
    }
}
