//! What Kafka hands over, as the core sees it: borrowed, and before anything is decoded.

use std::time::Instant;

/// Is one Kafka record.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    pub topic: &'a str,
    pub partition: i32,
    pub offset: i64,
    /// Milliseconds since 1970; `None` where the record carries none.
    pub timestamp: Option<i64>,
    pub key: Option<&'a [u8]>,
    /// `None` is a tombstone, `Some(b"")` an empty value: the two stay apart.
    pub value: Option<&'a [u8]>,
    /// In the record's order, repeated names included; filled where the query asks for headers or a schema's id may stand there.
    pub headers: &'a [Header<'a>],
}

/// Is one header; a null value and an empty one are two things.
#[derive(Debug, Clone, Copy)]
pub struct Header<'a> {
    pub name: &'a [u8],
    pub value: Option<&'a [u8]>,
}

/// Is the time at which the core is called: the core itself reads no clock.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    /// For ages and pacing.
    pub monotonic: Instant,
    /// For the arrival time of records: milliseconds since 1970.
    pub wall_ms: i64,
}
