//! The notices of an answer.

use crate::config::{StartPosition, StreamSpec};
use crate::consume::scan::{Limits, Scanned, Stop};
use crate::frame::Notice;

/// Says why a `latest` query has no rows.
pub(super) fn latest() -> Notice {
    Notice::info(
        "Latest has no rows from before now: they appear as they arrive, in a panel whose time range ends in now. Start at Last N or \
         Earliest to see older ones",
    )
}

/// Says which rows these are, and what is not among them.
pub(super) fn of_rows(
    spec: &StreamSpec,
    resumed: bool,
    scanned: &Scanned,
    limits: &Limits<'_>,
) -> Vec<Notice> {
    let mut notices = vec![no_time_range(spec, resumed)];
    notices.extend(
        scanned
            .changes
            .iter()
            .map(|change| change.notice(&spec.topic)),
    );
    if let Some(what) = match scanned.stop {
        Stop::End => None,
        Stop::Rows => Some(format!("the first {} rows", limits.rows)),
        Stop::Bytes => Some(format!("the first {} MiB", limits.bytes >> 20)),
        Stop::Time => Some(format!("what was read within {} s", limits.time.as_secs())),
    } {
        notices.push(Notice::warning(format!(
            "only {what} of these are in this answer; a live panel gets the others too"
        )));
    }
    if !scanned.is_counted {
        notices.push(Notice::warning(format!(
            "there was no time to count back to the last records of each partition within {} s: some partitions may \
             begin too late",
            limits.time.as_secs() / 2
        )));
    }
    if let [first, rest @ ..] = scanned.closed.as_slice() {
        let others = if rest.is_empty() {
            String::new()
        } else {
            format!(" and {} more", rest.len())
        };
        notices.push(Notice::warning(format!(
            "without the records of partition {first}{others}: no broker leads it now"
        )));
    }
    notices
}

fn no_time_range(spec: &StreamSpec, resumed: bool) -> Notice {
    let which = match spec.start {
        _ if resumed => "those after the ones that this panel has".to_owned(),
        StartPosition::Latest => "those that arrive from now on".to_owned(),
        StartPosition::Earliest => "the oldest ones of the topic".to_owned(),
        StartPosition::LastN(1) => "the last one of each partition".to_owned(),
        StartPosition::LastN(n) => format!("the last {n} of each partition"),
    };
    Notice::info(format!(
        "the dashboard's time range is not applied yet: the records are {which}"
    ))
}
