//! The grammar by table, and against a twin that cuts a line into maps without a look at speed.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::line::{Line, Value};
use super::parse::Parser;
use super::{measurement, name, text};

mod twin;

/// Is a line, cut and unescaped.
#[derive(Debug, Clone, PartialEq)]
struct Cut {
    measurement: Vec<u8>,
    tags: BTreeMap<Vec<u8>, Vec<u8>>,
    fields: Vec<(Vec<u8>, Scalar)>,
    timestamp: Option<i64>,
}

#[derive(Debug, Clone, PartialEq)]
enum Scalar {
    Float(f64),
    Integer(i64),
    Unsigned(u64),
    Boolean(bool),
    Text(Vec<u8>),
}

/// Cuts a record as the first of its stream.
fn cut(value: &[u8]) -> (Vec<Cut>, Vec<String>) {
    cut_with(&mut Line::default(), value)
}

/// Cuts a record with the parser: its good lines, and what is wrong with the others. `line` knows the records before.
fn cut_with(line: &mut Line, value: &[u8]) -> (Vec<Cut>, Vec<String>) {
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    let (mut parser, mut scratch) = (Parser::new(value), Vec::new());
    while let Some(read) = parser.next(line) {
        if read.is_ok() {
            agree(line, value);
        }
        match read {
            Err(fault) => bad.push(fault.to_string()),
            Ok(()) => good.push(Cut {
                measurement: measurement(line.measurement, value, &mut scratch).to_vec(),
                tags: line
                    .tags
                    .iter()
                    .map(|tag| {
                        let key = name(tag.key, value, &mut scratch).to_vec();
                        (key, name(tag.value, value, &mut scratch).to_vec())
                    })
                    .collect(),
                fields: line
                    .fields
                    .iter()
                    .map(|field| {
                        let scalar = match field.value {
                            Value::Float(value) => Scalar::Float(value),
                            Value::Integer(value) => Scalar::Integer(value),
                            Value::Unsigned(value) => Scalar::Unsigned(value),
                            Value::Boolean(value) => Scalar::Boolean(value),
                            Value::Text => {
                                Scalar::Text(text(field.source, value, &mut scratch).to_vec())
                            }
                        };
                        (name(field.key, value, &mut scratch).to_vec(), scalar)
                    })
                    .collect(),
                timestamp: line.timestamp,
            }),
        }
    }
    (good, bad)
}

/// Checks that the names and the numbers of a line's fields, where they are given as a whole, are those of each.
fn agree(line: &Line, value: &[u8]) {
    let fields = || line.fields.iter();
    if let Some(names) = line.names() {
        let keys: Vec<_> = fields().map(|field| field.key.of(value)).collect();
        let end = |end: &mut i32, key: &&[u8]| {
            *end += key.len() as i32;
            Some(*end)
        };
        let ends: Vec<_> = keys.iter().scan(0, end).collect();
        assert_eq!((names.bytes, names.ends), (&keys.concat()[..], &ends[..]));
        assert!(fields().all(|field| field.key.is_plain()));
    }
    if let Some(numbers) = line.numbers() {
        let values: Vec<_> = fields().filter_map(|field| field.value.number()).collect();
        let digits = fields().map(|field| field.source.len()).sum();
        assert_eq!(numbers, (&values[..], digits));
        assert_eq!(values.len(), line.fields.len());
    }
}

/// Writes a line that was cut as its cases do: `measurement|tag=value|field=value|timestamp`.
fn show(line: &Cut) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let tags: Vec<_> = line
        .tags
        .iter()
        .map(|(key, value)| format!("{}={}", text(key), text(value)))
        .collect();
    let fields: Vec<_> = line
        .fields
        .iter()
        .map(|(key, value)| {
            let value = match value {
                Scalar::Float(value) => format!("{value:?}"),
                Scalar::Integer(value) => format!("{value}i"),
                Scalar::Unsigned(value) => format!("{value}u"),
                Scalar::Boolean(value) => value.to_string(),
                Scalar::Text(value) => format!("\"{}\"", text(value)),
            };
            format!("{}={value}", text(key))
        })
        .collect();
    let timestamp = line.timestamp.map_or(String::new(), |t| format!("|{t}"));
    format!(
        "{}|{}|{}{timestamp}",
        text(&line.measurement),
        tags.join(";"),
        fields.join(";")
    )
}

