//! A stream's reader by itself: what comes out, whatever happens to the broker and the topic.
//!
//! `embedded` has a broker in this process, `real` Apache Kafka; `viewer` takes the packets.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod embedded;
mod real;
mod viewer;
