//! `InfluxDB`'s line protocol: a record is any number of lines, each a measurement with tags, fields and a time.
//!
//! A line that is no line protocol makes a row with `_error`, beside the rows of the others.

mod known;
mod line;
mod long;
mod parse;
mod wide;

use thiserror::Error;

pub use parse::LineFault;

use super::{RecordRows, write_text};
use crate::columns::{ColumnId, RowWriter, Trouble};
use crate::config::{FlattenLimits, LineProtocolLayout, LineProtocolOptions, LineTimeUnit};
use line::{Line, Span};
use long::Long;
use parse::Parser;
use wide::Wide;

/// Decodes the line protocol values of one stream.
#[derive(Debug)]
pub struct LineDecoder {
    options: LineProtocolOptions,
    layout: Layout,
    line: Line,
    faults: Vec<LineFault>,
    /// Something has passed the filters.
    passed: bool,
    /// What is odd about the filters has been counted.
    warned: bool,
    scratch: Vec<u8>,
}

#[derive(Debug)]
enum Layout {
    Long(Long),
    Wide(Wide),
}

/// Says that no line of a record is line protocol.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum LineError {
    #[error("{0}")]
    One(LineFault),
    #[error("{first} (and {others} more such lines)")]
    Many { first: LineFault, others: u64 },
}

impl LineDecoder {
    /// Makes a decoder that reads as `options` say.
    pub fn new(options: &LineProtocolOptions, limits: FlattenLimits) -> Self {
        Self {
            layout: match options.layout {
                LineProtocolLayout::Long => Layout::Long(Long::new(limits.max_fields)),
                LineProtocolLayout::Wide => Layout::Wide(Wide::new(limits.max_fields)),
            },
            options: options.clone(),
            line: Line::default(),
            faults: Vec::new(),
            passed: false,
            warned: false,
            scratch: Vec::new(),
        }
    }

    /// Forgets the columns: those of a record that was taken back are no more, nor what it was warned of.
    pub fn forget_columns(&mut self) {
        self.warned = false;
        match &mut self.layout {
            Layout::Long(long) => long.forget_columns(),
            Layout::Wide(wide) => wide.forget_columns(),
        }
    }

    /// Makes the rows of a record: those of its good lines, and one for each bad line, up to `MAX_FAULTS` and one that
    /// counts the others.
    pub fn decode(&mut self, value: &[u8], rows: &mut RecordRows<'_>) -> Result<(), LineError> {
        self.faults.clear();
        if let Layout::Wide(wide) = &mut self.layout {
            wide.begin();
        }
        let (mut good, mut bad) = (false, 0);
        let mut parser = Parser::new(value);
        while let Some(read) = parser.next(&mut self.line) {
            match read {
                Ok(()) => {
                    good = true;
                    self.line(value, rows);
                }
                Err(fault) => {
                    bad += 1;
                    if self.faults.len() < MAX_FAULTS {
                        self.faults.push(fault);
                    }
                }
            }
        }
        if let (false, Some(&first)) = (good, self.faults.first()) {
            return Err(match bad - 1 {
                0 => LineError::One(first),
                others => LineError::Many { first, others },
            });
        }
        if let Layout::Wide(wide) = &mut self.layout {
            wide.finish(value, &mut self.scratch, rows);
        }
        for fault in &self.faults {
            let text = fault.to_string();
            rows.error(&text);
            rows.trouble(Trouble::BadLine, |sample| sample.push_str(&text));
        }
        if bad > self.faults.len() as u64 {
            let others = bad - self.faults.len() as u64;
            rows.error(&format!("{others} more lines that are no line protocol"));
            (0..others).for_each(|_| rows.trouble(Trouble::BadLine, |_| ()));
        }
        Ok(())
    }

    /// Makes the rows of the line that was read, if the filters let it pass.
    fn line(&mut self, value: &[u8], rows: &mut RecordRows<'_>) {
        let Self {
            options,
            layout,
            line,
            scratch,
            ..
        } = self;
        if !options.is_open() && !pass(options, line, value, scratch) {
            self.left_out(value, rows);
            return;
        }
        let time = line.timestamp.map(|timestamp| {
            nanos(timestamp, options.precision).unwrap_or_else(|| {
                rows.trouble(Trouble::OutOfWindow, |sample| {
                    sample.push_str(&timestamp.to_string());
                });
                rows.arrival()
            })
        });
        match layout {
            Layout::Long(long) => long.line(line, time, value, scratch, rows),
            Layout::Wide(wide) => wide.line(line, time, value, scratch, rows),
        }
        if !self.passed {
            self.passed = true;
            rows.set.tally.forget(Trouble::FilteredOut);
        }
        self.warn(rows);
    }