#[test]
fn lines() {
    for (value, want) in [
        ("m v=1", &["m||v=1.0"][..]),
        ("m v=1 5", &["m||v=1.0|5"]),
        ("m v=1 -5", &["m||v=1.0|-5"]),
        (
            "m v=1 9223372036854775807",
            &["m||v=1.0|9223372036854775807"],
        ),
        (
            "m v=1 -9223372036854775808",
            &["m||v=1.0|-9223372036854775808"],
        ),
        ("m,t=a,s=b v=1,w=2i 5", &["m|s=b;t=a|v=1.0;w=2i|5"]),
        // L01: a string holds newlines and spaces.
        ("log msg=\"a\nb\" 1", &["log||msg=\"a\nb\"|1"]),
        (
            "log msg=\"a\r\nb c,d=e\",n=1",
            &["log||msg=\"a\r\nb c,d=e\";n=1.0"],
        ),
        (
            "a s=\"#\n# no comment\"\nb v=1",
            &["a||s=\"#\n# no comment\"", "b||v=1.0"],
        ),
        // L03: escapes.
        (r"my\ m\,x,t\=g=a\ b f\,1=1", &["my m,x|t=g=a b|f,1=1.0"]),
        (r"m\=n,a\,b=c\=d e\ f=1", &[r"m\=n|a,b=c=d|e f=1.0"]),
        (r"m\n,t=a\nb f\x=1", &[r"m\n|t=a\nb|f\x=1.0"]),
        (r"m,t=a\\ b v=1", &[r"m|t=a\ b|v=1.0"]),
        (r"m,t=C:\dir\x v=2", &[r"m|t=C:\dir\x|v=2.0"]),
        (r#"m s="a\"b\\c\d""#, &[r#"m||s="a"b\c\d""#]),
        (r#"m s="\\",t="\\\"""#, &[r#"m||s="\";t="\"""#]),
        (r#"m s="a\ b\,c""#, &[r#"m||s="a\ b\,c""#]),
        (r#"m s="""#, &[r#"m||s="""#]),
        // L05: a quote is one of many characters in a tag.
        (r#"m,l=hey\ "ya v=1i"#, &[r#"m|l=hey "ya|v=1i"#]),
        (r#""m","t"="v" "f"=1"#, &[r#""m"|"t"="v"|"f"=1.0"#]),
        // L07: the ends of the ranges.
        ("m v=18446744073709551615u", &["m||v=18446744073709551615u"]),
        (
            "m v=9223372036854775807i,w=-9223372036854775808i",
            &["m||v=9223372036854775807i;w=-9223372036854775808i"],
        ),
        ("m v=0u,w=-0i,x=007i", &["m||v=0u;w=0i;x=7i"]),
        // L09: booleans.
        ("m a=t,b=F,c=True", &["m||a=true;b=false;c=true"]),
        (
            "m a=T,b=true,c=TRUE,d=f,e=false,f=False,g=FALSE",
            &["m||a=true;b=true;c=true;d=false;e=false;f=false;g=false"],
        ),
        // L11: comments, blank lines, line ends.
        (
            "# note\n\n  \nm v=1\r\n\r\n#x\r\n  m v=2i\r\n\t# y\nm v=\"a\"\r\nm v=t\r",
            &["m||v=1.0", "m||v=2i", "m||v=\"a\"", "m||v=true"],
        ),
        ("m v=1 5\r\n", &["m||v=1.0|5"]),
        ("m\r,t=a\rb v=1", &["m\r|t=a\rb|v=1.0"]),
        ("", &[]),
        ("\n\r\n # only this", &[]),
        // Numbers.
        (
            "m a=-1.5,b=.5,c=5.,d=-.5e3,e=1E-2,f=1e+2,g=-0,h=00.10",
            &["m||a=-1.5;b=0.5;c=5.0;d=-500.0;e=0.01;f=100.0;g=-0.0;h=0.1"],
        ),
        (
            "m a=0.1,b=123456789012345678,c=3.141592653589793238462643,d=1e308,e=5e-324,f=1e-400",
            &["m||a=0.1;b=1.2345678901234568e17;c=3.141592653589793;d=1e308;e=5e-324;f=0.0"],
        ),
        // Spaces between the parts.
        ("m  v=1   5  ", &["m||v=1.0|5"]),
        ("m v=1 ", &["m||v=1.0"]),
        // A field twice: both are there.
        ("m v=1,v=2", &["m||v=1.0;v=2.0"]),
        // Other scripts.
        ("größe,ort=Zürich °C=21.5", &["größe|ort=Zürich|°C=21.5"]),
    ] {
        let (good, bad) = cut(value.as_bytes());
        let got: Vec<_> = good.iter().map(show).collect();
        assert_eq!(
            (&got[..], bad),
            (
                &want.iter().map(ToString::to_string).collect::<Vec<_>>()[..],
                vec![]
            ),
            "{value:?}"
        );
    }
}

#[test]
fn bad_lines() {
    for (value, want) in [
        (
            "m",
            "line 1, byte 2: expected a space and a field, found the record's end",
        ),
        (
            "m,t=a\n",
            "line 1, byte 6: expected a space and a field, found the line's end",
        ),
        (
            ",t=a v=1",
            "line 1, byte 1: expected a measurement, found `,`",
        ),
        (
            "m, v=1",
            "line 1, byte 3: expected a tag's key, found a space",
        ),
        (
            "m,=a v=1",
            "line 1, byte 3: expected a tag's key, found `=`",
        ),
        (
            "m,t v=1",
            "line 1, byte 4: expected `=` and a value after a tag's key, found a space",
        ),
        (
            "m,t= v=1",
            "line 1, byte 5: expected a tag's value, found a space",
        ),
        (
            "m,t=a=b v=1",
            "line 1, byte 6: expected a space and a field, found `=`",
        ),
        ("m,t=a,t=b v=1", "line 1, byte 10: expected each tag once"),
        (
            "m,u=a,t=b,u=a v=1",
            "line 1, byte 14: expected each tag once",
        ),
        ("m =1", "line 1, byte 3: expected a field's key, found `=`"),
        (
            "m v",
            "line 1, byte 4: expected `=` and a value after a field's key, found the record's end",
        ),
        (
            "m v=",
            "line 1, byte 5: expected a number, a string in quotes, or t,",
        ),
        (
            "m v=1,",
            "line 1, byte 7: expected a field's key, found the record's end",
        ),
        (
            "m v=1,,w=2",
            "line 1, byte 7: expected a field's key, found `,`",
        ),
        (
            "m v=1 x",
            "line 1, byte 7: expected a timestamp, a whole number in 64 bits, found `x`",
        ),
        (
            "m v=1 1.5",
            "line 1, byte 8: expected the line's end after a timestamp, found `.`",
        ),
        (
            "m v=1 5 6",
            "line 1, byte 9: expected the line's end after a timestamp, found `6`",
        ),
        (
            "m v=1 9223372036854775808",
            "line 1, byte 7: expected a timestamp",
        ),
        // L07, L09, L13.
        (
            "m v=18446744073709551616u",
            "line 1, byte 5: expected a whole number up to 18446744073709551615",
        ),
        (
            "m v=9223372036854775808i",
            "line 1, byte 5: expected a whole number from -9223372036854775808 to",
        ),
        ("m v=-1u", "byte 7: expected a number's end"),
        ("m v=1.5i", "byte 8: expected a number's end"),
        ("m v=1e3i", "byte 8: expected a number's end"),
        (
            "m v=1ii",
            "byte 7: expected `,`, a space or the line's end after a whole number, found `i`",
        ),
        (
            "m a=t,b=F,c=True,d=tRuE",
            "line 1, byte 20: expected a number, a string in quotes, or t, T, true, True, TRUE, f",
        ),
        (
            "m v=\"",
            "line 1, byte 5: expected the string here to end with a quote, found the record's end",
        ),
        (
            "m v=\"abc",
            "line 1, byte 5: expected the string here to end with a quote, found the record's end",
        ),
        (
            "m v=\"abc\\\"",
            "line 1, byte 5: expected the string here to end with a quote, found the record's end",
        ),
        (
            "m v=\"a\"b",
            "line 1, byte 5: expected the string here to end before `,`, a space or the line's end, found `b`",
        ),
        // Not numbers, as InfluxDB has it.
        ("m v=NaN", "expected a number"),
        ("m v=nan", "expected a number"),
        ("m v=Inf", "expected a number"),
        ("m v=-inf", "byte 6: expected a digit, found `i`"),
        ("m v=+1", "expected a number"),
        ("m v=0x1F", "byte 6: expected a number's end"),
        ("m v=0x1p-2", "byte 6: expected a number's end"),
        ("m v=1_000", "byte 6: expected a number's end"),
        ("m v=.", "byte 6: expected a digit"),
        ("m v=-", "byte 6: expected a digit"),
        ("m v=1.2.3", "byte 8: expected a number's end"),
        ("m v=1e", "byte 7: expected a digit of an exponent"),
        ("m v=1e400", "byte 5: expected a number below 1.8e308"),
        ("m v=1\u{b}", "found the byte 0x0b"),
        // Counted from the record's start, comments and lines within strings too.
        ("# x\n\nm v=x", "line 3, byte 5"),
        ("m a=\"x\ny\",b=x", "line 2, byte 6"),
    ] {
        let (good, bad) = cut(value.as_bytes());
        assert_eq!((good, bad.len()), (vec![], 1), "{value:?}");
        assert!(bad[0].contains(want), "{value:?}: {}", bad[0]);
    }
}

#[test]
fn good_lines_between_bad_ones() {
    for (value, good, bad) in [
        ("a v=1\nb v\nc v=3", &["a||v=1.0", "c||v=3.0"][..], &[2][..]),
        ("x\ny\na v=1", &["a||v=1.0"], &[1, 2]),
        // A string without an end takes nothing with it but its own line.
        ("a v=\"x\nb v=1", &["b||v=1.0"], &[1]),
        (
            "a v=\"x\nb s=\"y\"\nc v=1",
            &["b||s=\"y\"", "c||v=1.0"],
            &[1],
        ),
        // A string that has one belongs to its line, though that is bad.
        ("a s=\"x\ny v=1\",w=bad\nb v=1", &["b||v=1.0"], &[2]),
        ("a v=1,\r\nb v=1\r\n", &["b||v=1.0"], &[1]),
    ] {
        let (lines, faults) = cut(value.as_bytes());
        let lines: Vec<_> = lines.iter().map(show).collect();
        assert_eq!(lines, good, "{value:?}");
        let numbers: Vec<_> = bad.iter().map(|line| format!("line {line},")).collect();
        assert_eq!(faults.len(), bad.len(), "{value:?}: {faults:?}");
        for (fault, number) in faults.iter().zip(numbers) {
            assert!(fault.starts_with(&number), "{value:?}: {fault}");
        }
    }
}

/// Numbers and timestamps are read some digits at a time: each length, and each byte that is no digit at each place.
#[test]
fn digits() {
    let digits = "12345678901234567890123";
    let texts = (1..digits.len()).flat_map(|len| {
        let others = (0..len).flat_map(move |place| {
            ["/", ":", ".", "i", "u", "-", "e", "\0", "\u{b5}"].map(|other| {
                let mut text = digits[..len].to_owned();
                text.replace_range(place..=place, other);
                text
            })
        });
        others.chain([digits[..len].to_owned(), "0".repeat(len)])
    });
    for text in texts {
        for value in [
            format!("m v={text}"),
            format!("m v={text},w=1 5"),
            format!("m v=-{text}\nm v={text}\n"),
            format!("m v=1 {text}"),
            format!("m v=1 -{text}\r\nm v=1 {text} "),
        ] {
            let (good, bad) = cut(value.as_bytes());
            assert_eq!((good, bad.len()), twin::cut(value.as_bytes()), "{value:?}");
        }
    }
}

/// Makes texts of the characters that mean something, and a few others.
fn hostile(max: usize) -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-c]{1,3}",
        "[,= \\\\\"\n\r#]{1,2}",
        "[0-9.eEiu+-]{1,4}",
        Just("true".to_owned()),
        Just("=\"".to_owned()),
        Just("\\\"".to_owned()),
        Just("\r\n".to_owned()),
        Just("m,t=a v=1 5\n".to_owned()),
        Just("é".to_owned()),
    ];
    prop::collection::vec(piece, 0..max).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    /// What is written comes back, whatever is in its names and strings, and whatever is known of the lines before.
    #[test]
    fn every_line_reads_back(lines in prop::collection::vec(twin::line_of_anything(), 1..5), crlf: bool) {
        let end = if crlf { "\r\n" } else { "\n" };
        let texts: Vec<_> = lines.iter().map(twin::write).collect();
        let value = texts.join(end.as_bytes());
        let mut line = Line::default();
        for _ in 0..2 {
            let (good, bad) = cut_with(&mut line, &value);
            prop_assert_eq!(bad, Vec::<String>::new());
            prop_assert_eq!(&good, &lines);
        }
    }

    /// The parser and the twin find the same good lines in anything, and as many bad ones; what is known of another record, or
    /// of the same one, changes nothing.
    #[test]
    fn the_twin_agrees(before in hostile(24), value in hostile(24)) {
        let fresh = cut(value.as_bytes());
        let (twin_good, twin_bad) = twin::cut(value.as_bytes());
        prop_assert_eq!(&fresh.0, &twin_good, "{:?}", value);
        prop_assert_eq!(fresh.1.len(), twin_bad, "{:?}: {:?}", value, fresh.1);
        let mut line = Line::default();
        cut_with(&mut line, before.as_bytes());
        for _ in 0..2 {
            let again = cut_with(&mut line, value.as_bytes());
            prop_assert_eq!(&again, &fresh, "{:?} after {:?}", value, before);
        }
    }

    /// No bytes make the parser panic, or read a line for ever.
    #[test]
    fn any_bytes(value in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut line = Line::default();
        let (good, bad) = cut_with(&mut line, &value);
        prop_assert!(good.len() + bad.len() <= value.len());
        let (twin_good, twin_bad) = twin::cut(&value);
        prop_assert_eq!((&good, bad.len()), (&twin_good, twin_bad));
        prop_assert_eq!(cut_with(&mut line, &value), (good, bad));
    }
}
