//! What people set: the data source's settings and a panel's query, parsed once into types.
//!
//! After this module no string stands for a mode, and a [`TopicName`] has been checked.

mod avro;
mod cursor;
mod digest;
mod lenient;
mod line_protocol;
mod protobuf;
mod query;
mod registry;
mod schema;
mod secret;
mod security;
mod settings;
mod spec;
mod topic;

pub use avro::{AvroOptions, AvroSchema};
pub use cursor::Cursor;
pub use digest::{data, key, path};
pub use line_protocol::{
    LineProtocolLayout, LineProtocolOptions, LineTimeUnit, NameFilter, TagFilter,
};
pub use protobuf::{Descriptors, ProtobufOptions, ProtobufSchema};
pub use query::{MAX_LAST_N, PanelQuery, QueryError, Subscription};
pub use registry::{
    RegistryApi, RegistryAuth, RegistryFault, RegistrySettings, RegistryTls, RegistryUrl, UrlFault,
};
pub use schema::{BytesAs, Framing, SchemaSource, SubjectSelection};
pub use secret::Secret;
pub use security::{ClientCertificate, Sasl, SaslMechanism, Security, Tls};
pub use settings::{FlattenLimits, LogLevel, Settings, SettingsError};
pub use spec::{
    FieldType, IsolationLevel, KeyFormat, PartitionSelection, StartPosition, StreamSpec,
    TimeSource, TimeUnit, ValueFormat,
};
pub use topic::{TopicName, TopicNameError, TopicPolicy};