    /// Counts a line that was left out, as long as nothing passes.
    fn left_out(&mut self, value: &[u8], rows: &mut RecordRows<'_>) {
        if !self.passed {
            let measurement = self.line.measurement.of(value);
            rows.trouble(Trouble::FilteredOut, |sample| {
                sample.push_str("measurement `");
                sample.push_str(&String::from_utf8_lossy(measurement));
                sample.push('`');
            });
        }
        self.warn(rows);
    }

    fn warn(&mut self, rows: &mut RecordRows<'_>) {
        if !std::mem::replace(&mut self.warned, true) {
            let LineProtocolOptions {
                measurements,
                fields,
                tags,
                ..
            } = &self.options;
            let odd = [measurements.odd(), fields.odd(), tags.odd()];
            for entry in odd.into_iter().flatten() {
                rows.trouble(Trouble::OddFilter, |sample| sample.push_str(entry));
            }
        }
    }
}

/// Tells whether the filters let the line pass, and takes out the fields that they do not.
fn pass(
    options: &LineProtocolOptions,
    line: &mut Line,
    value: &[u8],
    scratch: &mut Vec<u8>,
) -> bool {
    let measurement = measurement(line.measurement, value, scratch);
    if !options.measurements.passes(measurement) {
        return false;
    }
    let tags = &line.tags;
    let with_tag = |key: &[u8], test: &dyn Fn(&[u8]) -> bool| {
        tags.iter().any(|tag| {
            name(tag.key, value, scratch) == key && test(name(tag.value, value, scratch))
        })
    };
    if !options.tags.passes(with_tag) {
        return false;
    }
    if !options.fields.is_empty() {
        line.retain_fields(|field| options.fields.passes(name(field.key, value, scratch)));
    }
    !line.fields.is_empty()
}

impl LineProtocolOptions {
    /// Tells whether there are no filters.
    fn is_open(&self) -> bool {
        self.measurements.is_empty() && self.fields.is_empty() && self.tags.is_empty()
    }
}

/// Gives a tag's key or value, or a field's key, as it is meant.
#[inline]
fn name<'a>(span: Span, value: &'a [u8], scratch: &'a mut Vec<u8>) -> &'a [u8] {
    unescaped(span, value, scratch, line::unescape_name)
}

/// Gives a measurement as it is meant.
#[inline]
fn measurement<'a>(span: Span, value: &'a [u8], scratch: &'a mut Vec<u8>) -> &'a [u8] {
    unescaped(span, value, scratch, line::unescape_measurement)
}

/// Gives a string as it is meant.
fn text<'a>(span: Span, value: &'a [u8], scratch: &'a mut Vec<u8>) -> &'a [u8] {
    unescaped(span, value, scratch, line::unescape_text)
}

#[inline]
fn unescaped<'a>(
    span: Span,
    value: &'a [u8],
    scratch: &'a mut Vec<u8>,
    unescape: fn(&[u8], &mut Vec<u8>),
) -> &'a [u8] {
    let bytes = span.of(value);
    if span.has_escape() {
        unescape_into(bytes, scratch, unescape);
        scratch
    } else {
        bytes
    }
}

#[cold]
fn unescape_into(bytes: &[u8], scratch: &mut Vec<u8>, unescape: fn(&[u8], &mut Vec<u8>)) {
    scratch.clear();
    unescape(bytes, scratch);
}

/// Writes a text that is as it is meant; `plain` says that JSON takes it as it is.
#[inline]
fn write(id: ColumnId, bytes: &[u8], plain: bool, row: &mut RowWriter<'_>, name: &str) {
    if plain {
        row.text(id, bytes, true);
    } else {
        write_text(id, bytes, row, name);
    }
}

/// Gives the nanoseconds since 1970 that a timestamp means; `None` outside of 64 bits.
fn nanos(timestamp: i64, unit: LineTimeUnit) -> Option<i64> {
    let scale = match unit {
        LineTimeUnit::Ns => 1,
        LineTimeUnit::Us => 1_000,
        LineTimeUnit::Ms => 1_000_000,
        LineTimeUnit::S => 1_000_000_000,
        LineTimeUnit::Auto => match timestamp.unsigned_abs() {
            1_000_000_000_000_000_000.. => 1,
            1_000_000_000_000_000.. => 1_000,
            1_000_000_000_000.. => 1_000_000,
            _ => 1_000_000_000,
        },
    };
    timestamp.checked_mul(scale)
}

/// The most bad lines of one record that get a row each.
const MAX_FAULTS: usize = 10;

#[cfg(test)]
mod tests;
