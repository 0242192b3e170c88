//! What a stream says beside its records: in the row of a fault, or in a notice.

use std::time::Duration;

use rdkafka::error::RDKafkaErrorCode as Code;

use crate::config::TopicName;
use crate::consume::errors::{Fault, KafkaError};
use crate::frame::Notice;

pub(super) fn no_client(error: &KafkaError) -> String {
    format!(
        "this stream cannot start: {error}. Save the data source with other settings and it starts by itself"
    )
}

pub(super) fn cannot_read(error: &KafkaError, had_begun: bool) -> String {
    match error {
        KafkaError::UnknownTopic(topic) if had_begun => {
            format!(
                "topic {topic} was deleted. If it is created again, this stream reads it from its start"
            )
        }
        KafkaError::UnknownTopic(_) | KafkaError::UnknownPartition { .. } => {
            format!("{error}. This stream waits for it")
        }
        KafkaError::Forbidden(_) => {
            format!("{error}. This stream goes on by itself once they are granted")
        }
        error => {
            format!("{error}. This stream tries again until it works; nothing is lost meanwhile")
        }
    }
}

pub(super) fn no_read_right(topic: &TopicName) -> String {
    format!(
        "not authorised to read topic {topic}: the data source's Kafka user lacks the right Read on it. This stream \
         goes on by itself where it stopped, once that is granted"
    )
}

pub(super) fn cannot_reach(
    topic: &TopicName,
    closed: &[(i32, Code)],
    faults: Vec<Fault>,
) -> String {
    let which = match closed {
        [(partition, _)] => format!("partition {partition} of topic {topic}"),
        many => format!("{} partitions of topic {topic}", many.len()),
    };
    let why = if faults.is_empty() {
        "no broker leads it now".to_owned()
    } else {
        KafkaError::Connection(faults).to_string()
    };
    format!(
        "{which} cannot be read: {why}. Reading goes on by itself once a broker leads it again; nothing is lost meanwhile"
    )
}

pub(super) fn recovered(lasted: Duration) -> Notice {
    Notice::info(format!(
        "Kafka answers again after {}: reading goes on where it stopped",
        seconds(lasted)
    ))
}

pub(super) fn is_there(topic: &TopicName) -> Notice {
    Notice::info(format!("topic {topic} is there now, and is read"))
}

pub(super) fn read_again(topic: &TopicName, lasted: Duration) -> Notice {
    Notice::info(format!(
        "topic {topic} is read again after {}, where reading stopped",
        seconds(lasted)
    ))
}

pub(super) fn passed_over(offsets: i64, rows: usize) -> Notice {
    let text = format!(
        "passed over up to {} records: the topic is faster than a live panel can show. Switch on Every record to get \
         them all, late, or read one partition",
        offsets.saturating_add(i64::try_from(rows).unwrap_or(i64::MAX)),
    );
    Notice::warning(text)
}

pub(super) fn lag(offsets: i64) -> Notice {
    let text = format!(
        "up to {offsets} records behind the newest: the topic is faster than a live panel can show. All of them are \
         shown, late"
    );
    Notice::warning(text)
}

pub(super) fn caught_up() -> Notice {
    Notice::info("this stream has caught up with the newest records".to_owned())
}

fn seconds(time: Duration) -> String {
    match time.as_secs() {
        0 => "less than a second".to_owned(),
        1 => "1 second".to_owned(),
        many => format!("{many} seconds"),
    }
}
