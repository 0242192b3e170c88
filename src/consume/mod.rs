//! SHELL: everything that speaks to Kafka.
//!
//! `properties` turns settings into librdkafka's, `clients` makes and shares its clients and gives every call a
//! deadline, `faults` keeps what librdkafka says beside its calls, `errors` puts it into words, `topics` asks what
//! there is, and `probe` finds out how far a connection gets.

pub mod clients;
pub mod errors;
pub mod faults;
pub mod probe;
mod properties;
pub mod topics;
