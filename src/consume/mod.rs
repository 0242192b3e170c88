//! SHELL: everything that speaks to Kafka.
//!
//! `properties` turns settings into librdkafka's, `clients` makes and shares its clients and gives every call a
//! deadline, `login` keeps them from repeating one that is refused, `faults` keeps what librdkafka says beside its calls, `errors` puts it into words, `topics` asks what
//! there is, and `probe` finds out how far a connection gets.
//!
//! `identity` is what librdkafka can do and rdkafka cannot, `look` asks with it what a topic is now, `start` decides
//! where reading begins and goes on, `last` counts back to the last records. With these `reader` reads for a stream and
//! `scan` for one answer, and `sample` for a look at what the records are; `schemas` gets what records name.

pub mod clients;
pub(crate) mod clock;
pub mod errors;
pub mod faults;
pub mod identity;
pub mod last;
pub mod login;
pub mod look;
mod message;
pub mod probe;
mod properties;
pub mod reader;
pub mod sample;
pub mod scan;
pub mod schemas;
pub mod start;
pub mod topics;
