//! The performance flags: each turns one optimisation off, or sets its size, so that any claim can be checked on any machine.

use std::num::NonZero;

/// Says which optimisations are off, how large the schema caches are, and on how many threads a stream is decoded.
///
/// The default is the fast way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a variable of its own"
)]
pub struct PerfFlags {
    /// Parse and compile an Avro schema for each record.
    pub disable_avro_codec_cache: bool,
    /// Parse and compile a Protobuf schema for each record.
    pub disable_protobuf_schema_cache: bool,
    /// Collect and sort the column names for each record.
    pub disable_field_order_cache: bool,
    /// Send one packet a record, without batching or pacing.
    pub disable_stream_microbatch: bool,
    /// Compiled Avro schemas kept per data source, at least 1.
    pub avro_codec_cache_max_entries: usize,
    /// Compiled Protobuf schemas kept per data source, at least 1.
    pub protobuf_schema_cache_max_entries: usize,
    /// Threads that decode the partitions of one stream whose channel has no budget; `None`: by the machine.
    pub stream_workers: Option<NonZero<usize>>,
}

impl Default for PerfFlags {
    fn default() -> Self {
        Self {
            disable_avro_codec_cache: false,
            disable_protobuf_schema_cache: false,
            disable_field_order_cache: false,
            disable_stream_microbatch: false,
            avro_codec_cache_max_entries: DEFAULT_CACHE_ENTRIES,
            protobuf_schema_cache_max_entries: DEFAULT_CACHE_ENTRIES,
            stream_workers: None,
        }
    }
}

impl PerfFlags {
    /// Reads the flags through `lookup`, which answers with a variable's value.
    ///
    /// Each is `KAFKA_DS_PERF_<NAME>`; Grafana 12.4 and later pass a plugin no host environment, so
    /// `GF_PLUGIN_KAFKA_DS_PERF_<NAME>`, which Grafana makes of the plugin's own configuration section, counts too. A text
    /// that is no boolean or no number from 1 on leaves the default.
    pub fn from_env(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let value = |name: &str| {
            PREFIXES
                .iter()
                .find_map(|prefix| lookup(&format!("{prefix}{name}")))
                .filter(|text| !text.is_empty())
        };
        let flag = |name| value(name).and_then(|text| boolean(&text)).unwrap_or(false);
        let number = |name| -> Option<NonZero<usize>> { value(name)?.trim().parse().ok() };
        let entries = |name| number(name).map_or(DEFAULT_CACHE_ENTRIES, NonZero::get);
        Self {
            disable_avro_codec_cache: flag("DISABLE_AVRO_CODEC_CACHE"),
            disable_protobuf_schema_cache: flag("DISABLE_PROTOBUF_SCHEMA_CACHE"),
            disable_field_order_cache: flag("DISABLE_FIELD_ORDER_CACHE"),
            disable_stream_microbatch: flag("DISABLE_STREAM_MICROBATCH"),
            avro_codec_cache_max_entries: entries("AVRO_CODEC_CACHE_MAX_ENTRIES"),
            protobuf_schema_cache_max_entries: entries("PROTOBUF_SCHEMA_CACHE_MAX_ENTRIES"),
            stream_workers: number("STREAM_WORKERS"),
        }
    }
}

/// Reads a boolean as Go's `strconv.ParseBool` does, since that is what users of the Go plugin have written.
fn boolean(text: &str) -> Option<bool> {
    match text.trim() {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

const PREFIXES: [&str; 2] = ["KAFKA_DS_PERF_", "GF_PLUGIN_KAFKA_DS_PERF_"];
const DEFAULT_CACHE_ENTRIES: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags() {
        let plain = PerfFlags::default();
        let batch_off = PerfFlags {
            disable_stream_microbatch: true,
            ..plain
        };
        for (name, value, want) in [
            ("KAFKA_DS_PERF_DISABLE_STREAM_MICROBATCH", "1", batch_off),
            ("KAFKA_DS_PERF_DISABLE_STREAM_MICROBATCH", "True", batch_off),
            (
                "GF_PLUGIN_KAFKA_DS_PERF_DISABLE_STREAM_MICROBATCH",
                "t",
                batch_off,
            ),
            ("KAFKA_DS_PERF_DISABLE_STREAM_MICROBATCH", "yes", plain),
            ("KAFKA_DS_PERF_DISABLE_STREAM_MICROBATCH", "", plain),
            ("KAFKA_DS_PERF_DISABLE_STREAM_MICROBATCH", "0", plain),
            ("DISABLE_STREAM_MICROBATCH", "1", plain),
            (
                "KAFKA_DS_PERF_DISABLE_FIELD_ORDER_CACHE",
                "TRUE",
                PerfFlags {
                    disable_field_order_cache: true,
                    ..plain
                },
            ),
            (
                "KAFKA_DS_PERF_DISABLE_AVRO_CODEC_CACHE",
                "true",
                PerfFlags {
                    disable_avro_codec_cache: true,
                    ..plain
                },
            ),
            (
                "KAFKA_DS_PERF_DISABLE_PROTOBUF_SCHEMA_CACHE",
                "T",
                PerfFlags {
                    disable_protobuf_schema_cache: true,
                    ..plain
                },
            ),
            (
                "KAFKA_DS_PERF_AVRO_CODEC_CACHE_MAX_ENTRIES",
                "8",
                PerfFlags {
                    avro_codec_cache_max_entries: 8,
                    ..plain
                },
            ),
            ("KAFKA_DS_PERF_AVRO_CODEC_CACHE_MAX_ENTRIES", "0", plain),
            ("KAFKA_DS_PERF_AVRO_CODEC_CACHE_MAX_ENTRIES", "-3", plain),
            (
                "GF_PLUGIN_KAFKA_DS_PERF_PROTOBUF_SCHEMA_CACHE_MAX_ENTRIES",
                "9",
                PerfFlags {
                    protobuf_schema_cache_max_entries: 9,
                    ..plain
                },
            ),
            (
                "KAFKA_DS_PERF_STREAM_WORKERS",
                " 3 ",
                PerfFlags {
                    stream_workers: NonZero::new(3),
                    ..plain
                },
            ),
            ("KAFKA_DS_PERF_STREAM_WORKERS", "0", plain),
            ("KAFKA_DS_PERF_STREAM_WORKERS", "many", plain),
        ] {
            let got = PerfFlags::from_env(|asked| (asked == name).then(|| value.to_owned()));
            assert_eq!(got, want, "{name}={value}");
        }
    }
}
